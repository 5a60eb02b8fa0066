"""From rows that were seen to a pattern that finds their like, and as little else as can be.

Everything is taken literally but numbers, and what differed between rows of the same build: a glyph becomes the set of
those that were seen, a word any word. A row of which only one example was seen stays as it is, numbers aside.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

import regex

_TOKEN = regex.compile(r"\d+|\p{L}[\p{L}\p{M}-]*|\s+|.", regex.DOTALL)
_BEFORE_SET = regex.compile(r"[\\\]\[^&~|-]")
_MIN_LITERAL = 3
"""Letters, or glyphs beyond ASCII, that a pattern must name."""


def quoted(text: str) -> str:
    """Return a pattern for exactly this text, numbers aside."""
    return "".join(map(_literal, _TOKEN.findall(text)))


def alike(rows: Sequence[str]) -> str | None:
    """Return a pattern for the beginning of similar rows; None if they differ, or if it would be too general.

    Only as far as the rows are built alike: what follows is left open.
    """
    examples = list(dict.fromkeys(rows))
    if not examples:
        return None
    if len(examples) == 1:
        return f"^{quoted(examples[0])}" if _names_enough(examples) else None
    parts: list[str] = []
    columns = zip(*(_pieces(row) for row in examples), strict=False)
    for column in columns:
        part = _common(column)
        if part is None:
            break
        parts.append(part)
    pattern = "^" + "".join(parts).rstrip(" ")
    literal = [part for part in parts if not part.startswith((r"\p", "["))]
    return pattern if _names_enough(literal) or (len(parts) >= 3 and parts[-1] == "…") else None


def skeleton(row: str) -> str:
    """Return how a row is built: rows of one build differ in glyphs, words and numbers alone."""
    kinds = (_kind(piece) for piece in _pieces(row))
    return "".join(kind for kind, _ in groupby(kinds))


def _pieces(row: str) -> list[str]:
    """Return the words, numbers, blanks and runs of glyphs of a row."""
    pieces: list[str] = []
    for token in _TOKEN.findall(row):
        if pieces and _kind(token) == _kind(pieces[-1]) == "*":
            pieces[-1] += token
        else:
            pieces.append(token)
    return pieces


def _kind(piece: str) -> str:
    if piece[0].isdecimal():
        return "0"
    if piece[0].isalpha():
        return "w"
    if piece[0].isspace():
        return " "
    return "*" if not piece[0].isascii() and piece[0] != "…" else piece[0]


def _common(pieces: Iterable[str]) -> str | None:
    examples = set(pieces)
    if len(examples) == 1:
        return _literal(examples.pop())
    kinds = {_kind(piece) for piece in examples}
    if kinds <= {"*", "·"} or all(
        len(piece) == 1 and not piece.isalnum() and not piece.isspace() for piece in examples
    ):
        glyphs = _BEFORE_SET.sub(r"\\\g<0>", "".join(sorted({glyph for piece in examples for glyph in piece})))
        return f"[{glyphs}]" + ("+" if any(len(piece) > 1 for piece in examples) else "")
    if kinds == {"0"}:
        return r"\d+"
    if kinds == {"w"}:
        return r"\p{Lu}[\p{L}-]+" if all(piece[0].isupper() for piece in examples) else r"\p{L}[\p{L}-]*"
    return None


def _literal(token: str) -> str:
    if token[0].isdecimal():
        return r"\d+"
    if token.isspace():
        blanks = regex.escape(token, literal_spaces=True) if token.strip(" ") else " "
        return blanks if len(token) == 1 else f" {{{len(token)}}}" if not token.strip(" ") else r"\s+"
    return regex.escape(token, special_only=True, literal_spaces=True)


def _names_enough(parts: Iterable[str]) -> bool:
    return sum(c.isalpha() or not c.isascii() for part in parts for c in part) >= _MIN_LITERAL
