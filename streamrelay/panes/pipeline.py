"""One live pane: its stream, its clock and its listeners.

The stream is pure; here it meets the event loop. Output comes in with the time it was read and waits until it is
rendered (`panes.rendering`), deadlines become timers, and the events that come out are stamped with the wall clock and
the host and handed to whoever listens, in order. Everything the stream is told is an entry of a recording: who records
the pane is handed the same ones, and a replay tells its stream the same.

Time is that of the reads. Bytes that wait are older than now, so while there are any the clock only leaves a mark
behind them, where the pane rested; and where reading is held nobody knows whether it rests. Whatever else happens to
the pane has its place behind everything that was read, so it first catches up.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Literal

from streamrelay.delta.frames import SETTLE
from streamrelay.delta.profiles import Profile
from streamrelay.delta.standing import Standing
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import ClosedReason, NeedKind, PaneClosed
from streamrelay.panes.alarm import Alarm
from streamrelay.panes.audience import Audience, Listener
from streamrelay.panes.burial import RESTED, LastWords
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.log import PaneLog, Past
from streamrelay.panes.missing import Missing
from streamrelay.panes.recovery import (
    Held,
    read_held,
)
from streamrelay.panes.rendering import Backlog, Rendering
from streamrelay.panes.selfcheck import SelfCheck, Verdict
from streamrelay.panes.snapshot import SNAPSHOT_BLOCKS, read_generation, read_snapshot
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
    Told,
    Waited,
)
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparing import divergences
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.widths import Widths, unicode14

_AGAIN = 0.002
"""Seconds after which a deadline is looked at again that is due, and may not pass before more was read."""

Tap = Callable[[Entry], None]
"""Takes every entry of a pane, in order; never waits."""


class PanePipeline:
    """What one pane's bytes go through, from the moment its screen was seeded."""

    def __init__(
        self,
        info: PaneInfo,
        profiles: Sequence[Profile] = (),
        *,
        rendering: "Rendering[PanePipeline]",
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
        self._screen = TmuxScreen(info.columns, info.lines, widths=widths)
        self._profiles = profiles
        self._stream = self._new_stream()
        self._audience = Audience()
        self._rendering = rendering
        self._backlog = Backlog()
        self._alarm = Alarm(self._time_passes)
        self._seeded = False
        self._missing = Missing(self._screen)
        self._resuming = False
        self._past_messages: dict[str, bool] = {}
        """The messages that an earlier process told the stream of, and whether it told of their Enter."""

    def resume(self, past: Past) -> None:
        """Go on where an earlier process ended: the stream is told what that one was told, and says the same again.

        What was printed since is asked of tmux next, and until it has answered no time passes.
        """
        self._resuming = True
        self._began = past.began
        command, tap, self._tap = self.info.command, self._tap, None
        for entry in past.entries:
            if isinstance(entry, Began | Ran):
                command = entry.command
            elif isinstance(entry, Pasted | Submitted):
                self._past_messages[entry.message_id] = isinstance(entry, Submitted)
            self._enter(entry)
        self.info = replace(self.info, command=command)
        self._tap, self._seeded = tap, True
        self._missing.note("detached")

    def renew(self, snapshot: Snapshot, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Begin anew, into another log, on the screen tmux holds at this place; False for a pane that does not rest.

        `renewed` is called between the last event of the old stream and the first one of the new.
        """
        self.catch_up()
        if not self.rests or self._missing.reason is not None or self.answers:
            return False
        asks_for_paste = self.standing.asks_for_paste
        self._began = self._loop.time()
        self._screen = TmuxScreen(self.info.columns, self.info.lines, widths=self._widths)
        self._missing = Missing(self._screen)
        self._stream = self._new_stream()
        self._past_messages.clear()
        log.begin(self._began)
        self._tap = log.take
        self._seeded = False
        renewed()
        self.seed(snapshot)
        if asks_for_paste:
            # A snapshot does not tell.
            self._enter(Output(self._now(), self.info.pane, b"\x1b[?2004h"))
        return True

    def _new_stream(self) -> DeltaStream:
        info = self.info
        return DeltaStream(self._screen, session=info.session_name, pane=info.pane, profiles=self._profiles)

    @property
    def began(self) -> float:
        """When the pane's stream began (loop time)."""
        return self._began

    @property
    def needs_human(self) -> NeedKind | None:
        """What the program wants from a person right now, if anything."""
        return self._stream.needs_human

    @property
    def asked(self) -> str:
        """The question for a person that stands there, as one line; empty where none does."""
        return self._stream.asked

    @property
    def answers(self) -> bool:
        """Whether the program is at work, or in the midst of an answer."""
        return self._stream.answers

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

    @property
    def cursor(self) -> tuple[int, int]:
        """Where the cursor stands: column (the number of columns while a wrap is pending) and row, from 0."""
        return self._screen.cursor.x, self._screen.cursor.y

    def changed(self) -> Coroutine[Any, Any, Literal[True]]:
        """Wait for the next output, event or end of the pane, counted from the call, not from the awaiting."""
        return self._audience.changed()

    @property
    def seeded(self) -> bool:
        """Whether the screen is known: bytes from before that are in the snapshot."""
        return self._seeded

    def add_listener(self, listener: Listener) -> None:
        """Hand every event from here on to `listener`; one that comes later is told first what it is joining."""
        self.catch_up()
        info, joining = self.info, []
        if self._seeded:
            joining = self._stream.opened(self._now(), command=info.command, title=info.title)
        self._audience.add(listener, joining)

    def remove_listener(self, listener: Listener) -> None:
        """Stop handing events to `listener`."""
        self._audience.remove(listener)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody still listens."""
        return bool(self._audience)

    def seed(self, snapshot: Snapshot) -> None:
        """Begin, or begin again, with the screen tmux holds at this place of the stream."""
        self.catch_up()
        now, info = self._now(), self.info
        if self._seeded:
            self._enter(Reseeded(now, info.pane, snapshot))
        else:
            self._seeded = True
            widths = unicode14() if self._widths is None else self._widths
            self._enter(
                Began(
                    now, info.pane, info.session_name, info.command, info.title, snapshot,
                    widths=widths.differing, manners=widths.manners,
                )
            )  # fmt: skip

    def output(self, data: bytes, read_at: float) -> None:
        """Take bytes of the pane, read at `read_at` (loop time); they are rendered when it is this pane's turn.

        While tmux is asked what was missed they are in its answer, which has its place behind them.
        """
        waits = self._resuming or (self._missing.reason is not None and not self.has_moved)
        if self._seeded and not self.closed and not waits:
            first = not self._backlog
            self._backlog.put(data, read_at)
            self._rendering.add(self, len(data), read_at, first=first)
            if first:
                self._set_timer()

    @property
    def waits(self) -> bool:
        """Whether anything was read and is not rendered."""
        return bool(self._backlog)

    @property
    def waiting(self) -> int:
        """How many bytes were read and are not rendered."""
        return self._backlog.size

    def render(self, most: int) -> None:
        """Render what waits, up to about `most` bytes, as of the time it was read."""
        if not self._backlog:
            return
        data, read_at = self._backlog.take(most)
        self._rendering.taken(len(data))
        now = read_at - self._began
        if data:
            self.last_output = read_at
            self._enter(Output(now, self.info.pane, data))
        else:
            self._let_pass(now)

    def catch_up(self) -> None:
        """Render all that waits: what comes next comes after it."""
        while self._backlog:
            self.render(self._backlog.size)

    def _let_pass(self, now: float) -> None:
        """Let the deadlines pass that are due at `now` (stream time)."""
        while (deadline := self._stream.deadline()) is not None and deadline <= now:
            self._enter(Waited(deadline, self.info.pane))

    @property
    def rests(self) -> bool:
        """Whether nothing is due and nothing was printed for a while."""
        return self._seeded and not self.closed and not self._alarm and not self._backlog

    def check(self, selfcheck: SelfCheck, reply: Sequence[Sequence[bytes]]) -> Verdict | None:
        """Compare the screen with what tmux holds at this place of the stream; go on with tmux's where it differs.

        What the program said may then have been read off a wrong screen, so the stream says `gap`.
        """
        self.catch_up()
        if not self._seeded or self.closed:
            return None
        verdict = selfcheck.judge(self._screen, reply)
        if verdict is not None and verdict.divergences:
            self._enter(Missed(self._now(), self.info.pane, "divergence"))
            self._missing.generation = read_generation(reply)
            self.seed(verdict.snapshot)
        self._set_timer()
        return verdict

    def missed(self, reason: str) -> None:
        """Note that output is missed from here on, until `answer`, and that a gap is for this `reason`."""
        self.catch_up()
        if self._seeded and not self.closed:
            self._missing.note(reason)

    @property
    def has_moved(self) -> bool:
        """Whether what it prints may come late since it moved."""
        return self._missing.comes_late

    def moved(self, info: PaneInfo) -> None:
        """Note that the pane went to where `info` says, and that what it prints may come late until `arrived`."""
        self.missed("moved")
        if self._seeded and not self.closed:
            for entry in self._missing.moved(info, self._now()):
                self._enter(entry)
        self.update(info)

    def arrived(self, blocks: Sequence[Sequence[bytes]]) -> bool | None:
        """Tell by tmux's replies to `place_line` here whether all has come that a pane printed that moved.

        None for one that has moved or changed since: that is taken up when it is noticed.
        """
        self.catch_up()
        held = read_held(blocks, 0)
        if held is None or self.closed or not self.has_moved:
            return False
        size = (held.snapshot.columns, held.snapshot.lines)
        if list(blocks[0]) != [self.info.window.encode()] or size != (self._screen.columns, self._screen.lines):
            return None
        if not self._missing.arrived(held):
            return False
        if divergences(self._screen, held.snapshot):
            self._missing.generation = held.generation
            self.seed(held.snapshot)
        return True

    def paused(self) -> bool:
        """Note that tmux paused the pane; False where what it drops is in an answer that comes anyway."""
        if not self._seeded or self._missing.ends_pause:
            return False
        self.missed("paused")
        return True

    def question(self) -> str:
        """Return the command line that asks tmux how the pane stands, and for what was missed where something was.

        It has to be sent, and `answer` to be called with what came of it.
        """
        return self._missing.question(self.info.pane, self._loop.time(), seeded=self._seeded)

    def answer(self, blocks: Sequence[Sequence[bytes]]) -> bool:
        """Begin, or go on, with what tmux replied to `question` at this place of the stream; False for a pane gone."""
        self._resuming = False
        asked = self._missing.answered()
        if asked.depth is not None:
            return self._go_on(read_held(blocks, asked.depth))
        current = blocks[-SNAPSHOT_BLOCKS:]
        snapshot = read_snapshot(current)
        # What was missed since this was asked has a question of its own behind it, which begins where this stream is.
        if snapshot is not None and not self.closed and not (self._seeded and self._missing.reason is not None):
            self._missing.generation = read_generation(current)
            self.seed(snapshot)
        return snapshot is not None

    def _go_on(self, held: Held | None) -> bool:
        """Say what was missed, and go on with the screen as it is."""
        if held is None or self.closed:
            return held is not None
        # Another question may have been answered first, and this one has skipped what came since.
        self._missing.note("paused")
        self._recover(held)
        self.seed(held.snapshot)
        if held.title != self._screen.title:
            # Programs say by their titles whether they are at work.
            title = "".join(character for character in held.title if character.isprintable())
            self._enter(Output(self._now(), self.info.pane, f"\x1b]2;{title}\x07".encode()))
        return True

    def _recover(self, held: Held) -> bool:
        """Say what was missed and can be had, and where it cannot, that something is lost; True where nothing is."""
        now, at = self._loop.time(), self._now()
        entries, whole = self._missing.recover(held, self.info.pane, now, at, paints=self._paints)
        for entry in entries:
            self._enter(entry)
        return whole

    @property
    def _paints(self) -> bool:
        """Whether rows are no lines here."""
        return self._screen.alternate or self._stream.converses

    def bury(self, last: LastWords | None) -> None:
        """Close, with what tmux holds of a program that has ended and whose pane remains."""
        self.catch_up()
        if last is None or self.closed or not self._seeded:
            self.close("pane_gone")
            return
        if self._paints:
            heard = last.shows(self._screen.text())
        else:
            self._missing.note("tail")
            heard = self._recover(last.held)
        rested = self._loop.time() - (self.last_output or self._began) > RESTED
        self.close("pane_gone", status=last.status, tail_certain=heard and rested)

    def update(self, info: PaneInfo) -> None:
        """Take what tmux says of the pane now; another program in its foreground is an event."""
        changed = info.command != self.info.command
        if changed:
            self.catch_up()
        self.info = info
        if changed and self._seeded and not self.closed:
            self._enter(Ran(self._now(), info.pane, info.command))

    def look(self) -> None:
        """Look at once whether a person is needed there (see `needs_human`)."""
        self.catch_up()
        self._enter(Looked(self._now(), self.info.pane))

    def inject(self, message_id: str, text: str) -> None:
        """Note that `text` is about to be pasted, unless an earlier process has."""
        if message_id in self._past_messages:
            return
        self.catch_up()
        self._enter(Pasted(self._now(), self.info.pane, message_id, text))

    def submit(self, message_id: str) -> None:
        """Note that the Enter behind it is about to be sent, unless an earlier process has."""
        if self._past_messages.pop(message_id, False):
            return
        self.catch_up()
        self._enter(Submitted(self._now(), self.info.pane, message_id))

    def stopped(self, agent: str, answer: str) -> None:
        """Note that the program's own hook told that its turn is over."""
        self.catch_up()
        self._enter(Told(self._now(), self.info.pane, agent, answer))

    def close(self, reason: ClosedReason, *, status: int | None = None, tail_certain: bool = False) -> None:
        """The pane is watched no more; the last events go out."""
        self.catch_up()
        if self.closed:
            return
        # One that left its window and is nowhere has not moved but ended, and its end says whether all of it was heard.
        if self._missing.reason is not None and not self.has_moved:
            self._enter(Missed(self._now(), self.info.pane, self._missing.reason))
        self.closed = True
        self._enter(Ended(self._now(), self.info.pane, reason, status, tail_certain))
        self._tap = None
        self._audience.leave()

    def fail(self) -> None:
        """Rendering failed: say so, and stop without touching the broken stream again."""
        self.closed = True
        self._rendering.taken(self._backlog.clear())
        self.end_recording("failed")
        info = self.info
        self._audience.hear([PaneClosed(reason="failed", t=self._now(), session=info.session_name, pane=info.pane)])
        self.discard()

    def end_recording(self, reason: ClosedReason = "recording_ended") -> None:
        """Hand on no more entries than the one that says so; the pane is watched on."""
        if self._tap is not None:
            self.catch_up()
            self._tap(Ended(self._now(), self.info.pane, reason))
            self._tap = None

    def discard(self) -> None:
        """Nobody listens any more: stop without a word."""
        self.end_recording()
        self.closed = True
        self._audience.leave()
        self._rendering.taken(self._backlog.clear())
        self._set_timer()
        self._audience.wake()

    def _now(self) -> float:
        return self._loop.time() - self._began

    def _enter(self, entry: Entry) -> None:
        if self._tap is not None:
            self._tap(entry)
        self._audience.hear(enter(self._stream, entry))
        self._set_timer()
        self._audience.wake()

    def _set_timer(self, *, not_before: float = 0.0) -> None:
        """Have the clock come back when the next deadline is due."""
        due: float | None = None
        if self._resuming:
            return
        if self._backlog:
            due = None if self._backlog.is_marked else self._backlog.last_read + SETTLE
        elif not self.closed and (deadline := self._stream.deadline()) is not None:
            due = self._began + deadline
        self._alarm.set(due, not_before=not_before)
        if due is None and self._seeded and not self.closed and not self._backlog:
            self._stream.rest()

    def _time_passes(self) -> None:
        known = self._rendering.known_until()
        if not self._backlog:
            self._let_pass(known - self._began)
        elif self._backlog.last_read + SETTLE <= known:
            self._backlog.mark(known)
        self._set_timer(not_before=self._loop.time() + _AGAIN)
