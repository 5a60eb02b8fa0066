"""The reader of a screen on which a program may converse: when it is at work, and when its words are to be said.

`mode.py` tells whether the program converses. What it shows on the alternate screen in front of a conversation (an
editor, a view of its transcript) is no part of that.
"""

from collections.abc import Sequence

from streamrelay.delta.event_builder import EventBuilder
from streamrelay.delta.frames import FrameCutter
from streamrelay.delta.layout.dialogs import Dialog, find_dialog
from streamrelay.delta.mode import ModeMachine
from streamrelay.delta.printing.provenance import Ledger
from streamrelay.delta.signals import Signals, is_busy
from streamrelay.delta.transcript.conversation import Conversation
from streamrelay.delta.witness.second_witness import MAX_PAINT_LAG, SecondWitness
from streamrelay.vt.engine import Engine, Frame, TerminalEvent

NEXT_EVERY = 0.1
"""Seconds between two looks at the screen of a program that may have gone on with its next message."""


class ScreenFollower:
    """Lets a conversation follow the screen of one pane while there may be one, and says what is answered."""

    def __init__(
        self, engine: Engine, builder: EventBuilder, *, mode: ModeMachine, cutter: FrameCutter, ledger: Ledger
    ) -> None:
        self.conversation = Conversation(engine, builder.turns)
        self.witness = SecondWitness()
        self.signals = Signals()
        self._builder = builder
        self._turns = builder.turns
        self._mode = mode
        self._cutter = cutter
        self._ledger = ledger
        self._awaited = False
        self._may_continue = False
        self._seeded = False
        self._looked_at = 0.0
        """When `say_finished` last looked at the screen (stream time)."""
        self.next_look: float | None = None
        """When `say_finished` is to look again (stream time), if the screen does not change before."""
        self._was_busy = False
        """Whether the title said at the attach that the program is at work."""

    def seed(self, frame: Frame, title: str = "") -> None:
        """Begin with the screen and title as they are; what a program does may have begun before anybody watched.

        A program that asked for bracketed paste before is recognised by its looks: tmux 3.3a does not tell of the
        request. One that asks for a permission is at work. Below a composer with borders there may also stand the
        cursor of a program that printed a box: that one does not hide it.
        """
        again, self._seeded = self._seeded, True
        self._was_busy = is_busy(title)
        self.reset(frame)
        self._mode.show(alternate=frame.alternate)
        self._see_composer(frame)
        if self._mode.is_followed and not again:
            dialog = self._dialog(self.conversation.rows, (frame.cursor.x, frame.cursor.y))
            asks = dialog is not None and dialog.kind == "permission"
            self.conversation.join(frame.cursor.x, is_busy=asks or is_busy(title))
            if self.conversation.was_joined_at_work and self.conversation.profile.is_agent:
                self._mode.see("answered")
        if (
            again
            and self._mode.converses
            and (self._turns.is_open or (self._awaited and self.conversation.has_moved_on))
        ):
            # What it shows now it may have shown for long, and show nothing more.
            worked = self.conversation.look_for_work()
            self._note_change(worked, self._builder.now)

    def find_composer(self, frame: Frame) -> bool:
        """See whether a program that prints, as far as is known, has painted a composer; return whether it has.

        It asked for bracketed paste before the watching began, and began to paint after that. A table that is painted
        again and again has borders around the cursor, too, but no mark in front of it.
        """
        is_agent = bool(self.conversation.profile.ready)
        if self._mode.is_followed or not (self._cutter.moved or is_agent):
            return False
        self.reset(frame)
        if not ((is_agent or self.conversation.has_mark) and self._see_composer(frame)):
            return False
        self.conversation.join(frame.cursor.x, is_busy=False)
        return True

    def _see_composer(self, frame: Frame) -> bool:
        row = self.conversation.rows[frame.cursor.y]
        is_seen = self.conversation.is_plain_to_see and (row.strip() or self._cutter.hidden)
        is_seen = is_seen or self.conversation.is_ready or (self._tells_state and self.conversation.is_behind_mark)
        if not is_seen and self.conversation.profile.ready:
            is_seen = self._dialog(self.conversation.rows, (frame.cursor.x, frame.cursor.y)) is not None
        if not is_seen or self._mode.is_followed or not self._mode.see("seen_at_attach"):
            return False
        self._mode.asks_for_paste = self._cutter.moved = True
        return True

    @property
    def _tells_state(self) -> bool:
        """Whether the program has told its state, before the attach or since: a line editor does not."""
        return self._was_busy or self.signals.tell

    def reset(self, frame: Frame) -> None:
        """Go on with a screen whose rows have all moved.

        Between turns a program may paint its transcript again for the new size: that continues nothing.
        """
        self._may_continue = False
        self.conversation.reset(frame, answering=self._turns.is_open or self._awaited)

    def inject(self, message_id: str, text: str) -> None:
        """Note that a message is being pasted."""
        if self._mode.is_followed:
            self._settle_between_turns()
            self.conversation.inject(message_id, text)

    def _settle_between_turns(self) -> None:
        if not self._turns.is_open:
            self.conversation.settle_down()

    def submit(self, message_id: str) -> bool:
        """Note that a message is being submitted; return whether the composer shows anything of the message."""
        during_output = self._begin_message()
        return self._mode.is_followed and self.conversation.submit(message_id, during_output=during_output)

    def hand_over(self, message_id: str, text: str) -> None:
        """Note that a message is about to be sent by the program's own API."""
        if self._mode.is_followed:
            self._settle_between_turns()
        during_output = self._begin_message()
        if self._mode.is_followed:
            self.conversation.hand_over(message_id, text, during_output=during_output)

    def _begin_message(self) -> bool:
        """Publish output before a message that the program is about to get; return whether output goes on.

        Output that answers no known message is said first, if the program is not at work: it stands above the message.
        What the program may add to it stands there too, and so does its answer to a text that a person submitted
        meanwhile.
        """
        during_output = False
        if self._mode.converses:
            self.conversation.look_for_typed()
            if self._note_typed():
                self._builder.begin_turn()
            during_output = self._turns.goes_on
            if during_output and not self._turns.is_busy:
                self._finish_what_goes_on()
        self._awaited, self._may_continue = True, False
        return during_output

    def _finish_what_goes_on(self) -> None:
        """Say the output that answers no known message; end its turn unless it answers what a person typed unseen."""
        self.read(certain=True)
        if self._turns.goes_on or self._turns.is_certain:
            self._builder.end_turn(self._turns.supersede())

    def ended(self, *, certain: bool) -> None:
        """A turn has ended; what comes later continues it, unless it was certain to be over."""
        self._may_continue = not certain

    def hear(self, event: TerminalEvent) -> None:
        """Take what the program tells its terminal of its state."""
        signal = self.signals.read(event)
        if signal is not None:
            self._mode.see("answered")
            self._turns.vote(signal.by, signal.says, self._builder.now)
            if signal.says == "busy":
                self.conversation.go_to_work()
                self._go_to_work()
            elif self._turns.worked == "missed" and self.conversation.is_answered:
                self._turns.see_answer()

    def asked_for_input(self, frame: Frame) -> None:
        """Bracketed paste was asked for."""
        was_followed, was_running = self._mode.is_followed, self._mode.is_running
        self._mode.ask()
        if self._mode.is_followed and not was_followed:
            self.conversation.forget_composer()
            self.conversation.reset(frame, answering=False)
        if was_running:
            self._turns.vote("composer", "idle", self._builder.now)

    def withdrawn(self) -> None:
        """The request for bracketed paste was withdrawn."""
        converses = self._mode.converses
        if converses and self._turns.is_open:
            self.read(certain=True)
        self._mode.withdraw(typed=self.conversation.shows_input)
        if converses:
            self._forget_program()
        elif self._mode.is_running:
            self._turns.vote("composer", "busy", self._builder.now)

    def respawned(self) -> None:
        """Another program was started in the pane, without the one before having left the screen as programs do."""
        if self._turns.is_open and self._mode.converses:
            self.read(certain=True, cut_off=self._turns.is_busy, last=True)
        self._forget_program()
        self._mode.reset()

    def take(self, frame: Frame, *, whole: bool, stands: bool, printed: float | None) -> None:
        """Follow a frame; the program `printed` last at that time. See `Conversation.take`."""
        was_overlaid, was_followed = self._mode.is_overlaid, self._mode.is_followed
        if self._mode.is_alternate and not frame.alternate and not was_overlaid:
            if self._turns.is_open:
                self.read(certain=True)
            self._forget_program()
        if frame.alternate and not self._mode.is_alternate and not self.expects_answer:
            # An agent may ask about servers or trust on the main screen, and converse on the alternate one.
            self._mode.see("unheard")
        switched = self._mode.show(alternate=frame.alternate)
        if was_overlaid and switched:
            self.conversation.reset(frame, answering=self._turns.is_open)
            if self._turns.is_open and printed is not None:
                # The covering screen may have looked like a dialog, for which the turn was held.
                self._turns.output(printed)
        elif self._mode.is_followed and switched:
            self.conversation.reset(frame, answering=False)
        elif self._mode.is_followed and was_followed:
            if self._cutter.moved:
                self._mode.see("painted")
            worked = self.conversation.works
            cursor = (frame.cursor.x, frame.cursor.y)
            changed = self.conversation.take(
                frame,
                self._builder.now,
                whole=whole,
                stands=stands,
                trusted=not self._mode.is_full_screen,
                in_dialog=lambda rows: self._in_dialog(rows, cursor),
            )
            if changed and self._mode.converses:
                self._note_change(worked, printed)

    def _in_dialog(self, rows: Sequence[str], cursor: tuple[int, int]) -> bool:
        """See whether a dialog stands on the screen."""
        is_there = self._dialog(rows, cursor) is not None
        switched = self._mode.see("dialog_opened" if is_there else "dialog_closed")
        if is_there or switched:
            self.witness.reopen()
        return is_there

    def _dialog(self, rows: Sequence[str], cursor: tuple[int, int]) -> Dialog | None:
        signs = self.conversation.profile.dialogs
        return find_dialog(rows, cursor, cursor_visible=not self._cutter.hidden, signs=signs)

    def settle(self, *, passed: bool, at_prompt: bool) -> bool:
        """The screen rests, and a line editor may be at work; return whether this is none, which is news.

        Lines have `passed` that no line editor lets pass; or the screen shows a composer as no line editor does: the
        cursor is hidden, or rests between borders, or something stands below it in a program without profile. Where
        it rests `at_prompt`, with or without text behind that, a program that has ended may have hidden it.
        """
        conversation = self.conversation
        below = conversation.has_rows_below and not conversation.awaits_draft and not self._mode.is_line_editor_known
        if passed:
            return self._mode.see("passed_lines")
        is_hidden = self._cutter.hidden and not at_prompt
        # A shell's prompt stands right below a table, too, with nothing below it.
        is_plain = conversation.is_plain_to_see and (conversation.has_rows_below or not at_prompt)
        if (below or is_hidden or is_plain) and self._mode.see("shows_composer"):
            conversation.begin()
            if self._turns.is_open and not conversation.waits:
                self._builder.end_turn(self._turns.supersede())
            return True
        return False

    @property
    def needs_record(self) -> bool:
        """Whether messages wait while a turn is open: the agent's record tells when the agent takes up the next one."""
        return self._turns.is_open and self._mode.converses and len(self.conversation.submitted) > 1

    @property
    def has_unread(self) -> bool:
        """Whether the screen shows something new while a message waits to be answered."""
        return self._mode.converses and self.conversation.waits and self.conversation.has_moved_on

    @property
    def expects_answer(self) -> bool:
        """Whether what the screen shows may be an answer, and no greeting: a message was sent or typed so far."""
        conversation = self.conversation
        return self._awaited or conversation.shows_input or conversation.proved or conversation.was_joined

    def read(self, *, certain: bool, cut_off: bool = False, last: bool = False) -> None:
        """Say what was answered on the screen; whole lines of an answer that was `cut_off`."""
        trusted = not self._mode.is_full_screen
        painted_over = self.conversation.painted_over
        answer = self.conversation.read(certain=certain, trusted=trusted, cut_off=cut_off, last=last)
        if self.conversation.proved:
            self._mode.see("answered")
        self._cutter.keeps_transcript = self.conversation.proved
        self._note_typed()
        if answer is not None:
            shown = self.witness.compare(answer, painted_over, self.conversation.outstanding, is_cut_off=last)
            self.conversation.account_for(shown)
            self._builder.tell(answer)
        self._awaited = self.conversation.waits
        self._ledger.forget_submitted()

    def say_finished(self) -> None:
        """Say the answers above a message that had waited, once the program has gone on with that message.

        Otherwise a program that gets messages more quickly than it answers them would say nothing until they cease. The
        screen alone does not tell that the program has gone on: a message may wait below an answer that is not over.
        """
        now, self.next_look = self._builder.now, None
        if not self.needs_record or not self.conversation.is_at_rest:
            return
        if now < self._looked_at + NEXT_EVERY:
            self.next_look = self._looked_at + NEXT_EVERY
            return
        self._looked_at = now
        submitted = self.conversation.submitted
        reached = self.witness.reached([(sent.message_id, sent.text) for sent in submitted])
        if not reached:
            return
        painted_over = self.conversation.painted_over
        finished = self.conversation.read_finished(reached, lambda number, lines: reached[number].stands_in(lines, now))
        if finished is None:
            lasts = now < max(ending.reported for ending in reached.values()) + MAX_PAINT_LAG
            self.next_look = now + NEXT_EVERY if lasts else None
            return
        self._mode.see("answered")
        self._cutter.keeps_transcript = True
        self.witness.compare(finished.answer, painted_over, self.conversation.outstanding, goes_on=True)
        self._builder.tell(finished.answer, goes_on=True)
        self._builder.take_up(finished.message_id)

    def _note_change(self, worked: bool | None, printed: float | None) -> None:
        """The screen of a conversation reads differently."""
        if printed is not None:
            self._turns.output(printed)
        self._awaited = self._note_typed() or self._awaited
        if self._awaited or (self._may_continue and self.conversation.has_moved_on):
            self._builder.begin_turn()
        if self.conversation.works is None:
            self._turns.doubt("furniture")
        elif self.conversation.works != worked:
            self._turns.vote("furniture", "busy" if self.conversation.works else "idle", self._builder.now)
            if self.conversation.works:
                self._go_to_work()
        self.say_finished()

    def _note_typed(self) -> bool:
        """Begin a turn for what a person has submitted, if anything was seen of that."""
        typed, self.conversation.typed = self.conversation.typed, False
        if typed:
            self._builder.next_turn(None)
        return typed

    def _go_to_work(self) -> None:
        """Note that the program says that it is at work; if no message explains it, a person has submitted a text."""
        if not self._turns.is_open and not self._awaited and self.conversation.assume_submitted():
            self._builder.next_turn(None)
        if self.conversation.profile.is_agent:
            # One that works is no editor, though its messages came before the watching began.
            self._mode.see("answered")
        if self._turns.turn or self._seeded:
            self._builder.begin_turn()

    def _forget_program(self) -> None:
        """The program that conversed is gone: what it said of itself, and was, tells nothing of the next."""
        self._turns.dismiss_witnesses()
        self._cutter.moved = self._cutter.keeps_transcript = False
        self.signals.forget()
        self.conversation.forget_program()
        self._awaited = self._may_continue = False
