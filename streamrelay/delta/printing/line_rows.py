"""The rows of logical lines, without what programs wrote over them.

A terminal joins the rows of a line that it wrapped (`wrapped`). Two things that a program does cut across that:

* It writes at a fixed place on the screen, over the line that is there (a clock, a status row; vt/excursion.py).
  `Overwritten.text` returns the row without that.
* It goes back to the beginning of its line with a carriage return, unaware that the terminal has wrapped it. What it
  writes then replaces the line: it begins there, and the rows above hold a state that was replaced.

        loading 10% |#         <- replaced        each state is wrapped, and overwrites the second row of the last one
        loading 20% |##        <- replaced
        loading 30% |###
        ...| 30/100            said: `loading 30% |###...| 30/100`
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from streamrelay.vt.engine import Engine, Frame, Overlay, Return, Row

MAX_LINE_ROWS = 200_000
"""Rows of a line that a terminal wrapped; a longer one is said in pieces: nothing may grow without end."""

_WORDS_AND_BLANKS = re.compile(r" +|[^ ]+")


class LineRow(NamedTuple):
    """A row of a line; `wrapped` if the next row continues it."""

    text: str
    wrapped: bool
    is_replaced: bool = False
    """Whether the program has written the line again below, so that this row holds an earlier state."""


class Overwritten:
    """What programs wrote over the rows of one engine, by the number of the row (`history_total + y`)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._overlays: dict[int, Overlay] = {}
        self._returns: dict[int, Return] = {}
        """Carriage returns behind which nothing was written so far."""
        self._replaced: dict[int, str] = {}
        """Rows that hold an earlier state, and what they read when that was noted."""

    def __bool__(self) -> bool:
        """Whether any row reads otherwise than its cells."""
        return bool(self._overlays or self._replaced)

    def note(self, frame: Frame, *, edits: bool) -> None:
        """Take what a frame tells; a line editor that `edits` knows how wide the terminal is."""
        for overlay in frame.overlays:
            self._overlays[overlay.row] = Overlay(overlay.row, self.text(overlay.row, overlay.under), overlay.text)
        total = frame.history_total
        for row, text in [*self._replaced.items()]:
            if row >= total and self._engine.row(row - total).text != text:
                # The program has painted the row anew.
                del self._replaced[row]
        if edits:
            self._returns.clear()
            return
        for found in frame.returns:
            noted = self._returns.setdefault(found.row, found)
            if found.is_written_over or found.text != noted.text:
                self.replace(range(noted.first, noted.row), total)
        committed = [*frame.committed] if self._returns else []
        first = frame.history_total - len(committed)
        cursor = frame.history_total + frame.cursor.y
        for row, text, begin, _ in [*self._returns.values()]:
            on_screen = row - frame.history_total
            if on_screen < 0:
                shown = committed[row - first].text if row >= first else text
            else:
                shown = self._engine.row(on_screen).text
            if shown != text:
                self.replace(range(begin, row), total)
            # With the cursor below and nothing written, the carriage return was half of a line end.
            if on_screen < 0 or shown != text or cursor > row:
                del self._returns[row]

    def forget(self, until: int) -> None:
        """Forget the rows above number `until`."""
        for row in [row for row in self._overlays if row < until]:
            del self._overlays[row]
        self._replaced = {row: text for row, text in self._replaced.items() if row >= until}

    def text(self, row: int, shown: str) -> str:
        """Return the text of a row that shows `shown`, without the words written over it that are still there."""
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

    def replace(self, rows: Iterable[int], total: int) -> None:
        """Note that rows hold an earlier state of what the program has painted below, until it paints them anew."""
        for row in rows:
            self._replaced[row] = self._engine.row(row - total).text if row >= total else ""

    def restore(self, rows: Iterable[int]) -> None:
        """Note that rows hold text of their own after all."""
        for row in rows:
            self._replaced.pop(row, None)

    def is_replaced(self, row: int) -> bool:
        """Tell whether a row holds a state of a line that was written anew below."""
        return row in self._replaced

    def clean(self, first: int, rows: Iterable[Row]) -> list[LineRow]:
        """Return rows without what was written over them; `first` is the number of the first one."""
        if not self:
            return [LineRow(row.text, row.wrapped) for row in rows]
        return [
            LineRow("", False, True) if self.is_replaced(number) else LineRow(self.text(number, row.text), row.wrapped)
            for number, row in enumerate(rows, first)
        ]


def logical(rows: Sequence[LineRow]) -> list[str]:
    """Return the lines that rows hold, with the blanks at their ends; the last one may go on below."""
    lines: list[str] = []
    begun: list[str] = []
    for row in rows:
        if row.is_replaced:
            begun.clear()
            continue
        begun.append(row.text)
        if not row.wrapped:
            lines.append("".join(begun))
            begun.clear()
    return [*lines, "".join(begun)] if begun else lines


def first_rows(rows: Sequence[LineRow]) -> list[int]:
    """Return the index of the first row of each line that `logical` returns."""
    starts: list[int] = []
    begun: int | None = None
    for number, row in enumerate(rows):
        if row.is_replaced:
            begun = None
            continue
        begun = number if begun is None else begun
        if not row.wrapped:
            starts.append(begun)
            begun = None
    return starts if begun is None else [*starts, begun]


def unfinished(rows: Sequence[LineRow]) -> list[LineRow]:
    """Return the rows at the end of which the line goes on in the row below all of them."""
    start = len(rows)
    while start and rows[start - 1].wrapped and len(rows) - start < MAX_LINE_ROWS:
        start -= 1
    return list(rows[start:])


def stripped(lines: Iterable[str]) -> list[str]:
    """Return lines without blanks at their ends."""
    return [line.rstrip(" ") for line in lines]
