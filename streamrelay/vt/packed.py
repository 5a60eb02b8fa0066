"""Rows in the least memory: the cells of many rows in one piece of UTF-8, their styles in another.

A row that was drawn is an object with a string or two, in Python's widest form where a single emoji is in it: some
400 bytes of CJK text, 320 of coloured text. Packed by the dozen, as history has them, they are 130 and 115, at the cost
of a microsecond. A screen that rests is squeezed as well.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Final
from zlib import compress, decompress

from streamrelay.vt.rows import Line
from streamrelay.vt.widths import STUB

PACKED_ROWS: Final = 64
"""Rows that are packed at once."""
_STUB = "\x01"  # which no cell holds, and which takes one byte instead of three
_FAST = 1
_CODING = "utf-8", "surrogatepass"  # the number of a style may be that of a surrogate


class Packed:
    """Rows that only ever are read; `rows` makes them anew each time."""

    __slots__ = ("_cells", "_ends", "_look_ends", "_looks", "_squeezed", "_symbols", "_wrapped")

    def __init__(self, lines: Sequence[Line]) -> None:
        """Pack lines that share their symbols."""
        self._symbols = lines[0].symbols
        self._squeezed = False
        cells = [line.cells.replace(STUB, _STUB).encode() for line in lines]
        looks = [line.look.encode(*_CODING) for line in lines]
        self._cells, self._ends = b"".join(cells), array("I", accumulate(map(len, cells), initial=0))
        self._looks, self._look_ends = b"".join(looks), array("I", accumulate(map(len, looks), initial=0))
        self._wrapped = frozenset(index for index, line in enumerate(lines) if line.wrapped)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def squeeze(self) -> None:
        """Take even less memory; each look at any row costs as much as one at all of them from here on."""
        if not self._squeezed:
            self._squeezed = True
            self._cells, self._looks = compress(self._cells, _FAST), compress(self._looks, _FAST)

    def row(self, index: int) -> Line:
        """Return one row."""
        return self.rows(index, index + 1)[0]

    def rows(self, start: int, stop: int) -> list[Line]:
        """Return the rows `start` to `stop` (exclusive)."""
        cells, looks = self._cells, self._looks
        if self._squeezed:
            cells, looks = decompress(cells), decompress(looks)
        ends, look_ends = self._ends, self._look_ends
        return [
            Line(
                self._symbols,
                cells[ends[index] : ends[index + 1]].decode().replace(_STUB, STUB),
                looks[look_ends[index] : look_ends[index + 1]].decode(*_CODING),
                index in self._wrapped,
            )
            for index in range(start, stop)
        ]

    def unwrapped_texts(self, start: int, stop: int) -> list[str] | None:
        """Return the texts of these rows, without blanks at their ends, if none of them is soft-wrapped."""
        if not self._wrapped.isdisjoint(range(start, stop)):
            return None
        return [row.text.rstrip(" ") for row in self.rows(start, stop)]

    def wraps(self, index: int) -> bool:
        """Whether the row goes on in the next one."""
        return index in self._wrapped
