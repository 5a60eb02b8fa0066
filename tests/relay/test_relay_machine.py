"""The relay's rules, one by one, with a clock that is handed in."""

import pytest

from streamrelay.errors import UsageError
from streamrelay.events import Event, Live, Origin, PaneClosed, RelayLeft, Text, TurnEnded, TurnStarted
from streamrelay.relay.attribution import attributed
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.output_units import BURST_REST, MAX_BURST_LENGTH
from streamrelay.relay.rules import Close, Deliver, Effect, Participant, PublishEvent, Rules

ANN = Participant("$1", "%1", "Ann", 1)
BOB = Participant("$2", "%2", "Bob", 2)
CY = Participant("$3", "%3", "Cy", 7)


@pytest.fixture
def relay() -> RelayMachine:
    return RelayMachine("r", [ANN, BOB, CY])


def text(who: Participant, line: str, origin: Origin = "program") -> Text:
    return Text(text=line, origin=origin, pane=who.pane)


def closed(who: Participant) -> Event:
    return PaneClosed(reason="pane_gone", pane=who.pane)


def deliveries(effects: list[Effect]) -> list[tuple[str, list[str], str]]:
    return [
        (effect.speaker.name, [listener.name for listener in effect.listeners], effect.text)
        for effect in effects
        if isinstance(effect, Deliver)
    ]


@pytest.mark.requirement("REL-03a")
def test_what_a_participant_says_goes_to_all_others_and_not_to_itself(relay: RelayMachine) -> None:
    assert relay.handle(text(BOB, "hello"), 1.0) == []
    assert deliveries(relay.advance(1.0 + BURST_REST)) == [("Bob", ["Ann", "Cy"], "Bob (2):\n\nhello")]


@pytest.mark.requirement("REL-03a")
def test_the_header_says_name_and_number_and_an_empty_line_follows() -> None:
    assert attributed("Ann", 1, ["one", "", "two"]) == "Ann (1):\n\none\n\ntwo"
    assert attributed("Ann", 1, ["", "one", "", ""]) == "Ann (1):\n\none"
    assert attributed("Ann", 1, ["  indented"]) == "Ann (1):\n\n  indented"


@pytest.mark.parametrize("lines", [[], [""], ["", ""], ["   "]])
def test_nothing_is_not_delivered(relay: RelayMachine, lines: list[str]) -> None:
    assert attributed("Ann", 1, lines) is None
    for line in lines:
        relay.handle(text(ANN, line), 1.0)
    assert relay.advance(2.0) == []
    assert relay.deliveries == 0


@pytest.mark.requirement("REL-03c")
def test_a_burst_is_closed_by_quiet_and_has_one_header(relay: RelayMachine) -> None:
    for number in range(5):
        assert relay.handle(text(ANN, f"line {number}"), 1.0 + 0.004 * number) == []
    assert relay.deadline() == pytest.approx(1.016 + BURST_REST)
    assert relay.advance(1.016 + BURST_REST / 2) == []
    (burst,) = deliveries(relay.advance(1.016 + BURST_REST))
    assert burst[2] == "Ann (1):\n\nline 0\nline 1\nline 2\nline 3\nline 4"
    assert relay.deadline() is None


@pytest.mark.requirement("REL-03c")
def test_quiet_is_five_milliseconds() -> None:
    assert pytest.approx(0.005) == BURST_REST


def test_what_comes_after_the_quiet_is_a_burst_of_its_own(relay: RelayMachine) -> None:
    relay.handle(text(ANN, "one"), 1.0)
    first = relay.advance(1.1)
    relay.handle(text(ANN, "two"), 1.2)
    second = relay.advance(1.3)
    assert [d[2] for d in deliveries(first + second)] == ["Ann (1):\n\none", "Ann (1):\n\ntwo"]


def turn_ends(who: Participant) -> Event:
    return TurnEnded(reason="signal", certain=True, pane=who.pane)


@pytest.mark.requirement("REL-03b")
def test_an_agents_turn_goes_out_whole_whatever_pauses_it_makes(relay: RelayMachine) -> None:
    relay.speaks_in_turns(ANN.pane, True)
    effects: list[Effect] = []
    for number in range(5):
        effects += relay.handle(text(ANN, f"line {number}"), 10.0 * number)
        effects += relay.advance(10.0 * number + 9)
    assert effects == []
    assert relay.deadline() is None
    said = "Ann (1):\n\nline 0\nline 1\nline 2\nline 3\nline 4"
    assert deliveries(relay.handle(turn_ends(ANN), 50.0)) == [("Ann", ["Bob", "Cy"], said)]


@pytest.mark.requirement("REL-03b")
def test_two_answers_that_come_at_once_are_two_messages(relay: RelayMachine) -> None:
    events = [text(ANN, "one"), turn_ends(ANN), TurnStarted(pane=ANN.pane), text(ANN, "two"), turn_ends(ANN)]
    effects = [effect for event in events for effect in relay.handle(event, 1.0)]
    assert [said for _, _, said in deliveries(effects)] == ["Ann (1):\n\none", "Ann (1):\n\ntwo"]


def test_a_turn_that_never_ends_is_said_when_the_pane_closes(relay: RelayMachine) -> None:
    relay.speaks_in_turns(ANN.pane, True)
    relay.handle(text(ANN, "last words"), 1.0)
    assert [said for _, _, said in deliveries(relay.handle(closed(ANN), 2.0))] == ["Ann (1):\n\nlast words"]


def test_two_speakers_have_bursts_of_their_own(relay: RelayMachine) -> None:
    relay.handle(text(ANN, "a"), 1.0)
    relay.handle(text(BOB, "b"), 1.001)
    relay.handle(text(ANN, "a2"), 1.004)
    assert deliveries(relay.advance(1.001 + BURST_REST)) == [("Bob", ["Ann", "Cy"], "Bob (2):\n\nb")]
    assert deliveries(relay.advance(2.0)) == [("Ann", ["Bob", "Cy"], "Ann (1):\n\na\na2")]


def test_a_burst_that_never_ends_goes_out_in_parts_and_loses_nothing(relay: RelayMachine) -> None:
    lines = [f"{number:0100d}" for number in range(1000)]
    effects: list[Effect] = []
    for number, line in enumerate(lines):
        effects += relay.handle(text(ANN, line), number * 0.001)
    effects += relay.advance(10.0)
    parts = [part for _, _, part in deliveries(effects)]
    assert len(parts) > 1
    assert all(len(part) < MAX_BURST_LENGTH + 200 for part in parts)
    assert [line for part in parts for line in part.split("\n")[2:]] == lines


@pytest.mark.requirement("REL-04a")
@pytest.mark.parametrize("origin", ["injected", "typed", "unknown"])
def test_only_what_the_program_says_is_relayed(relay: RelayMachine, origin: Origin) -> None:
    relay.handle(text(ANN, "echo", origin), 1.0)
    relay.handle(Live(text="half a li", line=1, pane=ANN.pane), 1.0)
    assert relay.deadline() is None
    assert relay.advance(2.0) == []


def test_strangers_are_not_heard(relay: RelayMachine) -> None:
    relay.handle(Text(text="x", origin="program", pane="%99"), 1.0)
    assert relay.advance(2.0) == []


def test_a_message_knows_when_its_last_line_was_heard_and_has_an_id_of_its_own(relay: RelayMachine) -> None:
    ids = []
    for at in (1.0, 3.0):
        relay.handle(text(ANN, "x"), at)
        relay.handle(text(ANN, "y"), at + 0.001)
        (effect,) = relay.advance(at + 1)
        assert isinstance(effect, Deliver)
        assert effect.heard_at == at + 0.001
        ids.append(effect.message_id)
    assert ids == ["r-1", "r-2"]


def test_the_end_of_a_pane_ends_a_relay_of_two_after_its_last_words() -> None:
    relay = RelayMachine("r", [ANN, BOB])
    relay.handle(text(ANN, "last words"), 1.0)
    relay.handle(text(BOB, "in mid-burst"), 1.0)
    effects = relay.handle(closed(ANN), 1.001)
    assert deliveries(effects) == [("Ann", ["Bob"], "Ann (1):\n\nlast words")]
    assert effects[-1] == Close("pane_gone", 1)
    assert relay.closed


def test_one_of_more_than_two_only_leaves_and_the_last_two_end_it(relay: RelayMachine) -> None:
    relay.handle(text(CY, "last words"), 1.0)
    said, told = relay.handle(closed(CY), 1.001)
    assert deliveries([said]) == [("Cy", ["Ann", "Bob"], "Cy (7):\n\nlast words")]
    assert told == PublishEvent(RelayLeft(relay="r", participant="Cy (7)", reason="pane_gone", remaining=2))
    assert relay.leave(CY.pane, "again", 1.002) == []
    relay.handle(text(CY, "from beyond"), 1.1)
    relay.handle(text(ANN, "still here"), 1.1)
    assert deliveries(relay.advance(2.0)) == [("Ann", ["Bob"], "Ann (1):\n\nstill here")]
    assert relay.leave(BOB.pane, "program_left", 3.0) == [Close("program_left", 2)]


@pytest.mark.parametrize("reason", ["session_gone", "server_lost", "failed"])
def test_the_relay_says_why_it_ended(reason: str) -> None:
    relay = RelayMachine("r", [ANN, BOB])
    assert relay.handle(PaneClosed(reason=reason, pane=ANN.pane), 1.0) == [Close(reason, 0)]  # type: ignore[arg-type]


def test_a_closed_relay_does_nothing_more(relay: RelayMachine) -> None:
    assert relay.close("program_left") == [Close("program_left", 0)]
    assert relay.close("again") == []
    assert relay.handle(text(ANN, "x"), 1.0) == []
    assert relay.handle(closed(BOB), 1.0) == []
    assert relay.advance(9.0) == []
    assert relay.deadline() is None


def test_the_budget_is_spent_with_the_last_delivery() -> None:
    relay = RelayMachine("r", [ANN, BOB], Rules(budget=2))
    effects: list[Effect] = []
    for at in (1.0, 2.0, 3.0):
        relay.handle(text(ANN, "x"), at)
        effects += relay.advance(at + 0.5)
    assert [type(effect) for effect in effects] == [Deliver, Deliver, Close]
    assert effects[-1] == Close("budget_spent", 2)


def test_without_a_budget_it_never_is() -> None:
    relay = RelayMachine("r", [ANN, BOB])
    for at in range(1000):
        relay.handle(text(ANN, "x"), at)
        relay.advance(at + 0.5)
    assert relay.deliveries == 1000
    assert not relay.closed


@pytest.mark.parametrize(
    "participants",
    [
        [ANN],
        [],
        [ANN, Participant("$2", "%1", "Bob", 2)],
        [ANN, Participant("$2", "%2", "Ann", 2)],
        [ANN, Participant("$2", "%2", "Bob", 1)],
    ],
    ids=["alone", "nobody", "pane", "name", "number"],
)
def test_participants_are_two_at_least_and_told_apart(participants: list[Participant]) -> None:
    with pytest.raises(UsageError):
        RelayMachine("r", participants)
