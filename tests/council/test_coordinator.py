"""Who speaks next: each transition. Random sessions are in test_coordinator_model.py."""

from collections import Counter
from collections.abc import Sequence

import pytest

from streamrelay.council import coordinator
from streamrelay.council.coordinator import Coordinator, Effect, Speak
from streamrelay.council.members import Markers, Member, in_order, next_markers

pytestmark = pytest.mark.requirement("COU-03", "COU-05", "COU-07")

NAMES = ["Ada", "Bob", "Cy"]
MEMBERS = [Member(name=name, vendor="openai", model="gpt", fallback="gpt-mini") for name in NAMES]


class Talk:
    """A coordinator, with what came of the last input."""

    def __init__(self, members: Sequence[Member] = MEMBERS, drafter: str = "Ada") -> None:
        names = [member.name for member in members]
        markers = Markers(drafter, names[names.index(drafter) - 1])
        self.machine = Coordinator(members, markers, ["Plan", "Critique"])
        self.now = 0.0
        self.effects: list[Effect] = []

    def tell(self, *told: coordinator.Input) -> list[Effect]:
        self.effects = [effect for each in told for effect in self.machine.handle(each, self.now)]
        return self.effects

    def spoken(self) -> list[str]:
        """Let whoever has the turn finish, until nobody has it; return who had it."""
        had = []
        while self.machine.speaker is not None:
            had.append(self.machine.speaker)
            self.finish()
        return had

    @property
    def turn(self) -> int:
        assert self.machine._turn is not None
        return self.machine._turn.turn

    def finish(self) -> list[Effect]:
        return self.tell(coordinator.Finished(self.turn))

    def fail(self, code: str = "ai_unavailable") -> list[Effect]:
        return self.tell(coordinator.Failed(self.turn, code))

    def passes(self, seconds: float) -> list[Effect]:
        self.now += seconds
        return self.tell(coordinator.Pass())


@pytest.mark.parametrize("drafter", NAMES)
def test_a_message_starts_a_round_from_the_drafter_to_the_writer(drafter: str) -> None:
    talk = Talk(drafter=drafter)
    assert talk.machine.state == "idle"
    talk.tell(coordinator.Say("1"))
    assert talk.effects == [coordinator.Inject(("1",)), Speak(1, drafter, 1, "open")]
    had = talk.spoken()
    assert had[0] == drafter
    assert had[-1] == talk.machine.markers.writer
    assert sorted(had) == NAMES
    assert talk.machine.state == "paused_for_user"
    assert talk.effects[-1] == coordinator.RoundEnded(1, "open")


def test_what_is_said_while_somebody_speaks_is_injected_before_the_next():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    assert talk.tell(coordinator.Say("2"), coordinator.Say("3")) == [coordinator.Queue("2"), coordinator.Queue("3")]
    assert talk.machine.queued == 2
    assert talk.finish() == [coordinator.Inject(("2", "3")), Speak(2, "Bob", 1, "open")]
    assert talk.spoken() == ["Bob", "Cy"]


def test_what_is_said_while_the_last_one_speaks_starts_another_round():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    talk.finish()
    talk.finish()
    talk.tell(coordinator.Say("2"))
    assert talk.finish() == [coordinator.Inject(("2",)), coordinator.RoundEnded(1, "open"), Speak(4, "Ada", 2, "open")]


@pytest.mark.requirement("COU-07")
def test_a_failure_amid_the_round_skips_and_is_tried_again_after_it():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    assert talk.fail() == [coordinator.Skip("Ada", "ai_unavailable", again=True), Speak(2, "Bob", 1, "open")]
    assert talk.spoken() == ["Bob", "Cy", "Ada"]
    assert talk.machine.question is None


@pytest.mark.requirement("COU-07")
def test_a_failure_at_the_end_of_the_round_asks_at_once_and_blocks_nothing():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    talk.finish()
    talk.finish()
    assert talk.fail() == [
        coordinator.Skip("Cy", "ai_unavailable", again=False),
        coordinator.Ask("Cy", "gpt-mini"),
        coordinator.RoundEnded(1, "open"),
    ]
    assert talk.machine.state == "paused_for_user"
    talk.tell(coordinator.Say("2"))
    assert talk.spoken() == ["Ada", "Bob"]
    talk.tell(coordinator.Yes())
    assert talk.effects == [coordinator.Settle("Cy", "yes"), Speak(6, "Cy", 3, "again", fallback=True)]
    assert talk.finish()[0] == coordinator.Rejoined("Cy")
    talk.tell(coordinator.Say("3"))
    assert talk.spoken() == NAMES


@pytest.mark.requirement("COU-07")
def test_a_second_failure_asks_and_a_minute_without_an_answer_disables():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    talk.fail()
    talk.finish()
    talk.finish()
    assert coordinator.Ask("Ada", "gpt-mini") in talk.fail()
    assert talk.machine.deadline() == talk.now + 30
    assert talk.passes(30) == [coordinator.Nudge("Ada")]
    assert talk.passes(29.9) == []
    assert talk.passes(0.1) == [
        coordinator.Settle("Ada", "lapsed"),
        coordinator.Disabled("Ada", "no answer in a minute"),
    ]
    talk.tell(coordinator.Say("2"))
    assert talk.spoken() == ["Bob", "Cy"]
    talk.tell(coordinator.Retry("Ada"))
    assert [effect.fallback for effect in talk.effects if isinstance(effect, Speak)] == [False]
    assert coordinator.Rejoined("Ada") in talk.finish()


def test_no_fallback_ever_speaks_without_a_yes():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    talk.fail()
    talk.finish()
    talk.finish()
    talk.fail()
    talk.tell(coordinator.No())
    assert talk.effects == [coordinator.Settle("Ada", "no"), coordinator.Disabled("Ada", "you said no")]
    talk.tell(coordinator.Retry("Ada"))
    talk.tell(coordinator.Say("2"))
    assert not talk.machine._on_fallback


def test_questions_are_asked_one_after_the_other():
    talk = Talk()
    talk.tell(coordinator.Say("1"))
    for _ in NAMES:
        talk.fail()
    while talk.machine.speaker is not None:
        talk.fail()
    asked = []
    while talk.machine.question is not None:
        asked.append(talk.machine.question.member)
        talk.tell(coordinator.No())
    assert sorted(asked) == NAMES
    assert talk.tell(coordinator.Yes()) == [coordinator.Refuse("nothing is asked")]
    talk.tell(coordinator.Say("2"))
    assert talk.machine.state == "paused_for_user"
    assert talk.machine.speaker is None


def test_blind_dissent_and_chair_rounds_come_after_the_round_that_goes_on():
    talk = Talk()
    talk.tell(coordinator.Say("1"), coordinator.StartRound("dissent"), coordinator.StartRound("chair", "Bob"))
    kinds = []
    while talk.machine.speaker is not None:
        kinds += [(effect.kind, effect.member) for effect in talk.effects if isinstance(effect, Speak)]
        talk.finish()
    assert kinds == [
        *(("open", name) for name in NAMES),
        *(("dissent", name) for name in NAMES),
        ("chair", "Bob"),
    ]
    assert talk.tell(coordinator.StartRound("chair", "Eve")) == [coordinator.Refuse("no member is called Eve")]
    talk.tell(coordinator.Say("2", blind=True))
    assert [effect.kind for effect in talk.effects if isinstance(effect, Speak)] == ["blind"]
    assert talk.spoken() == NAMES
    assert talk.machine.rounds == 4


def test_a_halt_waits_for_the_person():
    talk = Talk()
    talk.tell(coordinator.Say("1"), coordinator.Halt("too dear"))
    talk.finish()
    assert talk.machine.speaker is None
    assert talk.tell(coordinator.Say("2")) == []
    assert talk.tell(coordinator.Yes()) == [coordinator.Inject(("2",)), Speak(2, "Bob", 1, "open")]
    talk.tell(coordinator.Halt("too dear"))
    talk.finish()
    assert talk.tell(coordinator.No()) == [coordinator.RoundEnded(1, "open")]


def test_a_phase_holds_from_the_next_speaker_on():
    talk = Talk()
    assert talk.tell(coordinator.SetPhase("Critique")) == [coordinator.PhaseSet("Critique")]
    assert talk.tell(coordinator.SetPhase("Sleep")) == [coordinator.Refuse("no phase is called Sleep: Plan, Critique")]
    assert talk.machine.phase == "Critique"


def test_a_session_resumes_with_its_phase_and_who_is_disabled():
    talk = Talk()
    talk.tell(coordinator.SetPhase("Critique"), coordinator.Disable("Bob", "away"), coordinator.Say("1"))
    talk.spoken()
    talk.tell(coordinator.Bye())
    assert talk.effects == [coordinator.End()]
    assert talk.tell(coordinator.Say("2")) == [coordinator.Refuse("the session is over")]
    again = Coordinator(MEMBERS, talk.machine.markers, ["Plan", "Critique"], talk.machine.saved)
    assert (again.phase, again.rounds, again.active) == ("Critique", 1, ["Ada", "Cy"])
    assert again.handle(coordinator.Say("2"), 0.0)[-1] == Speak(3, "Ada", 2, "open")


@pytest.mark.requirement("COU-09")
def test_members_speak_by_priority():
    priorities = {"l": 1, "h": 5, "o": 1}
    members = [Member(name=name, vendor="openai", model="gpt", priority=number) for name, number in priorities.items()]
    assert [member.name for member in in_order(members)] == ["h", "l", "o"]


@pytest.mark.requirement("COU-04")
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_markers_are_fair_over_sessions(count: int) -> None:
    names = [f"M{number}" for number in range(count)]
    last, drafted, wrote = None, Counter[str](), Counter[str]()
    for _ in range(10):
        last = next_markers(names, last)
        drafted[last.drafter] += 1
        wrote[last.writer] += 1
    assert max(drafted.values()) - min(drafted[name] for name in names) <= 1
    assert max(wrote.values()) - min(wrote[name] for name in names) <= 1
    assert next_markers(["A", "B"], Markers("Gone", "A")) == Markers("B", "A")
