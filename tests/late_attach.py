"""A recording as a listener gets it that attaches late: the screen of some moment, and what follows it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from streamrelay.delta.inputs import Began, Ended, Input, Output, Pasted, Reseeded, Resized, Submitted, Waited
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event
from streamrelay.recordings import open_recording
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Modes, Row, Snapshot


class LateAttach:
    """The recording `path` from its input number `first` on; the foreground program is `command`.

    A message whose paste or Enter came before is not of this listener: a person or another tool sent it.
    """

    def __init__(self, path: Path, first: int, command: str = "") -> None:
        recording = open_recording(path)
        self._inputs = [*recording.entries()]
        self._first = first
        self._command = command
        self._screen = TmuxScreen(recording.columns, recording.lines)
        for told in self._inputs[:first]:
            if isinstance(told, Output):
                self._screen.feed(told.data)
            elif isinstance(told, Resized):
                self._screen.resize(told.lines, told.columns)
            elif isinstance(told, Began | Reseeded):
                self._screen = TmuxScreen(told.screen.columns, told.screen.lines)
                self._screen.seed(told.screen)
        self.columns, self.lines = self._screen.columns, self._screen.lines
        self.is_whole = self._screen.ground
        """Whether the listener attaches between two sequences."""

    def entries(self) -> Iterator[Input]:
        """Yield the screen that the listener found, and all inputs from there on."""
        rest = self._inputs[self._first :]
        began = rest[0] if rest else self._inputs[-1]
        yield Began(began.t, began.pane, "late", self._command, self._screen.title, snapshot_of(self._screen))
        pasted = {told.message_id for told in rest if isinstance(told, Pasted)}
        for told in rest:
            if not isinstance(told, Began | Waited) and not (
                isinstance(told, Submitted) and told.message_id not in pasted
            ):
                yield told

    def events(self, profiles: Sequence[Profile] = ()) -> Iterator[Event]:
        """Yield what the listener hears."""
        stream = DeltaStream(TmuxScreen(self.columns, self.lines), pane="%0", profiles=profiles)
        now = 0.0
        for told in self.entries():
            yield from _until(stream, told.t)
            yield from stream.apply(told)
            now = max(now, told.t)
            if isinstance(told, Ended):
                return
        yield from _until(stream, None)
        yield from stream.apply(Ended(max(now, stream.now), "%0", "recording_ended"))


def _until(stream: DeltaStream, now: float | None) -> Iterator[Event]:
    while (due := stream.deadline()) is not None and (now is None or due <= now):
        yield from stream.apply(Waited(max(due, stream.now), "%0"))


def snapshot_of(screen: TmuxScreen) -> Snapshot:
    """Return a screen as tmux 3.3a would report it: without its mode of bracketed paste."""
    rows = screen.rows(0, screen.lines)
    modes, margins = screen.modes, screen.margins
    return Snapshot(
        screen.columns,
        screen.lines,
        tuple(_styled(row) for row in rows),
        tuple(row.wrapped for row in rows),
        Cursor(screen.cursor.x, screen.cursor.y),
        history_total=screen.history_total,
        alternate=screen.alternate,
        scroll_region=None if margins is None else (margins.top, margins.bottom),
        modes=Modes(modes.cursor_visible, modes.insert, modes.wrap, modes.origin),
    )


def _styled(row: Row) -> bytes:
    painted, at = "", 0
    for run in row.runs:
        painted += f"{row.columns(at, run.start)}\x1b[{run.style}m{row.columns(run.start, run.stop)}\x1b[0m"
        at = run.stop
    return (painted + row.columns(at, len(row.text) * 2)).encode()
