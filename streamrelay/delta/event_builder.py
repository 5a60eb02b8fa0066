"""What a pane's stream says: events, in order, with the turn and the line they belong to.

A printed line is explained before it is said, and replaces or takes back what people were shown of it meanwhile.
"""

from collections.abc import Iterable, Sequence

from streamrelay.batch import Batch, Lines, Part
from streamrelay.delta.printing.provenance import MOST_PENDING, Piece
from streamrelay.delta.reasons import Reason, Reasons, Rule
from streamrelay.delta.transcript.answers import Answer, Passage
from streamrelay.delta.turns import Ended, Turns
from streamrelay.events import Activity, Event, Gap, Live, Retracted, Text, TurnEnded, TurnStarted

LONGEST_LIVE = 4096
"""Characters of an unfinished line that are shown: its end, when it is longer."""
SHOWN_FOR = 0.1
"""Seconds that such a line is shown before it is shown anew, if nobody looks (`DeltaStream.look`)."""


class Speaker:
    """Collects the events of one pane until they are taken; the reasons for them too, where somebody asks."""

    def __init__(self, session: str, pane: str, reasons: Reasons | None = None) -> None:
        self.now = 0.0
        self.turns = Turns()
        self.line = 1
        self.session = session
        self.pane = pane
        self._turn_of: dict[str, int] = {}
        self._typed_turns: list[int] = []
        """The turns of what persons have submitted since the transcript was read last."""
        self._told_turn: int | None = None
        self._live = ""
        self.shown_at = 0.0
        """When people were shown a line that is not final (stream time)."""
        self._parts: list[Part] = []
        self._reasons = reasons

    @property
    def shows_live(self) -> bool:
        """Whether people are being shown a line that is not final."""
        return bool(self._live)

    def emit(self, event: Event) -> None:
        """Add an event that happens now."""
        event.t, event.session, event.pane, event.turn = round(self.now, 6), self.session, self.pane, self._turn
        self._parts.append(event)

    @property
    def _turn(self) -> int:
        """The turn that what is said now belongs to."""
        return self.turns.turn if self._told_turn is None else self._told_turn

    def taken(self) -> Batch:
        """Return the events, and forget them."""
        parts, self._parts = self._parts, []
        return Batch(parts)

    # Text

    def leave_out(self, rule: Rule, rows: Sequence[str]) -> None:
        """Note why nothing is said of printed rows, where somebody asks."""
        self._give_reason(rule, rows, len(self._parts))

    def say_plain(self, lines: Sequence[str], rule: Rule = "passed") -> None:
        """Say lines that can only be the program's: the way of every flood."""
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
        """Say one line that was explained; `shown` is how a printed one stood on the screen."""
        final = False
        for piece in pieces:
            self.say_piece(piece, shown)
            final = final or piece.origin == "program"
        if self._live and not final:
            self.emit(Retracted(line=self.line))
        self._live = ""
        self.line += 1

    def say_piece(self, piece: Piece, shown: str | None = None) -> None:
        """Say a line or part of one; nothing is said of an empty one that is not the program's."""
        began = len(self._parts)
        if piece.origin == "program":
            self.begin_turn()
        if piece.origin == "program" or piece.text:
            said = Text(piece.text, piece.origin, piece.message_id, self.line, piece.witnesses)
            self.emit(said)
        if shown is not None and self._reasons is not None:
            # Lines that were held back come out while another one passes.
            rows = [piece.text] if piece.rule in {"held", "echo_late"} else shown.split("\n")
            is_prompt = not piece.text and piece.origin != "program"
            self._give_reason("prompt" if is_prompt else piece.rule, rows, began, piece.message_id)

    def _give_reason(self, rule: Rule, rows: Sequence[str], began: int, message_id: str | None = None) -> None:
        """Note the rule behind what was said since there were `began` events."""
        if self._reasons is not None:
            said = tuple(event for event in self._parts[began:] if isinstance(event, Text | Activity | Gap))
            self._reasons.add(Reason(round(self.now, 6), self._turn, rule, tuple(rows), said, message_id))

    def tell(self, answer: Answer) -> None:
        """Say what was read off a transcript: each part with the number of the turn whose message it answers."""
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
        self._typed_turns.clear()

    def _go_to_turn_of(self, message_id: str | None) -> None:
        """The program has come to this message: what it answered before was over when this turn began.

        Several answers may be read off at once, or a message was taken up amid what nobody had asked for.
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
        """Show people a line that is not final; an empty one takes back what was shown."""
        if text == self._live:
            return
        self._live, before = text, self._live
        if text:
            self.shown_at = self.now
            self.emit(Live(text=text[-LONGEST_LIVE:], line=self.line))
        elif before:
            self.emit(Retracted(line=self.line))

    # Turns

    def begin_turn(self) -> None:
        """The program says something: a turn begins, if none is open."""
        began = self.turns.said()
        if began is not None:
            self.emit(TurnStarted(message_id=began.message_id))

    def next_turn(self, message_id: str | None, *, at_prompt: bool = False) -> None:
        """Something was submitted to the program."""
        ended = self.turns.submitted(message_id, self.now, at_prompt=at_prompt)
        if message_id is not None:
            self._turn_of[message_id] = self.turns.turn
            if len(self._turn_of) > MOST_PENDING:
                del self._turn_of[next(iter(self._turn_of))]
        elif not at_prompt:
            self._typed_turns = [*self._typed_turns[-MOST_PENDING:], self.turns.turn]
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
    return "unreadable" if passage.rule in {"unheard", "unreadable"} else "unpainted"
