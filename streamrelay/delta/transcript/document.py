"""Everything a program has painted, from the oldest row remembered to the last row of the screen.

On the main screen the rows above the screen are its history, until a program wipes it (`CSI 3J`, a reset). On the
alternate screen nothing is kept by the terminal: what scrolls away is stitched together from one snapshot to the
next. Rows pinned to the top of the screen while the others scroll under them (a sticky header) are not part of the
document there: they are copies of rows that left.

A program that is resized during an answer paints all of it again: the rows known before stay (resize_merge.py).

A row is a plain string without trailing blanks; a soft wrap is remembered beside it.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import takewhile
from operator import is_not, ne
from typing import NamedTuple

from streamrelay.delta.layout.chrome import composer_top
from streamrelay.delta.layout.rows import PaintedRow, painted_row
from streamrelay.delta.layout.scrolling import (
    SAME_SNAPSHOT,
    is_jump,
    is_redrawn,
    says_something,
    scroll_between,
)
from streamrelay.delta.layout.side_panel import stands_beside, transcript_edge
from streamrelay.delta.layout.viewport import MessageIn, Viewport
from streamrelay.delta.transcript.line_joining import right_edge, without_cut_off
from streamrelay.delta.transcript.painted_over import PaintedOver
from streamrelay.delta.transcript.resize_merge import Sized, above_rewrapped, rejoined
from streamrelay.vt.engine import Engine, Frame, Rows

MAX_OLD_ROWS = 500
"""Rows above the screen at a mark that are compared with what is painted later: it may be painted again. As many are
remembered of what was wiped before the mark."""

MAX_ROWS_ABOVE, MAX_SEAMS = 5000, 16
"""Rows remembered above the screen, and sizes of it in which they were painted."""


MIN_ROWS_OF_A_SCROLL = 2
"""Rows that a scroll changes at least, and rows that come back. One alone was redrawn: a spinner, a line that grew."""


class Mark(NamedTuple):
    """The document at one moment, or as far as it was read then."""

    generation: int
    above: list[PaintedRow]
    """The rows above the screen, of which `height` were there; shared with the document, which may add more."""
    height: int
    dropped: int
    screen: tuple[PaintedRow, ...]
    wiped: tuple[PaintedRow, ...] = ()
    """Rows of the document at earlier marks that were wiped or forgotten since."""


class _Seam(NamedTuple):
    """A resize during an answer, from which on the screen is read again."""

    position: int
    """How many rows had left the screen, plus those on it then."""
    columns: int
    """How many columns it had had."""
    left: int
    """See `Sized`."""


class Document:
    """Follows one engine, frame by frame."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._above: list[PaintedRow] = []
        self._dropped = self._dropped_since_forgetting = 0
        self._generation = 0
        self._screen: list[PaintedRow] = []
        self._snapshot = self._screen
        self._alternate = False
        self._edge: int | None = None
        """Where the transcript ends on the alternate screen, if a panel stands beside it."""
        self._pinned = 0
        self._passed_over: tuple[list[PaintedRow], int] | None = None
        """The last snapshot that was passed over, and the row of its cursor."""
        self._cursor = 0
        self._bared: tuple[Sequence[PaintedRow], int, list[str]] = ((), 0, [])
        self._viewport = Viewport()
        self.answers = True
        """Whether rows that vanish may be part of an answer. Between turns they are a panel, or old rows."""
        self.painted_over = PaintedOver()
        """What stood on the screen since the last mark, and stands there no longer."""
        self._painted_anew = False
        """Whether the screen was resized during an answer, so that the program paints all of it again."""
        self._seams: list[_Seam] = []
        self._left = 0
        """The rows since the last seam, as bits, that the terminal put there and the program has not painted since."""
        self._width = self.columns
        self._last_mark = Mark(0, [], 0, 0, ())
        self._is_leftover = False
        """Whether the snapshot is what a resize left of a known one, so that only known rows can leave it."""

    def restart(self, frame: Frame, *, keep: int | None = None) -> bool:
        """Look at the whole screen anew: it was seeded, resized or switched; return whether rows were forgotten.

        The rows above it are forgotten, unless the first `keep` rows of the screen are to be kept with them: there the
        same transcript is going to be painted once more. What reads as before, as after a gap that was closed, goes on.
        """
        same_size = (self._width, len(self._screen)) == (self.columns, self._engine.lines)
        if keep is not None and same_size and frame.alternate == self._alternate and self._reads_as_before():
            self._cursor = frame.cursor.y
            return False
        forgets = keep is None or frame.alternate != self._alternate or self._viewport.is_window
        forgot = forgets and bool(self._above)
        if forgets:
            self._forget()
        else:
            self._push(self._screen[self._pinned : keep])
            self._seams.append(_Seam(self._dropped + len(self._above), self._width, self._left.bit_length()))
            del self._seams[:-MAX_SEAMS]
            self._pinned = 0
        self._alternate = frame.alternate
        self._edge = None
        self._cursor = frame.cursor.y
        self._passed_over = None
        self._painted_anew = keep is not None
        self._is_leftover = not forgets
        self._width = self.columns
        self._screen = self._snapshot = self._painted(0, self._engine.lines)
        is_left = not (forgets or frame.alternate or same_size)
        self._left = sum(1 << y for y, row in enumerate(self._screen) if row.text) if is_left else 0
        return forgot

    def _reads_as_before(self) -> bool:
        """Tell whether the screen of the engine is the one that is known."""
        return [row.text for row in self._painted(0, self._engine.lines)] == [row.text for row in self._screen]

    def take(self, frame: Frame) -> None:
        """Follow one frame. Where it ends with a wipe of history, so does all that came before."""
        if frame.alternate != self._alternate:
            self.restart(frame)
            return
        before = self._screen
        self._follow(frame)
        if self.answers and before is not self._screen:
            self.painted_over.look(before[frame.scrolled :], self._screen)
        if frame.alternate:
            return
        if self._left and self._seams:
            self._look_what_is_left(before, frame)
        if any(event.kind in {"history_cleared", "reset"} for event in frame.events):
            self._forget()
            return
        # The top of a scroll region goes into the history too, though the screen does not scroll as a whole.
        self._viewport.scroll(max(frame.scrolled, len(frame.committed)))
        if self._viewport.is_window:
            self._pinned = self._viewport.top
        elif len(frame.committed):
            self._push(_painted(frame.committed, self._engine.columns))

    def look(self, cursor: int) -> bool:
        """Take the screen as a snapshot that the program meant to show, with its cursor in row `cursor`.

        Return whether any row differs from the previous snapshot.
        """
        self._look_beside()
        before, self._snapshot = self._snapshot, self._screen
        changed = before is not self._screen and before != self._screen
        if changed and self._is_leftover:
            self._is_leftover = False
        elif changed and self._alternate:
            if self._passed_over is not None:
                self._stitch(before, *self._passed_over)
                before, self._cursor = self._passed_over
            if cursor != self._cursor or _changed_rows(before, self._screen) >= MIN_ROWS_OF_A_SCROLL:
                self._stitch(before, self._screen, cursor)
        self._cursor = cursor
        self._passed_over = None
        return changed

    def pass_over(self, cursor: int) -> bool:
        """Skip a snapshot if that loses nothing: since the last one, rows were only added or redrawn in place."""
        if self._viewport.is_window:
            return False
        if self._alternate:
            before = self._passed_over[0] if self._passed_over is not None else self._snapshot
            if not is_redrawn([row.text for row in before], [row.text for row in self._screen]):
                return False
            self._passed_over = self._screen, cursor
        return True

    def look_through_window(self, top: int, column: int | None, message_in: MessageIn) -> None:
        """Keep what left a window of the program's own on the main screen, as far as it has one.

        The composer begins in row `top`, the cursor is in `column`; None says that nothing more is going to be painted.
        """
        if self._alternate or (self._painted_anew and not self._viewport.is_window):
            return
        viewport, snapshot = self._viewport, self._screen[:top]
        was_window = viewport.is_window
        if not (self.answers or was_window):
            # A panel that was there before the message was sent may have the same text.
            viewport.forget()
            return
        left = viewport.settle(message_in) if column is None else viewport.look(snapshot, column, message_in)
        if left is None:
            return
        if not was_window:
            self._push(snapshot[: viewport.top])
        if not self.answers:
            pass
        elif left.goes_on:
            self._push(left.rows)
        else:
            self._push_cut_off(left.rows)
        self._pinned = viewport.top

    def mark(self) -> Mark:
        """Return the current document, for later comparison."""
        self.painted_over.forget(self._screen)
        return self._mark(len(self._above) + len(self._screen) - self._pinned)

    def _mark(self, height: int) -> Mark:
        """Return the first rows of the document, as many as `height`."""
        self._painted_anew = self._is_leftover = False
        self._seams.clear()
        self._left = 0
        last, wiped = self._last_mark, self._last_mark.wiped
        if last.generation != self._generation:
            rows = [*wiped, *last.above[: last.height], *last.screen]
            wiped = tuple([row for row in rows if row.text][-MAX_OLD_ROWS:])
        above = min(height, len(self._above))
        screen = tuple(self._screen[self._pinned : self._pinned + height - above])
        self._last_mark = Mark(self._generation, self._above, above, self._dropped, screen, wiped)
        return self._last_mark

    def mark_above(self, rows: Sequence[PaintedRow]) -> Mark | None:
        """Return the current document without the `rows` at its end, which are going to be read later.

        None where the document does not end in these rows: `since` joins rows that were painted in different sizes.
        `painted_over` keeps its paragraphs, because they may have stood below.
        """
        known = self.rows()
        height = len(known) - len(rows)
        if height < 0 or any(map(ne, known[height:], rows)):
            return None
        return self._mark(height)

    def rows(self) -> list[PaintedRow]:
        """Return all rows, oldest first."""
        return [*self._above, *self._screen[self._pinned :]]

    @property
    def has_window(self) -> bool:
        """Whether rows leave a window of the program's own on the main screen (see `Viewport`)."""
        return self._viewport.is_window

    @property
    def columns(self) -> int:
        """How many columns the document has: those of the screen, without a panel beside it."""
        return self._engine.columns if self._edge is None else self._edge

    @property
    def screen(self) -> Sequence[PaintedRow]:
        """The rows of the screen."""
        return self._screen

    def since(self, mark: Mark) -> tuple[list[PaintedRow], list[PaintedRow]]:
        """Return the rows as they were at the mark, and as they are now.

        While nothing was wiped, the rows above the screen of then cannot have changed, unless a program scrolled back
        to them and on again: the oldest are left out.
        """
        if mark.generation != self._generation:
            return [*mark.above[: mark.height], *mark.screen], self.rows()
        dropped = self._dropped - mark.dropped
        first = max(0, min(mark.height - dropped, len(self._above)) - MAX_OLD_ROWS)
        old = [*mark.above[first + dropped : mark.height], *mark.screen]
        return old, self._rejoined(old, first)

    def lost_since(self, mark: Mark) -> int:
        """Return how many rows were painted since the mark and are no longer remembered."""
        if mark.generation != self._generation:
            return self._dropped_since_forgetting
        return max(0, self._dropped - mark.dropped - mark.height)

    def _rejoined(self, old: Sequence[PaintedRow], first: int) -> list[PaintedRow]:
        """Return all rows from the `first` one above the screen on; of those that are `old` nothing is said again."""
        snapshots = []
        for seam in self._seams:
            stop = max(first, seam.position - self._dropped)
            snapshots.append(Sized(self._above[first:stop], seam.columns, seam.left))
            first = stop
        newest = [*self._above[first:], *self._screen[self._pinned :]]
        if not snapshots:
            return newest
        same = takewhile(lambda rows: rows[0] == rows[1], zip(old, snapshots[0].rows, strict=False))
        return rejoined([*snapshots, Sized(newest, self.columns, self._left.bit_length())], sum(1 for _ in same))

    def _forget(self) -> None:
        self._above = []
        self._seams.clear()
        self._left = 0
        self._generation += 1
        self._dropped_since_forgetting = 0
        self._pinned = 0
        self._viewport = Viewport()

    def _follow(self, frame: Frame) -> None:
        """Bring the rows of the screen up to date; O(rows that changed)."""
        if not (frame.dirty or frame.scrolled):
            return
        lines = self._engine.lines
        screen = self._screen[frame.scrolled :]
        fresh = range(len(screen), lines)
        screen += self._painted(fresh.start, fresh.stop)
        for start, stop in _stretches(frame.dirty & (1 << fresh.start) - 1):
            # An unchanged row stays the same object, so that later comparisons of it are cheap.
            painted = self._painted(start, stop)
            screen[start:stop] = [
                old if old == new else new for old, new in zip(screen[start:stop], painted, strict=True)
            ]
        self._screen = screen

    def _look_what_is_left(self, before: Sequence[PaintedRow], frame: Frame) -> None:
        """Leave out the rows since the last seam that the program has painted."""
        above = self._dropped + len(self._above) - self._seams[-1].position
        passed = _painted(frame.committed, self._engine.columns)
        repainted = sum(1 << y for y, (old, new) in enumerate(zip(before, passed, strict=False)) if old != new)
        self._left &= ~((repainted | frame.dirty << len(passed)) << above)

    def _stitch(self, before: Sequence[PaintedRow], after: Sequence[PaintedRow], cursor: int) -> None:
        """Keep what left the alternate screen at the top; composer and status lines below it are not looked at.

        Rows are compared without their indent: that of a whole list grows with its numbers.
        """
        old, new = self._bare_transcript(before, self._cursor), self._bare_transcript(after, cursor)
        scroll = scroll_between(old, new, self._pinned)
        if scroll is None:
            came_back = self._came_back(new)
            if self.answers and not came_back and is_jump(old[self._pinned :], new[self._pinned :]):
                self._turn_page(before[self._pinned : len(old)], new)
                self._pinned = _unmoved(old[: self._pinned], new)
            return
        distance, top = scroll
        if self._keep_above_rewrapped(before[self._pinned : top + distance], after[self._pinned : top]):
            return
        if distance > 0:
            left = old[: top + distance] + _bare(row.text for row in self._above[-MAX_OLD_ROWS:] if top > self._pinned)
            header = _copied(new[:top], {*left})
            self._push(before[self._pinned : header + distance])
            self._pinned = header
        elif not (any(row.skipped for row in self._above[distance:]) and self._came_back(new)):
            # Where rows were skipped, only their text tells which ones came back.
            self._above = self._above[: max(self._known, len(self._above) + distance)]
            self._pinned = min(self._pinned, top + distance, len(self._above))

    @property
    def _known(self) -> int:
        """How many rows above the screen were painted before the last resize, or 0: these stay."""
        return self._seams[-1].position - self._dropped if self._seams else 0

    def _keep_above_rewrapped(self, before: Sequence[PaintedRow], after: Sequence[PaintedRow]) -> bool:
        """Keep what left the screen if its rows above a block that moved were wrapped anew; return whether they were.

        A program that was resized in mid-answer may wrap what it had painted once more when the answer is over: rows
        that had left come back as parts of other ones.
        """
        first = max(self._known, len(self._above) - 2 * len(self._screen))
        above = above_rewrapped([*self._above[first:], *before], after)
        if above is not None:
            self._above = [*self._above[:first], *above]
        return above is not None

    def _bare_transcript(self, snapshot: Sequence[PaintedRow], cursor: int) -> list[str]:
        """Return the rows of a snapshot above its composer without their indent; those of the last one are known."""
        known, at, bare = self._bared
        if known is not snapshot or at != cursor:
            rows = [row.text for row in snapshot]
            bare = _bare(rows[: composer_top(rows, cursor)])
            self._bared = snapshot, cursor, bare
        return bare

    def _turn_page(self, left: Sequence[PaintedRow], new: Sequence[str]) -> None:
        """Keep the rows that vanished when another page replaced the old one.

        A header above them is still there, and a status row below them. Rows between them may also be on the new page.
        """
        shown = set(new)
        gone = [y for y, row in enumerate(left) if says_something(row.text) and row.text.lstrip() not in shown]
        first, stop = gone[0], gone[-1] + 1
        while first and not says_something(left[first - 1].text):
            first -= 1
        while stop < len(left) and left[stop].text:
            stop += 1
        self._push_cut_off(left[first:stop])

    def _push_cut_off(self, rows: Sequence[PaintedRow]) -> None:
        """Keep the whole lines of rows that left, and that other rows were skipped behind them."""
        self._push(without_cut_off(rows, right_edge(rows, self.columns)))
        self._push([PaintedRow("", skipped=True)])

    def _came_back(self, new: Sequence[str]) -> bool:
        """Drop rows from above the screen that a snapshot shows again; return whether there were any.

        Something was only in front of them, or they left too early: while a row is written, its end may take more rows
        than in the end.
        """
        if not self._above:
            return False
        latest = _bare(row.text for row in self._above[max(self._known, len(self._above) - 2 * len(new)) :])
        top = next((row for row in new[self._pinned :] if says_something(row)), "")
        for y, row in enumerate(latest):
            if row == top and row and _share_still(latest[y:], new) > 1 - SAME_SNAPSHOT:
                self._above = self._above[: len(self._above) - len(latest) + y]
                self._pinned = min(self._pinned, len(self._above))
                return True
        return False

    def _push(self, rows: Sequence[PaintedRow]) -> None:
        self._above += rows
        too_many = len(self._above) - MAX_ROWS_ABOVE
        if too_many > MAX_ROWS_ABOVE // 10:
            self._above = self._above[too_many:]
            self._dropped += too_many
            self._dropped_since_forgetting += too_many
            self._seams = [seam for seam in self._seams if seam.position > self._dropped]

    def _look_beside(self) -> None:
        """Leave out a panel that stands beside the transcript, for as long as it does."""
        if not self._alternate or self._screen is self._snapshot:
            return
        was, texts = self._edge, [row.text for row in self._screen]
        if was is None:
            self._edge = transcript_edge(self._engine, texts)
        elif not stands_beside(self._engine, texts, was):
            self._edge = None
        if self._edge != was:
            self._screen = self._painted(0, self._engine.lines)

    def _painted(self, start: int, stop: int) -> list[PaintedRow]:
        rows, edge = self._engine.rows(start, stop), self._edge
        if edge is not None:
            return [painted_row(row.columns(0, edge), row.wrapped, edge) for row in rows]
        return _painted(rows, self._engine.columns)


def _stretches(mask: int) -> Iterator[tuple[int, int]]:
    """Yield start and stop (exclusive) of each run of bits that are set."""
    start = 0
    while mask:
        clear = (mask & -mask).bit_length() - 1
        start, mask = start + clear, mask >> clear
        length = (~mask & (mask + 1)).bit_length() - 1
        yield start, start + length
        start, mask = start + length, mask >> length


def _painted(rows: Rows, columns: int) -> list[PaintedRow]:
    texts = rows.texts()
    if texts is None:
        return [painted_row(row.text, row.wrapped, columns) for row in rows]
    return [painted_row(text, False, columns) for text in texts]


def _changed_rows(before: Sequence[PaintedRow], after: Sequence[PaintedRow]) -> int:
    """Return how many rows were painted between two snapshots, as far as they read differently where they stand."""
    return sum(map(is_not, before, after))


def _bare(rows: Iterable[str]) -> list[str]:
    return [row.lstrip() for row in rows]


def _copied(header: Sequence[str], left: Set[str]) -> int:
    """Return how many rows of a header are copies of rows that left; below it stand blank rows, or none."""
    return next((y for y, row in enumerate(header) if row and row not in left), len(header))


def _share_still(rows: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of the rows with text that a snapshot shows, or shows most of."""
    held = [row for row in rows if says_something(row)]
    same = sum(
        any(now.startswith(row) or (row.startswith(now) and 2 * len(now) > len(row)) for now in new) for row in held
    )
    return same / len(held) if held else 0.0


def _unmoved(header: Sequence[str], new: Sequence[str]) -> int:
    """Return how many rows of a header are still at the top, so that they are no copies of rows that left."""
    return next((y for y, row in enumerate(header) if new[y : y + 1] != [row]), len(header))
