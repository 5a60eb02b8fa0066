"""What goes out, what waits, what is withheld and why: the relay's rules beyond who hears whom."""

from collections.abc import Callable

import msgspec
import pytest

from streamrelay.errors import UsageError
from streamrelay.events import RelayMuted, RelayPaused, Text, Traffic, TurnEnded, TurnStarted
from streamrelay.relay.attribution import filled
from streamrelay.relay.machine import MAX_HELD, RelayMachine
from streamrelay.relay.rules import (
    MAX_COUNT,
    Close,
    Deliver,
    Participant,
    PublishEvent,
    Rules,
    Spend,
    StoredRelay,
    is_checkpoint,
)

ANN = Participant("$1", "%1", "Ann", 1)
BOB = Participant("$2", "%2", "Bob", 2)


@pytest.mark.requirement("REL-03b")
def test_what_an_agent_says_in_a_turn_is_one_delivery_however_long_it_takes(talk):
    conversation = talk()
    machine = conversation.machine
    assert machine.handle(TurnStarted(pane="%1"), 0.0) == []
    for at in range(100):
        assert machine.handle(Text(text=f"line {at}", origin="program", pane="%1"), float(at)) == []
        assert machine.advance(at + 0.9) == []
    (effect,) = machine.handle(TurnEnded(reason="signal", certain=True, pane="%1"), 101.0)
    assert isinstance(effect, Deliver)
    assert effect.text == "Ann (1):\n\n" + "\n".join(f"line {at}" for at in range(100))


def test_a_turn_that_goes_on_after_a_silence_is_a_second_message_with_what_is_new(talk):
    conversation = talk()
    conversation.turn(ANN, "first half")
    conversation.turn(ANN, "second half")
    assert conversation.delivered() == ["first half", "second half"]


@pytest.mark.requirement("REL-10a")
def test_what_is_said_into_a_pause_goes_out_after_it_in_order(talk):
    conversation = talk()
    machine = conversation.machine
    assert machine.pause(0.0) == [PublishEvent(RelayPaused(relay="r", paused=True))]
    assert machine.pause(0.0) == []
    conversation.turn(ANN, "one")
    conversation.turn(BOB, "two")
    assert conversation.effects == []
    told, *released = machine.pause(9.0, paused=False)
    assert told == PublishEvent(RelayPaused(relay="r", paused=False, waiting=2))
    assert [effect.text for effect in released] == ["Ann (1):\n\none", "Bob (2):\n\ntwo"]
    conversation.turn(ANN, "three")
    assert conversation.delivered() == ["three"]


def test_a_pause_holds_only_so_much_and_says_what_it_does_not(talk):
    conversation = talk()
    conversation.machine.pause(0.0)
    for at in range(MAX_HELD + 2):
        conversation.turn(ANN, f"line {at}")
    assert [event.reason for event in conversation.withheld()] == ["too_many_waiting"] * 2
    assert len(conversation.machine.pause(99.0, paused=False)) == 1 + MAX_HELD


@pytest.mark.requirement("REL-10a")
def test_who_is_muted_hears_and_is_not_heard(talk):
    conversation = talk(three=True)
    machine = conversation.machine
    assert machine.mute("%1") == [PublishEvent(RelayMuted(relay="r", participant="Ann (1)", muted=True))]
    assert machine.mute("%1") == []
    assert machine.mute("%99") == []
    conversation.turn(ANN, "nobody hears me")
    conversation.turn(BOB, "everybody hears me")
    assert conversation.delivered() == ["everybody hears me"]
    assert [(event.speaker, event.reason, event.count) for event in conversation.withheld()] == [
        ("Ann (1)", "muted", 1)
    ]
    assert [listener.name for listener in conversation.effects[-1].listeners] == ["Ann", "Cy"]
    machine.mute("%1", muted=False)
    conversation.turn(ANN, "now you do")
    assert conversation.delivered()[-1] == "now you do"


@pytest.mark.requirement("REL-10b")
def test_what_a_conversation_costs_each_participant_is_counted(talk):
    conversation = talk(three=True)
    conversation.turn(ANN, "hello")
    conversation.turn(BOB, "hi")
    hello, hi = (len(effect.text) for effect in conversation.effects)
    assert conversation.machine.state.traffic == {
        "Ann (1)": Traffic(1, hello, 1, hi),
        "Bob (2)": Traffic(1, hi, 1, hello),
        "Cy (3)": Traffic(0, 0, 2, hello + hi),
    }


def test_a_stopped_relay_does_nothing_more(talk):
    conversation = talk()
    conversation.machine.pause(0.0)
    conversation.turn(ANN, "held")
    assert conversation.machine.close() == [Close("stopped", 0)]
    assert conversation.machine.state.held == []
    assert conversation.machine.pause(1.0, paused=False) == []
    assert conversation.machine.mute("%1") == []
    assert conversation.machine.leave("%1", "gone", 1.0) == []
    assert conversation.turn(BOB, "anybody?") == []


def test_faster_than_the_rules_allow_waits_for_its_time(talk):
    conversation = talk(Rules(per_minute=2))
    for line in ("one", "two", "three", "four", "five"):
        conversation.turn(ANN, line)
    assert conversation.delivered() == ["one", "two"]
    machine = conversation.machine
    due = machine.deadline()
    assert due == 61.0
    assert machine.advance(60.9) == []
    assert [effect.text for effect in machine.advance(due)] == ["Ann (1):\n\nthree"]
    assert [effect.text for effect in machine.advance(62.0)] == ["Ann (1):\n\nfour"]
    assert machine.deadline() == 121.0


@pytest.mark.requirement("REL-09")
@pytest.mark.parametrize("paused", [False, True], ids=["suspended", "paused and suspended"])
def test_what_waits_for_its_time_waits_for_the_end_of_another_relay_as_well(talk, paused):
    conversation = talk(Rules(per_minute=1))
    machine = conversation.machine
    conversation.turn(ANN, "one")
    conversation.turn(BOB, "held")
    if paused:
        machine.pause(3.0)
    machine.suspend("relay-7")
    assert machine.deadline() is None
    assert machine.advance(100.0) == []
    if paused:
        (told,) = machine.pause(101.0, paused=False)
        assert told == PublishEvent(RelayPaused(relay="r", paused=False, waiting=1))
        assert machine.deadline() is None
        assert machine.advance(102.0) == []
    assert machine.deliveries == 1
    machine.suspend("")
    assert machine.deadline() <= 103.0
    assert [effect.text for effect in machine.advance(103.0)] == ["Bob (2):\n\nheld"]
    assert machine.deadline() is None


@pytest.mark.requirement("REL-09")
def test_one_that_is_suspended_first_and_paused_until_after_that_sends_with_the_end_of_the_pause(talk):
    conversation = talk(Rules(per_minute=1))
    machine = conversation.machine
    conversation.turn(ANN, "one")
    conversation.turn(BOB, "held")
    machine.suspend("relay-7")
    machine.pause(3.0)
    machine.suspend("")
    assert machine.deadline() is None
    assert machine.advance(100.0) == []
    told, sent = machine.pause(101.0, paused=False)
    assert isinstance(told, PublishEvent)
    assert sent.text == "Bob (2):\n\nheld"


def test_what_is_too_long_is_cut_and_says_how_much_is_missing(talk):
    conversation = talk(Rules(longest=10))
    conversation.turn(ANN, "0123456789")
    conversation.turn(ANN, "0123456789" * 201)
    assert conversation.delivered() == ["0123456789", "0123456789\n[… 2,000 more characters are left out]"]


@pytest.mark.requirement("LNK-04")
@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("[checkpoint] all saved", True),
        ("\n  [checkpoint] all saved", True),
        ("I wrote [checkpoint] into the file", False),
        ("[check", False),
        ("x" * 50 + "that is different", True),
        ("x" * 49, False),
        ("", False),
    ],
)
def test_checkpoints_are_told_by_their_first_fifty_characters(text, is_one):
    assert is_checkpoint(text, ("[checkpoint]", "x" * 60, "")) is is_one


def test_a_spent_budget_can_wait_for_more_and_what_was_said_meanwhile_goes_out_then(talk):
    conversation = talk(Rules(budget=2, when_spent="wait"))
    conversation.turn(ANN, "one")
    assert isinstance(conversation.turn(BOB, "two")[-1], Spend)
    conversation.turn(ANN, "three")
    conversation.turn(BOB, "four")
    assert conversation.delivered() == ["one", "two"]
    released = conversation.machine.extend(1, 9.0)
    assert [type(effect) for effect in released] == [Deliver, Spend]
    assert released[0].text == "Ann (1):\n\nthree"
    assert [effect.text for effect in conversation.machine.extend(5, 9.0)] == ["Bob (2):\n\nfour"]
    assert conversation.machine.deliveries == 4


def test_a_template_is_the_users_and_what_is_filled_in_is_not_read_as_one():
    assert filled("{name}: {text}", name="{text}", text="{name}") == "{text}: {name}"
    with pytest.raises(UsageError, match="nobody"):
        filled("{nobody}", name="x")
    with pytest.raises(UsageError, match="text"):
        RelayMachine("r", [ANN, BOB], Rules(frame="{name} said something"))


@pytest.mark.parametrize("frame", ["{name} ({number}):\n\n{text}", "[From {name}] {text}", "«{text}»"])
def test_the_head_of_a_message_is_its_frame_without_the_text(frame):
    machine = RelayMachine("r", [ANN, BOB], Rules(frame=frame))
    machine.handle(Text(text="hello", origin="program", pane="%1"), 0.0)
    (effect,) = machine.advance(1.0)
    assert effect.text == filled(frame, name="Ann", number=1, text="hello")
    assert effect.head == filled(frame, name="Ann", number=1, text="").strip()


def test_a_relay_goes_on_as_it_was_stored(talk: Callable[..., object]):
    conversation = talk(Rules(budget=5), three=True)
    machine = conversation.machine
    conversation.turn(ANN, "one")
    machine.mute("%2")
    machine.leave("%3", "pane_gone", 5.0)
    machine.pause(5.0)
    conversation.turn(ANN, "held")
    data = msgspec.json.encode(machine.stored())
    conversation.turn(ANN, "not in it any more")
    again = RelayMachine.restored(msgspec.json.decode(data, type=StoredRelay))
    assert msgspec.json.encode(again.stored()) == data
    _, released = again.pause(9.0, paused=False)
    assert (released.message_id, released.text) == ("r-2", "Ann (1):\n\nheld")
    assert [listener.name for listener in released.listeners] == ["Bob"]
    other = RelayMachine.restored(msgspec.json.decode(data, type=StoredRelay), "c40d17")
    assert msgspec.json.encode(other.stored()) == data
    _, released = other.pause(9.0, paused=False)
    assert (released.message_id, released.text) == ("r-c40d17-2", "Ann (1):\n\nheld")


@pytest.mark.parametrize("limit", ["budget", "acknowledgements", "hops", "longest", "per_minute"])
@pytest.mark.parametrize("number", [-1, MAX_COUNT + 1])
def test_a_limit_is_a_number_that_can_be_counted_to(limit: str, number: int):
    with pytest.raises(UsageError, match=limit):
        RelayMachine("r", [ANN, BOB], Rules(**{limit: number}))


def test_a_budget_grows_no_further_than_a_budget_may_be():
    machine = RelayMachine("r", [ANN, BOB], Rules(budget=1, when_spent="wait"))
    for _ in range(2):
        machine.extend(10**4300, 0.0)
    assert machine.state.budget == MAX_COUNT
    assert msgspec.json.decode(msgspec.json.encode(machine.stored()), type=StoredRelay) == machine.stored()


@pytest.mark.requirement("REL-02c")
def test_what_the_rate_alone_holds_goes_out_before_a_relay_ends(talk):
    conversation = talk(Rules(per_minute=1))
    for said in ("one", "two", "the result"):
        conversation.turn(ANN, said)
    conversation.turn(BOB, "to whom?")
    assert conversation.delivered() == ["one"]
    effects = conversation.machine.leave(ANN.pane, "pane_gone", 5.0)
    assert [effect.text for effect in effects if isinstance(effect, Deliver)] == [
        "Ann (1):\n\ntwo",
        "Ann (1):\n\nthe result",
    ]
    (lost,) = [effect.event for effect in effects if isinstance(effect, PublishEvent)]
    assert (lost.speaker, lost.reason, lost.text) == ("Bob (2)", "closed", "to whom?")
    assert isinstance(effects[-1], Close)


@pytest.mark.parametrize("waits", ["pause", "budget"])
def test_of_what_waits_for_a_person_when_somebody_leaves_it_is_told_that_it_is_lost(talk, waits: str):
    conversation = talk(Rules(budget=1, when_spent="wait"))
    if waits == "pause":
        conversation.machine.pause(0.0)
    else:
        conversation.turn(BOB, "the last one")
    conversation.turn(ANN, "one")
    effects = conversation.machine.leave(ANN.pane, "pane_gone", 5.0)
    assert not [effect for effect in effects if isinstance(effect, Deliver)]
    assert [(effect.event.reason, effect.event.text) for effect in effects if isinstance(effect, PublishEvent)] == [
        ("closed", "one")
    ]
