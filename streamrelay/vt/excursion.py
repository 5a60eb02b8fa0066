"""Excursions: what a program writes at fixed places on the screen, between saving its cursor and restoring it.

    ESC 7   CSI 1;70H   12:00:05   ESC 8

Clocks in a corner, status rows and progress bars at the bottom (apt) are painted so. Their text belongs to the place
and not to the line that happens to stand there, so the grid notes it as an `Overlay` of the row. A program that moves
relative to its cursor (`CSI 3A`) means the line that it reaches: that is no excursion, but a line rewritten.
"""

from streamrelay.vt.engine import Overlay
from streamrelay.vt.grid import Grid


class Excursion:
    """What the program writes before it restores the cursor."""

    __slots__ = ("_cells", "_lines", "_restart", "_symbols", "_total", "by_number")

    def __init__(self, grid: Grid) -> None:
        self._lines = [*grid.lines]
        self._cells = [line.cells for line in grid.lines]
        self._symbols = grid.symbols
        self._total = grid.history.total if grid.keeps_history else None
        self._restart = grid.restarts[-1] if grid.restarts else None
        self.by_number = False
        """Whether it has gone to a row by its number on the screen."""

    def end(self, grid: Grid, y: int) -> None:
        """Note what was written over rows, now that the cursor is back on line `y`, unless rows have moved."""
        if not self.by_number or self._has_moved(grid):
            return
        if grid.restarts and grid.restarts[-1] is not self._restart:
            grid.restarts.pop()
        for place, (line, cells) in enumerate(zip(grid.lines, self._cells, strict=True)):
            # On a blank row above the cursor the program has written a line of its own.
            if line.cells != cells and (place >= y or cells.strip(" ")):
                grid.overlays.append(Overlay(grid.history.total + place, line.symbols.text(cells), line.text))

    def _has_moved(self, grid: Grid) -> bool:
        """Whether rows have scrolled, been inserted or been deleted, or another screen is shown."""
        if (grid.history.total, grid.symbols, len(grid.lines)) != (self._total, self._symbols, len(self._lines)):
            return True
        replaced = [new for new, old in zip(grid.lines, self._lines, strict=True) if new is not old]
        return any(new is old for new in replaced for old in self._lines) or not grid.keeps_history
