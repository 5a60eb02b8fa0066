"""Cells of text in which characters join others: for text that is shown as it is (`Widths.plain`)."""

import re

from streamrelay.vt.symbols import Symbols
from streamrelay.vt.widths import JOINER, MARKS, STUB, ZWJ, Widths

_JOINING = f"{JOINER}(?:{ZWJ}.{STUB}?|.)"
_JOINED = re.compile(_JOINING)
_CLUSTER = re.compile(f"([^{MARKS}{STUB}])({STUB}?)((?:{_JOINING})+)")
_NO_TEXT = re.compile(f"[{JOINER}{STUB}]")


def cells_of(text: str, widths: Widths, symbols: Symbols) -> str:
    """Return one code point for every column: a character and those that join it are one of `symbols`."""
    if text.isascii():
        return text
    cells = widths.cells(text)
    if JOINER not in cells:
        return cells
    return _CLUSTER.sub(lambda match: symbols.cell(match[1] + _NO_TEXT.sub("", match[3])) + match[2], cells)


def width_of(cells: str) -> int:
    """Return the columns that `cells` (see `Widths.cells`) fill, marks and what they join left out."""
    return len(_JOINED.sub("", cells) if JOINER in cells else cells)
