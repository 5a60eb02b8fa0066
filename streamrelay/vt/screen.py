"""`TmuxScreen`: the terminal as a `pyte.HistoryScreen`, for those who know pyte, and the engine for all others."""

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

from pyte import charsets, modes
from pyte.screens import History, Margins

from streamrelay.vt.engine import Frame, Modes, Snapshot
from streamrelay.vt.history import RowQueue, StoredRow
from streamrelay.vt.pyte_events import PyteEvents
from streamrelay.vt.pyte_view import Buffer, CursorView, Rows
from streamrelay.vt.terminal import Terminal
from streamrelay.vt.widths import Widths

_MODES = {
    "cursor_visible": modes.DECTCEM,
    "insert": modes.IRM,
    "wrap": modes.DECAWM,
    "origin": modes.DECOM,
}


class TmuxScreen(PyteEvents):
    """A screen that means what tmux means.

    `feed` takes bytes, cut anywhere, and never raises on them. `take` tells what changed. Everything of pyte's
    (`display`, `buffer`, `cursor`, `dirty`, `history`, `mode`, paging) is a view, made when it is read.
    """

    def __init__(
        self, columns: int, lines: int, history: int = 10_000, ratio: float = 0.5, *, widths: Widths | None = None
    ) -> None:
        # pyte's own __init__ would set up the state that the terminal has.
        self._terminal = Terminal(columns, lines, history, widths)
        self._ratio = ratio
        self._above = 0
        """Rows of history that paging shows over the screen."""
        self._cursor = CursorView(self._terminal)
        self._dirty: set[int] = set(range(lines))
        self._undrawn = 0
        """What is dirty besides, bit y for line y: converted to a set on demand."""
        self._dirty_since_take = 0
        self._scrolled_since_take = 0
        self.icon_name = ""
        self.saved_columns = None
        self.savepoints = []

    # The engine

    def feed(self, data: bytes) -> None:
        """Render bytes of the program; this leaves paging."""
        if self._above:
            self._page(0)
        self._terminal.feed(data)

    def feed_lines(self, data: bytes) -> int:
        """Render the beginning of `data` as far as it is printed lines with colours; return how many bytes that are."""
        if self._above:
            self._page(0)
        return self._terminal.feed_lines(data)

    def take(self) -> Frame:
        """Return what changed since the last take, and forget it."""
        self._note_dirty()
        frame = self._terminal.take()
        frame.dirty, self._dirty_since_take = self._dirty_since_take, 0
        frame.scrolled, self._scrolled_since_take = self._scrolled_since_take, 0
        return frame

    def row(self, y: int) -> StoredRow:
        """Return screen line `y` as it is now."""
        return self._terminal.row(y)

    def rows(self, start: int, stop: int) -> RowQueue:
        """Return the screen lines `start` to `stop` (exclusive) as they are now."""
        return self._terminal.rows(start, stop)

    def is_blank(self, start: int, stop: int) -> bool:
        """Return whether nothing is to be read in the screen lines `start` to `stop` (exclusive)."""
        return self._terminal.is_blank(start, stop)

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Change the size as tmux does, rows reflowed. A new epoch."""
        self._page(0)
        self._terminal.resize(lines or self.lines, columns or self.columns)

    def seed(self, snapshot: Snapshot) -> None:
        """Become the screen of `snapshot`. A new epoch; nothing of it counts as changed or committed."""
        self._page(0)
        self._terminal.seed(snapshot)
        self._dirty_since_take = self._scrolled_since_take = 0
        self._dirty.update(range(self.lines))

    def rest(self) -> None:
        """Hold the screen in little memory until it is fed or looked at as a whole; it costs a millisecond."""
        self._terminal.rest()

    def text(self) -> list[str]:
        """Return the rows of the screen without trailing blanks, as `capture-pane -p` prints them."""
        return [line.text.rstrip(" ") for line in self._terminal.state.grid.shown()]

    def history_text(self) -> list[str]:
        """Return the rows of history without trailing blanks, oldest first."""
        columns = self.columns
        return [
            (row.columns(0, columns) if len(row.cells) > columns else row.text).rstrip(" ")
            for row in self._terminal.grid.history
        ]

    @property
    def history_total(self) -> int:
        """The number of rows that ever entered history."""
        return self._terminal.grid.history.total

    @property
    def alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return self._terminal.grid.saved is not None

    @property
    def ground(self) -> bool:
        """Whether the parser is outside of any sequence or character."""
        return self._terminal.ground

    @property
    def widths(self) -> Widths:
        """How wide characters are here."""
        return self._terminal.widths

    # pyte's attributes

    @property
    def columns(self) -> int:  # type: ignore[override]  # attributes in pyte, here and below
        """Width in cells."""
        return self._terminal.columns

    @property
    def lines(self) -> int:  # type: ignore[override]
        """Height in rows."""
        return self._terminal.lines

    @property
    def title(self) -> str:  # type: ignore[override]
        """What OSC 0, OSC 2 or APC set last."""
        return self._terminal.title

    @property
    def cursor(self) -> CursorView:  # type: ignore[override]
        """The cursor; `x` equals `columns` while a wrap is pending."""
        return self._cursor

    @property
    def buffer(self) -> Buffer:  # type: ignore[override]
        """Screen lines to columns to cells."""
        return Buffer(self._window())

    @property
    def display(self) -> list[str]:
        """The screen as strings, filled up with blanks."""
        return [line.text + " " * (self.columns - len(line.cells)) for line in self._window()]

    @property
    def dirty(self) -> set[int]:  # type: ignore[override]
        """Lines that changed since the caller cleared this set; all of them after a scroll."""
        self._note_dirty()
        if self._undrawn:
            self._dirty.update(y for y in range(self.lines) if self._undrawn >> y & 1)
            self._undrawn = 0
        return self._dirty

    @property
    def history(self) -> History:  # type: ignore[override]
        """What is above and below the window that paging shows; rows are made when they are read."""
        grid = self._terminal.state.grid
        limit = grid.history.limit
        top = [*islice(grid.history, len(grid.history) - self._above)]
        bottom = (
            [*islice(grid.history, len(top) + self.lines, None), *grid.lines][-self._above :] if self._above else []
        )
        return History(cast(Any, Rows(top)), cast(Any, Rows(bottom)), self._ratio, limit, limit - self._above)

    @property
    def mode(self) -> set[int]:  # type: ignore[override]
        """The modes that are on, as pyte numbers them."""
        return {number for name, number in _MODES.items() if getattr(self._terminal.state.modes, name)}

    @property
    def modes(self) -> Modes:
        """The modes tmux tells of a pane."""
        return self._terminal.state.modes

    @property
    def margins(self) -> Margins | None:  # type: ignore[override]
        """The scroll region, None for the whole screen."""
        state = self._terminal.state
        return None if (state.top, state.bottom) == (0, state.lines - 1) else Margins(state.top, state.bottom)

    @property
    def tabstops(self) -> set[int]:  # type: ignore[override]
        """The columns of the tab stops."""
        return set(self._terminal.state.tabs)

    @property
    def charset(self) -> int:  # type: ignore[override]
        """0 while G0 is in use, 1 while G1 is."""
        return int(self._terminal.state.charsets.shifted)

    @property
    def g0_charset(self) -> str:  # type: ignore[override]
        """G0, as pyte's map."""
        return charsets.VT100_MAP if self._terminal.state.charsets.g0 else charsets.LAT1_MAP

    @property
    def g1_charset(self) -> str:  # type: ignore[override]
        """G1, as pyte's map."""
        return charsets.VT100_MAP if self._terminal.state.charsets.g1 else charsets.LAT1_MAP

    # Paging

    def prev_page(self) -> None:
        """Look at older rows, by the part of the screen that `ratio` says."""
        self._page(self._above + math.ceil(self.lines * self._ratio))

    def next_page(self) -> None:
        """Look at newer rows."""
        self._page(self._above - math.ceil(self.lines * self._ratio))

    def _page(self, above: int) -> None:
        above = min(max(above, 0), len(self._terminal.state.grid.history))
        if above != self._above:
            self._above = above
            self._cursor.paged = above > 0
            self._dirty.update(range(self.lines))

    def _window(self) -> Sequence[StoredRow]:
        grid = self._terminal.state.grid
        if not self._above:
            return grid.shown()
        start = len(grid.history) - self._above
        return [*islice(grid.history, start, start + self.lines), *grid.lines][: self.lines]

    def _note_dirty(self) -> None:
        """Pass the dirty lines of the grid to both consumers: pyte's `dirty` set and the next frame."""
        self._terminal.report()
        grid = self._terminal.grid
        if grid.dirty or grid.scrolled:
            self._undrawn |= (1 << self.lines) - 1 if grid.scrolled else grid.dirty
            self._dirty_since_take = self._dirty_since_take >> grid.scrolled | grid.dirty
            self._scrolled_since_take += grid.scrolled
            grid.dirty = grid.scrolled = 0
