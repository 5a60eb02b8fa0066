"""What two nodes make of what they tell each other, in whatever order it comes to pass; no tmux, no Redis."""

from collections.abc import Iterable

import msgspec
import pytest

from streamrelay.delivery.message import Message
from streamrelay.events import Event, LinkClosed, LinkCreated, LinkSuspended, Text, TurnEnded, TurnStarted
from streamrelay.federation import incoming, outgoing
from streamrelay.federation.channel import WINDOW
from streamrelay.federation.envelope import read_body
from streamrelay.federation.messages import AnyBody, Seated, Suspended, Wish
from streamrelay.federation.node import POST, SUSPENDED, Node
from streamrelay.links.link import Party
from streamrelay.relay.rules import Effect, Participant, Rules
from streamrelay.relay.steps import RelayStep
from streamrelay.service.machine import ServiceMachine


class Side:
    """One node, and what has happened there."""

    def __init__(self, name: str, peer: str) -> None:
        self.name = name
        self.peer = peer
        self.machine = ServiceMachine()
        self.kept: dict[str, bytes] = {}
        self.node = self._restored()
        self.events: list[Event] = []
        self.typed: list[Message] = []

    def _restored(self) -> Node:
        return Node.restored(self.kept, self.name, (self.peer,), self.machine, lambda _: True, epoch=1)

    def take(self, effects: Iterable[Effect], *heard: Event) -> None:
        step = RelayStep(events=list(heard))
        step.follow(effects)
        outgoing.take(self.node, step)
        for changes in (self.machine.changes(), self.node.changes()):
            for key, value in changes.items():
                self.kept.pop(key, None) if value is None else self.kept.update({key: value})
        self.node.kept()
        self.events += step.events
        self.typed += [outgoing.message for outgoing in step.outgoing]

    def hear(self, *events: Event) -> None:
        for event in events:
            self.take(self.machine.handle(event, 0.0), event)

    def says(self, pane: str, text: str) -> None:
        said = Text(text=text, origin="program", pane=pane)
        self.hear(TurnStarted(pane=pane), said, TurnEnded(reason="signal", certain=True, pane=pane))

    def restart(self) -> None:
        self.machine = ServiceMachine.restored(self.kept)
        self.node = self._restored()

    def kinds(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


ANN, BOB, CARL, DORA = (
    Party(f"s-{name}", pane, name) for name, pane in (("Ann", "%1"), ("Bob", "%2"), ("Carl", "%3"), ("Dora", "%4"))
)


class Two:
    """Ann on alpha, Bob and Carl on beta; what is told arrives when it is carried."""

    def __init__(self) -> None:
        self.alpha, self.beta = Side("alpha", "beta"), Side("beta", "alpha")

    def carry(self, sender: Side, at_most: int = WINDOW) -> None:
        receiver = self.beta if sender is self.alpha else self.alpha
        channel = sender.node.channels[receiver.name]
        channel.send_again()
        envelopes = [one for one in channel.sendable(0.0) if self.is_new(receiver, one.number)]
        for envelope in envelopes[:at_most]:
            body = read_body(envelope)
            assert receiver.node.admit(envelope, body, 0.0) == "new"
            receiver.take(self.handled(receiver, sender.name, body))

    @staticmethod
    def handled(receiver: Side, sender: str, body: AnyBody) -> list[Effect]:
        if isinstance(body, Seated):
            own = next(party for party in (ANN, BOB, CARL, DORA) if party.session == body.session)
            return incoming.seat(receiver.node, sender, body, own)
        return incoming.handle(receiver.node, sender, body, 0.0)

    @staticmethod
    def is_new(receiver: Side, number: int) -> bool:
        return number > receiver.node.channels[receiver.peer].state.received

    def settle(self) -> None:
        for side in (self.alpha, self.beta) * 3:
            self.carry(side)

    def link(self, link_id: str) -> None:
        bob = Party("s-Bob@beta", "%2@beta", "Bob@beta")
        self.alpha.take(self.alpha.machine.link(ANN, bob, link_id=link_id, at=0.0, now=0.0)[1])


@pytest.fixture
def two() -> Two:
    return Two()


def enter_relay(side: Side) -> None:
    members = [Participant(one.session, one.pane, one.title, n) for n, one in enumerate((BOB, CARL), 1)]
    side.take(side.machine.open_relay("relay-1", members, Rules(), 0.0))


def test_what_is_said_on_one_is_typed_on_the_other(two: Two) -> None:
    two.link("link-1")
    two.settle()
    two.alpha.says("%1", "hello")
    two.settle()
    assert [message.text for message in two.beta.typed] == ["[From Ann] hello"]


def test_news_of_a_link_that_was_closed_here_do_not_bring_it_back(two: Two) -> None:
    two.link("link-1")
    two.settle()
    two.alpha.says("%1", "hello")
    two.alpha.says("%1", "are you there?")
    two.beta.take(two.beta.node.wish("link-1", Wish(link="link-1", what="close", by=BOB.session)))
    two.carry(two.alpha)
    assert not two.beta.node.images
    assert not two.beta.typed
    two.settle()
    for side in (two.alpha, two.beta):
        assert len(side.kinds(LinkCreated)) == len(side.kinds(LinkClosed)) == 1
        assert not side.machine.links.links()


def test_a_relay_that_outlives_a_link_suspends_no_later_one(two: Two) -> None:
    two.link("link-1")
    two.settle()
    enter_relay(two.beta)
    two.settle()
    assert SUSPENDED + "s-Bob@beta" in two.alpha.kept
    two.alpha.take(two.alpha.machine.close_link("link-1"))
    two.settle()
    two.beta.take(two.beta.machine.stop_relay("relay-1"))
    two.settle()
    two.alpha.restart()
    two.link("link-2")
    two.settle()
    assert two.alpha.machine.found("link-2").state == "open"
    assert [event.link for event in two.alpha.kinds(LinkSuspended)] == ["link-1"]
    assert not [key for key in two.alpha.kept if key.startswith(SUSPENDED)]


def test_a_later_link_is_suspended_by_what_lasts(two: Two) -> None:
    two.link("link-1")
    two.settle()
    enter_relay(two.beta)
    two.alpha.take(two.alpha.machine.close_link("link-1"))
    two.settle()
    two.link("link-2")
    two.settle()
    two.alpha.restart()
    assert two.alpha.machine.found("link-2").state == "suspended"
    two.beta.take(two.beta.machine.stop_relay("relay-1"))
    two.settle()
    assert two.alpha.machine.found("link-2").state == "open"


def test_a_relay_that_ends_between_two_links_suspends_neither_for_ever(two: Two) -> None:
    two.link("link-1")
    two.settle()
    enter_relay(two.beta)
    two.alpha.take(two.alpha.machine.close_link("link-1"))
    two.link("link-2")
    two.carry(two.alpha, at_most=1)
    two.beta.take(two.beta.machine.stop_relay("relay-1"))
    two.settle()
    assert two.alpha.machine.found("link-2").state == "open"


def test_what_suspends_a_session_without_a_link_is_not_kept(two: Two) -> None:
    two.beta.node.post("alpha", Suspended(session="s-Bob", by="relay-1"))
    two.beta.take([])
    two.settle()
    two.link("link-1")
    assert two.alpha.machine.found("link-1").state == "open"


def test_a_pause_of_everything_holds_for_a_link_that_is_made_elsewhere(two: Two) -> None:
    two.beta.take(two.beta.machine.pause("", 0.0, paused=True))
    two.link("link-1")
    two.settle()
    assert two.alpha.machine.found("link-1").relay.state.paused
    assert two.beta.node.images["link-1"].link.relay.state.paused
    two.alpha.says("%1", "hello")
    two.settle()
    assert not two.beta.typed


@pytest.mark.parametrize("holds", ["a relay", "a pause"])
def test_last_words_from_elsewhere_are_held_back_as_those_of_here_and_the_link_is_closed(two: Two, holds: str) -> None:
    two.link("link-1")
    two.settle()
    if holds == "a relay":
        members = [Participant(one.session, one.pane, one.title, n) for n, one in enumerate((ANN, CARL), 1)]
        two.alpha.take(two.alpha.machine.open_relay("relay-1", members, Rules(), 0.0))
    else:
        two.alpha.take(two.alpha.machine.pause("link-1", 0.0, paused=True))
    wish = Wish(link="link-1", what="close", by=BOB.session, last_words="farewell")
    two.beta.take(two.beta.node.wish("link-1", wish))
    two.settle()
    assert not two.alpha.machine.links.links()
    assert not [message.text for message in two.alpha.typed if "farewell" in message.text]


def test_what_waited_when_an_earlier_version_ended_arrives(two: Two) -> None:
    two.link("link-1")
    two.settle()
    two.alpha.says("%1", "before the upgrade")
    for key, value in two.alpha.kept.items():
        if key.startswith(POST):
            # Schema 3 kept bodies as JSON.
            two.alpha.kept[key] = msgspec.json.encode(msgspec.msgpack.decode(value))
    two.alpha.restart()
    two.settle()
    assert [message.text for message in two.beta.typed] == ["[From Ann] before the upgrade"]
