"""Rows on the screen and in history, and how they move (tmux 3.3a grid.c, grid-view.c).

Rules of tmux that other terminals do not have:

* Any scroll up takes the top row of its region into history, also in the middle of the screen; deleting lines
  does not.
* Clearing the whole screen first pushes everything down to the last row in use into history.
* Moving or clearing rows ends the soft wrap of the row above them, even if that is the last row of history.
* Without history, a region of one line does not scroll.
* Inserting cells changes nothing if their number equals that of the cells right of the cursor.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from streamrelay.vt.engine import Overlay, Restart, Return
from streamrelay.vt.history import StoredRow
from streamrelay.vt.rows import Line
from streamrelay.vt.scrollback import Scrollback
from streamrelay.vt.symbols import Symbols

MAX_NOTES = 1 << 14
"""Maximum number of restarts, of overlays and of returns in a frame. A read of 64 KiB has fewer."""


class Grid:
    """The rows of one terminal.

    Screen lines are counted from 0 at the top. `style` is the number of the style that erased cells get.
    """

    def __init__(self, columns: int, lines: int, limit: int) -> None:
        self.columns = columns
        self.symbols = Symbols()
        self.lines = [Line(self.symbols) for _ in range(lines)]
        self.history = Scrollback(limit)
        self.keeps_history = limit > 0
        """False while the alternate screen is shown, and always if the limit of the history is 0."""
        self.saved: list[Line] | None = None
        """The main screen, while the alternate one is shown."""
        self.saved_columns = columns
        """The width of the main screen when it was saved, in columns."""
        self.dirty = 0
        """The changed lines since the last `forget`: bit `y` is line `y`."""
        self.scrolled = 0
        """How many lines the whole screen scrolled up since then."""
        self.restarts: deque[Restart] = deque(maxlen=MAX_NOTES)
        """Each restart of the main screen since then: a clear, or a move to its first row."""
        self.overlays: deque[Overlay] = deque(maxlen=MAX_NOTES)
        """Rows that a program overwrote since then while its cursor was away (excursion.py)."""
        self.returns: dict[int, Return] = {}
        """Carriage returns since then that ended on a continuation row of a wrapped line, by row."""
        self._pushes = 0
        """How often lines of the main screen were pushed down."""

    def forget(self) -> None:
        """Start a new frame: forget all changes and committed rows up to now."""
        self.history.forget()
        self.dirty = self.scrolled = 0
        self.restarts.clear()
        self.overlays.clear()
        self.returns.clear()

    def carriage_return(self, y: int) -> None:
        """Note a carriage return on screen line `y`, if that is a continuation row of a wrapped line."""
        above, line = self.lines[y - 1] if y else self.history, self.lines[y]
        if above.wrapped and self.keeps_history and line.cells.strip(" ") and len(self.returns) < MAX_NOTES:
            first = y
            while first and self.lines[first - 1].wrapped:
                first -= 1
            row, text = self.history.total + y, line.text
            noted = self.returns.get(row)
            if noted is None:
                self.returns[row] = Return(row, text, row - y + first)
            elif noted.text != text:
                self.returns[row] = noted._replace(is_written_over=True)

    def line_feed(self, y: int) -> None:
        """Note a line feed on screen line `y`: a carriage return behind which nothing was written is half of it."""
        row = self.history.total + y
        noted = self.returns.get(row)
        if noted is None or noted.is_written_over:
            return
        if self.lines[y].text == noted.text:
            del self.returns[row]
        else:
            self.returns[row] = noted._replace(is_written_over=True)

    def restart(self) -> None:
        """Note that the cursor moved up to the first row; repeated moves count once until a row is committed."""
        if self.keeps_history and not (self.restarts and self.restarts[-1].total == self.history.total):
            self.restarts.append(Restart(self.history.total))

    def touch(self, top: int, bottom: int) -> None:
        """Mark the lines `top` to `bottom` (inclusive) as changed."""
        if bottom >= top:
            self.dirty |= (1 << bottom + 1) - (1 << top)

    # Rows

    def blank(self, style: int = 0) -> Line:
        """Return an empty row."""
        return Line(self.symbols, "", chr(style) * self.columns if style else "")

    def scroll(self, style: int) -> None:
        """Scroll the whole screen up by one line: the most common case of `scroll_up`, in half its time."""
        if not self.keeps_history:
            self.scroll_up(0, len(self.lines) - 1, style)
            return
        lines = self.lines
        self.history.commit_one(lines.pop(0))
        lines.append(self.blank(style))
        self.dirty >>= 1
        self.scrolled += 1
        if style:
            self.dirty |= 1 << len(lines) - 1

    def scroll_up(self, top: int, bottom: int, style: int = 0, count: int = 1) -> None:
        """Scroll the lines `top` to `bottom` (inclusive) up by `count`, which is at most their number."""
        lines = self.lines
        if top == bottom and not self.keeps_history:
            return
        if self.keeps_history:
            self.history.commit(lines[top : top + count])
        else:
            self.end_wrap(top - 1)
        del lines[top : top + count]
        first = bottom + 1 - count
        lines[first:first] = [self.blank(style) for _ in range(count)]
        if not self.keeps_history and bottom == top + 1:
            self.end_wrap(top)
        if top == 0 and bottom == len(lines) - 1:
            self.dirty >>= count
            self.scrolled += count
            if style:
                self.touch(first, bottom)
        else:
            self.touch(top, bottom)

    def scroll_down(self, top: int, bottom: int, style: int = 0, count: int = 1) -> None:
        """Scroll the lines `top` to `bottom` (inclusive) down by `count`; the lowest lines are lost."""
        if bottom > top:
            if self.saved is None:
                self._push(self.lines[top : bottom + 1 - count])
            self.end_wrap(top)
            self.lines[top : bottom + 1] = [
                *(self.blank(style) for _ in range(count)),
                *self.lines[top : bottom + 1 - count],
            ]
            self.end_wrap(top - 1)
            self.touch(top, bottom)

    def _push(self, lines: Iterable[Line]) -> None:
        for line in lines:
            if line.cells and (line.pushed is None or line.pushed[1] != line.cells):
                line.pushed = (self._pushes, line.cells)
        self._pushes += 1

    def order(self) -> tuple[int, ...]:
        """Return for each screen line how often lines had been pushed down when it got its text; empty if never."""
        if not self._pushes:
            return ()
        pushed = ((line.pushed, line.cells) for line in self.lines)
        return tuple(at[0] if at is not None and at[1] == cells else self._pushes for at, cells in pushed)

    def move(self, to: int, start: int, count: int, style: int) -> None:
        """Move `count` lines from `start` to `to`; they overwrite lines there and leave empty lines behind."""
        if count <= 0 or to == start:
            return
        lines = self.lines
        self.end_wrap(to - 1)
        block = lines[start : start + count]
        if to > start and self.saved is None:
            self._push(block)
        lines[to : to + count] = block
        for y in range(start, start + count):
            if not to <= y < to + count:
                lines[y] = self.blank(style)
        if not to <= start < to + count:
            self.end_wrap(start - 1)
        self.touch(min(to, start), max(to, start) + count - 1)

    def empty(self, top: int, count: int, style: int) -> None:
        """Empty `count` whole lines from `top` on."""
        if count == 1:
            line = self.lines[top]
            line.cells = ""
            line.look = chr(style) * self.columns if style else ""
            line.wrapped = False
            self.end_wrap(top - 1)
            self.dirty |= 1 << top
        elif count > 0:
            self.lines[top : top + count] = [self.blank(style) for _ in range(count)]
            self.end_wrap(top - 1)
            self.touch(top, top + count - 1)

    def erase(self, x: int, y: int, count: int, style: int) -> None:
        """Erase `count` cells of line `y` from column `x` on; erasing all cells empties the line."""
        if x == 0 and count == self.columns:
            self.empty(y, 1, style)
        elif count > 0:
            self.lines[y].erase(x, count, style)
            self.dirty |= 1 << y

    def clear_into_history(self, style: int) -> None:
        """Clear the screen; its rows up to the last one in use go into history first."""
        height = len(self.lines)
        last = max((y for y, line in enumerate(self.lines, 1) if line.cells), default=0)
        rest = self.lines[last:]
        if last:
            self.history.commit(self.lines[:last])
            self.history.fence()
        erased = last
        if self.restarts and self.restarts[-1].total == self.history.total:
            # No row was pushed: the screen was blank, just cleared, or had its cursor on the first row.
            erased = self.restarts.pop().erased
        self.restarts.append(Restart(self.history.total, erased, cleared=True))
        self.lines = [self.blank(style) for _ in range(height)]
        self.dirty >>= last
        self.scrolled += last
        if rest:
            self.end_wrap(-1)
        if style:
            self.touch(0, height - 1)
        elif any(line.look or line.wrapped for line in rest):
            self.touch(0, len(rest) - 1)

    def insert_cells(self, x: int, y: int, count: int, style: int) -> None:
        """Insert `count` blank cells at `x`; cells pushed out on the right are lost."""
        if x >= self.columns - 1:
            self.erase(x, y, 1, style)
        elif (kept := self.columns - x - count) > 0:
            self.lines[y].shift(x + count, x, kept, style)
            self.dirty |= 1 << y

    def delete_cells(self, x: int, y: int, count: int, style: int) -> None:
        """Delete `count` cells at `x`; the rest of the line moves left."""
        kept = self.columns - x - count
        if kept > 0:
            self.lines[y].shift(x, x + count, kept, style)
            self.dirty |= 1 << y
        self.erase(self.columns - count, y, count, style)

    def end_wrap(self, y: int) -> None:
        """Note that line `y` no longer continues in the next line; -1 is the last row of history."""
        if y >= 0:
            if self.lines[y].wrapped:
                self.lines[y].wrapped = False
                self.dirty |= 1 << y
        else:
            self.history.untie_last()

    # The screen as a whole

    def enter_alternate(self) -> None:
        """Save the main screen and start an empty alternate screen, which keeps no history."""
        self.saved = [line.line() for line in self.lines]
        self.saved_columns = self.columns
        self.empty(0, len(self.lines), 0)
        self.keeps_history = False
        self.scrolled = 0

    def leave_alternate(self) -> None:
        """Restore the main screen."""
        if self.saved is not None:
            self.lines = self.saved
            self.saved = None
            self.keeps_history = self.history.limit > 0
            self.scrolled = 0
            self.touch(0, len(self.lines) - 1)

    def shown(self) -> list[Line]:
        """Return the rows, cropped to the width of the screen."""
        columns = self.columns
        return [line if len(line.cells) <= columns else line.cropped(columns) for line in self.lines]

    def replace(self, rows: Sequence[StoredRow]) -> None:
        """Replace the rows of the screen; `rows` may include rows of the current screen."""
        own = {id(line) for line in self.lines}
        self.lines = [row if isinstance(row, Line) and id(row) in own else row.line(self.symbols) for row in rows]

    def renew_symbols(self) -> None:
        """Switch to a new table of symbols; history keeps the old one."""
        self.symbols = Symbols()
        for line in self.on_screen():
            line.moved(self.symbols)

    def on_screen(self) -> Iterator[Line]:
        """Yield the rows that may still change."""
        yield from self.lines
        yield from self.saved or ()
