"""One record of an answer beside the lines that the screen showed: what both have, and what is said of it. Pure."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.reasons import Rule
from streamrelay.delta.transcript.answers import Kind, Passage
from streamrelay.delta.transcript.echoes import in_common
from streamrelay.delta.witness.alignment import SHORT, Alignment
from streamrelay.delta.witness.source import SourceLine, normal
from streamrelay.events import WitnessName, WitnessOutcome

MIN_IDENTIFIED: Final = 12
"""Characters that the screen and the record must share before the record may fill a gap of an unknown message."""
MIN_SHARED: Final = 0.5
"""Part of the screen's characters that the record must spell to be a record of this answer."""
MAX_BESIDE: Final = 240
"""Characters that may stand beside a whole record on the screen, however short that is: a footer and a hint."""
_SCREEN: Final[tuple[WitnessName, ...]] = ("screen",)


_KINDS: Final[dict[Rule, Kind]] = {
    "not_in_record": "activity", "leftover": "unsaid", "echo_again": "unsaid", "echo_lost": "injected",
}  # fmt: skip
_NEAR: Final = 20
MAX_REPEATED: Final = 2_000
MAX_ROWS: Final = 12
"""Lines in a row that are tried together as a piece of one source line."""
MAX_COMPARED: Final = 100_000
"""Pairs of lines that are compared in one place where the screen has a gap."""


class AskedMessage(NamedTuple):
    """A message that was sent to the agent."""

    message_id: str
    text: str
    form: str
    """Its normal form."""


class _Said(NamedTuple):
    """One line that is said in place of what the screen showed."""

    text: str
    witnesses: tuple[WitnessName, ...]
    rule: Rule
    message_id: str | None = None


@dataclass(slots=True)
class Record:
    """The record that one stretch of an answer is compared with."""

    answers: list[str]
    names: list[tuple[WitnessName, ...]]
    """The witnesses of each of the answers."""
    is_whole: bool
    """Whether nothing more belongs to the answer."""
    is_matched: bool
    """Whether it is known to answer the message that was sent."""
    lost: dict[int, AskedMessage] = field(default_factory=dict)
    """Messages that the screen does not show, each with the number of the first of the answers to it."""

    @property
    def witnesses(self) -> tuple[WitnessName, ...]:
        """All witnesses of the answers."""
        return tuple(dict.fromkeys(name for names in self.names for name in names))


class Comparison:
    """One record beside the lines of one screen."""

    def __init__(
        self,
        record: Record,
        source: Sequence[SourceLine],
        lines: Sequence[str],
        alignment: Alignment,
        *,
        has_gap: bool,
        is_cut_off: bool = False,
        messages: Sequence[AskedMessage] = (),
    ) -> None:
        """Compare; rows that spell a part of one of the `messages` are what is left of its echo.

        Of an answer that `is_cut_off` the screen could not show the end.
        """
        self.alignment = alignment
        self._record, self._source, self._lines = record, source, lines
        self._has_gap = has_gap
        misses = has_gap or is_cut_off
        is_torn = bool(record.lost) or self.count("painted_over") > 0
        self._echoes = self._rests_of(messages) if is_torn else frozenset[int]()
        fills, pieces = self._look_into_gaps() if misses else (set[int](), set[int]())
        shared = alignment.shown_characters + self._characters(pieces, at_least=MIN_IDENTIFIED)
        whole = alignment.screen_characters - self._characters(self._echoes)
        # A hook may tell only the end of what the screen shows.
        if record.names[-1] == ("hook",) and not record.is_whole:
            whole = min(whole, alignment.source_characters)
        self.is_trusted = shared >= MIN_SHARED * whole if whole else has_gap and record.is_matched
        if record.is_whole and record.is_matched and not self.count("absent"):
            beside = alignment.screen_characters - shared
            self.is_trusted = self.is_trusted or (shared >= MIN_IDENTIFIED and beside <= MAX_BESIDE)
            self.is_trusted = self.is_trusted or self._was_painted(messages)
        looks = self.is_trusted and misses and (record.is_matched or shared >= MIN_IDENTIFIED)
        self._fills, self._pieces = (fills, pieces) if looks else (set[int](), set[int]())
        self._repeats = self._repeated() if record.is_whole and record.is_matched else frozenset[int]()
        self.extra = len(alignment.extra - self._pieces - self._repeats)
        self.filled = len(self._fills)
        self.absent = self.count("absent") - self.filled

    def _was_painted(self, messages: Sequence[AskedMessage]) -> bool:
        """Tell whether all of the record stood on the screen, and nothing that stands there contradicts it."""
        if not self.count("painted_over") or self.alignment.extra != self._echoes:
            return False
        said = [form for line in self._source for form in line.forms[:1]]
        # What stands in a message may have been its echo.
        own = [form for form in said if not any(form in message.form for message in messages)]
        return sum(map(len, own)) >= MIN_IDENTIFIED

    def _rests_of(self, messages: Sequence[AskedMessage]) -> frozenset[int]:
        """Return the screen lines besides the record that spell a part of a message: what is left of its echo."""
        forms = {row: normal(self._lines[row]) for row in self.alignment.extra}
        return frozenset(row for row, form in forms.items() if any(form in message.form for message in messages))

    def _characters(self, rows: Set[int], *, at_least: int = 0) -> int:
        """Return how many characters screen lines have together; those of fewer than `at_least` do not count."""
        sizes = (len(normal(self._lines[row])) for row in rows)
        return sum(size for size in sizes if size >= at_least)

    def count(self, state: str) -> int:
        """Return how many source lines fared so."""
        return sum(one == state for one in self.alignment.states)

    @property
    def _demotes(self) -> bool:
        """Whether the record is known to hold the whole answer: what else the screen shows is no part of it."""
        return self.is_complete and self._record.is_matched

    @property
    def is_complete(self) -> bool:
        """Whether the whole record is believed."""
        return self.is_trusted and self._record.is_whole and not self.absent

    @property
    def outcome(self) -> WitnessOutcome:
        """Return the verdict."""
        if not self.is_trusted or self.absent:
            return "differs"
        if self.alignment.is_whole and not self._has_gap:
            return "agrees"
        return "repaired" if not self.extra or self._demotes else "differs"

    def _look_into_gaps(self) -> tuple[set[int], set[int]]:
        """Return the source lines that the screen could not show, and the pieces of them that it did.

        A line that stands on the screen in their place, and is no piece of them, contradicts the record.
        """
        alignment = self.alignment
        fills: set[int] = set()
        pieces: set[int] = set()
        bounds = [
            (number, alignment.places[number], alignment.ends[number] + 1)
            for number, state in enumerate(alignment.states)
            if state == "shown"
        ]
        known = {form for line in self._source for form in line.forms[:1]}
        if not self._has_gap:
            # It is cut off behind the last line.
            previous, top = (bounds[-1][0], bounds[-1][2]) if bounds else (-1, 0)
            bounds = []
        else:
            previous, top = -1, 0
        for number, place, end in [*bounds, (len(self._source), len(self._lines), 0)]:
            absent = [between for between in range(previous + 1, number) if alignment.states[between] == "absent"]
            strange = [row for row in range(top, place) if row in alignment.extra]
            # A part of the next lines may have been painted before them, too.
            near = range(previous + 1, min(number + _NEAR, len(self._source)))
            forms = [form for between in near for form in self._source[between].forms]
            if len(strange) * len(forms) <= MAX_COMPARED:
                found = self._pieces_among(strange, forms, known)
                pieces |= found
                contradicted = [self._contradicted(row, absent) for row in strange if row not in found]
                fills |= set(absent).difference(*contradicted)
            previous, top = number, end
        return fills, pieces

    def _repeated(self) -> frozenset[int]:
        """Return the lines of the screen that repeat the one above them, of which the source has only one there."""
        repeated: set[int] = set()
        forms = [normal(line) for line in self._lines]
        last = ""
        for row, form in enumerate(forms):
            if row in self.alignment.extra and form == last and len(form) >= MIN_IDENTIFIED:
                repeated.add(row)
            last = form or last
        return frozenset(repeated)

    def _pieces_among(self, strange: Sequence[int], forms: Sequence[str], known: Set[str]) -> set[int]:
        """Return the lines that are pieces of source lines: each for itself, or some in a row together.

        The rows at the top of a screen are the rest of a line whose beginning was never seen, so it is not known that
        they are one line.
        """
        found = {row for row in strange if _is_piece(normal(self._lines[row]), forms, known)}
        for first in range(len(strange)):
            together = normal(self._lines[strange[first]])
            for last in range(first + 1, min(first + MAX_ROWS, len(strange))):
                if strange[last] != strange[last - 1] + 1:
                    break
                together += normal(self._lines[strange[last]])
                if _is_piece(together, forms, known):
                    found.update(strange[first : last + 1])
        return found

    def _contradicted(self, row: int, absent: Sequence[int]) -> Sequence[int]:
        """Return which absent source lines a line of the screen stands for in other words: one, or any of them."""
        line = normal(self._lines[row])
        enough = max(MIN_IDENTIFIED, len(line) // 4)
        alike = [number for number in absent if in_common(line, self._source[number].forms[0]) >= enough]
        return alike[:1] or absent

    def _is_used(self) -> list[bool]:
        """Tell for each source line whether it is said: a neutral one where both its neighbours are."""
        states = self.alignment.states
        said = {"shown", "aside", "painted_over"}
        used = [state in said or number in self._fills for number, state in enumerate(states)]
        before, after = [True] * len(states), [True] * len(states)
        last = True
        for number, state in enumerate(states):
            last = last if state == "neutral" else used[number]
            before[number] = last
        last = True
        for number in reversed(range(len(states))):
            last = last if states[number] == "neutral" else used[number]
            after[number] = last
        return [
            before[number] and after[number] if state == "neutral" else used[number]
            for number, state in enumerate(states)
        ]

    def _slots(self) -> tuple[dict[int, list[_Said]], list[_Said]]:
        """Return what stands in place of each screen line, and what could not be given a place on the screen."""
        slots: dict[int, list[_Said]] = {}
        leading: list[_Said] = []
        current: list[_Said] | None = None
        message = -1
        lost = dict(self._record.lost)
        for number, (line, used) in enumerate(zip(self._source, self._is_used(), strict=True)):
            if not used:
                continue
            said = [self._said(number)]
            if line.message in lost:
                # The answers before it are over: they end where the screen goes on, or with what it shows of them.
                sent = lost.pop(line.message)
                echo = [
                    _Said(text, self._record.names[line.message], "echo_lost", sent.message_id)
                    for text in sent.text.split("\n")
                ]
                said = [*echo, *said]
            if self.alignment.states[number] == "shown":
                current = slots.setdefault(self.alignment.places[number], [])
                message = line.message
                current += [*leading, *said]
                leading = []
            elif current is None or line.message != message:
                leading += said
            else:
                current += said
        return slots, leading

    def _said(self, number: int) -> _Said:
        """Return how a source line is said."""
        line = self._source[number]
        names = self._record.names[line.message]
        if number in self._fills:
            return _Said(line.text, names, "filled")
        is_over = self.alignment.states[number] == "painted_over"
        return _Said(line.text, (*_SCREEN, *names), "painted_over" if is_over else "witnessed")

    def merged(self, part: Sequence[Passage]) -> list[Passage]:
        """Return the passages with the agent's source in place of the lines that the screen showed of it."""
        if not self.is_trusted:
            return list(part)
        slots, rest = self._slots()
        said: list[Passage] = []
        is_closed = self._has_gap and not self.absent and self._record.is_whole
        last = max((number for number, passage in enumerate(part) if passage.kind in {"text", "gap"}), default=-1)
        first = 0
        for number, passage in enumerate(part):
            if passage.kind == "gap" and is_closed:
                said.append(passage._replace(kind="unsaid", rule="filled"))
            elif passage.kind == "text":
                said += self._merged_text(passage, first, slots)
                first += len(passage.lines)
            else:
                said.append(passage)
            if number == last and rest:
                said += _grouped(rest, ())
        if last < 0:
            said += _grouped(rest, ())
        return said

    def _merged_text(self, passage: Passage, first: int, slots: dict[int, list[_Said]]) -> list[Passage]:
        lines: list[_Said] = []
        rule: Rule = "not_in_record" if self._demotes else "screen_only"
        for number, line in enumerate(passage.lines, first):
            if number in slots:
                lines += slots[number]
            elif number in self._repeats or (number in self._pieces and (self._fills or self.count("painted_over"))):
                lines.append(_Said(line, _SCREEN, "leftover"))
            elif number in self._echoes and self._demotes:
                lines.append(_Said(line, _SCREEN, "echo_again"))
            elif number in self.alignment.extra:
                lines.append(_Said(line, _SCREEN, rule))
        return _grouped(lines, passage.rows)

    def verified(self, part: Sequence[Passage]) -> list[Passage]:
        """Return the passages with the screen's own lines, each with its witnesses."""
        both = (*_SCREEN, *self._record.witnesses) if self.is_trusted else _SCREEN
        said: list[Passage] = []
        first = 0
        for passage in part:
            if passage.kind != "text":
                said.append(passage)
                continue
            lines = [
                _Said(line, _SCREEN if number in self.alignment.extra else both, passage.rule)
                for number, line in enumerate(passage.lines, first)
            ]
            first += len(passage.lines)
            said += _grouped(lines, passage.rows)
        return said


def _grouped(lines: Sequence[_Said], rows: Sequence[PaintedRow]) -> list[Passage]:
    """Return passages of consecutive lines of one kind."""
    passages: list[Passage] = []
    for text, names, rule, message_id in lines:
        last = passages[-1] if passages else None
        if last is not None and (last.witnesses, last.rule, last.message_id) == (names, rule, message_id):
            last.lines.append(text)
        else:
            kind: Kind = _KINDS.get(rule, "text")
            shown = rows if last is None else ()
            passages.append(Passage(kind, [text], message_id, rule=rule, rows=shown, witnesses=names))
    return passages


def _is_piece(line: str, forms: Sequence[str], known: Set[str]) -> bool:
    """Tell whether a screen line is a piece of a source line: its beginning, its end, or a line painted twice.

    A link that was painted while it was being written stands there twice: `https://a (https://a)`.
    """
    if line in known:
        return True
    return len(line) >= SHORT and any(form.endswith(line) or _begins(line, form) for form in forms)


def _begins(line: str, form: str) -> bool:
    """Tell whether a line is the beginning of a text, once what it repeats of itself is left out."""
    shared = in_common(line, form)
    head, rest = line[:shared], line[shared:]
    repeats = range(len(rest), -1, -1) if len(rest) <= MAX_REPEATED else ()
    return any(head.endswith(rest[:count]) and form.startswith(rest[count:], shared) for count in repeats)
