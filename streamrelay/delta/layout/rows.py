"""A row of the document: what a program painted, and how the row ends."""

from typing import NamedTuple

import regex

from streamrelay.vt.widths import unicode14

_SCROLL_BAR = regex.compile(r"(?<![\u2580-\u259f])[\u2581-\u2588]{1,2}\Z")
"""A scroll bar's thumb, or its end that covers part of a row: a block at the right edge of the screen."""


class PaintedRow(NamedTuple):
    """One row of the document."""

    text: str
    wrapped: bool = False
    fills: bool = True
    """Whether it may go on in the next row: a program that fills its rows with blanks filled this one too."""
    skipped: bool = False
    """Whether this row only stands for rows that were never seen, because a snapshot vanished without scrolling."""


def painted_row(text: str, wrapped: bool, columns: int) -> PaintedRow:
    """Return a row of a screen with so many columns, without the blanks at its end and a scroll bar behind them."""
    text = text.rstrip()
    if "\u2581" <= text[-1:] <= "\u2588" and cells_of(text) == columns:
        text = _SCROLL_BAR.sub("", text).rstrip()
    return PaintedRow(text, wrapped)


def cells_of(text: str) -> int:
    """Return how many columns a text takes."""
    return len(text) if text.isascii() else len(unicode14().cells(text))
