"""A new size of the screen, as tmux makes it (tmux 3.3a screen.c, screen_resize and screen_alternate_off; grid.c).

* A lower screen first loses lines below the cursor, then gives lines at the top to history. A higher one takes back
  as many rows as scrolled there since history or the screen was last cleared.
* With another width, rows of history and screen that go on in the next one are joined, and rows that are too long are
  split. The screen is the last rows of what comes out, empty ones included: what a split makes more goes into history.
* The cursor stays with its character; behind the last one of its row it moves up to it.
* The alternate screen is not reflowed: cells right of a narrower one come back when it is wider again. Its main
  screen gets its old size back before it is shown, and only then the new one.
* The scroll region is the whole screen again after a change of the height, tab stops are those of a new screen after a
  change of the width.

Two things differ. Behind a reflow history may hold more rows than its limit until the next one enters it: in tmux any
number, here twice as many. The cursor of an alternate screen that got narrower is never right of the margin.
Where the bottom row goes on in no other, tmux 3.3a reads past its rows; here that is the end.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from streamrelay.vt.grid import Grid
from streamrelay.vt.history import StoredRow
from streamrelay.vt.rows import PLAIN, Line
from streamrelay.vt.state import TerminalState
from streamrelay.vt.symbols import CLUSTER
from streamrelay.vt.widths import STUB, Widths

_END: Final = -1
"""The place of a cursor behind the last character of its row."""


def resize(state: TerminalState, lines: int, columns: int) -> None:
    """Change the size of the screen that is shown, as tmux does when its window changes."""
    _resize(state, lines, columns, reflow=state.grid.saved is None)
    state.x = min(state.x, columns)


def leave_alternate(state: TerminalState, *, with_cursor: bool) -> None:
    """Show the main screen again, in the size the screen has by now; its cursor is the one kept, or stays."""
    grid = state.grid
    lines, columns = state.lines, state.columns
    if grid.saved is not None:
        _resize(state, len(grid.saved), grid.saved_columns, reflow=True)
    if with_cursor and state.main_cursor is not None:
        state.x, state.y = state.main_cursor
        state.set_style(state.main_style)
    if grid.saved is not None:
        grid.leave_alternate()
        _resize(state, lines, columns, reflow=True)
    state.move_to(state.x, state.y)


def _resize(state: TerminalState, lines: int, columns: int, *, reflow: bool) -> None:
    grid = state.grid
    height, width = state.lines, state.columns
    if (lines, columns) == (height, width):
        return
    state.epoch += 1
    if columns != width:
        state.columns = grid.columns = columns
        state.reset_tabs()
    if lines != height:
        state.y += _change_height(grid, lines, state.y)
        state.lines = lines
        state.top, state.bottom = 0, lines - 1
    if columns != width and reflow:
        state.x, state.y = _reflow(grid, columns, state.widths, (state.x, state.y))
    grid.dirty = grid.scrolled = 0
    grid.touch(0, lines - 1)


def _change_height(grid: Grid, lines: int, cursor: int) -> int:
    """Change the height, and return how far the cursor's line moved."""
    height = len(grid.lines)
    moved = 0
    if lines < height:
        below = min(height - lines, height - 1 - cursor)
        grid.empty(height - below, below, 0)
        above = height - below - lines
        moved = -above
        if grid.keeps_history:
            grid.history.commit(grid.lines[:above], at_once=True)
            del grid.lines[:above]
        elif above:
            grid.move(0, above, height - above, 0)
            grid.empty(height - above, above, 0)
        del grid.lines[lines:]
    elif grid.keeps_history:
        back = [row.line(grid.symbols) for row in grid.history.pull(lines - height)]
        grid.lines[:0] = back
        moved = len(back)
    grid.lines += [grid.blank() for _ in range(lines - len(grid.lines))]
    return moved


def _reflow(grid: Grid, columns: int, widths: Widths, cursor: tuple[int, int]) -> tuple[int, int]:
    """Reflow history and screen, and return the cursor, which must have been on the screen."""
    old = [*grid.history, *grid.lines]
    place = _logical(old, cursor[0], grid.history.size + cursor[1])
    flow = _Flow(old, columns, widths, grid.history.pullable)
    flow.run()
    new = flow.rows
    height = len(grid.lines)
    new += [grid.blank() for _ in range(height - len(new))]
    size = len(new) - height
    grid.history.replace(new[:size], flow.pullable)
    grid.replace(new[size:])
    x, y = _physical(new, place)
    return (x, y - size) if y >= size else (0, 0)


def _used(row: StoredRow) -> int:
    return len(row.cells)


def _logical(rows: Sequence[StoredRow], x: int, y: int) -> tuple[int, int]:
    """Return the place of a cursor as characters into a line, and which line that is."""
    before = line = 0
    for row in rows[:y]:
        if row.wrapped:
            before += _used(row)
        else:
            before = 0
            line += 1
    return (_END if x >= _used(rows[y]) else before + x), line


def _physical(rows: Sequence[StoredRow], place: tuple[int, int]) -> tuple[int, int]:
    """Return the column and row of what `_logical` gave."""
    x, line = place
    y, last = 0, len(rows) - 1
    while line and y < last:
        line -= not rows[y].wrapped
        y += 1
    while y < last and rows[y].wrapped and (x == _END or x >= _used(rows[y])):
        x -= 0 if x == _END else _used(rows[y])
        y += 1
    return (_used(rows[y]) if x == _END else x), y


class _CellWidths(dict[str, int]):
    """The columns of a cell: none for the second half of a wide character."""

    def __init__(self, widths: Widths) -> None:
        super().__init__({STUB: 0})
        self._widths = widths

    def __missing__(self, cell: str) -> int:
        width = self[cell] = 2 if self._widths.width(cell) == 2 else 1
        return width


class _Flow:
    """Rows on their way into rows of another width (tmux 3.3a grid.c, grid_reflow, here for strings)."""

    def __init__(self, old: list[StoredRow], columns: int, widths: Widths, pullable: int) -> None:
        self._old = old
        self._columns = columns
        self._table = widths
        self._widths = _CellWidths(widths)
        self._next = 0
        self.rows: list[StoredRow] = []
        self.pullable = pullable

    def run(self) -> None:
        """Make `rows`."""
        columns = self._columns
        while self._next < len(self._old):
            row = self._old[self._next]
            if not row.wrapped and len(row.text) * 2 <= columns:
                self._next += 1
                self.rows.append(row)
                continue
            ends = self._ends(row)
            if ends[-1] > columns:
                self._split(row, ends)
            elif ends[-1] < columns and row.wrapped:
                self._next += 1
                self.rows.append(row)
                self._join(ends[-1])
            else:
                self._next += 1
                self.rows.append(row)

    def _ends(self, row: StoredRow) -> Sequence[int]:
        """Return the columns that the first 0, 1, 2... cells of a row take."""
        cells = row.cells
        if cells.isascii():
            return range(len(cells) + 1)
        cells = CLUSTER.sub(lambda cluster: row.symbols.text(cluster[0])[0], cells)
        return list(accumulate(map(self._widths.__getitem__, cells), initial=0))

    def _split(self, row: StoredRow, ends: Sequence[int]) -> None:
        """Make several rows of one that is too long, and fill up the last of them with what goes on behind it."""
        columns = self._columns
        used = len(ends) - 1
        # A wide character in a single column stands alone all the same, below an empty row where it is the first.
        stop = max(bisect_right(ends, columns) - 1, 1)
        pieces = [slice(0, stop)]
        start = stop
        stop = bisect_right(ends, ends[start] + columns) - 1
        while True:
            pieces.append(slice(start, stop))
            if stop >= used:
                break
            start, stop = stop, max(bisect_right(ends, ends[stop] + columns) - 1, stop + 1)
        cells, look, symbols = row.cells, row.look, row.symbols
        for piece in pieces:
            self.rows.append(Line(symbols, cells[piece], look[piece].rstrip(PLAIN), wrapped=True))
        last = self.rows[-1] = Line(symbols, cells[start:], look[start:used].rstrip(PLAIN), wrapped=row.wrapped)
        if self._next <= self.pullable:
            self.pullable += len(pieces) - 1
        self._next += 1
        width = ends[used] - ends[start]
        if last.wrapped and width < columns:
            self._join(width)

    def _join(self, width: int) -> None:
        """Fill up the newest row, which is `width` columns wide, with what it goes on in."""
        columns, old = self._columns, self._old
        target = self.rows[-1]
        cells, look, symbols = target.cells, target.look, target.symbols
        wrapped = True
        left: Line | None = None
        first = at = self._next
        while at < len(old):
            row = old[at]
            wrapped = wrapped and row.wrapped
            if not row.cells:
                if not wrapped:
                    break
                at += 1
                continue
            ends = self._ends(row)
            taken = bisect_right(ends, columns - width) - 1
            if taken == 0:
                break
            width += ends[taken]
            source = row if row.symbols is symbols else row.line(symbols)
            look = _put(look, len(cells), source.look[:taken], taken)
            cells += source.cells[:taken]
            at += 1
            if taken < len(row.cells):
                left = Line(row.symbols, row.cells[taken:], row.look[taken : len(row.cells)], row.wrapped)
                break
            if not wrapped or width == columns:
                break
        if at == first:
            return
        if left is not None:
            at -= 1
            old[at] = left
        self.rows[-1] = Line(symbols, cells, look, wrapped=left is not None or wrapped)
        self._next = at
        to, gone = len(self.rows) - 1, at - first
        if self.pullable > to + gone:
            self.pullable -= gone
        else:
            self.pullable = min(self.pullable, max(to, 0))


def _put(look: str, start: int, part: str, count: int) -> str:
    """Return `look` with `part` from `start` on."""
    return (look[:start].ljust(start, PLAIN) + part.ljust(count, PLAIN) + look[start + count :]).rstrip(PLAIN)
