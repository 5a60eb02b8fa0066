"""Painted rows: what each read over time, and which bytes painted which of its cells."""

from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

Span = tuple[int, int]
"""Bytes of a pane's output: offsets, the second exclusive."""


Runs = tuple[tuple[int, Span], ...]
"""Characters of a row, counted from its beginning, and the bytes that painted each stretch of them."""


class RowReading(NamedTuple):
    """What a row read after one read, and the bytes that painted the cells it then had.

    Not all of them are of that read: a program that paints only what differs keeps glyphs of another row.
    """

    t: float
    text: str
    runs: Runs

    @property
    def spans(self) -> tuple[Span, ...]:
        """The bytes that painted what can be seen, in their order; what follows on each other as one."""
        seen: set[Span] = set()
        at = 0
        for length, span in self.runs:
            if not self.text[at : at + length].isspace():
                seen.add(span)
            at += length
        spans: list[Span] = []
        for start, stop in sorted(seen):
            if spans and spans[-1][1] == start:
                spans[-1] = (spans[-1][0], stop)
            elif start < stop:
                spans.append((start, stop))
        return tuple(spans)


@dataclass(slots=True, eq=False)
class PaintedLine:
    """One row of the screen, wherever it went."""

    states: list[RowReading] = field(default_factory=list)
    gone: float | None = None
    """When it was erased or wiped, if it was."""

    @property
    def text(self) -> str:
        """What it reads, or read last."""
        return self.states[-1].text if self.states else ""

    def states_until(self, text: str) -> int:
        """Return how many states there are up to the last one that reads `text`; all, if none does."""
        reading = (number for number in range(len(self.states), 0, -1) if self.states[number - 1].text == text)
        return next(reading, len(self.states))


@dataclass(slots=True, eq=False)
class Slot:
    """A place on the screen while a read is followed: whose it was when the read began, and what became of it."""

    line: PaintedLine = field(default_factory=PaintedLine)
    text: str = ""
    cells: list[Span] = field(default_factory=list)
    """What painted each character of the text."""

    def touch(self, text: str, span: Span) -> None:
        """Read `text` from here on: what differs was painted by `span`."""
        if text == self.text:
            return
        kept = zip(self.text, text, self.cells, strict=False)
        cells = [cell if old == new else span for old, new, cell in kept]
        self.cells = cells + [span] * (len(text) - len(cells))
        self.text = text

    @property
    def runs(self) -> Runs:
        """What painted which stretch of the text."""
        return tuple((len(list(cells)), span) for span, cells in groupby(self.cells))
