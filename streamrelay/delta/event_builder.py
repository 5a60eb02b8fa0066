"""Builds the events of one pane, in order, with the turn and the line that each belongs to.

A final line replaces the live text that people saw of it, or retracts it.
"""

from collections.abc import Iterable, Sequence

from streamrelay.batch import Batch, Lines, Part
from streamrelay.delta.printing.provenance import MAX_PENDING, Piece
from streamrelay.delta.reasons import Reason, Reasons, Rule
from streamrelay.delta.transcript.answers import Answer, Passage
from streamrelay.delta.turns import Ended, Turns
from streamrelay.events import Activity, Event, Gap, Live, Retracted, Text, TurnEnded, TurnStarted

MAX_LIVE = 4096
"""Characters of live text: the end of a longer unfinished line."""
SHOWN_FOR = 0.1
"""Seconds between two `Live` events of an unfinished line, unless `DeltaStream.look` asks for one."""


class EventBuilder:
    """Collects the events of one pane until they are taken, and the reasons for them if a `Reasons` is given."""

    def __init__(self, session: str, pane: str, reasons: Reasons | None = None) -> None:
        self.now = 0.0
        self.turns = Turns()
        self.line = 1
        self.session = session
        self.pane = pane
        self._turn_of: dict[str, int] = {}
        self._typed_turns: list[int] = []
        """The turns of messages that people have typed since the transcript was last read."""
        self._told_turn: int | None = None
        self._live = ""
        self.shown_at = 0.0
        """When live text was last emitted (stream time)."""
        self._parts: list[Part] = []
        self._reasons = reasons

    @property
    def shows_live(self) -> bool:
        """Whether people see live text now."""
        return bool(self._live)

    def emit(self, event: Event) -> None:
        """Add an event that happens now."""
        event.t, event.session, event.pane, event.turn = round(self.now, 6), self.session, self.pane, self._turn
        self._parts.append(event)

    @property
    def _turn(self) -> int:
        """The turn of the events that are emitted now."""
        return self.turns.turn if self._told_turn is None else self._told_turn

    def taken(self) -> Batch:
        """Return the events and begin a new list."""
        parts, self._parts = self._parts, []
        return Batch(parts)

    # Text

    def leave_out(self, rule: Rule, rows: Sequence[str]) -> None:
        """Note why printed rows are left out."""
        self._give_reason(rule, rows, len(self._parts))

    def say_plain(self, lines: Sequence[str], rule: Rule = "passed") -> None:
        """Say lines that can only be the program's, as one `Lines`: the fast path of plain output."""
        self.begin_turn()
        now, turn = round(self.now, 6), self.turns.turn
        said = Lines(texts=lines, line=self.line, t=now, session=self.session, pane=self.pane, turn=turn)
        self.line += len(lines)
        if self._reasons is None:
            self._parts.append(said)
            return
        texts = said.events()
        self._parts += texts
        for text in texts:
            self._reasons.add(Reason(now, turn, rule, (text.text,), (text,)))

    def say_line(self, pieces: Iterable[Piece], shown: str | None = None) -> None:
        """Say one line whose origin is known; `shown` is the line as the screen shows it."""
        final = False
        for piece in pieces:
            self.say_piece(piece, shown)
            final = final or piece.origin == "program"
        if self._live and not final:
            self.emit(Retracted(line=self.line))
        self._live = ""
        self.line += 1

    def say_piece(self, piece: Piece, shown: str | None = None) -> None:
        """Say a line or a part of one; an empty piece is said only if it is the program's."""
        began = len(self._parts)
        if piece.origin == "program":
            self.begin_turn()
        if piece.origin == "program" or piece.text:
            said = Text(piece.text, piece.origin, piece.message_id, self.line, piece.witnesses)
            self.emit(said)
        if shown is not None and self._reasons is not None:
            # Lines that were held back come out while another one passes.
            rows = [piece.text] if piece.rule in {"held", "echo_late", "echo_torn"} else shown.split("\n")
            is_prompt = not piece.text and piece.origin != "program"
            self._give_reason("prompt" if is_prompt else piece.rule, rows, began, piece.message_id)

    def _give_reason(self, rule: Rule, rows: Sequence[str], began: int, message_id: str | None = None) -> None:
        """Note the rule behind the events from number `began` on."""
        if self._reasons is not None:
            said = tuple(event for event in self._parts[began:] if isinstance(event, Text | Activity | Gap))
            self._reasons.add(Reason(round(self.now, 6), self._turn, rule, tuple(rows), said, message_id))

    def tell(self, answer: Answer, *, goes_on: bool = False) -> None:
        """Say an answer that was read from a transcript: each passage with the turn whose message it answers.

        Where the program `goes_on`, the transcript has yet to show some of the messages that people typed.
        """
        self.show("")
        self._told_turn = self.turns.answered
        for passage in answer.passages:
            began = len(self._parts)
            match passage.kind:
                case "text":
                    for line in passage.lines:
                        self.say_line([Piece(line, "program", witnesses=passage.witnesses)])
                case "activity":
                    self.emit(Activity(text="\n".join(passage.lines)))
                case "unsaid":
                    pass
                case "verdict":
                    if passage.verdict is not None:
                        self.emit(passage.verdict)
                    continue
                case "gap":
                    self.emit(Gap(reason=_gap_reason(passage), lost_lines=passage.lost))
                case origin:
                    self._go_to_turn_of(passage.message_id)
                    for line in passage.lines:
                        self.say_line([Piece(line, origin, passage.message_id)])
            if self._reasons is not None:
                self._give_reason(passage.rule, [row.text for row in passage.rows], began, passage.message_id)
        self._told_turn = None
        if not goes_on:
            self._typed_turns.clear()

    def take_up(self, message_id: str) -> None:
        """Go on to the turn of a message that the program answers now, though nothing of that is read yet."""
        self._told_turn = self.turns.answered
        self._go_to_turn_of(message_id)
        self._told_turn = None

    def _go_to_turn_of(self, message_id: str | None) -> None:
        """Go on to the turn of this message, because the program has reached it; the turn before ends here.

        One reading may hold several answers, or text that no message asked for and then an answer.
        """
        if message_id is not None:
            turn = self._turn_of.pop(message_id, None)
        else:
            turn = self._typed_turns.pop(0) if self._typed_turns else self.turns.count_unseen()
        if turn is None or turn == self._told_turn:
            return
        supersedes = self._told_turn is not None and self._told_turn < turn
        if supersedes:
            self.emit(TurnEnded(reason="superseded", certain=True))
        self._told_turn = turn
        self.turns.take_up(turn)
        if supersedes:
            self.emit(TurnStarted(message_id=message_id))

    def show(self, text: str) -> None:
        """Emit live text; an empty one retracts the live text before it."""
        if text == self._live:
            return
        self._live, before = text, self._live
        if text:
            self.shown_at = self.now
            self.emit(Live(text=text[-MAX_LIVE:], line=self.line))
        elif before:
            self.emit(Retracted(line=self.line))

    # Turns

    def begin_turn(self) -> None:
        """Begin a turn if none is open, because the program says something."""
        began = self.turns.said()
        if began is not None:
            self.emit(TurnStarted(message_id=began.message_id))

    def next_turn(self, message_id: str | None, *, at_prompt: bool = False) -> None:
        """Begin the turn of a message that was submitted to the program."""
        ended = self.turns.submitted(message_id, self.now, at_prompt=at_prompt)
        if message_id is not None:
            self._turn_of[message_id] = self.turns.turn
            if len(self._turn_of) > MAX_PENDING:
                del self._turn_of[next(iter(self._turn_of))]
        elif not at_prompt:
            self._typed_turns = [*self._typed_turns[-MAX_PENDING:], self.turns.turn]
        if ended is not None:
            self.end_turn(ended)

    def end_turn(self, ended: Ended) -> None:
        """Say that a turn is over."""
        event = TurnEnded(
            reason=ended.reason,
            certain=ended.certain,
            votes=ended.votes,
            disagreements=ended.disagreements,
            exit_status=ended.exit_status,
        )
        self.emit(event)
        event.turn = ended.turn


def _gap_reason(passage: Passage) -> str:
    if passage.lost is not None:
        return "history"
    if passage.rule == "begun_before":
        return "joined"
    return "unreadable" if passage.rule in {"unheard", "unreadable"} else "unpainted"
