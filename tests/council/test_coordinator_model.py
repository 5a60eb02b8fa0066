"""The coordinator against a model of its own: one list of who is to speak, kept without rounds, phases or a machine.

The model decides after each input what the coordinator must do: which messages it takes in, who speaks, what it asks.
`/bye` comes at any moment, and so does a kill; the session goes on with a coordinator made from what was saved.
"""

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from streamrelay.council import coordinator
from streamrelay.council.coordinator import Coordinator, Effect
from streamrelay.council.members import Markers, Member
from tests.sampling import examples

NAMES = ("Ada", "Bob", "Cy")
FALLBACKS = {"Ada": "gpt-mini", "Bob": "gpt-mini", "Cy": None}
MEMBERS = [Member(name=name, vendor="openai", model="gpt", fallback=FALLBACKS[name]) for name in NAMES]
MARKERS = Markers("Bob", "Ada")
ORDER = ("Bob", "Cy", "Ada")

RARELY = st.integers(0, 4).map(lambda drawn: drawn == 4)
"""Whether a rule that cuts a session short does so this time."""
Due = tuple[object, ...]
"""One thing that must happen, as both sides write it."""


@dataclass
class Lasting:
    """What the model keeps over `/bye`."""

    said: list[str] = field(default_factory=list)
    taken: int = 0
    """How many of the messages are part of the conversation."""
    rounds: int = 0
    disabled: set[str] = field(default_factory=set)
    on_fallback: set[str] = field(default_factory=set)


@dataclass
class Prompt:
    member: str
    since: float
    is_nudged: bool = False


class Model:
    """What is due, by the promises of docs/council.md."""

    def __init__(self, lasting: Lasting) -> None:
        self.kept = lasting
        self.due: list[Due] = []
        self.now = 0.0
        self.speaker: str | None = None
        self.plan: list[tuple[str, bool]] = []
        """Who is to speak in this round, and whether for the second time."""
        self.is_second = False
        self.kind = ""
        self.wanted: list[tuple[str, tuple[str, ...]]] = []
        """Rounds asked for; without members: of all that take part then."""
        self.is_unanswered = False
        self.prompts: list[Prompt] = []
        self.returning: set[str] = set()
        self.is_halted = False

    @property
    def present(self) -> list[str]:
        asked = {prompt.member for prompt in self.prompts}
        return [name for name in ORDER if name not in self.kept.disabled | asked]

    def advance(self) -> None:
        if self.speaker is not None or self.is_halted:
            return
        if news := self.kept.said[self.kept.taken :]:
            self.due.append(("take", *news))
            self.kept.taken += len(news)
            self.is_unanswered = True
        while self.speaker is None:
            while self.plan and self.plan[0][0] not in self.present:
                self.plan.pop(0)
            if self.plan:
                self.speaker, self.is_second = self.plan.pop(0)
                if self.kind in {"open", "blind"}:
                    self.is_unanswered = False
                fallback = self.speaker in self.kept.on_fallback
                self.due.append(("speak", self.speaker, self.kind, self.kept.rounds, fallback))
                return
            if self.kind:
                self.due.append(("round over", self.kept.rounds, self.kind))
                self.kind = ""
            if self.wanted:
                self.kind, members = self.wanted.pop(0)
            elif self.is_unanswered:
                self.kind, members, self.is_unanswered = "open", (), False
            else:
                return
            self.kept.rounds += 1
            self.plan = [(name, self.kind == "again") for name in members or self.present]

    def end_turn(self, *, fails: bool) -> None:
        name, self.speaker = self.speaker, None
        assert name is not None
        if not fails:
            if name in self.returning:
                self.due.append(("rejoined", name))
            self.returning.discard(name)
        elif self.plan and not self.is_second:
            self.due.append(("skip", name, True))
            self.plan.append((name, True))
        else:
            self.due.append(("skip", name, False))
            self.prompts.append(Prompt(name, 0.0))
            if len(self.prompts) == 1:
                self.ask()
        self.advance()

    def ask(self) -> None:
        """Ask the first question that stands, if one does; its time begins now."""
        if self.prompts:
            name = self.prompts[0].member
            self.prompts[0] = Prompt(name, self.now)
            self.due.append(("ask", name, None if name in self.kept.on_fallback else FALLBACKS[name]))

    def settle(self, how: str) -> str:
        name = self.prompts.pop(0).member
        self.due.append(("settle", name, how))
        if how in {"no", "lapsed"}:
            self.kept.disabled.add(name)
            self.returning.discard(name)
            self.due.append(("disabled", name))
        self.ask()
        return name

    def bring_back(self, name: str) -> None:
        self.kept.disabled.discard(name)
        self.returning.add(name)
        self.wanted.append(("again", (name,)))
        self.advance()

    def answer(self, word: str) -> None:
        if self.is_halted:
            self.is_halted = False
            if word == "no":
                self.plan, self.wanted, self.is_unanswered = [], [], False
            self.advance()
        elif self.prompts:
            name = self.settle(word)
            if word == "yes":
                if FALLBACKS[name]:
                    self.kept.on_fallback.add(name)
                self.bring_back(name)
        else:
            self.due.append(("refuse",))

    def retry(self, name: str) -> None:
        at = next((at for at, prompt in enumerate(self.prompts) if prompt.member == name), None)
        if at is None and name not in self.kept.disabled:
            self.due.append(("refuse",))
            return
        if at == 0:
            self.settle("superseded")
        elif at is not None:
            del self.prompts[at]
        self.bring_back(name)

    def pass_time(self) -> None:
        if self.prompts and self.now >= self.prompts[0].since + 30 and not self.prompts[0].is_nudged:
            self.prompts[0].is_nudged = True
            self.due.append(("nudge", self.prompts[0].member))
        if self.prompts and self.now >= self.prompts[0].since + 60:
            self.settle("lapsed")

    def bye(self) -> None:
        if self.speaker is not None:
            self.due.append(("cancel",))
        if news := self.kept.said[self.kept.taken :]:
            self.due.append(("take", *news))
            self.kept.taken += len(news)
        if self.prompts:
            self.due.append(("settle", self.prompts[0].member, "superseded"))
        self.due.append(("end",))


def written(effect: Effect) -> Due | None:
    """Return an effect as the model writes it; None for what is only shown."""
    match effect:
        case coordinator.Inject(ids):
            return ("take", *ids)
        case coordinator.Speak(_, member, round_, kind, fallback):
            return ("speak", member, kind, round_, fallback)
        case coordinator.RoundEnded(round_, kind):
            return ("round over", round_, kind)
        case coordinator.Skip(member, _, again):
            return ("skip", member, again)
        case coordinator.Ask(member, fallback):
            return ("ask", member, fallback)
        case coordinator.Settle(member, how):
            return ("settle", member, how)
        case coordinator.Nudge(member):
            return ("nudge", member)
        case coordinator.Disabled(member):
            return ("disabled", member)
        case coordinator.Rejoined(member):
            return ("rejoined", member)
        case coordinator.Refuse():
            return ("refuse",)
        case coordinator.Cancel():
            return ("cancel",)
        case coordinator.End():
            return ("end",)
        case _:
            return None


class Sessions(RuleBasedStateMachine):
    """Sessions of one store, one resumed after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.model = Model(Lasting())
        self.machine = Coordinator(MEMBERS, MARKERS, ["Plan"])
        self.turn = 0
        """The newest turn: a turn names an answer in the store, and no number may come twice."""
        self.given: Due | None = None
        """The newest turn, as the model writes it."""
        self.open_prompt: str | None = None

    def agree(self, told: coordinator.Input) -> None:
        """Hand the coordinator an input that the model has had; both must want the same."""
        effects = self.machine.handle(told, self.now)
        assert [due for each in effects if (due := written(each)) is not None] == self.model.due
        self.model.due = []
        for effect in effects:
            match effect:
                case coordinator.Speak(turn):
                    assert turn > self.turn or told == coordinator.Resume(True)
                    self.turn, self.given = turn, written(effect)
                case coordinator.Ask(member):
                    assert self.open_prompt is None
                    self.open_prompt = member
                case coordinator.Settle(member):
                    assert self.open_prompt == member
                    self.open_prompt = None
        assert self.machine.speaker == self.model.speaker
        assert self.machine.queued == len(self.model.kept.said) - self.model.kept.taken
        assert self.machine.disabled == self.model.kept.disabled
        assert (self.machine.state == "ai_generating") == (self.model.speaker is not None)
        prompt = self.model.prompts[0] if self.model.prompts else None
        assert self.open_prompt == (prompt.member if prompt else None)
        assert self.machine.deadline() == (prompt.since + (60 if prompt.is_nudged else 30) if prompt else None)

    @rule(blind=st.booleans())
    def say(self, blind: bool) -> None:
        message = str(len(self.model.kept.said))
        self.model.kept.said.append(message)
        if blind:
            self.model.wanted.append(("blind", ()))
        self.model.advance()
        self.agree(coordinator.Say(message, blind))

    @precondition(lambda self: self.model.speaker is not None)
    @rule(ends=st.lists(st.booleans(), min_size=1, max_size=4))
    def end_turns(self, ends: list[bool]) -> None:
        for fails in ends:
            if self.model.speaker is not None:
                turn = self.turn
                self.model.end_turn(fails=fails)
                self.agree(coordinator.Failed(turn, "ai_cut_off") if fails else coordinator.Finished(turn))

    @precondition(lambda self: self.model.speaker is not None)
    @rule()
    def fail(self) -> None:
        self.end_turns([True])

    @rule()
    def end_a_turn_that_was_over(self) -> None:
        self.agree(coordinator.Finished(self.turn + 1))

    @rule(word=st.sampled_from(["yes", "no"]))
    def answer(self, word: str) -> None:
        self.model.answer(word)
        self.agree(coordinator.Yes() if word == "yes" else coordinator.No())

    @rule(name=st.sampled_from(NAMES))
    def retry(self, name: str) -> None:
        self.model.retry(name)
        self.agree(coordinator.Retry(name))

    @rule()
    def ask_for_dissent(self) -> None:
        self.model.wanted.append(("dissent", ()))
        self.model.advance()
        self.agree(coordinator.StartRound("dissent"))

    @rule(name=st.sampled_from(NAMES))
    def ask_for_a_chair(self, name: str) -> None:
        if name in self.model.present:
            self.model.wanted.append(("chair", (name,)))
            self.model.advance()
        else:
            self.model.due.append(("refuse",))
        self.agree(coordinator.StartRound("chair", name))

    @rule(is_due=RARELY)
    def halt(self, is_due: bool) -> None:
        if not is_due:
            return
        self.model.is_halted = True
        self.agree(coordinator.Halt("too dear"))

    @rule(seconds=st.sampled_from([1.0, 29.0, 30.0, 61.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.model.now = self.now
        self.model.pass_time()
        self.agree(coordinator.Pass())

    @rule(is_due=RARELY)
    def leave_and_resume(self, is_due: bool) -> None:
        if not is_due:
            return
        self.model.bye()
        effects = self.machine.handle(coordinator.Bye(), self.now)
        assert [due for each in effects if (due := written(each)) is not None] == self.model.due
        assert self.machine.is_over
        assert self.model.kept.taken == len(self.model.kept.said)
        assert self.machine.handle(coordinator.Finished(self.turn), self.now) == []
        self.model = Model(self.model.kept)
        self.model.now, self.open_prompt = self.now, None
        self.machine = Coordinator(MEMBERS, MARKERS, ["Plan"], self.machine.saved)

    @rule(is_due=RARELY, again=st.booleans())
    def kill_and_resume(self, is_due: bool, again: bool) -> None:
        if not is_due:
            return
        model = self.model
        model.returning, self.open_prompt = set(), None
        model.ask()
        queued = model.kept.said[model.kept.taken :]
        self.machine = Coordinator(MEMBERS, MARKERS, ["Plan"], self.machine.saved, queued)
        if model.speaker is not None and again:
            assert self.given is not None
            model.due.append(self.given)
        elif model.speaker is not None:
            model.end_turn(fails=False)
        self.agree(coordinator.Resume(again))

    def teardown(self) -> None:
        self.leave_and_resume(True)


@pytest.mark.requirement("COU-03", "COU-05", "COU-07", "COU-11")
def test_the_coordinator_does_what_the_model_says() -> None:
    """One speaker at most; no message lost or taken in twice; each prompt ends; `/bye` at any moment can be resumed."""
    run_state_machine_as_test(Sessions, settings=settings(max_examples=examples(200), stateful_step_count=40))


@pytest.mark.requirement("COU-03", "COU-05", "COU-07", "COU-11")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
def test_the_coordinator_does_what_the_model_says_for_thousands_of_inputs(seed: int) -> None:
    """The same by chance alone: it is not shrunk, but goes a hundred times as far."""
    chosen, sessions = random.Random(seed), Sessions()
    for _ in range(10_000):
        match chosen.randrange(20):
            case 0 | 1 | 2:
                sessions.say(chosen.random() < 0.3)
            case 3 | 4 | 5 | 6 | 7 | 8 if sessions.model.speaker is not None:
                sessions.end_turns([chosen.random() < 0.3])
            case 9 | 10:
                sessions.answer(chosen.choice(["yes", "no"]))
            case 11:
                sessions.retry(chosen.choice(NAMES))
            case 12:
                sessions.ask_for_dissent()
            case 13:
                sessions.ask_for_a_chair(chosen.choice(NAMES))
            case 14:
                sessions.pass_time(chosen.choice([1.0, 29.0, 30.0, 61.0]))
            case 15:
                sessions.end_a_turn_that_was_over()
            case 16:
                sessions.halt(chosen.random() < 0.2)
            case 17:
                sessions.leave_and_resume(chosen.random() < 0.2)
    sessions.leave_and_resume(True)
