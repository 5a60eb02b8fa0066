"""Stock `pyte.HistoryScreen` behind the seam, for the contract suite and for benchmarks to compare with."""

from collections.abc import Sequence

import pyte
from pyte.screens import Char

from streamrelay.vt.engine import Cursor, Run
from streamrelay.vt.foreign import ForeignEngine, ForeignRow

_COLOURS = {name: number for number, name in enumerate(("black", "red", "green", "brown", "blue", "magenta", "cyan"))}


class StockPyte(ForeignEngine):
    """pyte as it comes. It raises on some input; so does this."""

    def _begin(self, columns: int, lines: int) -> None:
        self._screen = pyte.HistoryScreen(columns, lines, history=10_000)
        self._stream = pyte.Stream(self._screen)

    def _feed(self, text: str) -> Sequence[ForeignRow]:
        self._stream.feed(text)
        return self._gone()

    def _resize(self, lines: int, columns: int) -> Sequence[ForeignRow]:
        self._screen.resize(lines, columns)
        return self._gone()

    def _gone(self) -> list[ForeignRow]:
        rows = [_row([line[x] for x in range(self._screen.columns)]) for line in self._screen.history.top]
        self._screen.history.top.clear()
        return rows

    def _rows(self) -> list[ForeignRow]:
        screen = self._screen
        return [_row([screen.buffer[y][x] for x in range(screen.columns)]) for y in range(screen.lines)]

    def _cursor(self) -> Cursor:
        return Cursor(self._screen.cursor.x, self._screen.cursor.y)


def _row(cells: Sequence[Char]) -> ForeignRow:
    runs: list[Run] = []
    for x, cell in enumerate(cells):
        style = ";".join(
            [*("1" * cell.bold), *_colour(cell.fg, 30), *_colour(cell.bg, 40)],
        )
        if runs and runs[-1].style == style:
            runs[-1] = Run(runs[-1].start, x + 1, style)
        else:
            runs.append(Run(x, x + 1, style))
    return ForeignRow(tuple(cell.data for cell in cells), tuple(run for run in runs if run.style))


def _colour(name: str, base: int) -> list[str]:
    return [str(base + _COLOURS[name])] if name in _COLOURS else []
