"""One live pane: its stream, its clock and its listeners.

The stream is pure; here it meets the event loop. Output comes in with the time it was read, deadlines become timers,
and the events that come out are stamped with the wall clock and the host and handed to whoever listens, in order.
Everything the stream is told is an entry of a recording: who records the pane is handed the same ones, and a replay
tells its stream the same.
"""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from copy import copy
from typing import Any, Literal

from streamrelay.delta.profiles import Profile
from streamrelay.delta.standing import Standing
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import ClosedReason, Event, PaneClosed
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.selfcheck import SelfCheck, Verdict
from streamrelay.recordings.entering import enter
from streamrelay.recordings.model import (
    Began,
    Ended,
    Entry,
    Looked,
    Missed,
    Output,
    Pasted,
    Ran,
    Reseeded,
    Submitted,
    Waited,
)
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.widths import Widths

Listener = Callable[[Sequence[Event]], None]
"""Takes events, which are its own from then on."""
Tap = Callable[[Entry], None]
"""Takes every entry of a pane, in order; never waits."""


class PanePipeline:
    """What one pane's bytes go through, from the moment its screen was seeded."""

    def __init__(
        self,
        info: PaneInfo,
        profiles: Sequence[Profile] = (),
        *,
        widths: Widths | None = None,
        tap: Tap | None = None,
    ) -> None:
        """Open the pipeline of a pane; `tap` is handed all that it is told, from the beginning."""
        self.info = info
        self._tap = tap
        self._widths = widths
        self.closed = False
        self.last_output: float | None = None
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._host = socket.gethostname()
        self._screen = TmuxScreen(info.columns, info.lines, widths=widths)
        self._stream = DeltaStream(self._screen, session=info.session_name, pane=info.pane, profiles=profiles)
        self._listeners: list[Listener] = []
        self._timer: asyncio.TimerHandle | None = None
        self._seeded = False
        self._change = asyncio.Event()

    @property
    def began(self) -> float:
        """When the pane's stream began (loop time)."""
        return self._began

    @property
    def needs_human(self) -> str | None:
        """What the program wants from a person right now, if anything."""
        return self._stream.needs_human

    @property
    def profile(self) -> str:
        """The name of the profile that the program was recognised by."""
        return self._stream.profile

    @property
    def standing(self) -> Standing:
        """What somebody who is about to type would find; `look` first."""
        return self._stream.standing

    @property
    def open_line(self) -> str:
        """The line at the cursor as it stands."""
        return self._stream.open_line

    def changed(self) -> Coroutine[Any, Any, Literal[True]]:
        """Wait for the next output, event or end of the pane, counted from the call, not from the awaiting."""
        return self._change.wait()

    @property
    def seeded(self) -> bool:
        """Whether the screen is known: bytes from before that are in the snapshot."""
        return self._seeded

    def add_listener(self, listener: Listener) -> None:
        """Hand every event from here on to `listener`; one that comes later is told first what it is joining."""
        if self._seeded:
            listener(self._stamped(self._stream.opened(self._now(), command=self.info.command, title=self.info.title)))
        self._listeners.append(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Stop handing events to `listener`."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody still listens."""
        return bool(self._listeners)

    def seed(self, snapshot: Snapshot) -> None:
        """Begin, or begin again, with the screen tmux holds at this place of the stream."""
        now, info = self._now(), self.info
        if self._seeded:
            self._enter(Reseeded(now, info.pane, snapshot))
        else:
            self._seeded = True
            widths = {} if self._widths is None else self._widths.differing
            self._enter(Began(now, info.pane, info.session_name, info.command, info.title, snapshot, widths))

    def output(self, data: bytes, read_at: float) -> None:
        """Take bytes of the pane, read at `read_at` (loop time)."""
        if self._seeded and not self.closed:
            self.last_output = read_at
            self._enter(Output(read_at - self._began, self.info.pane, data))

    @property
    def rests(self) -> bool:
        """Whether nothing is due and nothing was printed for a while."""
        return self._seeded and not self.closed and self._timer is None

    def check(self, selfcheck: SelfCheck, reply: Sequence[Sequence[bytes]]) -> Verdict | None:
        """Compare the screen with what tmux holds at this place of the stream; go on with tmux's where it differs.

        What the program said may then have been read off a wrong screen, so the stream says `gap`.
        """
        if not self._seeded or self.closed:
            return None
        verdict = selfcheck.judge(self._screen, reply)
        if verdict is not None and verdict.divergences:
            self.missed("divergence")
            self.seed(verdict.snapshot)
        self._set_timer()
        return verdict

    def missed(self, reason: str) -> None:
        """Say that output may have been missed here."""
        if self._seeded and not self.closed:
            self._enter(Missed(self._now(), self.info.pane, reason))

    def update(self, info: PaneInfo) -> None:
        """Take what tmux says of the pane now; another program in its foreground is an event."""
        changed = info.command != self.info.command
        self.info = info
        if changed and self._seeded and not self.closed:
            self._enter(Ran(self._now(), info.pane, info.command))

    def look(self) -> None:
        """Look at once whether a person is needed there (see `needs_human`)."""
        self._enter(Looked(self._now(), self.info.pane))

    def inject(self, message_id: str, text: str) -> None:
        """Note that `text` is about to be pasted."""
        self._enter(Pasted(self._now(), self.info.pane, message_id, text))

    def submit(self, message_id: str) -> None:
        """Note that the Enter behind it is about to be sent."""
        self._enter(Submitted(self._now(), self.info.pane, message_id))

    def close(self, reason: ClosedReason) -> None:
        """The pane is watched no more; the last events go out."""
        if self.closed:
            return
        self.closed = True
        self._enter(Ended(self._now(), self.info.pane, reason))
        self._tap = None
        self._listeners.clear()

    def fail(self) -> None:
        """Rendering failed: say so, and stop without touching the broken stream again."""
        self.closed = True
        self.end_recording("failed")
        info = self.info
        self._hand_out([PaneClosed(reason="failed", t=self._now(), session=info.session_name, pane=info.pane)])
        self.discard()

    def end_recording(self, reason: ClosedReason = "recording_ended") -> None:
        """Hand on no more entries than the one that says so; the pane is watched on."""
        if self._tap is not None:
            self._tap(Ended(self._now(), self.info.pane, reason))
            self._tap = None

    def discard(self) -> None:
        """Nobody listens any more: stop without a word."""
        self.end_recording()
        self.closed = True
        self._listeners.clear()
        self._set_timer()
        self._wake()

    def _wake(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _now(self) -> float:
        return self._loop.time() - self._began

    def _enter(self, entry: Entry) -> None:
        if self._tap is not None:
            self._tap(entry)
        self._publish(enter(self._stream, entry))

    def _publish(self, events: list[Event]) -> None:
        if events:
            self._hand_out(events)
        self._set_timer()
        self._wake()

    def _hand_out(self, events: list[Event]) -> None:
        """Give the events to the last listener, and copies of them to those before."""
        if not self._listeners:
            return
        self._stamped(events)
        *others, last = self._listeners
        for listener in others:
            listener([copy(event) for event in events])
        last(events)

    def _stamped(self, events: list[Event]) -> list[Event]:
        at = time.time()
        for event in events:
            event.at, event.host = at, self._host
        return events

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = None if self.closed else self._stream.deadline()
        if deadline is not None:
            self._timer = self._loop.call_at(self._began + deadline, self._advance)
        elif self._seeded and not self.closed:
            self._stream.rest()

    def _advance(self) -> None:
        self._timer = None
        self._enter(Waited(self._now(), self.info.pane))
