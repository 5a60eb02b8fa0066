"""Cells of text in which characters join others: for text that is shown as it is (`Widths.is_plain`)."""

import re

from streamrelay.vt.symbols import Symbols
from streamrelay.vt.widths import JOINER, MARKS, STUB, VARIATION_SELECTOR, ZWJ, Widths

_JOINING = f"{JOINER}(?:{ZWJ}.{STUB}?|.)"
_JOINED = re.compile(_JOINING)
_CLUSTER = re.compile(f"([^{MARKS}{STUB}])({STUB}?)((?:{_JOINING})+)")
_WIDENED = re.compile(f"[^{MARKS}{STUB}{ZWJ}]{STUB}?{JOINER}{VARIATION_SELECTOR}")
_NO_TEXT = re.compile(f"[{JOINER}{STUB}]")


def cells_of(text: str, widths: Widths, symbols: Symbols) -> str:
    """Return one code point for every column: a character and those that join it are one of `symbols`."""
    if text.isascii():
        return text
    cells = widths.cells(text)
    if JOINER not in cells:
        return cells
    widens = widths.quirks.widens

    def cell(match: re.Match[str]) -> str:
        character, half, joined = match.groups()
        half = STUB if widens and VARIATION_SELECTOR in joined else half
        return symbols.cell(character + _NO_TEXT.sub("", joined)) + half

    return _CLUSTER.sub(cell, cells)


def width_of(text: str, widths: Widths) -> int:
    """Return the columns that `text` fills; what joins nothing in it has none."""
    cells = widths.cells(text)
    if JOINER not in cells:
        return len(cells)
    if widths.quirks.widens and VARIATION_SELECTOR in cells:
        cells = _WIDENED.sub(STUB * 2, cells)
    return len(_JOINED.sub("", cells))
