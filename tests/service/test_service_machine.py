"""All links and relays of a service as one machine, handed its clock; and what it is restored from."""

from collections.abc import Sequence

import msgspec
import pytest

from streamrelay.errors import NotAllowed, SessionTaken, TargetNotFound
from streamrelay.events import Event, LinkClosed, Receipt, RelayClosed, Text, TurnEnded, TurnStarted
from streamrelay.links.link import LinkPolicy, Party
from streamrelay.relay.rules import Deliver, Effect, Notice, Participant, PublishEvent, Rules
from streamrelay.service.machine import ServiceMachine
from streamrelay.service.messages import OutgoingMessage

ANN, BOB, CY = (Party(f"s-{name}", f"%{number}", name) for number, name in enumerate(("Ann", "Bob", "Cy"), 1))


class Kept:
    """A machine of which every change is kept, so that it can be taken down and put up again at any moment."""

    def __init__(self) -> None:
        self.machine = ServiceMachine()
        self.values: dict[str, bytes] = {}
        self.now = 0.0

    def keep(self) -> None:
        for key, value in self.machine.changes().items():
            if value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = value

    def die(self) -> None:
        self.keep()
        self.machine = ServiceMachine.restored(self.values)
        for party in (ANN, BOB, CY):
            self.machine.speaks_in_turns(party.pane, whole=True)
        assert self.machine.changes() == {}

    def link(self, a: Party, b: Party, policy: LinkPolicy | None = None) -> None:
        self.machine.link(a, b, link_id=f"l-{a.title}-{b.title}", at=0.0, now=self.now, policy=policy)

    def relay(self, *parties: Party) -> list[Effect]:
        members = [Participant(p.session, p.pane, p.title, number) for number, p in enumerate(parties, 1)]
        return self.machine.open_relay("relay-1", members, Rules(), self.now)

    def hear(self, *events: Event) -> list[Effect]:
        self.now += 1.0
        return [effect for event in events for effect in self.machine.handle(event, self.now)]


def text(party: Party, line: str) -> Text:
    return Text(text=line, origin="program", pane=party.pane)


def ended(party: Party) -> TurnEnded:
    return TurnEnded(reason="signal", certain=True, pane=party.pane)


def crossed(effects: Sequence[Effect]) -> list[tuple[str, str]]:
    return [(p.session, effect.text) for effect in effects if isinstance(effect, Deliver) for p in effect.listeners]


def told(effects: Sequence[Effect]) -> list[Event]:
    return [effect.event for effect in effects if isinstance(effect, PublishEvent)]


@pytest.fixture
def kept() -> Kept:
    kept = Kept()
    for party in (ANN, BOB, CY):
        kept.machine.speaks_in_turns(party.pane, whole=True)
    return kept


@pytest.mark.parametrize("death", range(5))
def test_whenever_it_dies_a_turn_crosses_whole_and_once(kept: Kept, death: int) -> None:
    kept.link(ANN, BOB)
    events = [TurnStarted(pane=ANN.pane), text(ANN, "one"), text(ANN, "two"), ended(ANN)]
    effects: list[Effect] = []
    for number, event in enumerate(events):
        if number == death:
            kept.die()
        effects += kept.hear(event)
    if death == len(events):
        kept.die()
    assert crossed(effects) == [("s-Bob", "[From Ann] one\ntwo")]
    kept.die()
    assert crossed(kept.hear(ended(ANN))) == []
    assert kept.machine.links.links()[0].deliveries == 1


def test_everything_people_decided_outlives_it(kept: Kept) -> None:
    kept.link(ANN, BOB)
    kept.link(BOB, CY)
    kept.machine.mute("s-Bob", muted=True)
    kept.machine.watch("%9", watched=True)
    kept.machine.pause("l-Ann-Bob", 1.0, paused=True)
    sending = OutgoingMessage(message_id="m", text="x", target=CY, caller=ANN, then="listen")
    kept.machine.send(sending, link_id="", listener_id="stop-1", at=0, now=0)
    kept.die()
    assert kept.machine.panes == {"%1", "%2", "%3", "%9"}
    assert crossed(kept.hear(text(ANN, "waits"), ended(ANN), text(BOB, "muted"), ended(BOB))) == []
    kept.die()
    assert crossed(kept.machine.pause("", 2.0, paused=False)) == [("s-Bob", "[From Ann] waits")]
    (notice,) = [effect for effect in kept.hear(ended(CY)) if isinstance(effect, Notice)]
    assert notice.listeners[0].session == "s-Ann"
    kept.die()
    assert [effect for effect in kept.hear(ended(CY)) if isinstance(effect, Notice)] == []
    assert kept.machine.stop_all(3.0)[0] == 2
    kept.die()
    assert kept.machine.links.links() == []


@pytest.mark.parametrize("dies", [False, True])
def test_a_seat_in_a_relay_suspends_links_until_it_is_left(kept: Kept, *, dies: bool) -> None:
    kept.link(ANN, BOB)
    kept.relay(ANN, CY)
    if dies:
        kept.die()
    with pytest.raises(SessionTaken):
        kept.machine.open_relay(
            "relay-2", [Participant("s-Cy", "%3", "Cy", 1), Participant("s", "%4", "D", 2)], Rules(), 0
        )
    said = crossed(kept.hear(text(ANN, "to the relay"), ended(ANN)))
    assert said == [("s-Cy", "Ann (1):\n\nto the relay")]
    assert kept.machine.relay_of("s-Ann") == "relay-1"
    (closed,) = [event for event in told(kept.machine.leave("%3", "pane_gone", 5.0)) if isinstance(event, RelayClosed)]
    assert closed.reason == "pane_gone"
    if dies:
        kept.die()
    assert kept.machine.relay_of("s-Ann") == ""
    assert crossed(kept.hear(text(ANN, "to Bob"), ended(ANN))) == [("s-Bob", "[From Ann] to Bob")]


@pytest.mark.requirement("COU-01b")
def test_the_links_of_a_council_member_say_nothing_until_its_turn_has_ended(kept: Kept) -> None:
    kept.link(ANN, BOB)
    kept.machine.begin_council_turn(ANN.session, ANN.pane, "turn-1")
    with pytest.raises(SessionTaken):
        kept.relay(ANN, CY)
    answer = [TurnStarted(pane=ANN.pane), text(ANN, "for the council"), ended(ANN)]
    assert crossed(kept.hear(*answer)) == []
    kept.die()
    assert ANN.pane in kept.machine.panes
    # Its message still waits for the end of another turn.
    kept.machine.resume_council_turn(ANN.session, "queued")
    assert crossed(kept.hear(*answer)) == []
    assert ANN.session in kept.machine.council_turns
    kept.hear(Receipt(message_id="turn-1", state="submitted", pane=ANN.pane))
    assert crossed(kept.hear(*answer)) == []
    assert kept.machine.council_turns == {}
    assert crossed(kept.hear(TurnStarted(pane=ANN.pane), text(ANN, "for Bob"), ended(ANN))) == [
        ("s-Bob", "[From Ann] for Bob")
    ]
    kept.die()
    assert kept.machine.relay_of(ANN.session) == ""


@pytest.mark.requirement("COU-01b")
@pytest.mark.parametrize("dies", [False, True])
def test_a_turn_for_a_council_ends_with_its_council_or_its_pane(kept: Kept, dies: bool) -> None:
    kept.link(ANN, BOB)
    kept.machine.begin_council_turn(ANN.session, ANN.pane, "turn-1")
    kept.machine.begin_council_turn(CY.session, CY.pane, "turn-2")
    if dies:
        kept.die()
        # The council is resumed, and waits for the same answer.
        kept.machine.begin_council_turn(ANN.session, ANN.pane, "turn-1")
        kept.hear(ended(ANN))
        assert ANN.session in kept.machine.council_turns
    kept.machine.end_council_turn(ANN.session, "turn-1")
    kept.machine.leave(CY.pane, "pane_gone", kept.now)
    assert kept.machine.council_turns == {}
    assert [kept.machine.relay_of(each.session) for each in (ANN, CY)] == ["", ""]
    assert crossed(kept.hear(TurnStarted(pane=ANN.pane), text(ANN, "hello"), ended(ANN))) == [
        ("s-Bob", "[From Ann] hello")
    ]


@pytest.mark.requirement("COU-01b")
@pytest.mark.parametrize("told", [False, True])
def test_a_turn_for_a_council_ends_with_a_message_that_is_not_answered(kept: Kept, told: bool) -> None:
    kept.machine.begin_council_turn(ANN.session, ANN.pane, "turn-1")
    kept.die()
    if told:
        kept.machine.resume_council_turn(ANN.session, "queued")
        kept.hear(Receipt(message_id="turn-1", state="failed", pane=ANN.pane))
    else:
        kept.machine.resume_council_turn(ANN.session, "failed")
    assert kept.machine.council_turns == {}
    assert kept.machine.resume_council_turn(ANN.session, "failed") == []


def test_a_pause_of_everything_and_a_mute_hold_for_what_is_made_later(kept: Kept) -> None:
    kept.machine.pause("", 0.0, paused=True)
    kept.machine.mute("s-Bob", muted=True)
    kept.link(ANN, BOB)
    kept.relay(BOB, CY)
    kept.machine.stop_relay("relay-1")
    assert crossed(kept.hear(text(ANN, "later"), ended(ANN), text(BOB, "never"), ended(BOB))) == []
    assert crossed(kept.machine.pause("", 9.0, paused=False)) == [("s-Bob", "[From Ann] later")]


def test_a_link_that_hears_one_side_alone_stays_so(kept: Kept) -> None:
    kept.link(ANN, BOB, LinkPolicy(direction="from_a"))
    kept.machine.mute("s-Bob", muted=True)
    kept.machine.mute("s-Bob", muted=False)
    assert crossed(kept.hear(text(BOB, "unheard"), ended(BOB))) == []


def test_closing_is_for_links_that_are_there(kept: Kept) -> None:
    kept.link(ANN, BOB)
    for call in (lambda: kept.machine.close_link("l-0"), lambda: kept.machine.pause("l-0", 0.0, paused=True)):
        with pytest.raises(TargetNotFound):
            call()
    closing = OutgoingMessage(message_id="m", text="bye", target=ANN, caller=BOB, then="close")
    sent, effects = kept.machine.send(closing, link_id="", at=0.0, now=0.0)
    assert sent.closed
    assert [type(event) for event in told(effects)] == [LinkClosed]
    assert [effect.text for effect in effects if isinstance(effect, Notice)] == [
        "[From Bob] bye", "[streamrelay] Bob has closed the link: it delivers nothing more. No answer is needed.",
    ]  # fmt: skip
    assert not kept.machine.send(closing, link_id="", at=0.0, now=0.0)[0].closed


def sent(kept: Kept, words: str, message_id: str = "m", **more: object) -> list[tuple[str, str]]:
    """Send Bob a message of Ann's, and return what crosses or is typed besides."""
    sending = msgspec.convert(
        {"message_id": message_id, "text": words, "target": BOB, "caller": ANN, **more},
        OutgoingMessage,
        from_attributes=True,
    )
    effects = kept.machine.send(sending, link_id="l-new", at=0.0, now=kept.now)[1]
    return crossed(effects) + [(p.session, e.text) for e in effects if isinstance(e, Notice) for p in e.listeners]


def refused(kept: Kept, words: str, **more: object) -> str:
    with pytest.raises(NotAllowed) as error:
        sent(kept, words, **more)
    assert error.value.hint
    return error.value.message


@pytest.mark.parametrize("then", ["nothing", "link", "listen"])
def test_a_message_to_a_peer_is_a_delivery_of_the_link(kept: Kept, then: str):
    kept.link(ANN, BOB, LinkPolicy(budget=2))
    assert sent(kept, "one", "m1", then=then) == [("s-Bob", "[From Ann] one")]
    kept.die()
    assert sent(kept, "one", "m1", then=then, again=True) == [], "known by its id, it is no second delivery"
    spent = sent(kept, "two", "m2", then=then)
    assert spent[0] == ("s-Bob", "[From Ann] two")
    assert {session for session, text in spent if "is spent after 2" in text} == {"s-Ann", "s-Bob"}
    kept.die()
    assert "spent after 2 deliveries" in refused(kept, "three", then=then)
    assert sent(kept, "a person's", caller=None) == [("s-Bob", "a person's")]
    kept.machine.extend("l-Ann-Bob", 1, kept.now)
    assert sent(kept, "three", then=then)[0] == ("s-Bob", "[From Ann] three")


def test_a_message_is_refused_where_nothing_said_would_cross(kept: Kept):
    assert sent(kept, "not linked")
    kept.machine.pause("", 0.0, paused=True)
    assert "paused everything" in refused(kept, "x", then="link")
    kept.machine.pause("", 0.0, paused=False)
    kept.link(ANN, BOB)
    kept.machine.pause("l-Ann-Bob", 0.0, paused=True)
    assert "paused by a person" in refused(kept, "x")
    assert "paused by a person" in refused(kept, "x", then="close")
    kept.machine.pause("l-Ann-Bob", 0.0, paused=False)
    kept.machine.mute("s-Ann", muted=True)
    assert "muted" in refused(kept, "x")
    kept.machine.mute("s-Ann", muted=False)
    kept.relay(ANN, CY)
    assert "relay-1" in refused(kept, "x")
    kept.machine.stop_relay("relay-1")
    assert "checkpoint" in refused(kept, "[checkpoint] a note")
    assert kept.machine.links.links()[0].deliveries == 0
    assert sent(kept, "x")


def test_thanks_by_the_tool_are_damped_like_thanks_that_are_said(kept: Kept):
    kept.link(ANN, BOB)
    kept.hear(text(BOB, "Done."), ended(BOB))
    assert sent(kept, "Thanks!")
    assert sent(kept, "Thank you!")
    assert "without new content" in refused(kept, "Thanks again!")
    assert sent(kept, "Is the parser done, too?")


@pytest.mark.parametrize("waits_for", ["a budget", "a pause"])
@pytest.mark.parametrize("by", ["tool", "last words"])
def test_who_closes_a_link_that_waits_for_a_person_begins_no_other(kept: Kept, waits_for: str, by: str):
    kept.link(ANN, BOB, LinkPolicy(budget=1))
    if waits_for == "a budget":
        sent(kept, "one")
    else:
        kept.machine.pause("l-Ann-Bob", 0.0, paused=True)
    if by == "tool":
        kept.machine.close_link("l-Ann-Bob", "s-Ann")
    elif waits_for == "a budget":
        assert ("s-Bob", "[From Ann] bye") in sent(kept, "bye", then="close")
    else:
        with pytest.raises(NotAllowed, match="paused by a person"):
            kept.machine.close_link("l-Ann-Bob", "s-Bob", "bye")
        kept.machine.close_link("l-Ann-Bob", "s-Bob")
    kept.die()
    assert kept.machine.links.links() == []
    for then in ("link", "listen", "nothing", "close"):
        assert "was closed when" in refused(kept, "again", then=then)
    kept.link(ANN, BOB)
    assert sent(kept, "again"), "a person has linked them"
    kept.machine.close_link("l-Ann-Bob", "s-Ann")
    assert sent(kept, "anew", then="link"), "one that was open may be closed and begun anew"


def test_what_a_session_sends_has_the_size_and_rate_of_its_link(kept: Kept):
    kept.link(ANN, BOB, LinkPolicy(longest=10, per_minute=2))

    def send(text: str, caller: Party | None = ANN) -> list[Effect]:
        sending = OutgoingMessage(
            message_id="m", text=text, target=BOB, caller=caller, then="listen", policy=LinkPolicy()
        )
        return kept.machine.send(sending, link_id="l", at=0.0, now=kept.now)[1]

    with pytest.raises(NotAllowed, match="the message has 11 characters; at most 10 are allowed") as refused:
        send("x" * 11)
    assert refused.value.hint
    assert send("x" * 11, caller=None), "a person says what he likes"
    assert send("one")
    assert crossed(kept.hear(text(BOB, "two"), ended(BOB))) == [("s-Ann", "[From Bob] two")]
    with pytest.raises(NotAllowed, match="limit of deliveries a minute"):
        send("three")
    kept.now += 60
    assert send("three")


@pytest.mark.requirement("LNK-05a", "REL-10c")
def test_last_words_cross_where_a_message_would(kept: Kept):
    kept.link(ANN, BOB, LinkPolicy(longest=10))

    def refused(words: str) -> str:
        with pytest.raises(NotAllowed) as error:
            kept.machine.close_link("l-Ann-Bob", "s-Ann", words)
        assert error.value.hint
        assert kept.machine.links.links(), "it is closed without them, or not at all"
        return error.value.message

    kept.machine.mute("s-Ann", muted=True)
    assert "muted" in refused("bye")
    kept.machine.mute("s-Ann", muted=False)
    kept.relay(BOB, CY)
    assert "relay-1" in refused("bye")
    kept.machine.stop_relay("relay-1")
    kept.machine.pause("", 0.0, paused=True)
    assert "paused everything" in refused("bye")
    kept.machine.pause("", 0.0, paused=False)
    assert "11 characters" in refused("x" * 11)
    kept.machine.mute("s-Ann", muted=True)
    effects = kept.machine.close_link("l-Ann-Bob", "s-Ann")
    assert [effect.text for effect in effects if isinstance(effect, Notice)] == [
        "[streamrelay] Ann has closed the link: it delivers nothing more. No answer is needed."
    ]


@pytest.mark.requirement("LNK-05a")
def test_a_side_that_is_not_heard_has_no_last_words(kept: Kept):
    kept.link(ANN, BOB, LinkPolicy(direction="from_a"))
    with pytest.raises(NotAllowed, match="a person has muted you"):
        kept.machine.close_link("l-Ann-Bob", "s-Bob", "bye")
    assert kept.machine.close_link("l-Ann-Bob", "s-Ann", "bye")


@pytest.mark.requirement("REL-10c")
def test_a_mute_ends_with_its_session_and_its_server_and_not_with_a_program(kept: Kept):
    kept.link(ANN, BOB)
    for session in ("s-Ann", "%3", "%4"):
        kept.machine.mute(session, muted=True)
    kept.machine.leave("%1", "program_left", 1.0)
    kept.link(ANN, BOB)
    kept.die()
    assert kept.machine.settings.muted == {"s-Ann", "%3", "%4"}
    assert crossed(kept.hear(text(ANN, "x"), ended(ANN))) == []
    kept.machine.leave("%1", "pane_gone", 2.0)
    kept.machine.leave("%3", "ended", 2.0)
    kept.die()
    assert kept.machine.settings.muted == {"%4"}
    kept.machine.forget_sessions()
    kept.die()
    assert kept.machine.settings.muted == set(), "another session has that name on the next server"
