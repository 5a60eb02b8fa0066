"""Turns the bytes of one pane into its events; the only entrance to this package.

    apply(input)  ->  events, each once, in order

Pure: each input (inputs.py) brings its time in seconds of the stream, and events depend on earlier inputs only.
`deadline()` says when `Waited` is due. Events leave without `seq`, `at` and `host`, which the publisher adds.

A program either prints or converses (mode.py). Each line of a program that prints is reported as it passes
(printing/printer.py). A program that converses paints a transcript on its screen; its answer is read off the screen
when its turn is over (transcript/conversation.py).
"""

from collections.abc import Sequence

from streamrelay.batch import Batch
from streamrelay.delta.event_builder import SHOWN_FOR, EventBuilder
from streamrelay.delta.frames import SETTLE, FrameCutter
from streamrelay.delta.inputs import (
    AtWork,
    Began,
    Ended,
    HandedOver,
    HookReported,
    Input,
    Looked,
    Missed,
    Output,
    Pasted,
    Ran,
    Reseeded,
    Resized,
    Submitted,
    Waited,
    WitnessOpened,
    WitnessReported,
)
from streamrelay.delta.layout.dialogs import Dialog
from streamrelay.delta.mode import Mode, ModeMachine
from streamrelay.delta.pane_state import PaneState
from streamrelay.delta.printing.echo import looks_like_prompt
from streamrelay.delta.printing.printer import Printing
from streamrelay.delta.profiles import Profile, Recogniser
from streamrelay.delta.prompt_detection import PromptDetector
from streamrelay.delta.reasons import Reasons
from streamrelay.delta.screen_follower import ScreenFollower
from streamrelay.delta.turns import SIGNAL_REST
from streamrelay.events import (
    AgentStopped,
    Event,
    Gap,
    Injected,
    NeedKind,
    PaneClosed,
    PaneOpened,
    PaneResized,
    ProgramChanged,
)
from streamrelay.vt.engine import Engine, Frame, Snapshot


class DeltaStream:
    """Reports what the program of one pane says; a `newborn` pane is watched from the start of its program.

    `reasons` collects why each line became text or was left out.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        session: str = "",
        pane: str = "",
        newborn: bool = False,
        profiles: Sequence[Profile] = (),
        reasons: Reasons | None = None,
    ) -> None:
        self._recogniser = Recogniser(profiles)
        self.session, self.pane = session, pane
        self._engine = engine
        self._cutter = FrameCutter()
        self._builder = EventBuilder(session, pane, reasons)
        self._turns = self._builder.turns
        self._mode = ModeMachine()
        self._printing = Printing(engine, self._builder, self._mode, newborn=newborn)
        self._editor = self._printing.editor
        self._ledger = self._printing.attribution.ledger
        self._following = ScreenFollower(
            engine, self._builder, mode=self._mode, cutter=self._cutter, ledger=self._ledger
        )
        self._conversation = self._following.conversation
        self._witness = self._following.witness
        self._last_output: float | None = None
        self.unseen_since: float | None = None
        """When the program printed first what no whole snapshot of its screen has shown yet (stream time)."""
        self._rests_at = 0.0
        self._unsettled = False
        self._just_resized = False
        """Whether nothing was printed since the pane has its size: all that stands there is held or said already."""
        self._detector = PromptDetector(
            engine, self._builder, printing=self._printing, conversation=self._conversation, cutter=self._cutter
        )
        self._unpainted: list[str] = []
        self._may_have_asked = False
        """Whether the program may have asked for bracketed paste before the watching began, unknown to tmux."""

    @property
    def now(self) -> float:
        """The time last passed in."""
        return self._builder.now

    @property
    def open_line(self) -> str:
        """The current line at the cursor."""
        return self._printing.open_text

    @property
    def profile(self) -> str:
        """The name of the profile that the program was recognised by."""
        return self._recogniser.profile.name

    @property
    def is_agent(self) -> bool:
        """Whether the program is known as an agent."""
        return self._recogniser.profile.is_agent

    @property
    def answers_in_lines(self) -> bool:
        """Whether the program is an agent that has taken a message from its line editor and may print its answer."""
        return self.is_agent and self._mode.is_running and not self._mode.is_left_to_another

    @property
    def mode(self) -> str:
        """How the program's words are read, and why, as `explain` shows it."""
        return f"{self._mode.mode}: {self._mode.reason}"

    @property
    def converses(self) -> bool:
        """Whether the program keeps a transcript on a screen that it paints itself."""
        return self._mode.converses

    @property
    def is_patient(self) -> bool:
        """Whether a tenth of a second of output may come at once without a row being lost or taken for final too soon.

        Rows that leave the main screen are in its history, and a program that says where a snapshot ends is looked at
        there, however much of its output comes at once. Of a program that prints, the times of its lines count.
        """
        return self.converses and (self._cutter.ends_snapshots or not self._loses_rows)

    @property
    def _loses_rows(self) -> bool:
        """Whether rows that leave the screen are in no history: each must be seen in a snapshot."""
        return self._mode.is_alternate or self._conversation.has_window

    @property
    def needs_human(self) -> NeedKind | None:
        """What the program wanted from a person when its screen was looked at last, if anything."""
        return self._detector.kind

    @property
    def asked(self) -> str:
        """The question that a person had to answer then, as one line; empty if there was none."""
        return self._detector.asked

    @property
    def dialog(self) -> Dialog | None:
        """The dialog on the screen at that time, with its choices; a question for a secret is none."""
        return self._detector.dialog

    @property
    def answers(self) -> bool:
        """Whether an answer is under way, or a witness says that the program is at work."""
        return self._turns.answers

    @property
    def awaits_witness(self) -> bool:
        """Whether a turn is over by the screen, and its text waits for the agent's own record of it."""
        return self._witness.due is not None

    @property
    def needs_record(self) -> bool:
        """Whether messages wait while a turn is open: the agent's record tells when the agent takes up the next one."""
        return self._following.needs_record

    @property
    def pane_state(self) -> PaneState:
        """What a sender would find if it typed now; `look` first. Costs a pass over the rows of the screen."""
        follows = self._mode.has_composer
        return PaneState(
            profile=self.profile,
            converses=follows,
            prints=not self.converses,
            answers=self._turns.answers,
            asks_for_paste=self._mode.asks_for_paste,
            withdrawn=self._mode.is_running and not self._reads_messages,
            needs_human=self._detector.kind,
            rows=tuple(self._detector.rows),
            composer=self._conversation.view(self._printing.cursor.x) if follows else self._printing.view,
        )

    @property
    def _reads_messages(self) -> bool:
        """Whether what a shell runs is known to read a message, though the shell's line editor has withdrawn.

        The program has asked on its line; or it is an agent, which may ask on the alternate screen.
        """
        has_asked = self._turns.asks and not self._turns.is_open
        return has_asked or (self.is_agent and self._mode.asks_for_paste)

    def apply(self, told: Input) -> Batch:
        """Take one input, and return the events that follow from it. Inputs come in the order of their times."""
        match told:
            case Output():
                return self._printed(told.data, told.t)
            case Waited():
                return self._advance(told.t)
            case Pasted():
                return self._pasted(told.message_id, told.text, told.t)
            case Submitted():
                return self._submitted(told.message_id, told.t)
            case HandedOver():
                return self._handed_over(told.message_id, told.text, told.t)
            case Resized():
                return self._resized(told.t, told.columns, told.lines)
            case Began():
                self._recognise(command=told.command, rows=[told.title])
                self._seed(told.screen, told.title)
                self._printing.begin()
                self._may_have_asked = not self._mode.asks_for_paste
                return self.opened(told.t, command=told.command, title=told.title)
            case Reseeded():
                return self._reseeded(told.t, told.screen, respawned=told.respawned)
            case Ran():
                self._recognise(command=told.command)
                if self._mode.is_left_to_another:
                    self._turns.doubt("composer")
                if not self._unsettled:
                    self._begin_silent_turn(told.t)
                return self._say(told.t, ProgramChanged(command=told.command))
            case AtWork():
                self._turns.see_at_work(told.t)
                return Batch()
            case Missed():
                self._turns.miss()
                self._conversation.miss()
                if told.lost_lines == 0:
                    self._ledger.recover()
                return self._say(told.t, Gap(reason=told.reason, lost_lines=told.lost_lines))
            case Looked():
                return self._looked(told.t)
            case HookReported():
                self._turns.stopped(told.t)
                self._witness.hear_hook(told.answer)
                return self._say(told.t, AgentStopped(agent=told.agent, answer=told.answer))
            case WitnessOpened():
                self._witness.open(told)
                return self._advance(told.t)
            case WitnessReported():
                self._witness.hear(told)
                self._builder.now = told.t
                self._following.say_finished()
                return self._advance(told.t)
            case Ended():
                return self._ended(told)

    def opened(self, now: float, *, command: str = "", title: str = "") -> Batch:
        """Return the first event of the stream, and recognise the program."""
        self._recognise(command=command, rows=[title])
        opened = PaneOpened(columns=self._engine.columns, lines=self._engine.lines, command=command, title=title)
        return self._say(now, opened)

    def _reseeded(self, now: float, snapshot: Snapshot, *, respawned: bool = False) -> Batch:
        """Go on with the screen as tmux holds it now: resized, after bytes were missed, or of a program `respawned`."""
        self._builder.now = now
        resized = (snapshot.columns, snapshot.lines) != (self._engine.columns, self._engine.lines)
        self._settle()
        if respawned:
            self._following.respawned()
            self._printing.respawned()
        if not self._just_resized:
            self._printing.let_pass(resized=resized)
        self._just_resized = False
        self._seed(snapshot)
        if resized:
            self._builder.emit(PaneResized(columns=snapshot.columns, lines=snapshot.lines))
        return self._builder.taken()

    def _resized(self, now: float, columns: int, lines: int) -> Batch:
        """Continue in another size; a snapshot follows, unless this is a recording of bytes and sizes."""
        self._builder.now = now
        self._settle()
        self._printing.let_pass(resized=True)
        self._engine.resize(lines, columns)
        frame = self._engine.take()
        self._printing.seed(frame)
        self._following.reset(frame)
        self._just_resized = True
        return self._say(now, PaneResized(columns=columns, lines=lines))

    def _printed(self, data: bytes, now: float) -> Batch:
        """Take bytes the program printed."""
        self._builder.now = now
        if not self.converses and (self._last_output is None or now - self._last_output >= SETTLE):
            self._printing.goes_on(data)
        self._last_output = now
        self._just_resized = False
        if self.unseen_since is None:
            self.unseen_since = now
        self._witness.due = None
        self._unsettled = True
        self._detector.changed(now)
        printed_any = not self.converses
        printed = self._engine.feed_lines(data) if printed_any and self._cutter.prints(data) else 0
        if printed:
            self._cutter.printed(data[:printed])
            self._take_frame(whole=False, stands=False)
        for piece, complete in self._cutter.pieces(data[printed:]):
            if piece:
                self._engine.feed(piece)
            # A snapshot is whole at a landmark or at a rest, never because a read ended.
            whole = complete and self._cutter.at_landmark
            if whole or (complete and not self.converses) or self._cutter.at_wipe:
                self._take_frame(whole=whole, stands=self._cutter.at_switch)
            if self._cutter.is_left and not self.converses:
                self._printing.leave()
            if not self.converses:
                self._look_at_shell()
            printed_any = printed_any or not self.converses
        self._rests_at = self._cutter.rests_at(now)
        if printed_any:
            self._turns.output(now)
        if data.endswith(b"\n") and self._is_past_all:
            # A rest would show nothing that this did not: many quiet panes are cheap by not being woken for it.
            self._unsettled = False
            self._detector.skip()
        return self._builder.taken()

    def _pasted(self, message_id: str, text: str, now: float) -> Batch:
        """Note that `text` is being pasted into the pane, before any of it can be shown."""
        self._inject(message_id, text, now)
        self._following.inject(message_id, text)
        if message_id not in self._unpainted:
            self._unpainted.append(message_id)
        return self._builder.taken()

    def _inject(self, message_id: str, text: str, now: float) -> None:
        """Prepare for a message that is on its way to the program, and emit its first state."""
        self._builder.now = now
        self._settle()
        self._printing.await_echo(text)
        head = self._printing.open_head
        self._printing.end_greeting("unknown" if looks_like_prompt(head) else "program")
        self._ledger.enter(message_id, text, head)
        self._witness.send(message_id, text)
        if self.converses and not self._turns.is_open and self._conversation.waits:
            self._following.read(certain=True)
        if self._mode.is_followed:
            self._recognise(rows=self._conversation.rows)
        self._builder.emit(Injected(message_id=message_id, state="pasting", text=text))

    def _submitted(self, message_id: str, now: float) -> Batch:
        """Note that the Enter behind a pasted text is being sent."""
        self._builder.now = now
        self._witness.submit(message_id)
        shown = self._following.submit(message_id)
        if self._ledger.submit(message_id, self._printing.open_text) or shown:
            self._tell_painted(message_id)
        self._unpainted.clear()
        self._editor.entered = True
        return self._begin_answer(message_id)

    def _handed_over(self, message_id: str, text: str, now: float) -> Batch:
        """Note that a message is about to be sent by the program's own API, past the composer."""
        self._inject(message_id, text, now)
        self._witness.submit(message_id)
        self._following.hand_over(message_id, text)
        self._ledger.submit(message_id, self._printing.open_text)
        return self._begin_answer(message_id)

    def _begin_answer(self, message_id: str) -> Batch:
        """Begin the turn that answers a submitted message."""
        if self._mode.is_left_to_another:
            # A shell that waits for a program tells nothing of the program's own turns.
            self._turns.dismiss("composer")
        self._builder.next_turn(message_id)
        self._builder.emit(Injected(message_id=message_id, state="entering"))
        self._printing.say_early_answers()
        return self._builder.taken()

    def deadline(self) -> float | None:
        """Return when `advance` is due (stream time); None while nothing is waited for."""
        due = self._rest_due
        for other in (
            self._turn_due if self._witness.due is None else self._witness.due,
            self._detector.due,
            self._following.next_look,
            self._printing.deadline(rests=not self._unsettled),
        ):
            if other is not None and (due is None or other < due):
                due = other
        return due

    @property
    def _turn_due(self) -> float | None:
        """When the turn may be over: what the program has painted since is looked at before, as it may be at work."""
        due = self._turns.deadline()
        return max(due, self._rests_at) if due is not None and self._is_unseen else due

    @property
    def _is_unseen(self) -> bool:
        """Whether a program that converses has painted what no whole snapshot has shown."""
        return self.unseen_since is not None and self.converses

    def _advance(self, now: float) -> Batch:
        """Let time pass without output."""
        self._builder.now = now
        if self._rest_due is not None and now >= self._rest_due:
            self._settle()
        if self._detector.due is not None and now >= self._detector.due:
            self._detector.look(converses=self.converses)
            self._look_for_question()
        self._printing.advance(rests=not self._unsettled)
        if self._following.next_look is not None and now >= self._following.next_look:
            self._following.say_finished()
        goes_on = self._goes_on if self.converses else self._command_goes_on
        if self._turns.has_asked and self._turns.is_over(now):
            self._printing.say_question()
        if not self._turns.is_over(now) or self._is_unseen or goes_on():
            self._witness.due = None
        elif not (self.converses and self._following.expects_answer and self._witness.must_wait(now)):
            if self.converses:
                self._following.read(certain=self._turns.is_certain)
            self._printing.release()
            ended = self._turns.advance(now, more_wait=self.converses and self._conversation.waits)
            if ended is not None:
                self._builder.end_turn(ended)
                self._following.ended(certain=ended.certain)
        return self._builder.taken()

    def _goes_on(self) -> bool:
        """Whether a program that converses is waited for, though its turn might be over."""
        is_known = self._turns.is_certain or (self._conversation.is_heard and not self._turns.keeps_still)
        if not is_known and self._turns.wait():
            return True
        if held := self._detector.shows_dialog or self._conversation.is_unreadable:
            self._turns.hold()
        return held

    def _command_goes_on(self) -> bool:
        """Whether to wait longer for a shell's command that is quiet and has no question on its line."""
        if self._turns.has_asked:
            return False
        return self._turns.doubts("composer") and not self._printing.open_text.strip() and self._turns.wait()

    def _look_for_question(self) -> None:
        """See whether a program that prints waits for an answer, which anybody may type.

        One that pauses within a line (`Here is the code:`) may go on: it is waited for longer. An agent shows otherwise
        that it waits.
        """
        self._turns.asks = self.may_be_question
        if self._turns.asks and not self._printing.open_head.endswith(" "):
            self._turns.wait()

    @property
    def may_be_question(self) -> bool:
        """Whether the line at the cursor may be a question of a program that prints."""
        prints = not (self.converses or self.is_agent or self._cutter.hidden) and self._detector.kind is None
        return prints and self._printing.waits_for_answer

    @property
    def has_message(self) -> bool:
        """Whether the program has a message to answer."""
        return self._turns.has_message

    def rest(self) -> None:
        """Take little memory: nothing is due, and nothing was printed for a while."""
        self._engine.rest()

    def _looked(self, now: float) -> Batch:
        """Look at once whether a person is needed, because a sender is about to type."""
        self._builder.now = now
        if self._unsettled and now >= self._rests_at:
            self._settle()
        self._detector.look(converses=self.converses, partial=self.converses and self._unsettled)
        self._look_for_question()
        return self._builder.taken()

    def _ended(self, told: Ended) -> Batch:
        """The pane is gone or no longer watched, so what still stands open is final."""
        self._builder.now = told.t
        self._settle()
        self._printing.end_greeting("program")
        if not self.converses:
            self._printing.close()
        elif self._turns.is_open or self._following.has_unread:
            self._following.read(certain=True, cut_off=self._turns.is_busy, last=True)
        self._printing.release()
        ended = self._turns.close()
        if ended is not None:
            self._builder.end_turn(ended)
        closed = PaneClosed(reason=told.reason, status=told.status, tail_certain=told.tail_certain)
        return self._say(told.t, closed)

    # Reading the screen

    @property
    def _just_prints(self) -> bool:
        """Whether a program only prints: the stream waits for no answer, and no question stands."""
        repaints = self._mode.is_followed or self._cutter.is_unsettled or not self._printing.is_plain
        return not (repaints or self._unpainted or self._detector.kind is not None)

    @property
    def _is_past_all(self) -> bool:
        """Whether a program that prints has ended its line, and nothing is held, shown, awaited or asked."""
        if not self._just_prints or self._builder.shows_live:
            return False
        return self._printing.is_past_all and not self._recogniser.profile.dialogs

    @property
    def _only_shows(self) -> bool:
        """Whether all that a rest is for is to show a line anew. At a prompt it counts: what follows was typed."""
        is_shown = self._just_prints and self._builder.shows_live
        return is_shown and not (self._ledger or self._printing.may_be_answered)

    @property
    def _rest_due(self) -> float | None:
        """When the screen rests, if that is looked at; a line that is only shown anew is given time to be read.

        A screen that rests is looked at again once a line editor should have withdrawn.
        """
        if not self._unsettled:
            return self._editor.withdrawal_due
        return max(self._rests_at, self._builder.shown_at + SHOWN_FOR) if self._only_shows else self._rests_at

    def _recognise(self, *, command: str = "", rows: Sequence[str] = ()) -> None:
        """Take up the profile of the program, where it is one that has a profile."""
        self._recogniser.run(command)
        if command:
            self._mode.run(command)
        self._recogniser.see(rows)
        rest = self._recogniser.profile.rest
        self._turns.screen_rest = SIGNAL_REST if rest is None else rest
        self._following.signals.profile = self._conversation.profile = self._recogniser.profile

    def _seed(self, snapshot: Snapshot, title: str = "") -> None:
        self._engine.seed(snapshot)
        frame = self._engine.take()
        self._printing.seed(frame)
        self._cutter.begin(hidden=not snapshot.modes.cursor_visible)
        self._following.seed(frame, title)
        self._detector.rests(self.now, self.now)

    def _take_frame(self, *, whole: bool, stands: bool, may_pick: bool = False) -> Frame:
        """Look at the screen; a piece ends with a switch of bracketed paste, so what it passed came before that."""
        frame = self._engine.take()
        only_printed = self._cutter.note_frame()
        if whole:
            self.unseen_since = None
        withdrawn = any(event.kind == "bracketed_paste_off" for event in frame.events)
        if withdrawn and not self.converses and self._printing.may_have_read:
            self._mode.ask()
            self._printing.read_since_attach()
        self._following.take(frame, whole=whole, stands=stands, printed=self._last_output)
        if self.converses:
            self._printing.skip(frame)
        else:
            paints = self._cutter.painting and not self._mode.is_followed
            more = self._cutter.more and not self._cutter.at_landmark
            more = more or (self._printing.may_be_typing(frame) and not stands)
            hides = self._cutter.hidden
            if self._cutter.take_keys_released():
                self._printing.end_picker()
            self._printing.take(
                frame, whole=whole, paints=paints, more=more, hides=hides, only_printed=only_printed, may_pick=may_pick
            )
            self._turns.be_patient(self._printing.patience)
        for event in frame.events:
            if event.kind in {"title", "agent_state"}:
                self._recognise(rows=[event.payload])
                self._following.hear(event)
            elif event.kind == "bracketed_paste_off" and self._mode.asks_for_paste:
                conversed = self.converses
                self._following.withdrawn()
                self._editor.close()
                if conversed and not self.converses:
                    self._printing.farewell()
            elif event.kind == "bracketed_paste_on":
                self._may_have_asked = False
                if self._mode.is_running and self._printing.submitted_message == self._turns.awaited is not None:
                    # A command that prints nothing has answered, too.
                    self._builder.begin_turn()
                if self._printing.asked_for_input():
                    self._shell_reads()
                self._following.asked_for_input(frame)
        self._may_have_asked = self._may_have_asked and not withdrawn
        return frame

    def _look_at_shell(self) -> None:
        """Take what the end of the last piece tells of a shell: its marks, and how it ends lines and repaints."""
        cutter, printing = self._cutter, self._printing
        ended = cutter.ended_line
        if ended is not None and ended.blanks >= self._engine.columns - len(ended.mark) - 1:
            printing.shell_returned(end=ended.mark)
        if cutter.at_last_repaint:
            printing.editor_repaints()
        match cutter.mark[:1]:
            case "A" | "D":
                printing.shell_returned(cutter.mark)
            case "B":
                printing.prompt_ended()
            case "C" if printing.command_began():
                self._turns.vote("shell", "busy", self.now)
                self._builder.begin_turn()
            case _:
                pass

    def _shell_reads(self) -> None:
        """The shell waits for a command: what it ran before is over."""
        self._turns.exited(self._printing.region.exit_status, self.now)

    def _settle(self) -> None:
        """The screen rests: it shows what the program means it to show."""
        self._unsettled = False
        has_painted, moved = self._cutter.has_painted, self._cutter.moved_since_rest
        self._cutter.settle()
        may_pick = moved and not self._cutter.hidden and bool(self._cutter.key_modes)
        frame = self._take_frame(whole=True, stands=True, may_pick=may_pick)
        if self._may_have_asked and self._following.find_composer(frame):
            self._may_have_asked = False
            self._printing.paint_first_screen()
        if self._mode.asks_for_paste and not self._mode.prints:
            self._settle_editor(has_painted=has_painted)
        elif self._printing.settle(hides=self._cutter.hidden):
            self._shell_reads()
        self._begin_silent_turn(self.now)
        if not self.converses:
            self._printing.show_live()
        elif self._turns.is_open and not self._conversation.in_repaint:
            self._builder.show(self._conversation.last_line)
        for message_id in self._unpainted[-1:]:
            shown = self._mode.is_followed and self._conversation.shows_draft
            if shown or self._ledger.shows(message_id, self._printing.open_text):
                self._tell_painted(message_id)
        if self._last_output is not None:
            self._detector.rests(self._last_output, self.now)

    def _begin_silent_turn(self, now: float) -> None:
        """Begin the turn of the last message if the program printed nothing for it and reads again."""
        awaited = None if self.converses else self._turns.awaited
        if awaited is not None and self._printing.reads_again(awaited):
            self._builder.now = now
            self._turns.output(now)
            self._builder.begin_turn()

    def _tell_painted(self, message_id: str) -> None:
        """Say, once, that the program shows what is being pasted."""
        if message_id in self._unpainted:
            self._unpainted.remove(message_id)
            self._builder.emit(Injected(message_id=message_id, state="painted"))

    def _settle_editor(self, *, has_painted: bool) -> None:
        self._printing.settle_editor(has_painted=has_painted)
        if self._mode.mode is Mode.DIALOG and self._mode.reads_line:
            self._editor.offers_choices = True
            return
        if self._printing.has_prompted_again and self._mode.see("prompted_again"):
            self._printing.relay_editor()
            self._printing.settle(hides=self._cutter.hidden)
            return
        if self._printing.shows_typed and not self._ledger:
            self._turns.see_typed()
        shows_input = self._cutter.moved or self._printing.is_pasted_into
        passed = self._editor.has_passed(self.now, shows_input=shows_input)
        if self._following.settle(passed=passed, at_prompt=self._printing.is_behind_prompt):
            held = self._editor.release()
            if self._cutter.moved:
                self._mode.see("painted")
            if not self.converses:
                self._printing.say(held)
        self._printing.decide_first_screen()

    def _say(self, now: float, event: Event) -> Batch:
        self._builder.now = now
        self._builder.emit(event)
        return self._builder.taken()
