"""Turns frames into logical lines: a line of a program that prints is reported once, when nothing can change it.

How long a line waits depends on the program's *habit*:

| habit | a line is final when |
|---|---|
| plain | the line feed has passed it |
| unproven | it left the screen, or the program has printed more behind it, or `PROVING` seconds have passed |
| repaints | it left the screen, or the region that the program repaints, or the program has rested for its patience |
| paints | it left the screen, stands above all that the program repaints, or the program has shown its cursor again |

A program is unproven when the watching begins and when a shell starts a command; it is plain as soon as one of its
lines is final. It repaints from its first move above the open line (the one that holds the cursor) on, until it has not
done that for as long as its *patience*: `REPAINT_REST` seconds, or twice the longest time for which it was seen to let
lines stand that it then rewrote (a status row rewritten every ten seconds), `MAX_PATIENCE` at most. The *region* that
it repaints reaches from the open line up to as many rows above it as the program has gone up; that number counts as
known once its patience has ended for the first time. A program paints while it hides its cursor. `release` makes
everything above the cursor final: the turn is over, or the program asks for input. Of a program that paints, what
stands above its region is looked at every `REPAINT_REST` seconds for as long as it paints.

A program that *picks* shows a display from which a person chooses something, and rests within it. The tracker holds the
display until the program prints below it, clears the screen or reads no more keys, or for `MAX_DISPLAY` seconds.

Rows of a plain program are numbered by `history_total + y`, and everything above the open line was reported. With every
other habit row numbers do not survive a repaint, so a `Page` (page.py) knows by their text which lines were reported.
Only the final text of a rewritten line is reported. A page that is cleared before its lines are final is not.

Soft-wrapped rows are joined (line_rows.py): the terminal's width is not something the program said. Trailing blanks are
left out, since on a screen a written blank at the end and an erased cell look the same.
"""

from typing import Literal, NamedTuple

import msgspec

from streamrelay.delta.printing.line_rows import (
    MAX_LINE_ROWS,
    LineRow,
    Overwritten,
    first_rows,
    logical,
    stripped,
    unfinished,
)
from streamrelay.delta.printing.page import MAX_LINES, Page
from streamrelay.delta.printing.pushed_down import Copy, Region
from streamrelay.vt.engine import Cursor, Engine, Frame, Row

PROVING = 0.5
"""Seconds that the first lines of an unproven program stand before they are said."""
PROVED = 0.1
"""Seconds after its first line from which on an unproven program that has only gone on printing counts as plain."""
REPAINT_REST = 1.5
"""Seconds after which a line that a repainting program has left alone is final, as long as quiet ends a turn."""
MAX_PATIENCE = 20.0
"""The longest such time, for a program that rewrites its lines later than that: people do not wait longer."""
MAX_DISPLAY = 60.0
"""Seconds for which a display is held. People pick within a minute; an agent that repaints a fixed part of the screen
looks the same, and its first answer must not wait for longer. Its later answers do not wait."""
MAX_WAITING = 500
"""Rows that left the screen between two rests and wait for the second one."""

Habit = Literal["plain", "unproven", "repaints", "paints"]


class _Display(NamedTuple):
    """What a program shows while a person picks."""

    lowest: int
    """The number of its lowest row."""
    since: float
    """When the program first rested within it (stream time)."""


class _Shown(NamedTuple):
    """The lines of a page: those that left the screen, those that are final on it, and the ones below."""

    gone: list[str]
    final: list[str]
    below: list[str]

    @property
    def lines(self) -> list[str]:
        """The lines above `below`."""
        return [*self.gone, *self.final]

    def stripped(self) -> "_Shown":
        """Return the same without blanks at the ends of lines."""
        return _Shown(*map(stripped, self))


class LineTracker:
    """Follows one engine and tells which logical lines have been passed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._overwritten = Overwritten(engine)
        self._first_row = 0
        self._scrolled: list[str] = []
        self._frame = engine.take()
        self._unknown = False
        self._head = ""
        self.lost = 0
        """Rows that left the history before they were read."""
        self.habit: Habit = "plain"
        self.due: float | None = None
        """When `tick` is due; None while time makes no line final."""
        self._settled: Frame | None = None
        """The frame that `tick` saw last."""
        self._page: Page | None = None
        """What was said of the page, while the program is not plain."""
        self._remembered: list[str] = []
        """What was said of it since the program first repainted, while it is plain."""
        self._above: list[str] | None = None
        """The lines above the open line at the last rest or landmark; None where more has passed since."""
        self._gone: list[LineRow] = []
        """Rows that left the screen and are not said; the last ones may belong to a line that goes on."""
        self._committed = 0
        """`history_total` of the last frame."""
        self._lowest = 0
        """The lowest row that the cursor has reached while the program is not plain, by its number."""
        self._passed_until = 0
        """The number of the open line when an unproven program had printed its last line so far."""
        self._may_pick = True
        """Whether the program may be a picker; see `rule_out_picker`."""
        self._display: _Display | None = None
        """The display that is held."""
        self._region = 0
        """How many rows above the lowest one the program has gone up at most while it repaints."""
        self._touches: tuple[float, float] | None = None
        """When it went up first and last."""
        self._patience = REPAINT_REST
        self._changed_at: float | None = None
        """When the screen changed last."""
        self._finished = 0
        """Up to which row the lines above the region were said, by its number."""
        self._painted: Region | None = None
        """What the program painted last, up to its cursor."""
        self._copies: dict[Copy, bool] = {}
        """Rows near the screen that read as what stood below them at one time, and whether they do now."""
        self.seed(self._frame)

    def keep_head(self) -> None:
        """Keep the open line up to the cursor, for a `seed` that shows only the end of it."""
        self._head = self.open_head()

    def seed(self, frame: Frame) -> None:
        """Start at the line that holds the cursor: the rows above it were printed before watching began.

        Where the alternate screen is shown, the line is not known before the program leaves it.
        """
        head, self._head = self._head, ""
        self._frame = frame
        self.trust()
        self._scrolled = []
        self._overwritten = Overwritten(self._engine)
        self._above, self._remembered, self._committed = None, [], frame.history_total
        self._unknown = frame.alternate
        if frame.alternate:
            return
        y = self._line_start(frame.cursor.y)
        self._first_row = frame.history_total + y
        # A narrower screen holds fewer rows of a long line, and no snapshot shows those above it.
        self._above = self._lines_until(y)
        shown = self.open_head() if y == 0 and head else ""
        if shown and head.endswith(shown):
            self._scrolled.append(head.removesuffix(shown))

    def restart(self) -> None:
        """Start at the line that holds the cursor, because the earlier rows were erased."""
        if not self._frame.alternate:
            self.seed(self._frame)

    # Frames

    def take(
        self, frame: Frame, now: float, *, whole: bool = True, paints: bool = False, edits: bool = False,
        more: bool = False, only_printed: bool = False, picks: bool = False,
    ) -> list[str]:  # fmt: skip
        """Return the lines that a frame makes final, in order; of a program that is not plain, with blanks at the end.

        The screen is `whole` at a rest or a landmark: what it shows then is meant. The program `paints` while its
        cursor is hidden, and `edits` while a line editor may be at work, which rewrites its own rows. With `more` of
        the same read to come, what is still on the screen can wait: looking at all of it would take half of the time.
        A program that has `only_printed` since the last frame has not gone up, wherever its cursor stands. One that
        `picks` rests where a picker would rest.
        """
        self._frame = frame
        if frame.alternate:
            return []
        if self._unknown:
            self.seed(frame)
        self._overwritten.note(frame, edits=edits)
        if self._overwritten:
            self._frame = frame = self._below_replaced(frame)
        held: list[str] = []
        if edits and self._page is not None:
            if self.habit == "unproven":
                # An editor that withdraws was at work since before anybody watched: what is held may be its line.
                held = self._take_page(self._page, frame, now, whole=whole, paints=paints, only_printed=only_printed)
                held += self.release()
            self.trust()
        if self._page is None and not edits and (paints or (picks and self._may_pick) or self._goes_up(frame)):
            self._follow("paints" if paints else "repaints")
        if self._page is not None:
            lines = self._take_page(
                self._page, frame, now, whole=whole, paints=paints, only_printed=only_printed, picks=picks
            )
        else:
            if edits and frame.restarts and frame.restarts[-1].cleared:
                # An editor that clears the screen prints its line again.
                self._first_row, self._scrolled = frame.restarts[-1].total, []
            lines = held + self._passed(frame, held=more or (edits and paints))
            if lines:
                self._above = None
                if self._remembered:
                    self._remembered = [*self._remembered, *lines][-MAX_LINES:]
            if whole and (edits or not more):
                self._above = self._lines_until(self._first_row - frame.history_total)
        self._committed = frame.history_total
        if self._overwritten:
            self._overwritten.forget(frame.history_total)
        if frame.dirty or frame.scrolled:
            self._changed_at = now
        return lines

    @property
    def holds_display(self) -> bool:
        """Whether what stands on the screen is held as a display, which a picker erases when it ends."""
        return self._display is not None

    def end_picker(self) -> None:
        """Hold the display no longer: the picker has ended. The same command may start another one.

        How long its list stood tells nothing about lines that the command rewrites, so it adds no patience.
        """
        if self._display is not None:
            self._display, self.due, self._changed_at = None, self._changed_at, None

    def rule_out_picker(self) -> None:
        """Hold no display of this command any more: it prints, converses or clears its pages."""
        if self._display is not None:
            self._display, self.due = None, self._changed_at
        self._may_pick = False

    @property
    def patience(self) -> float:
        """Seconds of rest after which what stands on the screen is final."""
        return REPAINT_REST if self._page is None else self._patience

    def skip(self, frame: Frame) -> None:
        """Skip the contents of a frame, which are no printed output."""
        self.trust()
        self._frame, self._above, self._remembered = frame, None, []
        if not frame.alternate and not self._unknown:
            # It paints below its cursor, and may clear its rows when it leaves: what is printed then begins below them.
            y = self._engine.lines
            while y > frame.cursor.y and not self._engine.row(y - 1).text.strip():
                y -= 1
            self._first_row, self._scrolled = frame.history_total + y, []
            self._committed = frame.history_total
        self.lost = 0

    def go_back(self) -> int:
        """Take the line that holds the cursor for the open one; return how many lines have passed from there on.

        A line editor goes down to list what may be typed below its row, and up again.
        """
        y = self._line_start(self._frame.cursor.y)
        passed = len(logical(self._line_rows(y, self._open_y))) if 0 <= y < self._open_y else 0
        if passed:
            self._first_row, self._scrolled = self._frame.history_total + y, []
        return passed

    def doubt(self) -> None:
        """Treat the program as unproven; the lines above the open one were reported."""
        if self._frame.alternate or self._unknown:
            return
        self._remembered, self._above = [], None
        self._patience, self._changed_at = REPAINT_REST, None
        self._may_pick, self._display = True, None
        self._note_cursor(self._frame)
        self._follow("unproven")

    def trust(self) -> None:
        """Treat the program as plain."""
        self._page, self.habit, self.due = None, "plain", None
        self._display = None
        self._gone.clear()

    def tick(self, now: float) -> list[str]:
        """Return the lines that are final because the program has left them alone for so long."""
        if self.due is None or now < self.due:
            return []
        if self.habit == "unproven":
            return self.release()
        if self.holds_display:
            self.rule_out_picker()
        lines = self._settle(self._frame, now)
        if self.habit == "paints" and self._settled is self._frame:
            self.due = None  # nothing was painted since the last time
        self._settled = self._frame
        return lines

    def release(self) -> list[str]:
        """Return the lines above the cursor that were not said; they are no longer expected to change."""
        page = self._page
        if page is None or self._frame.alternate:
            return []
        end = self._open_y
        lines = self._say_until(end)
        while end < self._engine.lines - 1 and self._engine.row(end).wrapped:
            end += 1
        if any(row.text.strip() for row in self._line_rows(end + 1)):
            # Some of what stands below may have been said, and the program may go down over it.
            self.habit, self.due, self._touches = "repaints", None, None
            self._display = None
            return lines
        self._remembered = page.lines if self.habit != "unproven" else []
        self._above = page.lines[page.top :]
        self.trust()
        return lines

    @property
    def waiting(self) -> list[str]:
        """The lines that `release` would return, without those that are blank."""
        if self._page is None or self._frame.alternate:
            return []
        shown = self._shown(self._open_y)
        lines = shown.lines
        return [lines[number] for number in self._page.new_lines(*shown.stripped()) if lines[number].strip()]

    def _goes_up(self, frame: Frame) -> bool:
        """Tell whether a plain program has moved above its open line since the screen was whole last."""
        if self._above is None:
            return False
        y = self._open_y
        if frame.restarts or frame.cursor.y < y:
            return True
        if y <= 0 or not frame.dirty & ((1 << y) - 1):
            return False
        # Rows count as changed where a part of the screen has scrolled, too, or the main screen has come back.
        committed = self._overwritten.clean(frame.history_total - len(frame.committed), frame.committed)
        return stripped(logical([*committed, *self._line_rows(0, y)])) != self._above

    def _follow(self, habit: Habit) -> None:
        """Follow the page of a program that is not plain; what stands above its open line was said."""
        above = self._above
        if above is None:
            above = self._lines_until(self._first_row - self._committed)
        before = self._remembered[: len(self._remembered) - len(above)] if self._remembered else []
        self._page = Page([*before, *above], len(before))
        self._gone = [LineRow(text, True) for text in self._scrolled]
        self._lowest = self._passed_until = self._finished = self._first_row
        self._region, self._painted, self._copies = 0, None, {}
        self.habit, self.due, self._touches = habit, None, None

    def _take_page(
        self, page: Page, frame: Frame, now: float, *, whole: bool, paints: bool, only_printed: bool,
        picks: bool = False,
    ) -> list[str]:  # fmt: skip
        total = frame.history_total
        first = total - len(frame.committed)
        if whole and not only_printed:
            self._note_painted(frame, first)
        committed = self._overwritten.clean(first, frame.committed)
        if first > self._committed:
            self.lost += first - self._committed
            self._gone.clear()
            page.forget()
        lines: list[str] = []
        start = 0
        for restart in frame.restarts:
            stop = max(start, restart.total - restart.erased - first)
            self._gone += committed[start:stop]
            lines += self._say_gone(page)
            if self.habit == "unproven" or (restart.cleared and self._has_stood(now)):
                erased = logical(committed[stop : max(stop, min(restart.total, self._lowest) - first)])
                lines += [erased[number] for number in page.say((), stripped(erased), ())]
            if restart.cleared and self.holds_display:
                self.rule_out_picker()
            page.restart(cleared=restart.cleared)
            self._gone.clear()
            start = max(stop, restart.total - first)
        self._gone += committed[start:]
        self._note_cursor(frame)
        top = None if only_printed else self._went_up_to(frame)
        if top is not None:
            self._region, self._finished = max(self._region, self._lowest - top), min(self._finished, top)
            # Clearing the page rewrites no line: a watch mode begins its next run, whose lines are output of their own.
            # Nor does a display that changes: the picker erases it before the command prints.
            rewrites = not (self.holds_display or any(restart.cleared for restart in frame.restarts))
            if rewrites and self._changed_at is not None and now - self._changed_at >= REPAINT_REST:
                self._patience = max(self._patience, min(2 * (now - self._changed_at), MAX_PATIENCE))
        self._lowest = max(self._lowest, self._first_row)
        display = self._display
        if display is not None and (self._lowest > display.lowest or now >= display.since + MAX_DISPLAY):
            self.rule_out_picker()
        if picks and self._may_pick and self._display is None:
            self._display = _Display(self._lowest, now)
            lines += self._say_until(min(self._passed_until, self._lowest - self._region) - total)
        if self._display is not None:
            self.habit = "repaints"
        elif paints:
            self.habit = "paints"
            self.due = now + REPAINT_REST if self.due is None else self.due
        elif self.habit == "paints" and whole and top is None and self._touches is None:
            return lines + self.release()
        elif (self.habit == "paints" and whole) or (self.habit == "unproven" and top is not None):
            self.habit = "repaints"
        if top is not None or (whole and self.habit == "repaints" and self._touches is None):
            self._touches = (self._touches[0] if self._touches else now, now)
        if whole or len(self._gone) > MAX_WAITING:
            lines += self._say_gone(page, with_screen=True)
        if self._display is not None:
            self.due = self._display.since + MAX_DISPLAY
            return lines
        if self.habit == "repaints" and whole:
            return lines + self._settle(frame, now)
        if self.habit == "unproven":
            return lines + (self.release() if lines or self._has_proved(now, whole=whole) else [])
        return lines

    def _has_stood(self, now: float) -> bool:
        """Tell whether a display has stood for as long as lines of other programs do until they are final."""
        return self.holds_display and self._touches is not None and now >= self._touches[1] + self._patience

    def _settle(self, frame: Frame, now: float) -> list[str]:
        """Return the lines of a repainting program that are final."""
        first, last = self._touches or (now, now)
        row = self._lowest - self._region
        is_known = now >= first + self._patience
        self.due = (last if is_known or row <= self._finished else first) + self._patience
        if now >= self.due:
            return self.release()
        if not is_known or row <= self._finished:
            return []
        self._finished = row
        return self._say_until(row - frame.history_total)

    def _has_proved(self, now: float, *, whole: bool) -> bool:
        """Tell whether an unproven program has gone on printing lines for long enough to count as plain.

        One that went to another row by other means than printing is looked at when the screen is `whole`.
        """
        if self._first_row <= self._passed_until:
            return False
        self._passed_until = self._first_row
        if self.due is None:
            self.due = now + PROVING
        return not whole and now >= self.due - PROVING + PROVED

    @property
    def _open_y(self) -> int:
        """The screen row that the open line begins in; below 0 where it left the screen."""
        return self._first_row - self._frame.history_total

    def _line_start(self, y: int) -> int:
        """Return the first row of the line that is in screen row `y`, as far as it is on the screen."""
        total = self._frame.history_total
        while y > 0 and self._engine.row(y - 1).wrapped:
            if self._overwritten.is_replaced(total + y - 1):
                break
            y -= 1
        return y

    def _below_replaced(self, frame: Frame) -> Frame:
        """Return a frame with the cursor below rows that were replaced: a backspace can go up to one."""
        y = frame.cursor.y
        while self._overwritten.is_replaced(frame.history_total + y):
            y += 1
        return frame if y == frame.cursor.y else msgspec.structs.replace(frame, cursor=Cursor(0, y))

    def _note_cursor(self, frame: Frame) -> None:
        """Take the line that holds the cursor for the open one."""
        y = self._line_start(frame.cursor.y)
        self._first_row = frame.history_total + y
        self._scrolled = [row.text for row in unfinished(self._gone)] if y == 0 else []

    def _went_up_to(self, frame: Frame) -> int | None:
        """Return the highest row above `_lowest` that this frame shows the program to have gone up to."""
        rows = [restart.total for restart in frame.restarts]
        total = frame.history_total
        laid_over = {1 << overlay.row - total for overlay in frame.overlays if overlay.row >= total}
        dirty = frame.dirty & ~sum(laid_over) & ((1 << max(0, self._lowest - total)) - 1)
        if dirty:
            rows.append(total + (dirty & -dirty).bit_length() - 1)
        if total + frame.cursor.y < self._lowest:
            rows.append(self._first_row)
        return min(rows, default=None)

    def _note_painted(self, frame: Frame, first: int) -> None:
        """Note what the program painted in this frame, and a copy of it that it left above; see pushed_down.py."""
        if any(restart.cleared for restart in frame.restarts):
            self._painted, self._copies = None, {}
        self._check_copies(frame, first)
        top = self._went_up_to(frame)
        if top is None:
            return
        rows = [row.text for row in [*frame.committed, *self._engine.rows(0, frame.cursor.y + 1)]]
        painted = Region(top, rows[max(0, top - first) :])
        copy = self._painted.copy_above(painted) if self._painted is not None else None
        if copy is not None:
            self._overwritten.replace(copy.rows, frame.history_total)
            self._copies[copy] = True
        self._painted = painted

    def _check_copies(self, frame: Frame, first: int) -> None:
        """Take a copy for text of its own while something else stands below it, and for ever if it is painted anew."""
        is_replaced = self._overwritten.is_replaced
        self._copies = {
            copy: counts
            for copy, counts in self._copies.items()
            if copy.rows.stop >= first and (not counts or all(map(is_replaced, copy.rows)))
        }
        if not self._copies:
            return
        rows = [row.text for row in [*frame.committed, *self._engine.rows(0, self._engine.lines)]]
        for copy in self._copies:
            self._copies[copy] = copy.is_above(rows[copy.rows.stop - first :])
            if self._copies[copy]:
                self._overwritten.replace(copy.rows, frame.history_total)
            else:
                self._overwritten.restore(copy.rows)

    # Lines of a page

    def _say_gone(self, page: Page, *, with_screen: bool = False) -> list[str]:
        """Return the new ones of the lines that left the screen; the lines on the screen are compared where needed."""
        if not self._gone:
            return []
        tail = unfinished(self._gone)
        lines = logical(self._gone[: len(self._gone) - len(tail)])
        self._gone = tail
        if not lines:
            return []
        gone = stripped(lines)
        below = self._lines_until(self._engine.lines) if with_screen and not page.expects(gone) else ()
        return [lines[number] for number in page.say(gone, (), below)]

    def _say_until(self, y: int) -> list[str]:
        """Return the new lines above screen row `y`."""
        if self._page is None:
            return []
        shown = self._shown(y)
        new = self._page.say(*shown.stripped())
        if self._frame.order and new:
            new = self._as_printed(new, shown)
        self._gone = unfinished(self._gone)
        return [shown.lines[number] for number in new]

    def _as_printed(self, numbers: list[int], shown: _Shown) -> list[int]:
        """Return numbers of lines in the order in which they were printed: some were inserted above others."""
        order, tail = self._frame.order, unfinished(self._gone)
        rows = first_rows([*tail, *self._line_rows()])[: len(shown.final)]
        printed = [-1] * len(shown.gone) + [order[max(0, row - len(tail))] for row in rows]
        return sorted(numbers, key=lambda number: printed[number])

    def _line_rows(self, start: int = 0, stop: int | None = None) -> list[LineRow]:
        """Return screen rows without what was written over them."""
        total = self._frame.history_total
        stop = self._engine.lines if stop is None else stop
        return self._overwritten.clean(total + start, self._engine.rows(start, stop))

    def _shown(self, y: int) -> _Shown:
        """Return the lines of the page, final above the line that is in screen row `y`.

        A line of which only the beginning left the screen counts as on it.
        """
        rows = self._line_rows()
        y = max(0, min(y, len(rows)))
        while 0 < y < len(rows) and rows[y - 1].wrapped:
            y -= 1
        tail = unfinished(self._gone)
        gone = logical(self._gone[: len(self._gone) - len(tail)])
        if y == 0:
            return _Shown(gone, [], logical([*tail, *rows]))
        return _Shown(gone, logical([*tail, *rows[:y]]), logical(rows[y:]))

    def _lines_until(self, y: int) -> list[str]:
        """Return the lines above screen row `y`, without blanks at their ends."""
        if y <= 0:
            return []
        y = min(y, self._engine.lines)
        texts = None if self._overwritten else self._engine.rows(0, y).texts()
        return stripped(logical(self._line_rows(0, y))) if texts is None else texts

    def _passed(self, frame: Frame, *, held: bool = False) -> list[str]:
        """Return the lines of a plain program that a line feed has passed; `held`, only those that left the screen."""
        total, committed = frame.history_total, frame.committed
        cursor_row = total + (0 if held else frame.cursor.y)
        as_shown = not (self._scrolled or self._overwritten)
        if frame.passed is not None and as_shown and not held and self._first_row + len(frame.passed) == cursor_row:
            self._first_row = cursor_row
            return frame.passed
        first = total - len(committed)
        self.lost += max(0, first - self._first_row)
        start = max(self._first_row, first)
        above = max(start, total) - total
        screen = self._engine.rows(above, max(above, cursor_row - total))
        gone, shown = (committed.texts(), screen.texts()) if as_shown else (None, None)
        if gone is not None and shown is not None:
            self._first_row = max(self._first_row, cursor_row)
            return [*gone[start - first :], *shown]
        rows = self._overwritten.clean(first, committed)[start - first :] + self._line_rows(above, above + len(screen))
        begun = unfinished(rows)
        ended = rows[: len(rows) - len(begun)]
        if ended or len(self._scrolled) >= MAX_LINE_ROWS:
            ended.insert(0, LineRow("".join(self._scrolled), True))
            self._scrolled = []
        # Rows of the open line that are still on the screen can change: only those in history are kept as text.
        on_screen = min(len(begun), max(0, cursor_row - total))
        self._scrolled += [row.text for row in begun[: len(begun) - on_screen]]
        self._first_row = max(self._first_row, cursor_row - on_screen)
        return stripped(logical(ended))

    # The open line

    def exceeds(self, characters: int) -> bool:
        """Return quickly whether more than `characters` characters of the open line have left the screen."""
        for row in self._scrolled:
            characters -= len(row)
            if characters < 0:
                return True
        return False

    @property
    def is_past_all(self) -> bool:
        """Whether the cursor stands at the beginning of an empty line, with nothing below it."""
        frame, engine = self._frame, self._engine
        if frame.alternate or frame.cursor.x or self._scrolled or self._page is not None:
            return False
        y = frame.cursor.y
        if engine.row(y).text.strip():
            return False
        return y + 1 == engine.lines or engine.is_blank(y + 1, engine.lines)

    def rows_passed(self, frame: Frame) -> int:
        """Return how many rows the cursor is below the beginning of the open line."""
        return frame.history_total + frame.cursor.y - self._first_row

    @property
    def cursor(self) -> Cursor:
        """Where the cursor was in the last frame."""
        return self._frame.cursor

    def open_text(self) -> str:
        """Return the open line as it stands, up to its last cell in use."""
        if self._frame.alternate or self._is_on_reported_line:
            return ""
        rows = (
            self._overwritten.text(number, row.text) for number, row in enumerate(self._open_rows(), self._first_row)
        )
        return "".join(self._scrolled) + "".join(rows)

    def open_head(self) -> str:
        """Return the open line up to the cursor; empty while the cursor is on the other screen or above the line."""
        rows = self._open_rows(until=self.cursor.y)
        if not rows or self._is_on_reported_line:
            return ""
        head = rows[-1].columns(0, self.cursor.x)
        return "".join(self._scrolled) + "".join(row.text for row in rows[:-1]) + head

    @property
    def _is_on_reported_line(self) -> bool:
        """Whether the cursor went up to a line that was reported and has not changed since."""
        if self._page is None or self._first_row >= self._lowest:
            return False
        gone, final, below = self._shown(self._open_y).stripped()
        return bool(below) and len(gone) + len(final) not in self._page.new_lines(gone, [*final, below[0]], below[1:])

    def unsaid_below(self) -> list[str]:
        """Return the lines below the open one that have text and were not reported, for a pane that is gone."""
        if self._page is None:
            return []
        gone, final, below = self._shown(self._open_y).stripped()
        lines = [*gone, *final, *below]
        new = self._page.new_lines(gone, [*final, *below], ())
        return [lines[number] for number in new if number > len(gone) + len(final) and lines[number]]

    def _open_rows(self, until: int | None = None) -> list[Row]:
        if self._frame.alternate:
            return []
        last = self._engine.lines - 1 if until is None else until
        rows: list[Row] = []
        y = self._open_y
        while 0 <= y <= last:
            rows.append(self._engine.row(y))
            if not rows[-1].wrapped:
                break
            y += 1
        return rows
