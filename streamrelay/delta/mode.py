"""Following a screen on which a program may converse: when it does, when it is at work, when its words are to be said.

A program converses on the alternate screen, or where it asked for bracketed paste, did not withdraw that when a message
was submitted, and moves its cursor about. What it shows on the other screen meanwhile (an editor, a view of its
transcript) is in front of the conversation, and not part of it.
"""

from streamrelay.delta.event_builder import Speaker
from streamrelay.delta.frames import FrameCutter
from streamrelay.delta.printing.line_editor import Composer
from streamrelay.delta.printing.provenance import Ledger
from streamrelay.delta.signals import Signals
from streamrelay.delta.transcript.conversation import Conversation
from streamrelay.vt.engine import Engine, Frame, TerminalEvent


class Following:
    """Lets a conversation follow the screen of one pane while there may be one, and says what is answered."""

    def __init__(
        self, engine: Engine, speaker: Speaker, *, composer: Composer, cutter: FrameCutter, ledger: Ledger
    ) -> None:
        self.conversation = Conversation(engine, speaker.turns)
        self.signals = Signals()
        self.is_active = False
        """Whether the screen is followed."""
        self._speaker = speaker
        self._turns = speaker.turns
        self._composer = composer
        self._cutter = cutter
        self._ledger = ledger
        self._alternate = False
        self._overlaid = False
        self._awaited = False
        self._may_continue = False
        self._seeded = False

    @property
    def converses(self) -> bool:
        """Whether the program keeps a transcript on a screen that it paints itself."""
        keeps_composer = self._composer.asks_for_paste and self._composer.withdraws is False
        return self._alternate or (keeps_composer and self._cutter.moved)

    @property
    def has_composer(self) -> bool:
        """Whether the program is seen to have a composer: it converses, or is known not to be a line editor."""
        return self.converses or (self.is_active and self._composer.withdraws is False)

    def seed(self, frame: Frame) -> None:
        """Begin with the screen as it is; what a program does there may have begun before anybody watched.

        A program that asked for bracketed paste before is recognised by its looks: tmux 3.3a does not tell of the
        request. Below a composer with borders there may also stand the cursor of a program that printed a box: that
        one does not hide it.
        """
        again, self._seeded = self._seeded, True
        self.look_anew(frame)
        self._alternate = frame.alternate
        self.is_active = frame.alternate or self._composer.asks_for_paste
        row = self.conversation.rows[frame.cursor.y]
        if not self.is_active and self.conversation.is_plain_to_see and (row.strip() or self._cutter.hidden):
            self.is_active = self._composer.asks_for_paste = self._cutter.moved = True
            self._composer.withdraws = False
        self.conversation.was_joined = self.conversation.was_joined or (self.is_active and not again)
        if again and self.converses and (self._turns.is_open or (self._awaited and self.conversation.has_moved_on)):
            # What it shows now it may have shown for long, and show nothing more.
            worked = self.conversation.look_for_work()
            self._note_change(worked, self._speaker.now)

    def look_anew(self, frame: Frame) -> None:
        """Go on with a screen on which nothing stands where it stood.

        Between turns a program may paint its transcript again for the new size: that continues nothing.
        """
        self._may_continue = False
        self.conversation.look_anew(frame, answering=self._turns.is_open or self._awaited)

    def inject(self, message_id: str, text: str) -> None:
        """A message is being pasted."""
        if self.is_active:
            if not self._turns.is_open:
                self.conversation.settle_down()
            self.conversation.inject(message_id, text)

    def submit(self, message_id: str) -> bool:
        """The Enter behind a message is being sent; return whether the composer shows anything of it.

        What the program says to nobody known is said first, if it is not at work: it stands above the message. What it
        may add to that stands there too, and so does its answer to what a person has submitted meanwhile.
        """
        amid = False
        if self.converses:
            self.conversation.look_for_typed()
            if self._note_typed():
                self._speaker.begin_turn()
            amid = self._turns.goes_on
            if amid and not self._turns.is_busy:
                self._finish_what_goes_on()
        self._awaited, self._may_continue = True, False
        return self.is_active and self.conversation.submit(message_id, amid=amid)

    def _finish_what_goes_on(self) -> None:
        """Say what is said to nobody known; that turn is over, unless it answers what a person typed unseen."""
        self.read(certain=True)
        if self._turns.goes_on or self._turns.is_certain:
            self._speaker.end_turn(self._turns.supersede())

    def ended(self, *, certain: bool) -> None:
        """A turn has ended; what comes later continues it, unless it was certain to be over."""
        self._may_continue = not certain

    def hear(self, event: TerminalEvent) -> None:
        """Take what the program tells its terminal of its state."""
        signal = self.signals.read(event)
        if signal is not None:
            self._turns.vote(signal.by, signal.says, self._speaker.now)
            if signal.says == "busy":
                self._go_to_work()

    def asked_for_input(self, frame: Frame) -> None:
        """Bracketed paste was asked for."""
        if not self.is_active:
            self.is_active = True
            self.conversation.forget_composer()
            self.conversation.look_anew(frame, answering=False)
        if self._composer.has_withdrawn and self._composer.withdraws is not False:
            self._turns.vote("composer", "idle", self._speaker.now)

    def withdrawn(self) -> None:
        """The request for bracketed paste was withdrawn."""
        if self.converses and self._turns.is_open:
            self.read(certain=True)
        if self.converses:
            self._forget_program()
        else:
            self._turns.vote("composer", "busy", self._speaker.now)
        self._composer.withdraw()
        self.is_active = self._alternate

    def respawned(self) -> None:
        """Another program was started in the pane, without the one before having left the screen as programs do."""
        if self._turns.is_open and self.converses:
            self.read(certain=True, cut_off=self._turns.is_busy, last=True)
        self._forget_program()
        self._alternate = self._overlaid = False

    def take(self, frame: Frame, *, whole: bool, stands: bool, printed: float | None) -> None:
        """Follow a frame; the program `printed` last at that time. See `Conversation.take`."""
        if frame.alternate and not self._alternate and self.converses:
            self._overlaid = True
        if self._overlaid:
            self._overlaid = frame.alternate
            if not frame.alternate:
                self.conversation.look_anew(frame, answering=self._turns.is_open)
                if self._turns.is_open and printed is not None:
                    # What stood in front may have looked like a dialog, for which the turn was held.
                    self._turns.output(printed)
            return
        if self._alternate and not frame.alternate:
            if self._turns.is_open:
                self.read(certain=True)
            self._forget_program()
        switched = frame.alternate != self._alternate
        self._alternate = frame.alternate
        if switched:
            self.is_active = frame.alternate or self._composer.asks_for_paste
            if self.is_active:
                self.conversation.look_anew(frame, answering=False)
        elif self.is_active:
            worked = self.conversation.works
            changed = self.conversation.take(frame, self._speaker.now, whole=whole, stands=stands)
            if changed and self.converses:
                self._note_change(worked, printed)

    @property
    def has_unread(self) -> bool:
        """Whether the screen shows something new while a message waits to be answered."""
        return self.converses and self.conversation.waits and self.conversation.has_moved_on

    def read(self, *, certain: bool, cut_off: bool = False, last: bool = False) -> None:
        """Say what was answered on the screen; whole lines of an answer that was `cut_off`."""
        trusted = self.signals.tell or not self._alternate
        answer = self.conversation.read(certain=certain, trusted=trusted, cut_off=cut_off, last=last)
        self._cutter.keeps_transcript = self.conversation.proved
        self._note_typed()
        self._awaited = self.conversation.waits
        if answer is not None:
            self._speaker.tell(answer)
        self._ledger.forget_submitted()

    def _note_change(self, worked: bool, printed: float | None) -> None:
        """The screen of a conversation reads differently."""
        if printed is not None:
            self._turns.output(printed)
        self._awaited = self._note_typed() or self._awaited
        if self._awaited or (self._may_continue and self.conversation.has_moved_on):
            self._speaker.begin_turn()
        if self.conversation.works != worked:
            self._turns.vote("furniture", "busy" if self.conversation.works else "idle", self._speaker.now)
            if self.conversation.works:
                self._go_to_work()

    def _note_typed(self) -> bool:
        """Begin a turn for what a person has submitted, if anything was seen of that."""
        typed, self.conversation.typed = self.conversation.typed, False
        if typed:
            self._speaker.next_turn(None)
        return typed

    def _go_to_work(self) -> None:
        """The program says that it is at work: if nobody else did, a person has submitted something."""
        if not self._turns.is_open and not self._awaited and self.conversation.assume_submitted():
            self._speaker.next_turn(None)
        if self._turns.turn or self._seeded:
            self._speaker.begin_turn()

    def _forget_program(self) -> None:
        """The program that conversed is gone: what it said of itself, and was, tells nothing of the next."""
        self._turns.dismiss_witnesses()
        self._cutter.moved = self._cutter.keeps_transcript = False
        self.signals.forget()
        self.conversation.forget_program()
        self._awaited = self._may_continue = False
