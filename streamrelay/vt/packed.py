"""Packs rows to save memory: the cells of many rows are one UTF-8 string, their styles another.

An unpacked row is an object with one or two strings. Python stores a string with one emoji in four bytes a character.
So a row takes about 400 bytes for CJK text and 320 for coloured text. In packs of `PACKED_ROWS`, as the history holds
them, it takes 130 and 115 bytes; unpacking costs a microsecond. The rows of an idle screen are compressed as well.
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
_STUB = "\x01"  # no cell holds it, and it takes one byte instead of three
_FAST = 1
_CODING = "utf-8", "surrogatepass"  # the number of a style may be that of a surrogate


class Packed:
    """Rows that can only be read; `rows` unpacks them again at each call."""

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
        """Compress the rows; from here on, reading one row costs as much as reading all of them."""
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
        """Return whether the row is soft-wrapped into the next one."""
        return index in self._wrapped
