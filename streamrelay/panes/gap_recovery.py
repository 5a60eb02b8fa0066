"""Gap recovery: finds the missing output of one pane, and makes the entries that restore or report it. Pure.

A stream misses output when tmux pauses the pane, the connection ends, or this process was not running. The connection
then asks tmux for what its history still holds (`panes.recovery`). After a pane moved, its output only arrives late.

The recovery query pauses the pane and ends the pause, so tmux skips the queued output. Up to 3.5a tmux reports that
pause inside the replies; 3.8 reports it outside of them, like a pause of its own. A pause that arrives while such a
query is pending therefore starts no second query: the pending reply comes after either kind of pause, and the stream
continues from there. (A second query would cause another such pause: with 64 printing panes, without end.)
"""

from collections import deque
from dataclasses import dataclass

from streamrelay.delta.inputs import Input, Missed, Output, Resized
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.recovery import (
    MAX_DEPTH,
    KnownRows,
    TmuxRows,
    is_shown,
    missed,
    recovery_line,
    scrolled,
    skip_line,
)
from streamrelay.panes.snapshot import snapshot_line
from streamrelay.vt import TmuxScreen

_HISTORY_RETRY_DELAY = 60.0
"""Seconds without another history request after the history did not hold the missed output."""
_ALWAYS_REPORTED = ("detached",)
"""Reasons to report a gap even if no output is lost, because it arrives late."""


@dataclass(frozen=True, slots=True)
class RecoveryQuery:
    """The contents of a query, which determine how its reply is read."""

    ends_pause: bool = False
    """Whether it ends a pause and skips queued output, which its reply then contains."""
    depth: int | None = None
    """The number of history rows that it requests, for missing output; None for the screen only."""


class GapRecovery:
    """Tracks the gap in the stream that is rendered on `screen`, and how to close it."""

    def __init__(self, screen: TmuxScreen) -> None:
        self.reason: str | None = None
        """The reason for missing output; None if none is missing."""
        self._screen = screen
        self.generation: int | None = None
        """The generation of tmux's history whose rows are counted here, if tmux counts them."""
        self._unknown = 0
        self._shallow_until = 0.0
        self._pending: deque[RecoveryQuery] = deque()
        """The pending queries."""

    def note(self, reason: str) -> None:
        """Note that output is missing from here on; the first reason stays."""
        self.reason = self.reason or reason

    def disconnected(self) -> None:
        """Forget the pending queries: the connection has ended."""
        self._pending.clear()

    def question(self, pane: str, now: float, *, seeded: bool) -> str:
        """Return the command line that queries the pane's state and, after a gap, the missing output.

        The query is pending until `answered` or `take_back`.
        """
        if not seeded or self.reason is None:
            self._pending.append(RecoveryQuery(ends_pause=not seeded))
            return snapshot_line(pane) if seeded else " ; ".join((skip_line(pane), snapshot_line(pane)))
        depth = self._depth(now)
        self._pending.append(RecoveryQuery(ends_pause=True, depth=depth))
        return recovery_line(pane, depth)

    def take_back(self) -> None:
        """Note that the last query was not sent, so that the next reply belongs to another one."""
        if self._pending:
            self._pending.pop()

    def answered(self) -> RecoveryQuery:
        """Remove and return the first pending query, which has its reply."""
        return self._pending.popleft() if self._pending else RecoveryQuery()

    @property
    def ends_pause(self) -> bool:
        """Whether a pending query ends a pause, so that its reply contains the output that the pause drops."""
        return any(query.ends_pause for query in self._pending)

    def moved(self, info: PaneInfo, at: float) -> list[Input]:
        """Note that the pane moved to the place in `info` at `at` (stream time); output may be late until `arrived`."""
        screen = self._screen
        if (info.columns, info.lines) == (screen.columns, screen.lines):
            return []
        self._unknown = screen.history_total - len(screen.history_text()) if info.lines > screen.lines else 0
        self.generation = None
        return [Resized(at, info.pane, info.columns, info.lines)]

    def arrived(self, held: TmuxRows) -> bool:
        """Take tmux's rows of a moved pane; return True if all its output has arrived."""
        screen = self._screen
        if not is_shown(screen.text(), (screen.cursor.x, screen.cursor.y), held, unknown=self._unknown):
            return False
        self.reason = None
        return True

    def recover(self, held: TmuxRows, pane: str, now: float, at: float, *, paints: bool) -> tuple[list[Input], bool]:
        """Return the entries that restore missing output or report its loss, and whether nothing is lost.

        `now` is loop time, `at` stream time. With `paints`, rows are not lines: what is missing cannot be counted, so a
        gap is reported in any case.
        """
        reason, self.reason = self.reason or "", None
        found = None if paints else missed(self._known, held)
        self.generation = held.generation
        entries: list[Input] = []
        if found is None or not found.whole:
            entries.append(Missed(at, pane, reason, lost_lines=None if found is None else found.lost))
        elif reason in _ALWAYS_REPORTED:
            entries.append(Missed(at, pane, reason, lost_lines=0))
        screen = self._screen
        data = found.data if found is not None else None
        if paints:
            data = scrolled(screen.columns, screen.lines, screen.history_text(), screen.history_total, held)
        if data is None or (found is not None and not found.whole):
            self._shallow_until = now + _HISTORY_RETRY_DELAY
        if data:
            entries.append(Output(at, pane, data))
        return entries, found is not None and found.whole

    def _depth(self, now: float) -> int:
        """Return the history rows to request: none soon after a useless request, as tmux until 3.5a leaks replies."""
        return 0 if now < self._shallow_until else MAX_DEPTH

    @property
    def _known(self) -> KnownRows:
        y = self._screen.cursor.y
        rows = [*self._screen.history_text(), *self._screen.text()[:y]]
        return KnownRows(rows, self._screen.history_total + y, self.generation)
