"""Rows of history in the least memory: the cells of many rows in one piece of UTF-8, their styles in another.

A row that was drawn is an object with a string or two, in Python's widest form where a single emoji is in it: some
400 bytes of CJK text, 320 of coloured text. Packed by the dozen they are 150 and 180, at the cost of a microsecond.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate

from streamrelay.vt.rows import Line
from streamrelay.vt.widths import STUB

PACKED_ROWS = 64
"""Rows that are packed at once."""
_STUB = "\x01"  # which no cell holds, and which takes one byte instead of three
_CODING = "utf-8", "surrogatepass"  # the number of a style may be that of a surrogate


class Packed:
    """Rows that only ever are read; `rows` makes them anew each time."""

    __slots__ = ("_cells", "_ends", "_look_ends", "_looks", "_symbols", "_wrapped")

    def __init__(self, lines: Sequence[Line]) -> None:
        """Pack lines that share their symbols."""
        self._symbols = lines[0].symbols
        cells = [line.cells.replace(STUB, _STUB).encode() for line in lines]
        looks = [line.look.encode(*_CODING) for line in lines]
        self._cells, self._ends = b"".join(cells), array("I", accumulate(map(len, cells), initial=0))
        self._looks, self._look_ends = b"".join(looks), array("I", accumulate(map(len, looks), initial=0))
        self._wrapped = frozenset(index for index, line in enumerate(lines) if line.wrapped)

    def row(self, index: int) -> Line:
        """Return one row."""
        cells = self._cells[self._ends[index] : self._ends[index + 1]].decode().replace(_STUB, STUB)
        look = self._looks[self._look_ends[index] : self._look_ends[index + 1]].decode(*_CODING)
        return Line(self._symbols, cells, look, index in self._wrapped)

    def rows(self, start: int, stop: int) -> list[Line]:
        """Return the rows `start` to `stop` (exclusive)."""
        return list(map(self.row, range(start, stop)))

    def wraps(self, index: int) -> bool:
        """Whether the row goes on in the next one."""
        return index in self._wrapped
