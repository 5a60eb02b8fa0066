"""One pane's bytes become its events: the room's only door.

    feed(bytes, now), inject(...), submit(...), advance(now)  ->  events, each once, in order

Pure and online: time is passed in, in seconds of the stream, and nothing is known of what comes later. `deadline()`
says when `advance` is due. Events leave without `seq`, `at`, `host`: whoever publishes them fills those in.
"""

from collections.abc import Iterable
from itertools import chain

from streamrelay.delta import attention
from streamrelay.delta.answers import painted_lines
from streamrelay.delta.attribution import Attribution
from streamrelay.delta.composer import Composer
from streamrelay.delta.conversation import Conversation
from streamrelay.delta.echo import looks_like_prompt
from streamrelay.delta.frames import SETTLE, FrameCutter
from streamrelay.delta.lines import LineTracker
from streamrelay.delta.provenance import Piece
from streamrelay.delta.signals import Signals
from streamrelay.delta.turns import Ended, Turns
from streamrelay.events import (
    Activity,
    ClosedReason,
    Event,
    Gap,
    Injected,
    Live,
    NeedsHuman,
    Origin,
    PaneClosed,
    PaneOpened,
    PaneResized,
    ProgramChanged,
    Retracted,
    Text,
    TurnEnded,
    TurnStarted,
)
from streamrelay.vt.engine import Engine, Frame, Snapshot

LONGEST_GREETING, GREETING_PATIENCE = 100, 10.0
"""Lines, and seconds, after which what a program prints first is taken for what it says, as it asks for no input."""

LONGEST_LIVE = 4096
"""Characters of an unfinished line that are shown: its end, when it is longer."""


class DeltaStream:
    """Says what the program of one pane says; `newborn` if its program starts before our eyes."""

    def __init__(self, engine: Engine, *, session: str = "", pane: str = "", newborn: bool = False) -> None:
        self.session = session
        self.pane = pane
        self._engine = engine
        self._cutter = FrameCutter()
        self._lines = LineTracker(engine)
        self._lines.seed(engine.take())
        self._attribution = Attribution()
        self._ledger = self._attribution.ledger
        self._composer = Composer()
        self._conversation = Conversation(engine)
        self._following = False
        self._alternate = False
        self._awaited = False
        self._held = False
        self._greeting: list[str] | None = [] if newborn else None
        self._greeting_due: float | None = None
        self._signals = Signals()
        self._turns = Turns()
        self._line = 1
        self._live = ""
        self._last_output: float | None = None
        self._unsettled = False
        self._asked_at: tuple[int, str] | None = None
        self._needs_human: str | None = None
        self._attention_due: float | None = None
        self._events: list[Event] = []
        self._now = 0.0

    @property
    def now(self) -> float:
        """The time last passed in."""
        return self._now

    @property
    def open_line(self) -> str:
        """The line at the cursor as it stands."""
        return self._open_text()

    @property
    def needs_human(self) -> str | None:
        """What the program wants from a person right now, if anything: the kind of the last `needs_human` event."""
        return self._needs_human

    # What goes in

    def seed(self, snapshot: Snapshot) -> None:
        """Begin on the pane's own screen as tmux holds it; without, on an empty one."""
        self._seed(snapshot)
        self._attribution.begin(self._lines.open_head())

    def opened(self, now: float, *, command: str = "", title: str = "") -> list[Event]:
        """Tell a listener what it is going to hear."""
        self._now = now
        self._emit(PaneOpened(columns=self._engine.columns, lines=self._engine.lines, command=command, title=title))
        return self._taken()

    def reseed(self, now: float, snapshot: Snapshot) -> list[Event]:
        """Go on with the pane's screen as tmux holds it now, in its new size or after bytes were missed."""
        self._now = now
        resized = (snapshot.columns, snapshot.lines) != (self._engine.columns, self._engine.lines)
        self._settle()
        self._seed(snapshot)
        if resized:
            self._emit(PaneResized(columns=snapshot.columns, lines=snapshot.lines))
        return self._taken()

    def resize(self, now: float, columns: int, lines: int) -> list[Event]:
        """Go on in another size where no snapshot is to be had (a recording); rows are not reflowed."""
        self._now = now
        self._settle()
        self._engine.resize(lines, columns)
        frame = self._engine.take()
        self._lines.seed(frame)
        self._conversation.restart(frame)
        self._emit(PaneResized(columns=columns, lines=lines))
        return self._taken()

    def feed(self, data: bytes, now: float) -> list[Event]:
        """Take bytes the program printed."""
        self._now = now
        self._last_output = now
        self._unsettled = True
        self._attention_due = self._needs_human = None
        conversed = self._converses
        for piece, complete in self._cutter.pieces(data):
            if piece:
                self._engine.feed(piece)
            if complete or (self._cutter.painting and not self._following):
                self._take_frame()
        if not (conversed and self._converses):
            self._turns.output(now)
        return self._taken()

    def inject(self, message_id: str, text: str, now: float) -> list[Event]:
        """Note that `text` is being pasted into the pane, before any of it can be shown."""
        self._now = now
        self._settle()
        self._end_greeting("unknown" if looks_like_prompt(self._open_head()) else "program")
        self._ledger.enter(message_id, text, self._open_head())
        if self._following:
            if not self._turns.is_open:
                self._conversation.settle_down()
            self._conversation.inject(message_id, text)
        self._emit(Injected(message_id=message_id, state="pasted", text=text))
        return self._taken()

    def submit(self, message_id: str, now: float) -> list[Event]:
        """Note that the Enter behind a pasted text is being sent."""
        self._now = now
        shown = self._following and self._conversation.submit(message_id)
        if self._ledger.submit(message_id, self._open_text()) or shown:
            self._emit(Injected(message_id=message_id, state="painted"))
        self._next_turn(message_id)
        self._awaited = True
        self._composer.entered = True
        self._emit(Injected(message_id=message_id, state="submitted"))
        return self._taken()

    def program_changed(self, now: float, command: str) -> list[Event]:
        """Note that another program is in the foreground."""
        self._now = now
        self._emit(ProgramChanged(command=command))
        return self._taken()

    def gap(self, now: float, reason: str, *, lost_bytes: int | None = None) -> list[Event]:
        """Note that bytes were missed."""
        self._now = now
        self._emit(Gap(reason=reason, lost_bytes=lost_bytes))
        return self._taken()

    def deadline(self) -> float | None:
        """Return when `advance` is due (stream time); None while nothing is waited for."""
        due = [self._turns.deadline(), self._attention_due, self._greeting_due]
        if self._unsettled and self._last_output is not None:
            due.append(self._last_output + SETTLE)
        return min((time for time in due if time is not None), default=None)

    def advance(self, now: float) -> list[Event]:
        """Let time pass without output."""
        self._now = now
        if self._unsettled and self._last_output is not None and now >= self._last_output + SETTLE:
            self._settle()
        if self._attention_due is not None and now >= self._attention_due:
            self._attention_due = None
            self._look_for_need()
        if self._greeting_due is not None and now >= self._greeting_due:
            self._end_greeting("program")
        if self._turns.is_over(now):
            self._say_held()
        ended = self._turns.advance(now)
        if ended is not None:
            self._say_ended(ended)
        return self._taken()

    def close(self, now: float, reason: ClosedReason, *, tail_certain: bool = False) -> list[Event]:
        """The pane is gone, or nobody watches it any more: whatever still stands open is final."""
        self._now = now
        self._settle()
        self._end_greeting("program")
        if self._converses:
            if self._turns.is_open:
                self._read_conversation()
        else:
            self._say_rest()
        self._publish(self._ledger.rest())
        ended = self._turns.close()
        if ended is not None:
            self._say_ended(ended)
        self._emit(PaneClosed(reason=reason, tail_certain=tail_certain))
        return self._taken()

    # What is made of it

    @property
    def _converses(self) -> bool:
        """Whether the program keeps a transcript on a screen that it paints itself."""
        keeps_composer = self._composer.asks_for_paste and self._composer.withdraws is False
        return self._alternate or (keeps_composer and self._cutter.moved)

    def _say_rest(self) -> None:
        self._release_held()
        self._say(self._composer.release())
        rest = self._open_text().rstrip()
        if rest and not self._composer.is_open and rest not in self._attribution.prompts:
            self._say([rest])

    def _seed(self, snapshot: Snapshot) -> None:
        self._engine.seed(snapshot)
        frame = self._engine.take()
        self._lines.seed(frame)
        self._alternate = frame.alternate
        self._following = frame.alternate
        if self._following:
            self._conversation.restart(frame)
        self._cutter.settle()
        self._attention_due = self._now + attention.REST

    def _take_frame(self) -> None:
        """Look at the screen; a piece ends with a switch of bracketed paste, so what it passed came before that."""
        frame = self._engine.take()
        self._follow(frame)
        kinds = [event.kind for event in frame.events]
        passed = self._pass_lines(frame, held=self._cutter.painting and not self._following)
        if self._lines.lost and not self._converses:
            self._emit(Gap(reason="history", lost_lines=self._lines.lost))
        self._lines.lost = 0
        for event in frame.events:
            signal = self._signals.read(event)
            if signal is not None:
                self._turns.vote(signal.by, signal.says, self._now)
                if signal.says == "busy" and self._turns.turn:
                    self._begin_turn()
        withdrawn = "bracketed_paste_off" in kinds and self._composer.asks_for_paste
        if self._converses:
            pass
        elif not self._composer.is_open:
            self._say(passed)
        elif withdrawn:
            self._submit_composer(passed)
        else:
            self._say(self._composer.keep(passed))
        if withdrawn:
            if self._converses and self._turns.is_open:
                self._read_conversation()
            self._turns.vote("composer", "busy", self._now)
            self._composer.withdraw()
            self._following = self._alternate
        if "bracketed_paste_on" in kinds:
            self._end_greeting("unknown")
            if not self._following:
                self._following = True
                self._conversation.restart(frame)
            self._say(self._composer.release())
            self._composer.begin(self._lines.open_head())
            if self._composer.withdraws:
                self._turns.vote("composer", "idle", self._now)

    def _pass_lines(self, frame: Frame, *, held: bool) -> list[str]:
        """Return the lines that are final; those of a program that hides its cursor are when it is done with them."""
        lines = self._lines.passed(frame, held=held)
        if self._held and not held:
            lines = painted_lines(lines, self._engine.columns)
        self._held = held
        return lines

    def _release_held(self) -> None:
        """What was painted is final: the turn is over, or the pane."""
        if self._held:
            self._say(self._pass_lines(self._engine.take(), held=False))

    def _end_greeting(self, origin: Origin) -> None:
        """Publish what a program that began before our eyes printed first.

        Where it went on to ask for input that was its greeting: said to nobody, so nobody's answer.
        """
        greeting, self._greeting, self._greeting_due = self._greeting, None, None
        if not greeting:
            return
        if origin == "program":
            self._say(greeting)
        else:
            self._publish(Piece(line, origin) for line in greeting)
            self._line += len(greeting)

    def _follow(self, frame: Frame) -> None:
        """Let the conversation follow the screen while there may be one."""
        if self._alternate and not frame.alternate and self._turns.is_open:
            self._read_conversation()
        switched = frame.alternate != self._alternate
        self._alternate = frame.alternate
        if switched:
            self._following = frame.alternate or self._composer.asks_for_paste
            if self._following:
                self._conversation.restart(frame)
        elif self._following:
            worked = self._conversation.works
            changed = self._conversation.take(frame)
            if changed and self._converses:
                self._note_change(worked)

    def _note_change(self, worked: bool) -> None:
        """The screen of a conversation reads differently."""
        if self._last_output is not None:
            self._turns.output(self._last_output)
        if self._awaited:
            self._begin_turn()
        if self._conversation.works != worked:
            self._turns.vote("furniture", "busy" if self._conversation.works else "idle", self._now)

    def _read_conversation(self) -> None:
        """Publish what was answered on the screen."""
        self._awaited = False
        answer = self._conversation.read()
        if not answer.echoes and self._alternate and not self._signals.tell:
            return
        for passage in answer.passages:
            match passage.kind:
                case "text":
                    self._publish(Piece(line, "program") for line in passage.lines)
                    self._line += len(passage.lines)
                case "activity":
                    self._emit(Activity(text="\n".join(passage.lines)))
                case "gap":
                    self._emit(Gap(reason="unpainted"))
                case origin:
                    self._publish(Piece(line, origin, passage.message_id) for line in passage.lines)
        self._ledger.forget_submitted()

    def _submit_composer(self, passed: list[str]) -> None:
        content = self._composer.content(passed, self._lines.open_head())
        self._attribution.publish_open_line(self._lines.open_text().rstrip())
        message_id = self._ledger.in_composer(content)
        behind = self._attribution.prompts.behind(content)
        typed = content.strip() if behind is None else behind
        if message_id is not None:
            self._publish([Piece(typed, "injected", message_id)])
        elif typed:
            self._publish([Piece(typed, "typed")])

    def _settle(self) -> None:
        """The screen rests: it shows what the program means it to show."""
        self._unsettled = False
        self._cutter.settle()
        self._take_frame()
        head = self._open_head()
        if self._composer.asks_for_paste:
            self._settle_composer(head)
        elif unfinished := self._attribution.settle(head):
            self._say_pieces([Piece(unfinished, "program")])
        self._show_live()
        if head.strip() and self._last_output is not None:
            self._attention_due = self._last_output + attention.REST

    def _settle_composer(self, head: str) -> None:
        shown = self._composer.settle(head)
        if shown is not None and shown[1].strip() and not self._composer.lines:
            unfinished, prompt = shown
            if unfinished:
                self._say([unfinished.rstrip()])
            self._attribution.prompts.learn(prompt)
        elif self._composer.stays_open(paints=self._cutter.moved, below=self._conversation.has_rows_below):
            held = self._composer.release()
            if not self._converses:
                self._say(held)

    def _say(self, lines: Iterable[str]) -> None:
        """Publish passed lines, each attributed to whoever wrote it."""
        if self._greeting is not None:
            self._greeting += lines
            if self._greeting and self._greeting_due is None:
                self._greeting_due = self._now + GREETING_PATIENCE
            if len(self._greeting) > LONGEST_GREETING:
                self._end_greeting("program")
            return
        rest = iter(lines)
        for line in rest:
            if not self._attribution and not self._live:
                self._say_plain(chain((line,), rest))
                return
            pieces = self._attribution.explain(line, has_composer=self._composer.asks_for_paste)
            if pieces is not None:
                self._say_pieces(pieces)

    def _say_plain(self, lines: Iterable[str]) -> None:
        """Publish lines that can only be the program's: the way of every flood, at half the cost of the other."""
        self._begin_turn()
        now, session, pane, turn = round(self._now, 6), self.session, self.pane, self._turns.turn
        texts = [
            Text(text=line, origin="program", line=number, t=now, session=session, pane=pane, turn=turn)
            for number, line in enumerate(lines, self._line)
        ]
        self._events += texts
        self._line += len(texts)

    def _say_pieces(self, pieces: list[Piece]) -> None:
        """Publish one line that was explained; what people were shown of it meanwhile is replaced or taken back."""
        self._publish(pieces)
        if self._ledger.holding:
            self._begin_turn()
        if self._live and not any(piece.origin == "program" for piece in pieces):
            self._emit(Retracted(line=self._line))
        self._live = ""
        self._line += 1

    def _publish(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if piece.origin == "program":
                self._begin_turn()
            elif not piece.text:
                continue
            elif piece.origin == "typed":
                self._next_turn(None, at_prompt=True)
            self._emit_text(piece)

    def _emit_text(self, piece: Piece) -> None:
        self._emit(Text(text=piece.text, origin=piece.origin, message_id=piece.message_id, line=self._line))

    def _begin_turn(self) -> None:
        began = self._turns.said()
        if began is not None:
            self._emit(TurnStarted(message_id=began.message_id))

    def _next_turn(self, message_id: str | None, *, at_prompt: bool = False) -> None:
        ended = self._turns.submitted(message_id, at_prompt=at_prompt)
        if ended is not None:
            self._say_ended(ended)

    def _say_held(self) -> None:
        """A turn is over: nothing that was held back for its sake can change any more."""
        if self._converses:
            self._read_conversation()
        else:
            self._release_held()
        for piece in self._ledger.rest():
            self._emit_text(piece)

    def _say_ended(self, ended: Ended) -> None:
        event = TurnEnded(reason=ended.reason, certain=ended.certain, votes=ended.votes)
        self._emit(event)
        event.turn = ended.turn

    def _open_text(self) -> str:
        return self._attribution.unpublished(self._lines.open_text())

    def _open_head(self) -> str:
        return self._attribution.unpublished(self._lines.open_head())

    def _show_live(self) -> None:
        text = ""
        if not (self._composer.is_open or self._converses):
            text = self._ledger.without_echo(self._open_text()).rstrip()
        if text == self._live or text in self._attribution.prompts:
            return
        self._live, before = text, self._live
        if text:
            self._emit(Live(text=text[-LONGEST_LIVE:], line=self._line))
        elif before:
            self._emit(Retracted(line=self._line))

    def _look_for_need(self) -> None:
        head = self._lines.open_head().rstrip()
        kind = attention.needed_for(head)
        asked_at = (self._line, head) if kind is not None else None
        if kind is not None and asked_at != self._asked_at:
            self._emit(NeedsHuman(kind=kind, text=head))
        self._asked_at = asked_at
        self._needs_human = kind

    def _emit(self, event: Event) -> None:
        event.t, event.session, event.pane, event.turn = round(self._now, 6), self.session, self.pane, self._turns.turn
        self._events.append(event)

    def _taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events
