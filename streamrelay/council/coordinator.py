"""The state machine that decides who speaks next in a council. Pure: inputs and their time (seconds) in, effects out.

    state             input                     next state        effects
    ----------------  ------------------------  ----------------  ---------------------------------------------------
    IDLE, PAUSED      Say                       AI_GENERATING     Inject it, Speak: a round begins
    IDLE, PAUSED      StartRound                AI_GENERATING     Speak: a blind, dissent or chair's round begins
    AI_GENERATING     Say                       AI_GENERATING     Queue: injected before the next speaker
    AI_GENERATING     StartRound                AI_GENERATING     kept until this round ends
    AI_GENERATING     Finished, others follow   AI_GENERATING     Inject what is queued, Speak: the next
    AI_GENERATING     Finished, the last one    PAUSED            RoundEnded; a new round where messages are queued
    AI_GENERATING     Failed, others follow     AI_GENERATING     Skip, Speak: the next; tried again after the round
    AI_GENERATING     Failed, the last one      PAUSED            Ask at once whether its fallback may speak
    AI_GENERATING     Failed, second try        as above          Ask
    any               Yes                       AI_GENERATING     Settle the question, Speak: the member speaks again
    any               No, or 60 s pass          unchanged         Settle: the member is disabled
    any               30 s pass                 unchanged         Nudge
    any               Halt                      PAUSED, after     no member speaks before Yes; No ends the round
                                                this turn
    any               Retry                     AI_GENERATING     the disabled member speaks again, after this round
    any but ENDED     Bye                       ENDED             Cancel, Inject what is queued, End
    as it was saved   Resume                    as saved          Speak: the open turn again; or as Finished does

A question to the person never blocks: rounds continue without the member that it is about. At most one member speaks
at a time, each message is injected exactly once, and each question is settled exactly once. A member gets another model
only if the person says yes.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from streamrelay.council.members import Markers, Member

NUDGE_AFTER = 30.0
LAPSE_AFTER = 60.0

State = Literal["idle", "ai_generating", "paused_for_user", "ended"]
RoundKind = Literal["open", "blind", "dissent", "chair", "again"]
"""`again` is for members that try again: after a failure, or because the person asked for it."""


# What comes in


@dataclass(frozen=True, slots=True)
class Say:
    """A person's message; `blind` starts a round in which members do not see the other answers."""

    message_id: str
    blind: bool = False


@dataclass(frozen=True, slots=True)
class StartRound:
    """The person starts a round of another kind than an open one; with `member`, only that member speaks."""

    kind: RoundKind
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The speaking member has finished its answer."""

    turn: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The speaking member failed, before its answer or during it; `code` is the error's."""

    turn: int
    code: str


@dataclass(frozen=True, slots=True)
class SetPhase:
    """The person chooses another phase, whose prompt applies from the next speaker on."""

    phase: str


@dataclass(frozen=True, slots=True)
class Yes:
    """The person answers the open question with yes."""


@dataclass(frozen=True, slots=True)
class No:
    """The person answers the open question with no."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The person enables a disabled member again."""

    member: str


@dataclass(frozen=True, slots=True)
class Disable:
    """A member is disabled until `Retry`."""

    member: str
    reason: str


@dataclass(frozen=True, slots=True)
class Halt:
    """No member may speak before the person says yes, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Pass:
    """Time passed."""


@dataclass(frozen=True, slots=True)
class Bye:
    """The session ends; it can be resumed."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A session whose process was killed goes on: with the open turn again, or behind it."""

    again: bool


Input = Say | StartRound | Finished | Failed | SetPhase | Yes | No | Retry | Disable | Halt | Pass | Bye | Resume


# What goes out


@dataclass(frozen=True, slots=True)
class Queue:
    """Show a message as queued, because a member speaks."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Inject:
    """Make these messages part of the conversation."""

    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Speak:
    """Give the turn to a member."""

    turn: int
    member: str
    round: int
    kind: RoundKind
    fallback: bool = False
    """Whether its fallback model speaks, to which the person said yes."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop the speaking member."""

    turn: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A member's turn ended without an answer; `again` if it is tried once more after the round."""

    member: str
    code: str
    again: bool


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person whether a member's fallback, or without one the member itself, may try again."""

    member: str
    fallback: str | None


@dataclass(frozen=True, slots=True)
class Nudge:
    """Remind the person of the open question."""

    member: str


Settlement = Literal["yes", "no", "lapsed", "superseded"]


@dataclass(frozen=True, slots=True)
class Settle:
    """A question is settled."""

    member: str
    how: Settlement


@dataclass(frozen=True, slots=True)
class Disabled:
    """A member was disabled."""

    member: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rejoined:
    """A disabled member has spoken again."""

    member: str


@dataclass(frozen=True, slots=True)
class PhaseSet:
    """The phase has changed."""

    phase: str


@dataclass(frozen=True, slots=True)
class Halted:
    """No member speaks until the person says yes."""

    reason: str


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """All members of the round have spoken or failed; the answers of a blind round can be shown."""

    round: int
    kind: RoundKind


@dataclass(frozen=True, slots=True)
class Refuse:
    """An input is not possible now."""

    reason: str


@dataclass(frozen=True, slots=True)
class End:
    """The session is over."""


Effect = (
    Queue | Inject | Speak | Cancel | Skip | Ask | Nudge | Settle | Disabled | Rejoined | PhaseSet | Halted | RoundEnded
    | Refuse | End
)  # fmt: skip


# The machine


@dataclass(slots=True)
class _Round:
    number: int
    kind: RoundKind
    waiting: deque[str]
    again: list[str] = field(default_factory=list)
    """Members that failed and are tried once more after the others."""
    second: bool = False
    """Whether the members of this round are tried for the second time."""


@dataclass(slots=True)
class _Question:
    member: str
    asked_at: float
    nudged: bool = False


@dataclass(frozen=True, slots=True)
class OpenRound:
    """What is stored of the round that goes on: who still speaks, and the turn that is open."""

    number: int
    kind: RoundKind
    waiting: tuple[str, ...]
    again: tuple[str, ...]
    second: bool
    turn: Speak | None


@dataclass(frozen=True, slots=True)
class Saved:
    """The stored state from which a session resumes."""

    phase: str
    rounds: int
    turns: int
    disabled: tuple[str, ...]
    on_fallback: tuple[str, ...]
    round: OpenRound | None = None
    """None between rounds, and in a session that has ended."""
    later: tuple[StartRound, ...] = ()
    unanswered: bool = False
    halted: str | None = None
    asked: tuple[str, ...] = ()
    """The members about whom a question to the person is open, in order."""


class Coordinator:
    """The turns of one session."""

    def __init__(
        self,
        members: Sequence[Member],
        markers: Markers,
        phases: Sequence[str],
        saved: Saved | None = None,
        queued: Sequence[str] = (),
    ) -> None:
        """Begin with the first drafter, or where `saved` was left; `members` are in speaking order.

        `queued` are the ids of messages that a killed process did not inject. What was left goes on with `Resume`.
        """
        self._members = {member.name: member for member in members}
        self._rotation = deque(self._members)
        self._rotation.rotate(-list(self._members).index(markers.drafter))
        self.markers = markers
        self.phases = tuple(phases)
        saved = saved or Saved(self.phases[0], 0, 0, (), ())
        self.halted = saved.halted
        """Why no member may speak before the person says yes; None if members may."""
        self.state: State = "idle"
        self.phase = saved.phase if saved.phase in self.phases else self.phases[0]
        self.rounds = saved.rounds
        self._turns = saved.turns
        self._disabled = {name for name in saved.disabled if name in self._members}
        self._on_fallback = {name for name in saved.on_fallback if name in self._members}
        self._returning: set[str] = set()
        self._queue = list(queued)
        self._unanswered = saved.unanswered
        """Whether messages were injected after the last speaker of a round, or during a round that is not open."""
        self._round: _Round | None = None
        self._turn: Speak | None = None
        self._later = deque(saved.later)
        self._questions = deque(_Question(name, 0.0) for name in saved.asked if name in self._members)
        if (left := saved.round) is not None:
            self._round = _Round(left.number, left.kind, deque(left.waiting), list(left.again), left.second)
            self._turn = left.turn
            self.state = "ai_generating" if left.turn is not None else "paused_for_user"

    @property
    def saved(self) -> Saved:
        """The state to store, from which the session resumes."""
        round_ = self._round
        return Saved(
            self.phase,
            self.rounds,
            self._turns,
            tuple(sorted(self._disabled)),
            tuple(sorted(self._on_fallback)),
            None
            if round_ is None
            else OpenRound(
                round_.number, round_.kind, tuple(round_.waiting), tuple(round_.again), round_.second, self._turn
            ),
            tuple(self._later),
            self._unanswered,
            self.halted,
            tuple(question.member for question in self._questions),
        )

    @property
    def awaits_resume(self) -> bool:
        """Whether something waits for `Resume`: a turn, messages, a question, or a halt."""
        return bool(self._turn is not None or self._queue or self._questions or self.halted is not None)

    @property
    def open_turn(self) -> Speak | None:
        """The turn that a member has; None if no member speaks."""
        return self._turn

    @property
    def is_over(self) -> bool:
        """Whether the session has ended."""
        return self.state == "ended"

    @property
    def speaker(self) -> str | None:
        """The speaking member; None if no member speaks."""
        return None if self._turn is None else self._turn.member

    @property
    def queued(self) -> int:
        """The number of messages that wait for the end of the turn."""
        return len(self._queue)

    @property
    def disabled(self) -> frozenset[str]:
        """The disabled members."""
        return frozenset(self._disabled)

    @property
    def question(self) -> Ask | None:
        """The open question to the person."""
        return self._ask(self._questions[0].member) if self._questions else None

    @property
    def active(self) -> list[str]:
        """The enabled members, in speaking order."""
        undecided = {question.member for question in self._questions}
        return [name for name in self._rotation if name not in self._disabled and name not in undecided]

    def deadline(self) -> float | None:
        """Return when `Pass` is due; None without an open question."""
        if not self._questions:
            return None
        question = self._questions[0]
        return question.asked_at + (LAPSE_AFTER if question.nudged else NUDGE_AFTER)

    def handle(self, told: Input, now: float) -> list[Effect]:
        """Handle one input and return its effects."""
        if self.state == "ended":
            return [Refuse("the session is over")] if not isinstance(told, Pass | Finished | Failed | Bye) else []
        effects: list[Effect] = []
        match told:
            case Say(message_id, blind):
                self._queue.append(message_id)
                if blind:
                    self._later.append(StartRound("blind"))
                if self._turn is not None:
                    effects.append(Queue(message_id))
                else:
                    self._go_on(effects, now)
            case StartRound(_, member) if member is not None and member not in self._members:
                effects.append(Refuse(f"no member is called {member}"))
            case StartRound(_, member) if member is not None and member not in self.active:
                effects.append(Refuse(f"{member} does not take part: /retry {member} first"))
            case StartRound():
                self._later.append(told)
                self._go_on(effects, now)
            case Finished(turn) if self._turn is not None and turn == self._turn.turn:
                self._finished(self._turn, effects, now)
            case Failed(turn, code) if self._turn is not None and turn == self._turn.turn:
                self._failed(self._turn, code, effects, now)
            case SetPhase(phase) if phase in self.phases:
                self.phase = phase
                effects.append(PhaseSet(phase))
            case SetPhase(phase):
                effects.append(Refuse(f"no phase is called {phase}: {', '.join(self.phases)}"))
            case Halt(reason) if self.halted is None:
                self.halted = reason
                effects.append(Halted(reason))
            case Yes() if self.halted is not None:
                self.halted = None
                self._go_on(effects, now)
            case No() if self.halted is not None:
                self.halted, self._unanswered = None, False
                self._later.clear()
                if self._round is not None:
                    self._round.waiting.clear()
                    self._round.again.clear()
                self._go_on(effects, now)
            case Yes() | No() if not self._questions:
                effects.append(Refuse("nothing is asked"))
            case Yes():
                question = self._questions[0]
                if self._members[question.member].fallback is not None:
                    self._on_fallback.add(question.member)
                self._settle("yes", effects, now)
                self._bring_back(question.member, effects, now)
            case No():
                self._settle("no", effects, now)
            case Retry(member) if member not in self._members:
                effects.append(Refuse(f"no member is called {member}: {', '.join(self._members)}"))
            case Retry(member):
                self._retry(member, effects, now)
            case Disable(member, reason) if member in self._members and member not in self._disabled:
                self._disable(member, reason, effects)
            case Pass():
                self._pass(effects, now)
            case Resume(again):
                self._resume(effects, now, again=again)
            case Bye():
                self._end(effects)
            case _:
                pass
        return effects

    def _resume(self, effects: list[Effect], now: float, *, again: bool) -> None:
        self._ask_next(effects, now)
        if self.halted is not None:
            effects.append(Halted(self.halted))
        if self._turn is None:
            self._go_on(effects, now)
        elif again:
            effects.append(self._turn)
        else:
            self._finished(self._turn, effects, now)

    # Rounds

    def _go_on(self, effects: list[Effect], now: float) -> None:
        """Inject the queued messages and give the turn to the next member, unless a member has it."""
        if self._turn is not None:
            return
        if self.halted is not None:
            self.state = "paused_for_user"
            return
        if self._queue:
            effects.append(Inject(tuple(self._queue)))
            self._queue.clear()
            self._unanswered = True
        while self._turn is None:
            round_ = self._round
            if round_ is None and self._later:
                wanted = self._later.popleft()
                round_ = self._begin(wanted.kind, self.active if wanted.member is None else [wanted.member])
            elif round_ is None and self._unanswered:
                round_ = self._begin("open", self.active)
                self._unanswered = False
            elif round_ is None:
                self.state = "paused_for_user" if self.rounds else "idle"
                return
            self._next_speaker(round_, effects)

    def _begin(self, kind: RoundKind, speakers: Sequence[str]) -> _Round:
        self.rounds += 1
        self._round = _Round(self.rounds, kind, deque(speakers), second=kind == "again")
        return self._round

    def _next_speaker(self, round_: _Round, effects: list[Effect]) -> None:
        """Give the turn to the next member of the round, or end the round."""
        active = set(self.active)
        if not round_.waiting and round_.again:
            round_.waiting, round_.again, round_.second = deque(round_.again), [], True
        while round_.waiting:
            name = round_.waiting.popleft()
            if name in active:
                self._turns += 1
                self._turn = Speak(self._turns, name, round_.number, round_.kind, fallback=name in self._on_fallback)
                self.state = "ai_generating"
                self._unanswered = self._unanswered and round_.kind not in {"open", "blind"}
                effects.append(self._turn)
                return
        if round_.again:
            self._next_speaker(round_, effects)
            return
        self._round = None
        effects.append(RoundEnded(round_.number, round_.kind))

    def _finished(self, turn: Speak, effects: list[Effect], now: float) -> None:
        name, self._turn = turn.member, None
        if name in self._returning:
            self._returning.discard(name)
            effects.append(Rejoined(name))
        self._go_on(effects, now)

    def _failed(self, turn: Speak, code: str, effects: list[Effect], now: float) -> None:
        name, round_, self._turn = turn.member, self._round, None
        others_follow = round_ is not None and bool(round_.waiting or round_.again)
        again = round_ is not None and not round_.second and others_follow
        effects.append(Skip(name, code, again))
        if round_ is not None and again:
            round_.again.append(name)
        else:
            self._questions.append(_Question(name, now))
            if len(self._questions) == 1:
                effects.append(self._ask(name))
        self._go_on(effects, now)

    # Members that fail and come back

    def _ask(self, name: str) -> Ask:
        fallback = self._members[name].fallback
        return Ask(name, None if name in self._on_fallback else fallback)

    def _settle(self, how: Settlement, effects: list[Effect], now: float) -> None:
        """Settle the open question, and ask the next one."""
        question = self._questions.popleft()
        effects.append(Settle(question.member, how))
        if how in {"no", "lapsed"}:
            reason = "no answer in a minute" if how == "lapsed" else "you said no"
            self._disable(question.member, reason, effects)
        self._ask_next(effects, now)

    def _ask_next(self, effects: list[Effect], now: float) -> None:
        if self._questions:
            self._questions[0] = _Question(self._questions[0].member, now)
            effects.append(self._ask(self._questions[0].member))

    def _retry(self, name: str, effects: list[Effect], now: float) -> None:
        asked = next((question for question in self._questions if question.member == name), None)
        if name not in self._disabled and asked is None:
            effects.append(Refuse(f"{name} takes part already"))
            return
        if asked is not None:
            was_shown = asked is self._questions[0]
            self._questions.remove(asked)
            if was_shown:
                effects.append(Settle(name, "superseded"))
                self._ask_next(effects, now)
        self._bring_back(name, effects, now)

    def _bring_back(self, name: str, effects: list[Effect], now: float) -> None:
        self._disabled.discard(name)
        self._returning.add(name)
        self._later.append(StartRound("again", name))
        self._go_on(effects, now)

    def _disable(self, name: str, reason: str, effects: list[Effect]) -> None:
        self._disabled.add(name)
        self._returning.discard(name)
        effects.append(Disabled(name, reason))

    def _pass(self, effects: list[Effect], now: float) -> None:
        while (due := self.deadline()) is not None and now >= due:
            question = self._questions[0]
            if question.nudged:
                self._settle("lapsed", effects, now)
            else:
                question.nudged = True
                effects.append(Nudge(question.member))

    def _end(self, effects: list[Effect]) -> None:
        if self._turn is not None:
            effects.append(Cancel(self._turn.turn))
            self._turn = None
        if self._queue:
            effects.append(Inject(tuple(self._queue)))
            self._queue.clear()
        if self._questions:
            effects.append(Settle(self._questions[0].member, "superseded"))
            self._questions.clear()
        self.state, self._round, self._unanswered, self.halted = "ended", None, False, None
        self._later.clear()
        effects.append(End())
