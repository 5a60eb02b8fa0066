"""A row of the grid: two strings and a flag instead of a list of cells."""

import re

from streamrelay.vt.engine import Run
from streamrelay.vt.symbols import CLUSTER, Symbols

PLAIN = "\0"
"""A cell of `Line.look` in the default style."""
_STRETCHES = re.compile(r"([^\0])\1*", re.DOTALL)


def runs_of(look: str, symbols: Symbols) -> tuple[Run, ...]:
    """Return the styles that `look` stands for; stretches in the default style are left out."""
    runs: list[Run] = []
    for match in _STRETCHES.finditer(look):
        sgr = symbols.styles[ord(match[1])].sgr
        start = match.start()
        if runs and runs[-1].stop == start and runs[-1].style == sgr:
            start = runs.pop().start
        if sgr:
            runs.append(Run(start, match.end(), sgr))
    return tuple(runs)


class Line:
    """A row while it is on the grid, and after.

    `cells` has one code point for every cell that was ever written, so its length is tmux's `cellused`; `look` has
    one for every cell up to the last that is not in the default style, and may be the longer of the two: erasing
    with a background colours cells without writing them (see symbols.py for what the code points stand for).

    Only the grid writes to it, and only while it is on the screen: a row in history never changes, and what is
    handed out of the screen is a copy.
    """

    __slots__ = ("cells", "look", "pushed", "symbols", "wrapped")

    def __init__(self, symbols: Symbols, cells: str = "", look: str = "", wrapped: bool = False) -> None:
        self.cells = cells
        self.look = look
        self.wrapped = wrapped
        self.symbols = symbols
        self.pushed: tuple[int, str] | None = None
        """How often its grid had pushed lines down when it first did this one with these cells; None if never."""

    @property
    def text(self) -> str:
        """The characters of the cells in use, trailing blanks that were written included."""
        return self.symbols.text(self.cells)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The styles of the cells in use; stretches in the default style are left out."""
        return runs_of(self.look[: len(self.cells)], self.symbols)

    def columns(self, start: int, stop: int) -> str:
        """Return the characters whose first column is in `start` to `stop` (exclusive)."""
        return self.symbols.text(self.cells[max(start, 0) : max(stop, 0)])

    def line(self, symbols: Symbols | None = None, *, wrapped: bool | None = None) -> "Line":
        """Return a row of the same contents that nothing else refers to, spelled with `symbols`."""
        line = Line(self.symbols, self.cells, self.look, self.wrapped if wrapped is None else wrapped)
        if symbols is not None and symbols is not self.symbols:
            line.moved(symbols)
        return line

    def cropped(self, columns: int) -> "Line":
        """Return what a screen of `columns` shows of the row."""
        return Line(self.symbols, self.cells[:columns], self.look[:columns], self.wrapped)

    def moved(self, symbols: Symbols) -> None:
        """Spell this row with another table."""
        old = self.symbols
        if not self.cells.isascii():
            self.cells = CLUSTER.sub(lambda cluster: symbols.cell(old.text(cluster[0])), self.cells)
        if self.look:
            self.look = "".join(chr(symbols.style(old.styles[ord(code)])) for code in self.look)
        self.symbols = symbols

    # What follows changes the row; the grid calls it.

    def write(self, x: int, cells: str, style: int) -> None:
        """Put `cells` in one style at column `x`; a gap left of it becomes blanks in use."""
        old = self.cells
        used = len(old)
        look = self.look
        if x == used:
            self.cells = old + cells
            if not (style or look):
                return
        elif x > used:
            self.cells = f"{old}{' ' * (x - used)}{cells}"
        else:
            self.cells = old[:x] + cells + old[x + len(cells) :]
        stop = x + len(cells)
        if style:
            before = look if len(look) == x else look[:x].ljust(x, PLAIN)
            self.look = before + chr(style) * len(cells) + look[stop:]
        elif len(look) > x:
            self.look = look[:x] + PLAIN * (stop - x) + look[stop:]

    def erase(self, x: int, count: int, style: int) -> None:
        """Erase `count` cells from column `x`: blank those in use, colour all of them."""
        cells = self.cells
        stop = x + count
        if x < len(cells):
            self.cells = cells[:x] + " " * (min(stop, len(cells)) - x) + cells[stop:]
        look = self.look
        if style:
            self.look = look[:x].ljust(x, PLAIN) + chr(style) * count + look[stop:]
        elif len(look) > x:
            rest = look[stop:]
            self.look = look[:x] + PLAIN * count + rest if rest else look[:x]

    def shift(self, to: int, start: int, count: int, style: int) -> None:
        """Move `count` cells from column `start` to column `to`; what they left and nothing took is erased.

        tmux counts the cells up to the last one moved as used, written or not.
        """
        stop, end = start + count, to + count
        used = max(len(self.cells), end)

        def shifted(row: str, blank: str, filler: str) -> str:
            row = row.ljust(max(stop, end), blank)
            block = row[start:stop]
            row = row[:start] + filler * count + row[stop:]
            return row[:to] + block + row[end:]

        self.cells = shifted(self.cells, " ", " ")[:used]
        self.look = shifted(self.look, PLAIN, chr(style)).rstrip(PLAIN)
