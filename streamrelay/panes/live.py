"""One live stream: the stream of a pane, its clock and its listeners.

`DeltaStream` decides; `PaneRuntime` connects it to the event loop. Output arrives with the time of its read and waits
for the scheduler (`panes.scheduler`). Deadlines become timers. Listeners get the events in order, stamped with wall
clock and host. Every input of the stream is an entry of a recording: a recorder of the pane gets the same entries, and
a replay feeds them to a stream again.

The stream's clock follows the reads. While bytes wait, no time passes, because they are older than now. Later bytes
reveal whether the pane was idle in between; while reading is paused, that is unknown. Every other input comes after all
bytes that were read, so the runtime renders those first.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Literal

from streamrelay.batch import Batch
from streamrelay.delta.frames import SETTLE
from streamrelay.delta.inputs import (
    AtWork,
    Ended,
    HandedOver,
    HookReported,
    Input,
    Looked,
    Output,
    Pasted,
    Ran,
    Submitted,
    Waited,
)
from streamrelay.delta.layout.dialogs import Dialog
from streamrelay.delta.pane_state import PaneState
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import ClosedReason, Event, NeedKind, PaneClosed, Text, TurnStarted
from streamrelay.panes.foreground import shell_works
from streamrelay.panes.injections import InjectionLog, InjectionNote
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.listeners import Follows, Listener, Listeners, always
from streamrelay.panes.reading_pace import READ_LINES, READ_SNAPSHOT
from streamrelay.panes.scheduler import DEFERRED, DEFERRED_LIVE, TURN, Backlog, RenderScheduler
from streamrelay.panes.timer import ResettableTimer
from streamrelay.panes.witness import WitnessSource, WitnessWatch
from streamrelay.vt import TmuxScreen
from streamrelay.vt.widths import Widths

_AGAIN = 0.002
"""Seconds until a due deadline is checked again if unread bytes may precede it."""

UNSEEN = 0.1
"""Seconds of repaints without a whole snapshot, after which reading may not pause, so that a rest is found."""
LONG_UNSEEN = 0.5
"""The same while live text is not followed and no row can scroll out unseen."""
TYPING = 1.0
"""Seconds after something was typed into the pane in which it is not patient: the typist waits for what it shows."""

_LASTING = 30.0
"""Idle seconds before a pane packs its screen to save memory. With a line every ten seconds from each of 100 panes,
packing and unpacking took a tenth of the processor time."""

PanePhase = Literal["connecting", "resuming", "live", "moved", "recovering", "closed"]
"""The phases of a pane's life; docs/architecture.md has the diagram."""

InputRecorder = Callable[[Input], None]
"""Takes every entry of a pane, in order; never waits."""


class PaneRuntime:
    """Runs the stream of one pane on the event loop, once its screen is seeded (see `panes.pipeline`)."""

    def __init__(
        self,
        info: PaneInfo,
        profiles: Sequence[Profile] = (),
        *,
        rendering: "RenderScheduler[PaneRuntime]",
        widths: Widths | None = None,
        record_input: InputRecorder | None = None,
        injections: InjectionLog | None = None,
        witnesses: WitnessSource | None = None,
    ) -> None:
        """Open the stream of a pane; `record_input` gets all its entries from the beginning.

        `injections` contains text that other processes type into the pane, and `witnesses` finds the records of agents;
        without them, the stream knows neither.
        """
        self.info = info
        self._record_input = record_input
        self._injections = injections
        self._widths = widths
        self.phase: PanePhase = "connecting"
        """Its output counts while it is live or moved; while it resumes, no time passes."""
        self.turn = TURN
        """The number of bytes to render in one turn."""
        self.urgency = READ_LINES
        """For how many seconds after its next output reading may not pause."""
        self.patience = 0.0
        """For how many seconds its next output may wait (see `panes.scheduler`)."""
        self._typed_at = -TYPING
        """When text or keys were typed into the pane last (stream time)."""
        self.last_output: float | None = None
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._screen = TmuxScreen(info.columns, info.lines, widths=widths)
        self._profiles = profiles
        self._stream = self._new_stream()
        self._listeners = Listeners()
        self._rendering = rendering
        self._backlog = Backlog()
        self._deadline = ResettableTimer(self._ring)
        self._lasting = ResettableTimer(lambda: self._rendering.guarded(self, self._rest))
        self._witness = None if witnesses is None else WitnessWatch(witnesses, info.pane, self._hear_witness)
        self._past_messages: dict[str, bool] = {}
        """The messages that an earlier process noted in the stream, and whether it noted their Enter."""
        self._handed: set[str] = set()
        """The messages that were sent by the program's own API and that it has not come to."""

    def _new_stream(self) -> DeltaStream:
        info = self.info
        return DeltaStream(self._screen, session=info.session_name, pane=info.pane, profiles=self._profiles)

    @property
    def began(self) -> float:
        """When the pane's stream began (loop time)."""
        return self._began

    @property
    def needs_human(self) -> NeedKind | None:
        """The kind of input that the program needs from a person now; None if it needs none."""
        return self._stream.needs_human

    @property
    def asked(self) -> str:
        """The open question for a person, as one line; empty if there is none."""
        return self._stream.asked

    @property
    def dialog(self) -> Dialog | None:
        """The open dialog with its choices, as of the last `look`."""
        return self._stream.dialog

    @property
    def answers(self) -> bool:
        """Whether the program is at work or answering."""
        return self._stream.answers

    @property
    def profile(self) -> str:
        """The name of the profile that recognised the program."""
        return self._stream.profile

    @property
    def awaits_witness(self) -> bool:
        """Whether a turn that the screen has ended waits for the agent's own record of its answer."""
        return not self.closed and self._stream.awaits_witness

    @property
    def needs_record(self) -> bool:
        """Whether that record is needed in mid-turn, because messages wait."""
        return not self.closed and self._stream.needs_record

    @property
    def pane_state(self) -> PaneState:
        """The state that a writer finds before typing; call `look` first."""
        return self._stream.pane_state

    @property
    def open_line(self) -> str:
        """The current line at the cursor."""
        return self._stream.open_line

    @property
    def cursor(self) -> tuple[int, int]:
        """The cursor's column (the number of columns while a wrap is pending) and row, from 0."""
        return self._screen.cursor.x, self._screen.cursor.y

    def changed(self) -> Coroutine[Any, Any, Literal[True]]:
        """Wait for the next output, event or end of the pane, counted from the call, not from the awaiting."""
        return self._listeners.changed()

    @property
    def closed(self) -> bool:
        """Whether the stream has ended."""
        return self.phase == "closed"

    @property
    def seeded(self) -> bool:
        """Whether the stream has begun and not ended, so that its screen is known."""
        return self.phase not in {"connecting", "closed"}

    def add_listener(self, listener: Listener, follows: Follows = always) -> None:
        """Pass every event from here on to `listener`; a late listener first gets events about the current state.

        While `follows` returns True, live text comes at most 40 ms late (see `panes.reading_pace`).
        """
        self.catch_up()
        info, joining = self.info, Batch()
        if self.seeded:
            joining = self._stream.opened(self._now(), command=info.command, title=info.title)
        self._listeners.add(listener, joining, follows)

    def remove_listener(self, listener: Listener) -> None:
        """Stop handing events to `listener`."""
        self._listeners.remove(listener)

    @property
    def is_followed(self) -> bool:
        """Whether any listener shows live text to people now."""
        return self._listeners.follow_live

    @property
    def has_listeners(self) -> bool:
        """Whether there are listeners."""
        return bool(self._listeners)

    def output(self, data: bytes, read_at: float) -> None:
        """Take bytes of the pane, read at `read_at` (loop time); the scheduler renders them at this pane's turn."""
        if self._injections is not None and (notes := self._injections.news()):
            self._hear_of(notes)
        backlog, rendering = self._backlog, self._rendering
        first = not backlog
        if not first and rendering.read_until >= backlog.last_read + SETTLE:
            backlog.mark(rendering.read_until)
        backlog.put(data, read_at)
        rendering.add(self, len(data), read_at, first=first)

    @property
    def paints(self) -> bool:
        """Whether the program paints its screen, so that rows are not lines."""
        return self._screen.alternate or self._stream.converses

    @property
    def waits(self) -> bool:
        """Whether bytes wait to be rendered."""
        return bool(self._backlog)

    @property
    def waiting(self) -> int:
        """The number of bytes that wait to be rendered."""
        return self._backlog.size

    def render(self, most: int) -> None:
        """Render up to about `most` waiting bytes, with the times of their reads."""
        if not self._backlog:
            return
        data, read_at = self._backlog.take(most)
        self._rendering.taken(len(data))
        now = read_at - self._began
        if data:
            self.last_output = read_at
            self._enter(Output(now, self.info.pane, data))
            self._be_patient(now)
        else:
            self._let_pass(now)
            self._set_timer()

    def _be_patient(self, now: float) -> None:
        """Decide how long what may follow can wait.

        An agent's answer and a repaint are not urgent, unless the repaint has lasted. The first screen of an agent may
        look like lines that it prints, until it rests.
        """
        stream = self._stream
        if now <= self._typed_at + TYPING or not stream.is_patient:
            self.patience = 0.0
        else:
            self.patience = DEFERRED_LIVE if self.is_followed else DEFERRED
        if not self.paints:
            lines = READ_SNAPSHOT if stream.is_agent else READ_LINES
            self.urgency = 0.0 if stream.answers_in_lines else lines
            return
        began = stream.unseen_since
        lasts = began is not None and now > began + (LONG_UNSEEN if self.patience == DEFERRED else UNSEEN)
        self.urgency = READ_SNAPSHOT if lasts else 0.0

    def catch_up(self) -> None:
        """Render all waiting bytes and let the pane's idle time pass, before another input."""
        while self._backlog:
            self.render(self._backlog.size)
        if self.phase not in {"closed", "resuming"}:
            self._let_pass(self._rendering.read_until - self._began)

    def _let_pass(self, now: float) -> None:
        """Let the deadlines pass that are due at `now` (stream time)."""
        while (deadline := self._stream.deadline()) is not None and deadline <= now:
            self._tell(Waited(deadline, self.info.pane))
            self._be_patient(now)

    @property
    def rests(self) -> bool:
        """Whether nothing is due and the pane has printed nothing for a while."""
        return self.seeded and not self._deadline and not self._backlog

    def update(self, info: PaneInfo) -> None:
        """Take tmux's current data of the pane; another program in its foreground is an event."""
        changed = info.command != self.info.command
        if changed:
            self.catch_up()
        self.info = info
        if changed and self.seeded:
            self._enter(Ran(self._now(), info.pane, info.command))

    def see_at_work(self) -> bool:
        """Record that the program is at work behind an unfinished line; return whether that line may be a question.

        Only the answer to a message ends at a question, so no other line is examined.
        """
        if self.phase != "live" or not self._stream.has_message:
            return False
        self.catch_up()
        may_be_question = self._stream.may_be_question
        if may_be_question and shell_works(self.info.pid):
            self._enter(AtWork(self._now(), self.info.pane))
        return may_be_question

    def _note_typing(self) -> None:
        self._typed_at = self._now()
        self.patience = 0.0

    def look(self) -> None:
        """Check at once whether the program needs a person (see `needs_human`)."""
        self.catch_up()
        self._note_typing()
        self._enter(Looked(self._now(), self.info.pane))

    def inject(self, message_id: str, text: str) -> None:
        """Note that `text` is about to be pasted, unless an earlier process has."""
        if message_id in self._past_messages:
            return
        if self._injections is not None:
            self._injections.note("pasted", message_id, text)
        self.catch_up()
        self._note_typing()
        self._enter(Pasted(self._now(), self.info.pane, message_id, text))

    def submit(self, message_id: str) -> None:
        """Note that the Enter after it is about to be sent, unless an earlier process has."""
        if self._past_messages.pop(message_id, False):
            return
        if self._injections is not None:
            self._injections.note("entered", message_id)
        self.catch_up()
        self._note_typing()
        self._enter(Submitted(self._now(), self.info.pane, message_id))

    def hand_over(self, message_id: str, text: str) -> None:
        """Note that `text` is about to be sent by the program's own API, unless an earlier process has noted that."""
        if self._past_messages.pop(message_id, False):
            return
        if self._injections is not None:
            self._injections.note("handed", message_id, text)
            self._handed.add(message_id)
        self.catch_up()
        self._note_typing()
        self._enter(HandedOver(self._now(), self.info.pane, message_id, text))

    def _hear_of(self, notes: Sequence[InjectionNote]) -> None:
        """Take text that other processes type, unless the stream knows of it."""
        self.catch_up()
        now, pane = self._now(), self.info.pane
        for note in notes:
            known = self._past_messages.get(note.message_id)
            if note.kind == "pasted" and known is None:
                self._enter(Pasted(now, pane, note.message_id, note.text))
            elif note.kind == "handed" and not known:
                self._enter(HandedOver(now, pane, note.message_id, note.text))
            elif note.kind == "entered" and not known:
                self._enter(Submitted(now, pane, note.message_id))

    def stopped(self, agent: str, answer: str) -> None:
        """Record that the program's stop hook reported the end of the turn."""
        self.catch_up()
        self._enter(HookReported(self._now(), self.info.pane, agent, answer))

    def _hear_witness(self, told: Callable[[float], Input]) -> None:
        """Take the entries of the agent's own record, as of now."""
        if not self.closed:
            self.catch_up()
            self._rendering.guarded(self, lambda: self._enter(told(self._now())))

    async def hear_out(self) -> None:
        """Read the agent's own record a last time: the pane is about to end."""
        if self._witness is not None and self.seeded:
            self.catch_up()
            await self._witness.hear_out(self)

    def fail(self) -> None:
        """Report that rendering failed, and stop without using the broken stream again."""
        self.phase = "closed"
        self._rendering.taken(self._backlog.clear())
        self.end_recording("failed")
        info = self.info
        closed = PaneClosed(reason="failed", t=self._now(), session=info.session_name, pane=info.pane)
        self._listeners.hear(Batch([closed]))
        self.discard()

    def end_recording(self, reason: ClosedReason = "recording_ended") -> None:
        """End the recording with a last entry; the pane stays watched."""
        if self._record_input is not None:
            self.catch_up()
            self._record_input(Ended(self._now(), self.info.pane, reason))
            self._record_input = None

    def discard(self) -> None:
        """Stop without events: the last listener has left."""
        self.end_recording()
        self.phase = "closed"
        self._listeners.leave()
        self._rendering.taken(self._backlog.clear())
        self._set_timer()
        self._listeners.wake()

    def _now(self) -> float:
        return self._loop.time() - self._began

    def _enter(self, entry: Input) -> None:
        self._tell(entry)
        self._set_timer()

    def _tell(self, entry: Input) -> None:
        if self._record_input is not None:
            self._record_input(entry)
        batch = self._stream.apply(entry)
        if self._handed:
            self._note_shown(batch)
        self._listeners.hear(batch)
        self._listeners.wake()
        if self._witness is not None and self.phase not in {"resuming", "closed"}:
            self._witness.look(self, self.info.pid)

    def _note_shown(self, events: Iterable[Event]) -> None:
        """Tell other processes of each message that the program has come to: those that begin now must not await it."""
        for event in events:
            if isinstance(event, TurnStarted | Text) and event.message_id in self._handed:
                self._handed.discard(event.message_id)
                if self._injections is not None and self.phase != "resuming":
                    self._injections.note("shown", event.message_id)

    def _set_timer(self, *, not_before: float = 0.0) -> None:
        """Set the timer for the next deadline; waiting bytes are rendered before it."""
        due: float | None = None
        if self.phase == "resuming" or self._backlog:
            return
        if not self.closed and (deadline := self._stream.deadline()) is not None:
            due = self._began + deadline
        self._deadline.set(due, not_before=max(not_before, self._rendering.next_read))
        if self.closed:
            self._lasting.set(None)
            if self._witness is not None:
                self._witness.close()
        elif self.rests and not self._lasting:
            self._rest()

    def _rest(self) -> None:
        """Pack the screen if the pane has been idle for long, or since its seed; otherwise check again later."""
        if self.last_output is not None and self._loop.time() < self.last_output + _LASTING:
            self._lasting.set(self.last_output + _LASTING)
        elif self.rests:
            self._stream.rest()

    def _ring(self) -> None:
        self._rendering.guarded(self, self._time_passes)

    def _time_passes(self) -> None:
        if not self._backlog:
            self._let_pass(self._rendering.known_until() - self._began)
            self._set_timer(not_before=self._loop.time() + _AGAIN)
