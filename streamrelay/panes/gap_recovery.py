"""Gap recovery: what the stream of one pane has missed, and the entries that restore or report it. Pure.

A stream misses output when tmux pauses the pane, the connection ends, or this process was not running. The connection
then asks tmux for what its history still holds (`panes.recovery`). After a pane moved, its output only arrives late.

The recovery query pauses the pane and ends the pause, so tmux skips the queued output. Up to 3.5a tmux reports that
pause inside the replies; 3.8 reports it outside of them, like a pause of its own. A pause that arrives while such a
query is pending therefore starts no second query: whichever pause it is, the pending answer comes after it and the
stream continues from there. (Treated as tmux's own pause, it led to another query and another report: with 64 printing
panes, without end.)
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
"""Reasons to report a gap even if nothing is lost: the missed output arrives late."""


@dataclass(frozen=True, slots=True)
class RecoveryQuery:
    """What a query asked for; its answer is read accordingly, whatever happened in between."""

    ends_pause: bool = False
    """Whether it ends a pause, and so skips what was queued: its answer stands for that."""
    depth: int | None = None
    """How many rows of history, for what was missed; None for the screen alone."""


class GapRecovery:
    """Tracks the gap in the stream that is rendered on `screen`, and how to close it."""

    def __init__(self, screen: TmuxScreen) -> None:
        self.reason: str | None = None
        """Why something is; None where nothing is."""
        self._screen = screen
        self.generation: int | None = None
        """Of which history of tmux's the rows are counted here, where it counts them."""
        self._unknown = 0
        self._shallow_until = 0.0
        self._asked: deque[RecoveryQuery] = deque()
        """The questions that are on their way."""

    @property
    def comes_late(self) -> bool:
        """Whether it is what a pane prints that has moved."""
        return self.reason == "moved"

    def note(self, reason: str) -> None:
        """Something is missed from here on; the first reason stands."""
        if reason == "detached":
            self._asked.clear()  # of a connection that has ended
        self.reason = self.reason or reason

    def question(self, pane: str, now: float, *, seeded: bool) -> str:
        """Return the command line that asks how the pane stands, and for what was missed where something was.

        It counts as on its way until `answered`, or until it is taken back.
        """
        if not seeded or self.reason is None:
            self._asked.append(RecoveryQuery(ends_pause=not seeded))
            return snapshot_line(pane) if seeded else " ; ".join((skip_line(pane), snapshot_line(pane)))
        depth = self._depth(now)
        self._asked.append(RecoveryQuery(ends_pause=True, depth=depth))
        return recovery_line(pane, depth)

    def take_back(self) -> None:
        """The last question was not sent: the next answer is another one's."""
        if self._asked:
            self._asked.pop()

    def answered(self) -> RecoveryQuery:
        """Return what the first of the questions on their way asked for: it was answered, in whatever way."""
        return self._asked.popleft() if self._asked else RecoveryQuery()

    @property
    def ends_pause(self) -> bool:
        """Whether a question is on its way that ends a pause, so that its answer holds what a pause drops."""
        return any(asked.ends_pause for asked in self._asked)

    def moved(self, info: PaneInfo, at: float) -> list[Input]:
        """The pane went to where `info` says (`at` in stream time); what it prints may come late until `arrived`."""
        screen = self._screen
        if (info.columns, info.lines) == (screen.columns, screen.lines):
            return []
        self._unknown = screen.history_total - len(screen.history_text()) if info.lines > screen.lines else 0
        self.generation = None
        return [Resized(at, info.pane, info.columns, info.lines)]

    def arrived(self, held: TmuxRows) -> bool:
        """Take what tmux holds of a pane that moved; True where all has come that it printed."""
        screen = self._screen
        if not is_shown(screen.text(), (screen.cursor.x, screen.cursor.y), held, unknown=self._unknown):
            return False
        self.reason = None
        return True

    def recover(self, held: TmuxRows, pane: str, now: float, at: float, *, paints: bool) -> tuple[list[Input], bool]:
        """Return what was missed and can be had, or that something is lost, and whether nothing is.

        `now` is loop time, `at` stream time; where the program paints, rows are no lines.
        """
        reason, self.reason = self.reason or "", None
        found = None if paints else missed(self._known, held)
        self.generation = held.generation
        entries: list[Input] = []
        if found is None or not found.whole:
            self._shallow_until = now + _HISTORY_RETRY_DELAY
            entries.append(Missed(at, pane, reason, lost_lines=None if found is None else found.lost))
        elif reason in _ALWAYS_REPORTED:
            entries.append(Missed(at, pane, reason, lost_lines=0))
        screen = self._screen
        data = found.data if found is not None else None
        if data is None and paints:
            data = scrolled(screen.columns, screen.lines, screen.history_total, held)
        if data is not None:
            entries.append(Output(at, pane, data))
        return entries, found is not None and found.whole

    def _depth(self, now: float) -> int:
        """Rows of history to ask for: none soon after they did not help; until 3.5a tmux leaks its replies."""
        return 0 if now < self._shallow_until else MAX_DEPTH

    @property
    def _known(self) -> KnownRows:
        y = self._screen.cursor.y
        rows = [*self._screen.history_text(), *self._screen.text()[:y]]
        return KnownRows(rows, self._screen.history_total + y, self.generation)
