"""Why each line of a recording was reported or left out, and which bytes painted it.

The replay gives the reasons (delta/reasons.py), a `PaintLog` beside it the bytes. Rows that nothing was decided about
are explained too: they were erased before a turn ended, or no answer ever appeared on their screen.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from streamrelay.delta.inputs import Began, Input, Output, Reseeded, Resized
from streamrelay.delta.printing.echo import squeeze
from streamrelay.delta.profiles import Profile
from streamrelay.delta.reasons import WORDS, Reason, Reasons, Rule
from streamrelay.events import Activity, Event, Gap, Live, Origin, Text, TurnEnded, WitnessCompared
from streamrelay.recordings.alignment import rows_of
from streamrelay.recordings.excerpts import escaped
from streamrelay.recordings.model import Recording
from streamrelay.recordings.paint_log import PaintLog
from streamrelay.recordings.painted_rows import PaintedLine
from streamrelay.recordings.replay import Step, steps
from streamrelay.recordings.timeline import Timeline

LineVerdict = Origin | Literal["activity", "gap", "unsaid"]
Undecided = Literal["erased", "unread"]

_UNDECIDED: dict[Undecided, str] = {
    "erased": "it was on the screen for a while, but not when streamrelay read the turn",
    "unread": "it is still on the screen, and no turn has ended since",
}
_PRINTED: frozenset[Rule] = frozenset({
    "passed", "repainted", "unfinished", "closed", "held", "behind_echo", "echo_at_once", "echo_torn", "echo_late",
    "line_editor", "behind_prompt", "behind_question", "greeting", "first_screen", "begun_before", "prompt",
    "said_already",
})  # fmt: skip


class Painting(msgspec.Struct, frozen=True):
    """Bytes that painted cells of a row: when they were read, and offsets in the pane's output, `stop` exclusive."""

    t: float
    start: int
    stop: int
    bytes: str
    """The bytes, escaped; the middle of many is left out."""


class RowState(msgspec.Struct, frozen=True):
    """What a row read from some time on."""

    t: float
    text: str


class Painted(msgspec.Struct):
    """One row of the screen: what it read over time, what painted its cells as they were last, when it was erased."""

    states: list[RowState]
    paintings: list[Painting]
    gone: float | None = None
    number: int = 0
    """Which of the pane's rows it is, in the order in which they appeared."""


class Explanation(msgspec.Struct, kw_only=True):
    """One line: its verdict, the rule behind it, the rows it was read off, and how its turn ended.

    `t` is when the verdict fell; of a row that nothing was decided about, when it went or was last painted.
    """

    t: float
    pane: str
    turn: int
    verdict: LineVerdict
    text: str
    rule: Rule | Undecided
    why: str
    mode: str = ""
    """The mode in which the program's output was read, and the reason; empty without a decision."""
    message_id: str | None = None
    seq: int | None = None
    """The number of its event in `replay --json`; None if it was not reported."""
    shown_live: bool = False
    """Whether people were shown it, or what its row read before, as provisional text."""
    rows: list[Painted] = []
    turn_ended: TurnEnded | None = None
    witness_compared: WitnessCompared | None = None
    """How the agent's own record of the answer compares with the screen, if there is one."""

    def contains(self, text: str) -> bool:
        """Tell whether the line, or any state of its rows, contains a text; white space does not matter."""
        return self.reads(text) or any(
            squeeze(text) in squeeze(state.text) for row in self.rows for state in row.states
        )

    def reads(self, text: str) -> bool:
        """Tell whether the line itself contains a text; white space does not matter."""
        return squeeze(text) in squeeze(self.text)


class Screens(NamedTuple):
    """What a pane showed: which rows there were, and what the screen was made of over time."""

    log: PaintLog
    timeline: Timeline


class ExplainedRecording(NamedTuple):
    """Every line of a recording, in the order of the decisions, and the screens that showed them."""

    lines: list[Explanation]
    panes: dict[str, Screens]


def explain(recording: Recording, profiles: Sequence[Profile] = ()) -> ExplainedRecording:
    """Explain every line of a recording."""
    panes: dict[str, _Pane] = {}

    def reasons_of(pane: str) -> Reasons:
        panes[pane] = _Pane(pane, PaintLog(recording.columns, recording.lines))
        return panes[pane].reasons

    seq = 0
    for step in steps(recording, profiles, reasons_of):
        for seq, event in enumerate(step.events, seq + 1):  # noqa: B020  # the count goes on from where it stands
            event.seq = seq
        panes[step.pane].take(step)
    explained = [explanation for pane in panes.values() for explanation in pane.finished()]
    return ExplainedRecording(
        sorted(explained, key=lambda explanation: explanation.t),
        {name: Screens(pane.log, pane.timeline) for name, pane in panes.items()},
    )


_Read = tuple[PaintedLine, int | None]
"""A row, and how many of its states there were when it was read; None for all there ever are."""


class _Pane:
    def __init__(self, name: str, log: PaintLog) -> None:
        self.reasons = Reasons()
        self._name = name
        self.log = log
        self.timeline = Timeline(log)
        self._explained: list[tuple[Explanation, list[_Read]]] = []
        self._known: set[PaintedLine] = set()
        self._live: set[str] = set()
        self._turns: list[tuple[float, int]] = [(0.0, 0)]
        self._ended: list[TurnEnded] = []
        self._compared: list[WitnessCompared] = []
        self._printed = 0
        self._mode = ""
        self._numbers: dict[PaintedLine, int] = {}

    def take(self, step: Step) -> None:
        """Follow one step of the replay: record its painting and its decisions."""
        if step.entry is not None:
            self._paint(step.entry)
        for event in step.events:
            self._note(event)
        position = 0
        for reason in self.reasons.taken():
            if reason.rule in _PRINTED:
                self._printed = self._decided(reason, self._printed)
            else:
                position = self._decided(reason, position)
        self._mode = step.stream.mode

    def _paint(self, entry: Input) -> None:
        self.timeline.before(entry.t)
        match entry:
            case Output(t=t, data=data):
                self.log.feed(t, data)
            case Resized(t=t, columns=columns, lines=lines):
                self.log.resize(t, columns, lines)
            case Began(t=t, screen=screen) | Reseeded(t=t, screen=screen):
                self.log.seed(t, screen)
            case _:
                return
        self.timeline.painted(entry.t)

    def finished(self) -> Iterator[Explanation]:
        """Return all explanations, those of rows included that nothing was decided about."""
        self.timeline.look()
        self._numbers = {line: number for number, line in enumerate(self.log.lines)}
        for line in self.log.lines:
            if line not in self._known:
                self._undecided(line)
        for explanation, rows in self._explained:
            explanation.rows = [self._painted(line, count) for line, count in rows]
            shown = {explanation.text.strip(), *(s.text.strip() for row in explanation.rows for s in row.states)}
            explanation.shown_live = not self._live.isdisjoint(shown)
            turn = [ended for ended in self._ended if ended.turn == explanation.turn]
            explanation.turn_ended = next((ended for ended in turn if ended.t >= explanation.t), None)
            verdicts = (verdict for verdict in self._compared if verdict.turn == explanation.turn)
            explanation.witness_compared = next((one for one in verdicts if one.t >= explanation.t), None)
            yield explanation

    def _note(self, event: Event) -> None:
        self.timeline.note(event)
        match event:
            case Live(text=text):
                self._live.add(text.strip())
            case TurnEnded():
                self._ended.append(event)
            case WitnessCompared():
                self._compared.append(event)
        if event.turn != self._turns[-1][1]:
            self._turns.append((event.t, event.turn))

    def _decided(self, reason: Reason, position: int) -> int:
        """Explain one decision; return the number of the row after its last row."""
        rows: list[list[_Read]] = []
        for row in reason.rows:
            found: list[PaintedLine] = []
            if row:
                found, position = self.log.find(row, position)
            rows.append([(line, line.states_until(row)) for line in found])
        if not reason.events:
            self._left_out(reason, rows)
        texts = iter(rows_of([event.text for event in reason.events if isinstance(event, Text)], reason.rows))
        for event in reason.events:
            match event:
                case Text(text=text, origin=origin):
                    self._explain(reason, origin, text, [read for y in next(texts) for read in rows[y]], event)
                case Activity(text=text):
                    self._explain(reason, "activity", text, [read for found in rows for read in found], event)
                case Gap():
                    self._explain(reason, "gap", "", [read for found in rows for read in found], event)
        return position

    def _left_out(self, reason: Reason, rows: list[list[_Read]]) -> None:
        """Explain rows that were not reported, each once: old transcript had its verdict earlier."""
        for text, read in zip(reason.rows, rows, strict=True):
            lines = [line for line, _ in read]
            if text.strip() and not (lines and self._known.issuperset(lines)):
                # What was left out may change on: all of it is of interest.
                self._explain(reason, "unsaid", text, [(line, None) for line in lines])

    def _explain(
        self, reason: Reason, verdict: LineVerdict, text: str, rows: list[_Read], event: Event | None = None
    ) -> None:
        self._known.update(line for line, _ in rows)
        explanation = Explanation(
            t=reason.t,
            pane=self._name,
            turn=reason.turn,
            verdict=verdict,
            text=text,
            rule=reason.rule,
            why=WORDS[reason.rule],
            mode=self._mode,
            message_id=reason.message_id,
            seq=event.seq if event is not None else None,
        )
        self._explained.append((explanation, rows))

    def _undecided(self, line: PaintedLine) -> None:
        rule: Undecided = "unread" if line.gone is None else "erased"
        t = line.states[-1].t if line.gone is None else line.gone
        turn = next(turn for began, turn in reversed(self._turns) if began <= t)
        explanation = Explanation(
            t=t, pane=self._name, turn=turn, verdict="unsaid", text=line.text, rule=rule, why=_UNDECIDED[rule]
        )
        self._explained.append((explanation, [(line, None)]))

    def _painted(self, line: PaintedLine, count: int | None) -> Painted:
        states = line.states[:count]
        log, output = self.log, memoryview(self.log.output)
        spans = states[-1].spans if states else ()
        paintings = [Painting(log.time_of(start), start, stop, escaped(output[start:stop])) for start, stop in spans]
        return Painted(
            [RowState(state.t, state.text) for state in states], paintings, line.gone, self._numbers.get(line, 0)
        )
