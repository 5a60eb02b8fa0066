"""Rows as they stood, and the lines that they make up.

A terminal joins the rows of a line that it wrapped (`wrapped`). Two things that a program does cut across that:

* It writes at a fixed place on the screen, over whatever line stands there (a clock, a status row; vt/excursion.py).
  `Overwritten.text` is what the row reads without.
* It goes back to the beginning of its line with a carriage return, unaware that the terminal has wrapped it. What it
  writes then replaces the line, so the line begins there: the rows above are states that were replaced.

        loading 10% |#         <- replaced        each state is wrapped, and overwrites the second row of the last one
        loading 20% |##        <- replaced
        loading 30% |###
        ...| 30/100            said: `loading 30% |###...| 30/100`
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from streamrelay.vt.engine import Frame, Overlay, Row

MAX_LINE_ROWS = 200_000
"""Rows of a line that a terminal wrapped; a longer one is said in pieces: nothing may grow without end."""

_WORDS_AND_BLANKS = re.compile(r" +|[^ ]+")


class Stood(NamedTuple):
    """A row as it stood; `wrapped` if the next one continues it, `begins` if its line begins there all the same."""

    text: str
    wrapped: bool
    begins: bool = False


class Overwritten:
    """What programs wrote over rows, by the number of the row (`history_total + y`)."""

    def __init__(self) -> None:
        self._overlays: dict[int, Overlay] = {}
        self._returns: dict[int, str] = {}

    def __bool__(self) -> bool:
        """Whether any row reads otherwise than its cells."""
        return bool(self._overlays or self._returns)

    def note(self, frame: Frame, *, edits: bool) -> None:
        """Take what a frame tells; a line editor that `edits` knows how wide the terminal is."""
        for overlay in frame.overlays:
            self._overlays[overlay.row] = Overlay(overlay.row, self.text(overlay.row, overlay.under), overlay.text)
        if not edits:
            for row, text in frame.returns:
                self._returns.setdefault(row, text)

    def forget(self, until: int) -> None:
        """Forget the rows above number `until`."""
        for rows in (self._overlays, self._returns):
            for row in [row for row in rows if row < until]:
                del rows[row]

    def text(self, row: int, shown: str) -> str:
        """Return what a row reads that shows this, without each word laid over it that still stands there."""
        overlay = self._overlays.get(row)
        if overlay is None:
            return shown
        if shown == overlay.text:
            return overlay.under
        under = overlay.under.ljust(len(shown))
        for word in _WORDS_AND_BLANKS.finditer(overlay.text):
            start, stop = word.span()
            if shown[start:stop] == word[0]:
                shown = shown[:start] + under[start:stop] + shown[stop:]
        return shown

    def begins(self, row: int, shown: str) -> bool:
        """Tell whether a line begins in a row that shows this, although the row above goes on in it."""
        return self._returns.get(row, shown) != shown

    def stand(self, first: int, rows: Iterable[Row]) -> list[Stood]:
        """Return rows as they stand, the first of which has this number."""
        if not self:
            return [Stood(row.text, row.wrapped) for row in rows]
        return [
            Stood(self.text(number, row.text), row.wrapped, self.begins(number, row.text))
            for number, row in enumerate(rows, first)
        ]


def logical(rows: Sequence[Stood], *, goes_on: bool = True) -> list[str]:
    """Return the lines that rows hold, with the blanks at their ends; the last one may go on below.

    If it does not (`goes_on`), what stands there of it was replaced.
    """
    lines: list[str] = []
    begun: list[str] = []
    for row in rows:
        if row.begins:
            begun.clear()
        begun.append(row.text)
        if not row.wrapped:
            lines.append("".join(begun))
            begun.clear()
    return [*lines, "".join(begun)] if begun and goes_on else lines


def unfinished(rows: Sequence[Stood]) -> list[Stood]:
    """Return the rows at the end of which the line goes on in the row below all of them."""
    start = len(rows)
    while start and rows[start - 1].wrapped and len(rows) - start < MAX_LINE_ROWS:
        start -= 1
        if rows[start].begins:
            break
    return list(rows[start:])


def stripped(lines: Iterable[str]) -> list[str]:
    """Return lines without blanks at their ends."""
    return [line.rstrip(" ") for line in lines]
