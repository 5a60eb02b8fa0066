"""What the second witness of one pane has reported, and what becomes of an answer read off the screen because of it.

The screen stays the judge of what is true: a word of the agent's own record enters the stream only where the screen
showed it, or where the screen is known to have had a gap. So a transcript of another session, a stale one or a forged
one changes nothing but the verdict.

A program can paint over rows of its answers and lose them. They count as shown, if the record that has them is known to
answer the message, and nothing on the screen contradicts it. The echo of a message can be lost likewise. Where the
record has such a message between two others that the screen shows, its answer is said between theirs.

    outcome    the record against the screen                             policy `prefer` says
    agrees     every line stands on both                                 the agent's source
    repaired   the screen had a gap, left a line out or showed chrome    the agent's source; chrome becomes `activity`
    differs    one lacks words that the other one has                    the source of what both have, and the screen
    silent     nothing of this answer was reported in time               the screen

Policy `verify` always says the screen's lines, with the same verdict.
"""

from bisect import bisect_right
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from streamrelay.delta.inputs import WitnessOpened, WitnessReported
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.answers import Answer, Passage
from streamrelay.delta.witness.alignment import PaintedOverText, align, without_drawing
from streamrelay.delta.witness.comparison import MIN_IDENTIFIED, AskedMessage, Comparison, Record
from streamrelay.delta.witness.source import normal, source_lines
from streamrelay.events import WitnessCompared, WitnessName, WitnessOutcome

MAX_ANSWER: Final = 400_000
"""Characters of one answer that are compared; a longer one is left to the screen."""
MAX_LINES: Final = 10_000
MAX_TURNS: Final = 64
"""Messages whose answers are kept until the screen shows them."""
MAX_PAINT_LAG: Final = 3.0
"""Seconds for which the stream waits for the screen to show the end of an answer that the record has."""
MIN_ENDING: Final = 24
"""Characters that the end of an answer has at least, if the answer has as many: a last line may be a bracket."""
MAX_LAST_LINES: Final = 20
MAX_LAST_CHARACTERS: Final = 4_000
"""What is looked at of an answer to tell how it ends."""
_ASIDE: Final[frozenset[Rule]] = frozenset({"footer", "furniture_of_profile", "spinner", "tip"})
"""Rules by which a row of an answer may be left out by mistake."""


@dataclass(slots=True)
class _Turn:
    """What was reported of the answer to one message; `form` is None where an answer goes on."""

    form: str | None = None
    """The normal form of the message."""
    text: str = ""
    """The message as the record has it."""
    answers: list[str] = field(default_factory=list)
    ended: bool = False
    ended_at: float = 0.0
    """When the end was reported (stream time)."""
    at: float = 0.0
    """When something of it was said last (Unix time); 0 where the record does not say."""

    @property
    def is_passed(self) -> bool:
        """Whether, once another turn follows, the answer to its message is not known to be all here."""
        return self.form is not None and not self.ended


class Ending(NamedTuple):
    """How an answer ends."""

    forms: tuple[str, ...]
    """The normal forms of its end; none where a screen shows nothing of it."""
    reported: float
    """When the record had the end (stream time)."""

    def stands_in(self, lines: Sequence[str], now: float) -> bool:
        """Tell whether these lines of the screen end so, or the stream has waited for `MAX_PAINT_LAG` in vain."""
        if not self.forms or now >= self.reported + MAX_PAINT_LAG:
            return True
        return "".join(map(normal, lines[-MAX_LAST_LINES:])).endswith(self.forms)


class _Stretch(NamedTuple):
    """A part of an answer, and the turn of the record that it is compared with."""

    part: list[Passage]
    turn: _Turn | None = None
    is_matched: bool = False
    """Whether the turn's message is known to be the one that the part answers."""
    is_joined: bool = False
    """Whether it begins with the answer to an earlier message, which the record has behind the turn's message."""


@dataclass(slots=True)
class _Besides:
    """What the screen showed besides the part that is compared."""

    painted_over: PaintedOverText
    messages: list[AskedMessage]
    is_cut_off: bool = False
    """Whether the program ended before the screen showed the end of the answer, as far as is known."""


class SecondWitness:
    """The second witness of one pane."""

    def __init__(self) -> None:
        self.due: float | None = None
        """When the wait for the witness ends (stream time); None if the stream does not wait."""
        self._waits_since = 0.0
        self._heard_at = 0.0
        """When the record was read last (stream time)."""
        self._is_given_up = False
        """Whether a turn has waited in vain for a record to be there."""
        self._opened: WitnessOpened | None = None
        self._turns: list[_Turn] = []
        self._messages: list[str] = []
        """The messages since the last answer that was compared, in normal form."""
        self._sent: list[AskedMessage] = []
        """The messages whose answers were not compared yet."""
        self._submitted: list[str] = []
        self._said_early: list[str] = []
        """The messages whose answers were said although the screen had lost them; it may show them later."""
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
        self._is_given_up = False
        self.due = None

    def send(self, message_id: str, text: str) -> None:
        """Note a message to the agent: its answer is reported behind it."""
        sent = AskedMessage(message_id, text, normal(text))
        self._messages = [*self._messages[1 - MAX_TURNS :], sent.form]
        self._sent = [*self._sent[1 - MAX_TURNS :], sent]
        self._hook = self._reason = ""

    def submit(self, message_id: str) -> None:
        """Note that a message was submitted: once the agent is idle, its record has the answer."""
        self._submitted = [*self._submitted[1 - MAX_TURNS :], message_id]

    def hear(self, reported: WitnessReported) -> None:
        """Take what the agent's record says."""
        self._reason = reported.reason
        self._heard_at = reported.t
        self._is_given_up = self._is_given_up and not reported.passages
        self._since = reported.since
        for passage in reported.passages:
            if passage.speaker == "person":
                self._turns.append(_Turn(normal(passage.text), passage.text))
            elif passage.speaker == "agent":
                if not self._turns:
                    self._turns.append(_Turn())
                self._turns[-1].answers.append(passage.text)
                self._turns[-1].ended = False
            elif self._turns:
                self._turns[-1].ended_at = self._turns[-1].ended_at if self._turns[-1].ended else reported.t
                self._turns[-1].ended = True
            if self._turns:
                self._turns[-1].at = max(self._turns[-1].at, passage.at)
        del self._turns[:-MAX_TURNS]

    def reopen(self) -> None:
        """Note that the program asks something, so its answer goes on: an end that was reported before is none.

        A record may have the call of a tool only when the tool has run, and looks ended until then.
        """
        if self._turns:
            self._turns[-1].ended = False

    def hear_hook(self, answer: str) -> None:
        """Take what the stop hook says was answered last."""
        self._hook = answer.strip("\n")

    # Waiting

    def must_wait(self, now: float) -> bool:
        """Tell whether a turn that is over by the screen waits for its witness.

        It waits for `lag` seconds at most, and for `under_way` seconds where the record has begun: a busy machine
        writes late, and a record that has the message will have its answer. It waits as long where the record was not
        read since the turn was over, because a busy machine reads late, too; and, once, where there is none yet.
        """
        is_missing = self._reason == "no_record" and not self._is_given_up
        if self._opened is None or (self._reason and not is_missing) or self._is_settled:
            self.due = None
            return False
        if self.due is None:
            self._waits_since = now
        bound = self._opened.lag
        if self._is_under_way or is_missing or self._heard_at < self._waits_since:
            bound = max(bound, self._opened.under_way)
        self.due = self._waits_since + bound
        self._is_given_up = self._is_given_up or (is_missing and now >= self.due)
        return now < self.due

    @property
    def _awaited(self) -> list[list[_Turn]]:
        """For each message that was submitted and is not answered yet, the turns that may answer it."""
        awaited = [sent.form for sent in self._sent if sent.message_id in self._submitted]
        return [
            [turn for turn in self._turns if turn.form is not None and _is_same(turn.form, form)] for form in awaited
        ]

    @property
    def _is_settled(self) -> bool:
        """Whether the record holds the whole answers to all messages that were submitted."""
        awaited = self._awaited or [self._of_last_message]
        return all(turns and turns[-1].ended for turns in awaited)

    @property
    def _is_under_way(self) -> bool:
        """Whether the record has begun to answer the last message, or has its question."""
        awaited = self._awaited
        return bool(awaited[-1] if awaited else self._of_last_message)

    @property
    def _of_last_message(self) -> list[_Turn]:
        """The turns that may answer the last message: one that was sent, or else whatever a person typed."""
        if self._messages:
            return [turn for turn in self._turns if turn.form is not None and self._is_asked(turn.form)]
        return [turn for turn in self._turns if not 0 < turn.at < self._since]

    def _is_asked(self, message: str) -> bool:
        return any(_is_same(message, sent) for sent in self._messages)

    # Going on with the next message

    def reached(self, messages: Sequence[tuple[str | None, str]]) -> "dict[int, Ending]":
        """Return which of the messages the record has behind the end of the answer to an earlier one.

        `messages` are all that were submitted and are not answered so far, each with its id and text. The result maps
        the number of a message to the end of the answer before it.
        """
        turns = [turn for turn in self._turns if not 0 < turn.at < self._since]
        if self._opened is None or len(turns) < 2:
            return {}
        forms: dict[str | None, str] = {sent.message_id: sent.form for sent in self._sent}
        reached: dict[int, Ending] = {}
        first = last = -1
        for number, (message_id, text) in enumerate(messages):
            form = forms.get(message_id) or normal(text)
            same = [place for place, turn in enumerate(turns) if place > last and _is_same(turn.form or "", form)]
            if not same:
                # It is not there yet, or is part of the message before: an agent may take up several as one.
                continue
            before = turns[same[0] - 1]
            if first < 0:
                first = same[0]
            elif before.ended:
                reached[number] = Ending(_last_forms(before.answers), before.ended_at)
            last = same[0]
        return reached

    # Comparing

    def compare(
        self,
        answer: Answer,
        painted_over: Sequence[Sequence[str]] = (),
        outstanding: Set[str | None] = frozenset(),
        *,
        goes_on: bool = False,
        is_cut_off: bool = False,
    ) -> Set[str | None]:
        """Compare an answer with what was reported of it, and say in it what the policy wants to be said.

        `painted_over` are the paragraphs that stood on the screen since the answer before, and stand there no longer;
        `outstanding` are the messages that the screen has not shown so far. An answer that `is_cut_off` may go on
        behind what the screen showed; where the agent `goes_on` with a message that is outstanding, nothing is said of
        that yet. Return the messages whose answers are said though the screen has lost their echoes.
        """
        self.due = None
        later = [sent for sent in self._sent if goes_on and sent.message_id in outstanding]
        if self._opened is None and not self._hook:
            self._messages = [sent.form for sent in later]
            self._sent = later
            self._submitted = [one for one in self._submitted if any(one == sent.message_id for sent in later)]
            return frozenset()
        besides = _Besides(PaintedOverText(painted_over), list(self._sent))
        passages = self._with_typed(self._without_said(answer.passages), answer.mark.strip())
        stretches = [_Stretch([]), *self._stretches(passages, goes_on=goes_on)]
        lost = self._lost(stretches, [sent for sent in self._sent if sent not in later])
        used = [turn for stretch in stretches if (turn := stretch.turn) is not None]
        self._forget(used[-1] if used else None)
        last = max((number for number, stretch in enumerate(stretches) if _says(stretch.part)), default=-1)
        passages = []
        for number, (stretch, turns) in enumerate(zip(stretches, lost, strict=True)):
            besides.is_cut_off = is_cut_off and number == last
            passages += self._judge(stretch, turns, besides, with_hook=number == last)
        answer.passages = passages
        self._hook = self._reason = ""
        self._messages = [sent.form for sent in later]
        echoed = {passage.message_id for passage in passages if passage.kind == "injected"}
        self._sent = [sent for sent in self._sent if sent.message_id in outstanding - echoed]
        told = [turn for turns in lost for sent, turn in turns if sent.message_id in echoed]
        self._turns = [turn for turn in self._turns if all(turn is not other for other in told)]
        early = outstanding & echoed
        self._said_early = [*self._said_early, *(one for one in early if one is not None)][-MAX_TURNS:]
        return early

    def _without_said(self, passages: Sequence[Passage]) -> list[Passage]:
        """Leave out the answers to messages that were said before the screen showed them again."""
        left: list[Passage] = []
        is_said = False
        for passage in passages:
            if passage.kind in {"injected", "typed"}:
                is_said = passage.message_id in self._said_early
            left.append(passage._replace(kind="unsaid", rule="reprint") if is_said else passage)
        return left

    def _with_typed(self, passages: Sequence[Passage], mark: str) -> list[Passage]:
        """Set apart the messages that a person typed unseen: the record has them, and they stand behind the `mark`.

        A person may type faster than the program paints, and a program may show several messages that waited as one.
        """
        echoes = [normal("\n".join(passage.lines)) for passage in passages if passage.kind in {"injected", "typed"}]
        known = [*echoes, *(sent.form for sent in self._sent)]
        left: list[Passage] = []
        position = len(self._turns)
        for passage in passages:
            if passage.kind in {"injected", "typed"}:
                form = normal("\n".join(passage.lines))
                position = next((y for y, turn in enumerate(self._turns) if _is_same(turn.form or "", form)), position)
            rest = passage
            while rest.kind == "text" and position + 1 < len(self._turns):
                turn = self._turns[position + 1]
                if turn.form is None or any(_is_same(turn.form, form) for form in known):
                    break
                shown = _lines_behind(mark, turn.form, rest.lines)
                if shown is None:
                    break
                left.append(rest._replace(lines=rest.lines[: shown.start]))
                left.append(Passage("typed", turn.text.split("\n"), rule="typed_by_record"))
                rest = rest._replace(lines=rest.lines[shown.stop :], rows=())
                position += 1
            left.append(rest)
        return left

    def _stretches(self, passages: Sequence[Passage], *, goes_on: bool = False) -> list[_Stretch]:
        """Divide an answer where a message stands whose answer is in the record.

        A message that waited while the one before was answered can stand above that answer in the record: then both
        are one stretch. Where the agent `goes_on`, later messages may have the same text as the last one here.
        """
        sections: list[list[Passage]] = [[]]
        for passage in passages:
            if passage.kind in {"injected", "typed"}:
                sections.append([])
            sections[-1].append(passage)
        stretches: list[_Stretch] = []
        for number, section in enumerate(sections, 1):
            last = stretches[-1] if stretches else None
            used = None if last is None else last.turn
            turn, is_matched = self._turn_of(section, used, is_last=number == len(sections) and not goes_on)
            is_one = turn is None or (turn is used and last is not None and not _says(last.part))
            if last is not None and last.turn is not None and is_one:
                # The record has nothing of its message, or has both messages as one.
                last.part.extend(section)
            elif turn is not None and last is not None and last.turn is not None and last.turn.is_passed:
                turn.answers[:0] = last.turn.answers
                stretches[-1] = _Stretch([*last.part, *section], turn, is_matched, is_joined=True)
            else:
                stretches.append(_Stretch(list(section), turn, is_matched))
        return stretches

    def _lost(
        self, stretches: Sequence[_Stretch], sent_before: Sequence[AskedMessage]
    ) -> list[list[tuple[AskedMessage, _Turn]]]:
        """Return for each stretch those of the messages, with their turns, whose echoes the screen has lost behind it.

        A record may have a message while the one before is still being answered: behind that, nothing is known.
        """
        echoed = {passage.message_id for stretch in stretches for passage in stretch.part}
        missing = [sent for sent in sent_before if sent.message_id not in echoed]
        lost: list[list[tuple[AskedMessage, _Turn]]] = [[] for _ in stretches]
        matched = [number for number, stretch in enumerate(stretches) if stretch.is_matched]
        begins = [self._position(stretches[number].turn) for number in matched]
        is_known = True
        for position, turn in enumerate(self._turns):
            number = bisect_right(begins, position) - 1
            sent = next((one for one in missing if turn.form and _is_same(turn.form, one.form)), None)
            is_used = number >= 0 and begins[number] == position
            is_known = (is_known or is_used) and turn.ended and any(answer.strip() for answer in turn.answers)
            if is_used or sent is None or not is_known:
                continue
            missing.remove(sent)
            behind = matched[number + 1] - 1 if number + 1 < len(matched) else len(stretches) - 1
            lost[behind].append((sent, turn))
        return lost

    def _position(self, turn: _Turn | None) -> int:
        return next(number for number, one in enumerate(self._turns) if one is turn)

    def _turn_of(self, section: Sequence[Passage], used: _Turn | None, *, is_last: bool) -> tuple[_Turn | None, bool]:
        """Return the turn of the record that a section is the answer of, and whether its message says so.

        The section before is the answer of the turn that is `used`.
        """
        echo = section[0] if section and section[0].kind in {"injected", "typed"} else None
        if echo is not None:
            message = normal("\n".join(echo.lines))
            same = [turn for turn in self._turns if turn.form is not None and _is_same(turn.form, message)]
            later = [turn for turn in same if used is None or self._position(turn) > self._position(used)]
            return (later or same)[-1 if is_last else 0] if same else None, bool(same)
        if not _says(section):
            return None, False
        if self._turns and self._turns[0].form is None and self._turns[0].answers:
            return self._turns[0], False
        turns = self._of_last_message if is_last else []
        if not turns:
            return None, False
        # What a person typed unseen may be taken for the program's own words.
        shown = [row.text for passage in section if passage.rule != "old_transcript" for row in passage.rows]
        return turns[-1], bool(self._messages) or _is_same(normal("".join(shown)), turns[-1].form or "")

    def _forget(self, used: _Turn | None) -> None:
        """Forget what came before the last turn that was used, and that one where nothing more belongs to it."""
        if used is None:
            return
        number = next(number for number, turn in enumerate(self._turns) if turn is used)
        rest = self._turns[number + 1 :]
        self._turns = rest if used.ended or rest else [_Turn()]

    def _record(
        self, stretch: _Stretch, lost: Sequence[tuple[AskedMessage, _Turn]] = (), *, with_hook: bool
    ) -> Record | None:
        by: WitnessName = "transcript" if self._opened is None else self._opened.by
        turn = stretch.turn
        answers = [] if turn is None else [answer for answer in turn.answers if answer.strip()]
        messages: dict[int, AskedMessage] = {}
        for sent, other in lost:
            messages[len(answers)] = sent
            answers += [answer for answer in other.answers if answer.strip()]
        names: list[tuple[WitnessName, ...]] = [(by,)] * len(answers)
        is_whole = turn.ended and not stretch.is_joined if turn is not None else bool(lost)
        if with_hook and self._hook:
            if answers and answers[-1].strip("\n") == self._hook:
                names[-1] = (by, "hook")
            elif not is_whole:
                # A hook tells the last thing that was answered; whatever stands before a tool call is not in it.
                is_whole = not answers and not any(passage.kind == "activity" for passage in stretch.part)
                answers, names = [*answers, self._hook], [*names, ("hook",)]
        if not answers and turn is None:
            return None
        return Record(answers, names, is_whole, stretch.is_matched or (turn is None and bool(lost)), messages)

    def _judge(
        self, stretch: _Stretch, lost: Sequence[tuple[AskedMessage, _Turn]], besides: _Besides, *, with_hook: bool
    ) -> list[Passage]:
        """Return what is said of one part of an answer, and the verdict."""
        part = stretch.part
        record = self._record(stretch, with_hook=with_hook)
        whole = self._record(stretch, lost, with_hook=with_hook) if lost else record
        if lost and whole is not None and (compared := self._compared(part, whole, besides)) is not None:
            comparison, said = compared
            if comparison.is_complete:
                return said
        if not _says(part):
            # The screen may have lost the whole answer.
            compared = None if record is None else self._compared(part, record, besides)
            return compared[1] if compared is not None and compared[0].is_complete else part
        if record is None or not record.answers:
            reason = self._reason or ("cut_off" if besides.is_cut_off else "late")
            return part if self._opened is None else [*part, self._verdict("silent", (), reason=reason)]
        compared = self._compared(part, record, besides)
        return (
            [*part, self._verdict("silent", record.witnesses, reason="too_long")] if compared is None else compared[1]
        )

    def _compared(
        self, part: list[Passage], record: Record, besides: _Besides
    ) -> tuple[Comparison, list[Passage]] | None:
        """Return how a record compares with a part, and what is said because of it; None for a record too long."""
        source = source_lines(record.answers)
        if sum(map(len, record.answers)) > MAX_ANSWER or len(source) > MAX_LINES or not source:
            return None
        shown = [line for passage in part if passage.kind == "text" for line in passage.lines]
        lines = without_drawing(shown, source)
        aside = [row.text for passage in part if passage.rule in _ASIDE for row in passage.rows]
        aside += [line for passage in part if passage.kind == "activity" for line in passage.lines]
        over = besides.painted_over if record.is_whole and record.is_matched else None
        alignment = align(lines, source, aside, over)
        has_gap = any(one.kind == "gap" for one in part)
        comparison = Comparison(
            record, source, lines, alignment,
            has_gap=has_gap, is_cut_off=besides.is_cut_off, messages=besides.messages,
        )  # fmt: skip
        if self._opened is not None and self._opened.policy == "verify":
            said = comparison.verified(part)
        else:
            said = comparison.merged(part)
        reason = "cut_off" if besides.is_cut_off and comparison.filled else ""
        return comparison, [*said, self._verdict(comparison.outcome, record.witnesses, comparison, reason)]

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


def _last_forms(answers: Sequence[str]) -> tuple[str, ...]:
    """Return how a screen may spell the end of answers: their last line, with those before it where it is short."""
    shown = [line.forms for line in source_lines([answers[-1][-MAX_LAST_CHARACTERS:]]) if line.forms] if answers else []
    if not shown:
        return ()
    if len(shown[-1][0]) >= MIN_ENDING:
        return shown[-1]
    ending = ""
    for forms in reversed(shown):
        ending = forms[0] + ending
        if len(ending) >= MIN_ENDING:
            break
    return (ending,)


def _lines_behind(mark: str, form: str, lines: Sequence[str]) -> range | None:
    """Return the last lines that spell a message behind its mark, below a blank or drawn line, to the end of a line.

    None for a short message: any line may have its words. The same words in another place are a quote.
    """
    if not mark or len(form) < MIN_IDENTIFIED or len(lines) > MAX_LINES:
        return None
    for start in reversed(range(len(lines))):
        if not lines[start].lstrip().startswith(mark) or (start and normal(lines[start - 1])):
            continue
        rest, stop = form, start
        while stop < len(lines) and rest:
            spelled = normal(lines[stop].lstrip().removeprefix(mark) if stop == start else lines[stop])
            if not rest.startswith(spelled) or not (spelled or stop > start):
                break
            rest, stop = rest[len(spelled) :], stop + 1
        if not rest:
            return range(start, stop)
    return None


def _is_same(message: str, sent: str) -> bool:
    """Tell whether a record's message is one that was sent: the whole, or with something around it."""
    return bool(sent) and (message == sent or (len(sent) >= MIN_IDENTIFIED and sent in message))
