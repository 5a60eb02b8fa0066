"""What the second witness of one pane has reported, and what becomes of an answer read off the screen because of it.

The screen stays the judge of what is true: a word of the agent's own record enters the stream only where the screen
showed it, or where the screen is known to have had a gap. So a transcript of another session, a stale one or a forged
one changes nothing but the verdict.

    outcome    the record against the screen                             policy `prefer` says
    agrees     every line stands on both                                 the agent's source
    repaired   the screen had a gap, left a line out or showed chrome    the agent's source; chrome becomes `activity`
    differs    one lacks words that the other one has                    the source of what both have, and the screen
    silent     nothing of this answer was reported in time               the screen

Policy `verify` always says the screen's lines, with the same verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from streamrelay.delta.inputs import WitnessOpened, WitnessReported
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.answers import Answer, Passage
from streamrelay.delta.witness.alignment import align
from streamrelay.delta.witness.comparison import MIN_IDENTIFIED, Comparison, Record
from streamrelay.delta.witness.source import normal, source_lines
from streamrelay.events import WitnessCompared, WitnessName, WitnessOutcome

MAX_ANSWER: Final = 400_000
"""Characters of one answer that are compared; a longer one is left to the screen."""
MAX_LINES: Final = 10_000
MAX_TURNS: Final = 64
"""Messages whose answers are kept until the screen shows them."""
_ASIDE: Final[frozenset[Rule]] = frozenset({"footer", "furniture_of_profile", "spinner", "tip"})
"""Rules by which a row of an answer may be left out by mistake."""


@dataclass(slots=True)
class _Turn:
    """What was reported of the answer to one message; `message` is None where an answer goes on."""

    message: str | None = None
    answers: list[str] = field(default_factory=list)
    ended: bool = False
    at: float = 0.0
    """When something of it was said last (Unix time); 0 where the record does not say."""


class SecondWitness:
    """The second witness of one pane."""

    def __init__(self) -> None:
        self.due: float | None = None
        """When the wait for the witness ends (stream time); None if the stream does not wait."""
        self._waits_since = 0.0
        self._opened: WitnessOpened | None = None
        self._turns: list[_Turn] = []
        self._messages: list[str] = []
        self._hook = ""
        self._reason = ""
        self._since = 0.0
        """When the turn before was over (Unix time): what is older came too late for that one."""

    # What is reported

    def open(self, opened: WitnessOpened) -> None:
        """Note that an agent's own record is read from now on, or no longer."""
        self._opened = None if opened.policy == "off" else opened
        self._reason = opened.reason
        self._turns.clear()
        self.due = None

    def send(self, text: str) -> None:
        """Note a message to the agent: its answer is reported behind it."""
        self._messages = [*self._messages[1 - MAX_TURNS :], normal(text)]
        self._hook = self._reason = ""

    def hear(self, reported: WitnessReported) -> None:
        """Take what the agent's record says."""
        self._reason = reported.reason
        self._since = reported.since
        for passage in reported.passages:
            if passage.speaker == "person":
                self._turns.append(_Turn(normal(passage.text)))
            elif passage.speaker == "agent":
                if not self._turns:
                    self._turns.append(_Turn())
                self._turns[-1].answers.append(passage.text)
                self._turns[-1].ended = False
            elif self._turns:
                self._turns[-1].ended = True
            if self._turns:
                self._turns[-1].at = max(self._turns[-1].at, passage.at)
        del self._turns[:-MAX_TURNS]

    def hear_hook(self, answer: str) -> None:
        """Take what the stop hook says was answered last."""
        self._hook = answer.strip("\n")

    # Waiting

    def must_wait(self, now: float) -> bool:
        """Tell whether a turn that is over by the screen waits for its witness.

        It waits for `lag` seconds at most, and for `under_way` seconds where the record has begun: a busy machine
        writes late, and a record that has the message will have its answer.
        """
        if self._opened is None or self._reason or self._is_settled:
            self.due = None
            return False
        if self.due is None:
            self._waits_since = now
        bound = self._opened.lag
        if self._of_last_message:
            bound = max(bound, self._opened.under_way)
        self.due = self._waits_since + bound
        return now < self.due

    @property
    def _is_settled(self) -> bool:
        """Whether the record holds the whole answer to the last message."""
        turns = self._of_last_message
        return bool(turns) and turns[-1].ended

    @property
    def _of_last_message(self) -> list[_Turn]:
        """The turns that may answer the last message: one that was sent, or else whatever a person typed."""
        if self._messages:
            return [turn for turn in self._turns if turn.message is not None and self._is_asked(turn.message)]
        return [turn for turn in self._turns if not 0 < turn.at < self._since]

    def _is_asked(self, message: str) -> bool:
        return any(_is_same(message, sent) for sent in self._messages)

    # Comparing

    def compare(self, answer: Answer) -> None:
        """Compare an answer with what was reported of it, and say in it what the policy wants to be said."""
        self.due = None
        if self._opened is None and not self._hook:
            self._messages.clear()
            return
        passages: list[Passage] = []
        for stretch, record in self._stretches(answer.passages):
            passages += self._judge(stretch, record)
        answer.passages = passages
        self._hook = self._reason = ""
        self._messages.clear()

    def _stretches(self, passages: Sequence[Passage]) -> list[tuple[list[Passage], Record | None]]:
        """Divide an answer where a message stands whose answer is in the record; return each part with its record."""
        sections: list[list[Passage]] = [[]]
        for passage in passages:
            if passage.kind in {"injected", "typed"}:
                sections.append([])
            sections[-1].append(passage)
        stretches: list[tuple[list[Passage], _Turn | None, bool]] = []
        for number, section in enumerate(sections, 1):
            turn, is_matched = self._turn_of(section, is_last=number == len(sections))
            if turn is None and stretches and stretches[-1][1] is not None:
                stretches[-1][0].extend(section)
            else:
                stretches.append((list(section), turn, is_matched))
        used = [turn for _, turn, _ in stretches if turn is not None]
        self._forget(used[-1] if used else None)
        last = max((number for number, (part, _, _) in enumerate(stretches) if _says(part)), default=-1)
        return [
            (part, self._record(part, turn, matched, with_hook=number == last))
            for number, (part, turn, matched) in enumerate(stretches)
        ]

    def _turn_of(self, section: Sequence[Passage], *, is_last: bool) -> tuple[_Turn | None, bool]:
        """Return the turn of the record that a section is the answer of, and whether its message says so."""
        echo = section[0] if section and section[0].kind in {"injected", "typed"} else None
        if echo is not None:
            message = normal("\n".join(echo.lines))
            same = [turn for turn in self._turns if turn.message is not None and _is_same(turn.message, message)]
            return (same[-1 if is_last else 0] if same else None), bool(same)
        if not _says(section):
            return None, False
        if self._turns and self._turns[0].message is None and self._turns[0].answers:
            return self._turns[0], False
        turns = self._of_last_message if is_last else []
        if not turns:
            return None, False
        # What a person typed unseen may be taken for the program's own words.
        shown = [row.text for passage in section if passage.rule != "old_transcript" for row in passage.rows]
        return turns[-1], bool(self._messages) or _is_same(normal("".join(shown)), turns[-1].message or "")

    def _forget(self, used: _Turn | None) -> None:
        """Forget what came before the last turn that was used, and that one where nothing more belongs to it."""
        if used is None:
            return
        number = next(number for number, turn in enumerate(self._turns) if turn is used)
        rest = self._turns[number + 1 :]
        self._turns = rest if used.ended or rest else [_Turn()]

    def _record(self, part: Sequence[Passage], turn: _Turn | None, matched: bool, *, with_hook: bool) -> Record | None:
        by: WitnessName = "transcript" if self._opened is None else self._opened.by
        answers = [] if turn is None else [answer for answer in turn.answers if answer.strip()]
        names: list[tuple[WitnessName, ...]] = [(by,)] * len(answers)
        is_whole = turn is not None and turn.ended
        if with_hook and self._hook:
            if answers and answers[-1].strip("\n") == self._hook:
                names[-1] = (by, "hook")
            elif not is_whole:
                # A hook tells the last thing that was answered; whatever stands before a tool call is not in it.
                is_whole = not answers and not any(passage.kind == "activity" for passage in part)
                answers, names = [*answers, self._hook], [*names, ("hook",)]
        return Record(answers, names, is_whole, matched) if answers or turn is not None else None

    def _judge(self, part: list[Passage], record: Record | None) -> list[Passage]:
        """Return what is said of one part of an answer, and the verdict."""
        if not _says(part):
            return part
        if record is None or not record.answers:
            return part if self._opened is None else [*part, self._verdict("silent", (), reason=self._why_silent)]
        names = tuple(dict.fromkeys(name for names in record.names for name in names))
        if sum(map(len, record.answers)) > MAX_ANSWER:
            return [*part, self._verdict("silent", names, reason="too_long")]
        source = source_lines(record.answers)
        if len(source) > MAX_LINES:
            return [*part, self._verdict("silent", names, reason="too_long")]
        lines = [line for passage in part if passage.kind == "text" for line in passage.lines]
        aside = [row.text for passage in part if passage.rule in _ASIDE for row in passage.rows]
        aside += [line for passage in part if passage.kind == "activity" for line in passage.lines]
        alignment = align(lines, source, aside)
        comparison = Comparison(record, source, lines, alignment, has_gap=any(one.kind == "gap" for one in part))
        if self._opened is not None and self._opened.policy == "verify":
            said = comparison.verified(part)
        else:
            said = comparison.merged(part)
        return [*said, self._verdict(comparison.outcome, names, comparison)]

    @property
    def _why_silent(self) -> str:
        return self._reason or "late"

    def _verdict(
        self,
        outcome: WitnessOutcome,
        names: tuple[WitnessName, ...],
        comparison: "Comparison | None" = None,
        reason: str = "",
    ) -> Passage:
        prefers = self._opened is None or self._opened.policy == "prefer"
        event = WitnessCompared(
            outcome=outcome,
            witnesses=names,
            used=prefers and comparison is not None and comparison.is_trusted,
            shown=0 if comparison is None else comparison.count("shown"),
            filled=0 if comparison is None else comparison.filled + comparison.count("aside"),
            absent=0 if comparison is None else comparison.absent,
            extra=0 if comparison is None else comparison.extra,
            reason=reason,
        )
        return Passage("verdict", [], verdict=event)


def _says(part: Sequence[Passage]) -> bool:
    """Tell whether a part of an answer holds anything that a record could be compared with."""
    return any(passage.kind in {"text", "gap"} for passage in part)


def _is_same(message: str, sent: str) -> bool:
    """Tell whether a record's message is one that was sent: the whole, or with something around it."""
    return bool(sent) and (message == sent or (len(sent) >= MIN_IDENTIFIED and sent in message))
