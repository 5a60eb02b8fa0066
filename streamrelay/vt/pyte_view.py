"""pyte's way of looking at rows: cells as `Char` tuples, made when they are read.

`screen.buffer[y][x]` and `screen.history.top[i][x]` give what pyte gives; nothing is stored, so what was not read
costs nothing. The views are read-only: to change the screen, feed it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from pyte import graphics
from pyte.screens import Char, Cursor

from streamrelay.vt.history import StoredRow
from streamrelay.vt.rows import PLAIN
from streamrelay.vt.styles import BLINK, BOLD, ITALIC, REVERSE, STRIKE, Style
from streamrelay.vt.terminal import Terminal
from streamrelay.vt.widths import STUB

_COLOURS = {
    **{str(code): name for code, name in {**graphics.FG_ANSI, **graphics.FG_AIXTERM}.items()},
    **{str(code): name for code, name in {**graphics.BG_ANSI, **graphics.BG_AIXTERM}.items()},
    "": "default",
}


def char(data: str, style: Style) -> Char:
    """Return pyte's cell for what tmux keeps; what pyte has no name for (dim, hidden, overline) is left out."""
    return Char(
        data,
        fg=_colour(style.foreground),
        bg=_colour(style.background),
        bold=bool(style.flags & BOLD),
        italics=bool(style.flags & ITALIC),
        underscore=style.underline > 0,
        strikethrough=bool(style.flags & STRIKE),
        reverse=bool(style.flags & REVERSE),
        blink=bool(style.flags & BLINK),
    )


def _colour(parameters: str) -> str:
    named = _COLOURS.get(parameters)
    if named is not None:
        return named
    _, kind, *numbers = parameters.split(";")
    return graphics.FG_BG_256[int(numbers[0])] if kind == "5" else "".join(f"{int(part):02x}" for part in numbers)


class LineView(Mapping[int, Char]):
    """Columns of a row to cells. Holds the cells that were written; any other column reads as a blank."""

    def __init__(self, line: StoredRow) -> None:
        self.line = line

    def __getitem__(self, x: int) -> Char:
        line = self.line
        look = line.look[x : x + 1] or PLAIN
        cell = line.cells[x : x + 1] or " "
        data = "" if cell == STUB else line.symbols.text(cell)
        return char(data, line.symbols.styles[ord(look)])

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.line.cells)))

    def __len__(self) -> int:
        return len(self.line.cells)

    def styled(self) -> Iterator[tuple[int, int, str, Style]]:
        """Yield column, width in columns, text and tmux's own style of every cell that was written or coloured."""
        line = self.line
        size = max(len(line.cells), len(line.look))
        cells = line.cells.ljust(size)
        for x, cell in enumerate(cells):
            if cell != STUB:
                width = 2 if cells[x + 1 : x + 2] == STUB else 1
                yield x, width, line.symbols.text(cell), line.symbols.styles[ord(line.look[x : x + 1] or PLAIN)]


class Rows(Sequence[LineView]):
    """Rows of history, oldest first."""

    def __init__(self, lines: Sequence[StoredRow]) -> None:
        self.lines = lines

    @overload
    def __getitem__(self, index: int) -> LineView: ...
    @overload
    def __getitem__(self, index: slice) -> "Rows": ...
    def __getitem__(self, index: int | slice) -> "LineView | Rows":
        if isinstance(index, slice):
            return Rows([self.lines[position] for position in range(*index.indices(len(self.lines)))])
        return LineView(self.lines[index])

    def __len__(self) -> int:
        return len(self.lines)


class Buffer(Mapping[int, LineView]):
    """Screen lines to rows."""

    def __init__(self, lines: Sequence[StoredRow]) -> None:
        self.lines = lines

    def __getitem__(self, y: int) -> LineView:
        return LineView(self.lines[y])

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.lines)))

    def __len__(self) -> int:
        return len(self.lines)


class CursorView(Cursor):
    """The terminal's cursor as pyte's; it moves when the terminal's does."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.paged = False

    @property
    def x(self) -> int:  # type: ignore[override]  # pyte has an attribute here
        """Column; the number of columns while a wrap is pending."""
        return self._terminal.state.x

    @property
    def y(self) -> int:  # type: ignore[override]
        """Screen line."""
        return self._terminal.state.y

    @property
    def attrs(self) -> Char:  # type: ignore[override]
        """What a blank would look like that was written now."""
        return char(" ", self._terminal.state.style)

    @property
    def hidden(self) -> bool:  # type: ignore[override]
        """Whether the program hid it, or history is being looked at."""
        return self.paged or not self._terminal.state.modes.cursor_visible
