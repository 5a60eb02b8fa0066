"""Relays and one-way listeners whose sessions are on two nodes; no tmux, no Redis.

Ann and Dora are on alpha, which keeps the relays; Bob and Carl are on beta.
"""

import pytest

from streamrelay.errors import InGathering, SessionTaken
from streamrelay.events import LinkSuspended, Receipt, RelayClosed, RelayDelivered, RelayLeft, StopNotified, Text
from streamrelay.links.link import Party
from streamrelay.relay.rules import Participant, Rules
from tests.federation.test_between_nodes import ANN, BOB, CARL, DORA, Side, Two


def away(party: Party) -> Party:
    return Party(f"{party.session}@beta", f"{party.pane}@beta", f"{party.title}@beta")


def opened(two: Two, *parties: Party, budget: int = 0) -> None:
    members = [Participant(one.session, one.pane, one.title, number) for number, one in enumerate(parties, 1)]
    rules = Rules(budget=budget, acknowledgements=0)
    two.alpha.take(two.alpha.machine.open_relay("relay-1", members, rules, 0.0))
    two.settle()


def typed(side: Side) -> list[str]:
    return [message.text for message in side.typed]


@pytest.fixture
def two() -> Two:
    two = Two()
    opened(two, ANN, away(BOB), away(CARL), DORA)
    return two


@pytest.mark.requirement("NET-02c")
def test_each_of_four_on_two_nodes_hears_the_three_others_once(two: Two) -> None:
    two.alpha.says("%1", "from Ann")
    two.settle()
    two.beta.says("%2", "from Bob")
    two.settle()
    assert typed(two.beta) == ["Ann (1):\n\nfrom Ann", "Bob@beta (2):\n\nfrom Bob"]
    assert typed(two.alpha) == ["Ann (1):\n\nfrom Ann", "Bob@beta (2):\n\nfrom Bob"]
    (first, second) = two.beta.kinds(RelayDelivered)
    assert isinstance(first, RelayDelivered)
    assert isinstance(second, RelayDelivered)
    assert (first.speaker, second.speaker) == ("Ann (1)", "Bob@beta (2)")


@pytest.mark.requirement("NET-02c")
def test_a_hundred_turns_arrive_in_order_and_once(two: Two) -> None:
    for number in range(100):
        (two.beta if number % 2 else two.alpha).says("%2" if number % 2 else "%1", f"turn {number}")
        if number % 7 == 0:
            two.settle()
    two.settle()
    ann = [text for text in typed(two.alpha) if "turn" in text]
    bob = [text for text in typed(two.beta) if "turn" in text]
    for heard in (ann, bob):
        for parity in (0, 1):
            own = [int(text.split()[-1]) for text in heard if int(text.split()[-1]) % 2 == parity]
            assert own == list(range(parity, 100, 2))


@pytest.mark.requirement("NET-02c", "NET-03")
def test_a_relay_outlives_the_death_of_either_service(two: Two) -> None:
    for side in (two.beta, two.alpha):
        two.alpha.says("%1", "before")
        side.restart()
        two.beta.says("%2", "after")
        two.settle()
    assert [text.split()[-1] for text in typed(two.beta)].count("before") == 2
    assert [text.split()[-1] for text in typed(two.alpha)].count("after") == 2
    assert two.beta.machine.relay_of(BOB.session) == "relay-1@alpha"


def test_a_session_is_in_one_relay_only_wherever_that_is_kept(two: Two) -> None:
    members = [Participant(one.session, one.pane, one.title, number) for number, one in enumerate((BOB, CARL), 1)]
    with pytest.raises(SessionTaken, match="relay-1@alpha"):
        two.beta.take(two.beta.machine.open_relay("relay-2", members, Rules(), 0.0))


def test_a_session_that_was_taken_meanwhile_takes_no_part() -> None:
    two = Two()
    members = [Participant(one.session, one.pane, one.title, number) for number, one in enumerate((BOB, CARL), 1)]
    two.beta.take(two.beta.machine.open_relay("relay-2", members, Rules(), 0.0))
    opened(two, ANN, away(BOB), DORA)
    (left,) = two.alpha.kinds(RelayLeft)
    assert isinstance(left, RelayLeft)
    assert (left.participant, left.reason) == ("Bob@beta (2)", "session_taken")
    assert two.beta.machine.relay_of(BOB.session) == "relay-2"
    two.alpha.says("%1", "hello")
    two.settle()
    assert typed(two.beta) == []


@pytest.mark.requirement("NET-02c", "REL-02c")
def test_who_is_gone_leaves_it_and_a_relay_that_ends_frees_its_sessions(two: Two) -> None:
    two.beta.take(two.beta.node.leave("%2", "pane_gone"))
    two.settle()
    (left,) = two.alpha.kinds(RelayLeft)
    assert isinstance(left, RelayLeft)
    assert left.participant == "Bob@beta (2)"
    assert not two.beta.machine.relay_of(BOB.session)
    assert two.beta.machine.relay_of(CARL.session) == "relay-1@alpha"
    two.alpha.take(two.alpha.machine.stop_relay("relay-1"))
    two.settle()
    assert len(two.alpha.kinds(RelayClosed)) == 1
    assert not two.beta.machine.relay_of(CARL.session)
    assert not two.beta.node.seats
    assert not two.alpha.node.told_guests


def test_the_last_delivery_of_a_budget_still_reaches_the_other_node() -> None:
    two = Two()
    opened(two, ANN, away(BOB), budget=1)
    two.alpha.says("%1", "the last word")
    two.settle()
    assert typed(two.beta) == ["Ann (1):\n\nthe last word"]
    assert not two.beta.node.seats


def test_a_link_of_a_session_is_suspended_while_it_is_in_a_relay_elsewhere() -> None:
    two = Two()
    two.link("link-1")
    two.settle()
    opened(two, away(BOB), DORA)
    assert [event.by for event in two.alpha.kinds(LinkSuspended) if isinstance(event, LinkSuspended)] == ["relay-1"]
    two.alpha.take(two.alpha.machine.stop_relay("relay-1"))
    two.settle()
    assert two.alpha.machine.found("link-1").state == "open"


def test_a_pause_of_everything_on_the_node_of_a_participant_pauses_the_relay() -> None:
    two = Two()
    two.beta.take(two.beta.machine.pause("", 0.0, paused=True))
    opened(two, ANN, away(BOB))
    assert two.alpha.machine.relays.found("relay-1").state.paused


def test_receipts_of_each_listener_come_back(two: Two) -> None:
    two.alpha.says("%1", "hello")
    two.settle()
    for pane, state in (("%2", "submitted"), ("%3", "failed")):
        two.beta.take([], Receipt(message_id="relay-1-1@alpha", pane=pane, state=state))
    two.settle()
    assert {sent.pane: sent.state for sent in two.alpha.node.away.all_of("relay-1-1")} == {
        "%2@beta": "submitted", "%3@beta": "failed",
    }  # fmt: skip


def test_what_a_person_types_is_not_shown_to_another_node(two: Two) -> None:
    two.beta.hear(Text(text="a password", origin="typed", pane="%2"))
    assert b"password" not in b"".join(two.beta.node.channels["alpha"].waiting_bodies)


def test_a_member_of_a_gathering_elsewhere_gets_no_message_beside_it(two: Two) -> None:
    two.beta.take(two.beta.machine.take_seat("s-Eve", "gathering-1@alpha"))
    with pytest.raises(InGathering, match="gathering-1@alpha"):
        two.beta.machine.circles.check_may_send("s-Eve", to=True)
    two.beta.machine.circles.check_may_send(BOB.session, to=True)


@pytest.mark.requirement("LNK-06")
def test_a_listener_is_told_once_that_a_session_elsewhere_has_stopped() -> None:
    two = Two()
    assert two.alpha.machine.links.listen(ANN, away(BOB), listener_id="stop-1")
    two.alpha.take([])
    two.settle()
    assert two.beta.node.panes == {"%2"}
    two.beta.says("%2", "done")
    two.settle()
    two.beta.says("%2", "done again")
    two.settle()
    assert typed(two.alpha) == ["[streamrelay] Bob@beta has stopped; what it said is in its own session."]
    assert len(two.alpha.kinds(StopNotified)) == 1
    assert not two.beta.node.panes
    assert not two.beta.machine.relay_of(BOB.session)


@pytest.mark.requirement("LNK-06")
def test_a_listener_is_told_that_a_session_elsewhere_has_ended() -> None:
    two = Two()
    two.alpha.machine.links.listen(ANN, away(BOB), listener_id="stop-1")
    two.alpha.take([])
    two.settle()
    two.beta.take(two.beta.node.leave("%2", "session_gone"))
    two.settle()
    assert typed(two.alpha) == ["[streamrelay] Bob@beta has ended."]
    assert not two.alpha.machine.links.listeners
