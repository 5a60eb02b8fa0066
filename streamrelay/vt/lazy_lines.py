"""Printed lines: their text is stored at once, their columns and styles are computed on demand.

A program that prints lines makes rows that are never written to again, so nothing but their text and their soft
wraps is worked out when they pass. The bytes between are kept as they came, with the style they began in; the first
look at a row's styles walks through them once.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Final

from streamrelay.vt.clusters import cells_of, width_of
from streamrelay.vt.engine import Run
from streamrelay.vt.parameters import graphics_parameters
from streamrelay.vt.rows import PLAIN, Line, runs_of
from streamrelay.vt.styles import DEFAULT, Style
from streamrelay.vt.symbols import Symbols
from streamrelay.vt.widths import STUB, Widths

GRAPHICS: Final = re.compile("\x1b\\[[0-9;:]*+m")
"""SGR in the form that lets a line stay a printed line."""
NEW_LINE: Final = "\r\n"
_RESETS = ("\x1b[m", "\x1b[0m", "\x1b[0;")
_NEAR = 400
_PARTS = re.compile("(\x1b\\[[0-9;:]*+m)")


def style_after(style: Style, raw: str) -> Style:
    """Return the style that `raw` leaves behind where it began in `style`; nothing before the last reset matters."""
    if "\x1b" not in raw:
        return style
    memo: dict[tuple[Style, str], Style] = {}
    for sequence in GRAPHICS.findall(raw, _last_reset(raw)):
        known = memo.get((style, sequence))
        if known is None:
            parameters = graphics_parameters(sequence)
            known = memo[style, sequence] = style if parameters is None else style.after(parameters)
        style = known
    return style


def _last_reset(raw: str) -> int:
    """Return where the last reset stands, or the beginning; most often it is near the end."""
    for start in (max(0, len(raw) - _NEAR), 0):
        found = max(raw.rfind(reset, start) for reset in _RESETS)
        if found >= 0:
            return found
    return 0


class Printed:
    """Lines that were printed one after the other onto empty rows.

    `raw` is what was printed, each line with its end; `texts` has one string per row, and `wrapped` the numbers of the
    rows that go on in the next one. `padded` tells whether any of the lines ends in a blank.
    """

    __slots__ = ("_columns", "_looks", "_padded", "_raw", "_style", "_symbols", "_widths", "texts", "wrapped")

    def __init__(
        self,
        raw: str,
        texts: list[str],
        wrapped: frozenset[int],
        style: Style,
        *,
        padded: bool,
        columns: int,
        widths: Widths,
    ) -> None:
        self.texts = texts
        self.wrapped = wrapped
        self._padded = padded
        self._raw = raw
        self._style = style
        self._columns = columns
        self._widths = widths
        self._looks: list[str] | None = None
        self._symbols: Symbols | None = None

    def rows(self, start: int, stop: int) -> list["PrintedRow"]:
        """Return the rows `start` to `stop` (exclusive)."""
        return list(map(PrintedRow, repeat(self), range(start, stop), self.texts[start:stop]))

    def unwrapped_texts(self, start: int, stop: int) -> list[str] | None:
        """Return the texts of these rows, without blanks at their ends, if none of them is soft-wrapped."""
        if self.wrapped and not self.wrapped.isdisjoint(range(start, stop)):
            return None
        texts = self.texts[start:stop]
        return [text.rstrip(" ") for text in texts] if self._padded else texts

    def row(self, index: int) -> "PrintedRow":
        """Return one row."""
        return PrintedRow(self, index, self.texts[index])

    def wraps(self, index: int) -> bool:
        """Whether the row goes on in the next one."""
        return index in self.wrapped

    @property
    def symbols(self) -> Symbols:
        """What the code points in `cells` and `look` stand for: a table of its own, so that reading bounds it."""
        if self._symbols is None:
            self._symbols = Symbols()
        return self._symbols

    def cells(self, index: int) -> str:
        """Return the cells of a row."""
        return cells_of(self.texts[index], self._widths, self.symbols)

    def look(self, index: int) -> str:
        """Return the styles of a row."""
        if self._looks is None:
            self._looks = list(self._all_looks()) if self._styled else []
            self._raw = ""
        return self._looks[index] if self._looks else ""

    @property
    def _styled(self) -> bool:
        return "\x1b" in self._raw or self._style != DEFAULT

    def _all_looks(self) -> Iterator[str]:
        symbols, columns = self.symbols, self._columns
        style = self._style
        memo: dict[tuple[Style, str], Style] = {}
        row = 0
        for line in self._raw.split(NEW_LINE)[:-1]:
            # A line feed leaves an empty row in the background of its style.
            ground = chr(symbols.style(style.erased())) * columns
            written: list[str] = []
            for position, part in enumerate(_PARTS.split(line)):
                if position % 2:
                    if (style, part) not in memo:
                        memo[style, part] = style_after(style, part)
                    style = memo[style, part]
                elif part:
                    width = len(part) if part.isascii() else width_of(part, self._widths)
                    written.append(chr(symbols.style(style)) * width)
            pens = "".join(written)
            more = True
            while more:
                more = row in self.wrapped
                used = len(self.cells(row))
                yield (pens[:used] + ground[used:]).rstrip(PLAIN)
                pens = pens[used:]
                ground = ""
                row += 1


class PrintedRow:
    """One row of what was printed: a `Row`, and all that the views of a screen need."""

    __slots__ = ("index", "printed", "text")

    def __init__(self, printed: Printed, index: int, text: str) -> None:
        self.text = text
        self.printed = printed
        self.index = index

    @property
    def wrapped(self) -> bool:
        """Whether the next row continues this one."""
        return self.index in self.printed.wrapped

    @property
    def symbols(self) -> Symbols:
        """What the code points in `cells` and `look` stand for."""
        return self.printed.symbols

    @property
    def cells(self) -> str:
        """One code point for every column in use."""
        return self.printed.cells(self.index)

    @property
    def look(self) -> str:
        """One code point for the style of every column, up to the last that is not in the default style."""
        return self.printed.look(self.index)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The styles of the cells in use; stretches in the default style are left out."""
        return runs_of(self.look[: len(self.cells)], self.symbols)

    def columns(self, start: int, stop: int) -> str:
        """Return the characters whose first column is in `start` to `stop` (exclusive)."""
        return self.symbols.text(self.cells[max(start, 0) : max(stop, 0)])

    def line(self, symbols: Symbols | None = None, *, wrapped: bool | None = None) -> Line:
        """Return the row as one that can be written to, spelled with `symbols`."""
        line = Line(self.symbols, self.cells, self.look, self.wrapped if wrapped is None else wrapped)
        return line if symbols is None else line.line(symbols)


def rows_of_lines(lines: Sequence[str], columns: int, widths: Widths) -> tuple[list[str], frozenset[int]]:
    """Return the rows that lines fill, and the numbers of those that go on in the next one."""
    rows: list[str] = []
    wrapped: list[int] = []
    for line in lines:
        # No character takes more than two columns.
        if len(line) * 2 <= columns or (line.isascii() and len(line) <= columns):
            rows.append(line)
            continue
        for piece in _pieces(line, columns, widths):
            wrapped.append(len(rows))
            rows.append(piece)
        wrapped.pop()
    return rows, frozenset(wrapped)


def _pieces(line: str, columns: int, widths: Widths) -> Iterator[str]:
    if line.isascii():
        yield from (line[start : start + columns] for start in range(0, len(line), columns))
        return
    if width_of(line, widths) <= columns:
        yield line
        return
    symbols = Symbols()
    cells = cells_of(line, widths, symbols)
    start = 0
    while start < len(cells):
        stop = start + columns
        stop -= cells[stop : stop + 1] == STUB
        yield symbols.text(cells[start:stop])
        start = stop
