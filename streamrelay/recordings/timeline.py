"""A pane's screen over time, built from the rows that a `PaintLog` follows.

A snapshot is taken when the pane rests, so that none shows half a repaint, and when something happens to the pane: a
message, a resize, the end of a turn.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from streamrelay.delta.frames import SETTLE
from streamrelay.events import Event, Injected, NeedsHuman, PaneClosed, PaneResized, TurnEnded, TurnStarted
from streamrelay.recordings.paint_log import PaintLog
from streamrelay.recordings.painted_rows import PaintedLine

MAX_SNAPSHOTS: Final = 2000
"""Maximum number of snapshots; beyond it, every other one is dropped."""


class TimelineSnapshot(NamedTuple):
    """The screen from some time on: for each place its row and the row's state; None for a blank place."""

    t: float
    rows: tuple[tuple[PaintedLine, int] | None, ...]


class TimelineMark(NamedTuple):
    """Something that happened to the pane."""

    t: float
    kind: str
    text: str


class Timeline:
    """Collects the snapshots and marks of one pane."""

    def __init__(self, log: PaintLog) -> None:
        self.marks: list[TimelineMark] = []
        self.snapshots: list[TimelineSnapshot] = []
        self.left_out = 0
        """The number of snapshots that were dropped because there were too many."""
        self._log = log
        self._last: float | None = None

    def before(self, t: float) -> None:
        """Take a snapshot if the pane has rested when more is printed at `t`."""
        if self._last is not None and t - self._last >= SETTLE:
            self.look()

    def painted(self, t: float) -> None:
        """Note that the pane was painted."""
        self._last = t

    def note(self, event: Event) -> None:
        """Mark an event on the time line."""
        mark = next(_mark(event), None)
        if mark is not None:
            self.look()
            self.marks.append(TimelineMark(event.t, *mark))

    def look(self) -> None:
        """Take a snapshot if anything was painted since the last one."""
        if self._last is None:
            return
        rows = tuple((line, len(line.states) - 1) if line.text else None for line in self._log.screen)
        if not self.snapshots or self.snapshots[-1].rows != rows:
            self.snapshots.append(TimelineSnapshot(self._last, rows))
        self._last = None
        if len(self.snapshots) > MAX_SNAPSHOTS:
            kept = [self.snapshots[0], *self.snapshots[1:-1:2], self.snapshots[-1]]
            self.left_out += len(self.snapshots) - len(kept)
            self.snapshots = kept


def _mark(event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case Injected(state="pasting", text=text):
            yield "pasted", text
        case Injected(state="entering"):
            yield "submitted", ""
        case TurnStarted(turn=turn):
            yield "turn started", str(turn)
        case TurnEnded(turn=turn, reason=reason):
            yield "turn ended", f"{turn}, by {reason}"
        case NeedsHuman(kind=kind, text=text):
            yield f"needs a person: {kind}", text
        case PaneResized(columns=columns, lines=lines):
            yield "resized", f"{columns}x{lines}"
        case PaneClosed(reason=reason):
            yield "closed", reason
