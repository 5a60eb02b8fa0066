"""The registry of links, with a clock that is handed in: who is linked, what crosses, what both sides are told."""

import msgspec
import pytest

from streamrelay.errors import UsageError
from streamrelay.events import (
    Event,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    PaneClosed,
    RelayWithheld,
    StopNotified,
    Text,
    TurnEnded,
    TurnStarted,
)
from streamrelay.links.link import BUDGET, CHECKPOINTS, LinkPolicy, NoticeTexts, Party, StoredLinks
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.rules import Deliver, Effect, Notice, PublishEvent

ANN = Party("s-ann", "%1", "Ann's work")
BOB = Party("s-bob", "%2", "Bob's work")
CY = Party("s-cy", "%3", "Cy's work")


def linked(policy: LinkPolicy | None = None, texts: NoticeTexts | None = None) -> LinkRegistry:
    registry = LinkRegistry(texts)
    registry.create(ANN, BOB, link_id="l", at=0.0, policy=policy)
    return agents(registry)


def agents(registry: LinkRegistry) -> LinkRegistry:
    for party in (ANN, BOB, CY):
        registry.speaks_in_turns(party.pane, whole=True)
    return registry


def turn(registry: LinkRegistry, who: Party, *lines: str, now: float = 1.0) -> list[Effect]:
    texts = [Text(text=line, origin="program", pane=who.pane) for line in lines]
    ended = TurnEnded(reason="signal", certain=True, pane=who.pane)
    effects: list[Effect] = []
    for event in (TurnStarted(pane=who.pane), *texts, ended):
        effects += registry.handle(event, now)
    return effects


def crossed(effects: list[Effect]) -> list[tuple[str, str]]:
    return [(e.listeners[0].session, e.text) for e in effects if isinstance(e, Deliver)]


def notices(effects: list[Effect]) -> dict[str, str]:
    return {e.listeners[0].session: e.text for e in effects if isinstance(e, Notice)}


def told(effects: list[Effect]) -> list[Event]:
    return [e.event for e in effects if isinstance(e, PublishEvent)]


@pytest.mark.requirement("LNK-01a")
def test_there_is_one_link_between_two_whoever_asks_for_it():
    registry = LinkRegistry()
    link, effects = registry.create(ANN, BOB, link_id="first", at=5.0)
    assert told(effects) == [
        LinkCreated(
            link="first", parties=("s-ann", "s-bob"), titles=("Ann's work", "Bob's work"), budget=BUDGET
        )
    ]  # fmt: skip
    assert registry.create(ANN, BOB, link_id="second", at=6.0, policy=LinkPolicy(budget=1)) == (link, [])
    assert registry.create(BOB, ANN, link_id="third", at=7.0) == (link, [])
    assert registry.links() == [link]
    assert (link.state, link.remaining, link.created_at) == ("open", BUDGET, 5.0)


@pytest.mark.requirement("LNK-01a")
def test_a_link_is_found_by_either_side_and_tells_of_the_other():
    registry = linked()
    registry.create(CY, ANN, link_id="other", at=1.0)
    (link,) = registry.of("s-bob")
    assert registry.between("s-bob", "s-ann") == registry.between("s-ann", "s-bob") == link
    assert link.peer_of("s-bob") == ANN
    assert [each.peer_of("s-ann") for each in registry.of("s-ann")] == [BOB, CY]
    assert registry.of("nobody") == []
    assert registry.between("s-bob", "s-cy") is None


def test_nobody_is_linked_with_themselves():
    with pytest.raises(UsageError):
        LinkRegistry().create(ANN, ANN, link_id="l", at=0.0)


@pytest.mark.requirement("LNK-02")
def test_what_a_side_has_said_when_it_stops_crosses_as_from_its_title():
    registry = linked()
    assert crossed(turn(registry, ANN, "Is parse_line", "right?")) == [
        ("s-bob", "[From Ann's work] Is parse_line\nright?")
    ]
    assert crossed(turn(registry, BOB, "It is.")) == [("s-ann", "[From Bob's work] It is.")]
    (link,) = registry.links()
    assert (link.deliveries, link.remaining) == (2, 6)


def test_every_peer_of_a_session_hears_it_within_its_own_budget():
    registry = linked(LinkPolicy(budget=1))
    registry.create(ANN, CY, link_id="other", at=1.0)
    assert [session for session, _ in crossed(turn(registry, ANN, "one"))] == ["s-bob", "s-cy"]
    assert [session for session, _ in crossed(turn(registry, ANN, "two"))] == ["s-cy"]


@pytest.mark.requirement("LNK-03")
def test_the_last_delivery_is_made_and_both_sides_and_the_person_are_told():
    registry = linked(LinkPolicy(budget=2))
    turn(registry, ANN, "one")
    effects = turn(registry, BOB, "two")
    assert crossed(effects) == [("s-ann", "[From Bob's work] two")]
    assert told(effects) == [LinkSpent(link="l", deliveries=2)]
    assert set(notices(effects)) == {"s-ann", "s-bob"}
    assert "The link with Bob's work is spent after 2 deliveries" in notices(effects)["s-ann"]
    assert registry.links()[0].state == "spent"
    assert turn(registry, ANN, "three") == []

    effects = registry.extend("s-bob", "s-ann", 3, 9.0)
    assert told(effects) == [LinkExtended(link="l", deliveries=2, budget=5)]
    assert crossed(effects) == [("s-bob", "[From Ann's work] three")]
    assert (registry.links()[0].state, registry.links()[0].remaining) == ("open", 2)
    assert registry.extend("s-ann", "s-cy", 3, 9.0) == []


@pytest.mark.requirement("LNK-03")
def test_a_budget_of_zero_is_none():
    registry = linked(LinkPolicy(budget=0))
    for number in range(100):
        assert crossed(turn(registry, (ANN, BOB)[number % 2], f"message {number}"))
    assert registry.links()[0].remaining is None
    assert registry.extend("s-ann", "s-bob", 8, 1.0) == []


@pytest.mark.requirement("LNK-04")
@pytest.mark.parametrize("lines", [(f"{CHECKPOINTS[0]} all is saved",), ("",), ("   ", "\t"), ()])
def test_answers_to_checkpoints_and_empty_output_neither_cross_nor_count(lines):
    registry = linked()
    effects = turn(registry, ANN, *lines)
    assert crossed(effects) == []
    assert registry.links()[0].deliveries == 0
    assert [event.reason for event in told(effects) if isinstance(event, RelayWithheld)] == (
        ["checkpoint"] if lines and lines[0].startswith("[") else []
    )


def test_what_checkpoints_begin_with_is_configured():
    registry = linked(LinkPolicy(checkpoints=("Saved my context",)))
    assert crossed(turn(registry, ANN, "Saved my context to notes.md")) == []
    assert crossed(turn(registry, ANN, "[checkpoint] is nothing special here"))


@pytest.mark.requirement("LNK-05a")
def test_either_side_closes_with_its_last_words_and_the_other_is_told():
    registry = linked(LinkPolicy(budget=1))
    turn(registry, ANN, "the only delivery")
    effects = registry.close_link("s-bob", "s-ann", by="s-bob", last_words="Goodbye.")
    last, event, notice = effects
    assert isinstance(last, Notice)
    assert (last.text, last.listeners[0].session) == ("[From Bob's work] Goodbye.", "s-ann")
    assert event == PublishEvent(
        LinkClosed(link="l", reason="closed", by="s-bob", deliveries=1, traffic=event.event.traffic)
    )  # fmt: skip
    assert "Bob's work has closed the link" in notice.text
    assert registry.closed
    assert turn(registry, ANN, "still there?") == []
    assert registry.close_link("s-bob", "s-ann", by="s-bob", last_words="Again.") == []


def test_a_person_who_ends_a_link_need_not_be_told():
    effects = linked().close_link("s-ann", "s-bob", reason="stopped")
    assert [type(event) for event in told(effects)] == [LinkClosed]
    assert notices(effects) == {}


def test_a_session_that_ends_takes_all_its_links_with_it_at_once():
    registry = linked()
    registry.create(ANN, CY, link_id="other", at=1.0)
    registry.listen(BOB, CY, listener_id="n1")
    effects = registry.handle(PaneClosed(reason="pane_gone", pane=ANN.pane), 2.0)
    assert [(event.link, event.reason, event.by) for event in told(effects)] == [
        ("l", "pane_gone", "s-ann"),
        ("other", "pane_gone", "s-ann"),
    ]
    assert notices(effects) == dict.fromkeys(
        ("s-bob", "s-cy"), "[streamrelay] Ann's work has ended, and the link with it. No answer is needed."
    )
    assert registry.links() == []
    assert turn(registry, BOB, "anybody?") == []


@pytest.mark.requirement("LNK-06")
def test_a_listener_is_told_once_that_its_target_stopped():
    registry = LinkRegistry()
    assert registry.listen(ANN, BOB, listener_id="n1")
    effects = turn(registry, BOB, "what I say is mine")
    assert told(effects) == [StopNotified(caller="s-ann", target="s-bob", reason="signal")]
    (notice,) = [e for e in effects if isinstance(e, Notice)]
    assert (notice.message_id, notice.listeners[0].pane) == ("n1", "%1")
    assert notice.text == "[streamrelay] Bob's work has stopped; what it said is in its own session."
    assert turn(registry, BOB, "again") == []
    assert registry.closed


@pytest.mark.requirement("LNK-06")
def test_a_listener_whose_target_is_gone_is_told_that():
    registry = LinkRegistry()
    registry.listen(ANN, BOB, listener_id="n1")
    registry.listen(BOB, CY, listener_id="n2")
    effects = registry.handle(PaneClosed(reason="session_gone", pane=BOB.pane), 1.0)
    assert notices(effects) == {"s-ann": "[streamrelay] Bob's work has ended."}
    assert registry.closed


@pytest.mark.requirement("LNK-06")
def test_one_of_two_listeners_is_dropped_and_the_other_hears_the_stop():
    registry = LinkRegistry()
    registry.listen(ANN, BOB, listener_id="n1")
    registry.listen(CY, BOB, listener_id="n2")
    assert notices(registry.drop_listener("n1", "gone")) == {"s-ann": "[streamrelay] Bob's work has ended."}
    assert registry.drop_listener("n1", "gone") == []
    assert notices(turn(registry, BOB, "done")) == {
        "s-cy": "[streamrelay] Bob's work has stopped; what it said is in its own session."
    }


def test_a_link_and_a_listener_are_never_there_both():
    registry = LinkRegistry()
    registry.listen(ANN, BOB, listener_id="n1")
    registry.create(BOB, ANN, link_id="l", at=0.0)
    agents(registry)
    assert not any(isinstance(event, StopNotified) for event in told(turn(registry, BOB, "hello")))
    assert not registry.listen(ANN, BOB, listener_id="n2")


@pytest.mark.requirement("REL-09")
def test_links_are_suspended_while_a_side_is_in_a_relay():
    registry = linked()
    assert told(registry.suspend("s-ann", by="relay-7")) == [LinkSuspended(link="l", by="relay-7")]
    effects = turn(registry, BOB, "can you hear me?")
    assert [event.why for event in told(effects)] == ["a participant is in relay-7"]
    assert registry.links()[0].state == "suspended"
    _, effects = registry.create(ANN, CY, link_id="new", at=2.0)
    assert LinkSuspended(link="new", by="relay-7") in told(effects)
    assert [event.by for event in told(registry.suspend("s-ann", by=""))] == ["", ""]
    assert registry.suspend("s-ann", by="") == []
    assert crossed(turn(registry, BOB, "and now?"))
    assert registry.links()[0].deliveries == 1


@pytest.mark.requirement("REL-09")
def test_what_a_link_holds_for_its_rate_is_held_while_it_is_suspended_and_sent_then():
    registry = linked(LinkPolicy(per_minute=1))
    assert crossed(turn(registry, ANN, "one", now=1.0))
    assert crossed(turn(registry, BOB, "held", now=2.0)) == []
    registry.suspend("s-ann", by="relay-7")
    assert registry.deadline() is None
    assert registry.advance(61.0) == []
    assert crossed(registry.pause(62.0)) == crossed(registry.pause(63.0, paused=False)) == []
    assert registry.deadline() is None
    registry.suspend("s-ann", by="")
    assert registry.deadline() <= 64.0
    assert crossed(registry.advance(64.0)) == [("s-ann", "[From Bob's work] held")]


@pytest.mark.parametrize(("direction", "heard"), [("both", "ab"), ("from_a", "a"), ("from_b", "b")])
def test_a_policy_says_whose_words_cross(direction, heard):
    registry = linked(LinkPolicy(direction=direction))
    effects = turn(registry, ANN, "from a") + turn(registry, BOB, "from b")
    assert "".join(text[-1] for _, text in crossed(effects)) == heard


def test_a_policy_says_how_much_and_how_fast():
    registry = linked(LinkPolicy(longest=5, per_minute=1))
    assert crossed(turn(registry, ANN, "0123456789", now=1.0))[0][1].startswith("[From Ann's work] 01234\n[…")
    assert crossed(turn(registry, BOB, "later", now=2.0)) == []
    assert registry.deadline() == 61.0
    assert crossed(registry.advance(61.0)) == [("s-ann", "[From Bob's work] later")]


def test_two_of_the_same_title_are_told_apart():
    registry = LinkRegistry()
    registry.create(ANN, msgspec.structs.replace(BOB, title=ANN.title), link_id="l", at=0.0)
    agents(registry)
    assert crossed(turn(registry, ANN, "hello")) == [("s-bob", "[From Ann's work s-ann] hello")]


def test_paused_links_go_on_where_they_were():
    registry = linked()
    registry.pause(1.0)
    assert crossed(turn(registry, ANN, "held")) == []
    registry.mute("s-bob")
    assert crossed(registry.pause(2.0, paused=False)) == [("s-bob", "[From Ann's work] held")]
    assert crossed(turn(registry, BOB, "muted")) == []


def test_the_texts_are_the_users():
    texts = NoticeTexts(frame="<{name}> {text}", spent="", closed="{title} left after {deliveries}")
    registry = linked(LinkPolicy(budget=1), texts)
    effects = turn(registry, ANN, "hello")
    assert crossed(effects) == [("s-bob", "<Ann's work> hello")]
    assert notices(effects) == {}
    assert notices(registry.close_link("s-ann", "s-bob", by="s-ann")) == {"s-bob": "Ann's work left after 1"}
    for wrong in (
        NoticeTexts(frame="nothing said"),
        NoticeTexts(spent="{budget}"),
        NoticeTexts(frame="{title} {text}"),
    ):
        with pytest.raises(UsageError):
            LinkRegistry(wrong)


def test_links_go_on_as_they_were_stored():
    registry = linked(LinkPolicy(budget=2))
    registry.listen(CY, BOB, listener_id="n1")
    turn(registry, ANN, "one")
    data = msgspec.json.encode(registry.stored())
    again = agents(LinkRegistry.restored(msgspec.json.decode(data, type=StoredLinks)))
    assert msgspec.json.encode(again.stored()) == data
    effects = turn(again, BOB, "two")
    assert [e.message_id for e in effects if isinstance(e, Deliver)] == ["l-2"]
    assert [type(event) for event in told(effects)] == [LinkSpent, StopNotified]


def test_a_message_of_a_side_crosses_the_link_that_there_is():
    registry = linked()
    effects = registry.deliver("s-ann", "s-bob", "by hand", message_id="m", now=1.0)
    assert crossed(effects) == [("s-bob", "[From Ann's work] by hand")]
    assert registry.links()[0].deliveries == 1
    assert registry.deliver("s-ann", "s-cy", "by hand", message_id="n", now=1.0) == []


@pytest.mark.parametrize(("by", "words"), [("s-ann", ""), ("s-ann", " \n"), ("", "from a person")])
def test_a_link_closes_without_last_words_where_no_side_says_any(by, words):
    registry = linked()
    effects = registry.close_link("s-ann", "s-bob", by=by, last_words=words)
    assert all("has closed the link" in text or "closed" in text for text in notices(effects).values())
    assert "s-ann" not in notices(effects) or not by
    assert not any(effect.message_id == "l-last" for effect in effects if isinstance(effect, Notice))
    assert registry.closed


def test_a_session_that_speaks_in_turns_does_so_on_every_link_old_and_new():
    registry = linked()
    registry.create(ANN, CY, link_id="new", at=1.0)
    said = Text(text="half an answer", origin="program", pane=ANN.pane)
    for event in (TurnStarted(pane=ANN.pane), said):
        assert crossed(registry.handle(event, 1.0)) == []
    assert crossed(registry.advance(60.0)) == [], "an agent's turn is not a burst that rest ends"
    registry.speaks_in_turns(ANN.pane, whole=False)
    registry.create(BOB, CY, link_id="newest", at=2.0)
    registry.speaks_in_turns(BOB.pane, whole=False)
    registry.handle(TurnEnded(reason="signal", certain=True, pane=ANN.pane), 61.0)
    registry.handle(Text(text="a printed line", origin="program", pane=BOB.pane), 62.0)
    assert sorted(session for session, _ in crossed(registry.advance(70.0))) == ["s-ann", "s-cy"]


def test_a_notice_about_a_listener_counts_no_deliveries():
    registry = LinkRegistry(NoticeTexts(stopped="{title}: {deliveries}", gone="{title}, {deliveries}"))
    agents(registry)
    registry.listen(ANN, BOB, listener_id="n1")
    registry.listen(CY, BOB, listener_id="n2")
    assert notices(registry.drop_listener("n1", "pane_gone")) == {"s-ann": "Bob's work, 0"}
    assert notices(turn(registry, BOB, "done")) == {"s-cy": "Bob's work: 0"}


def test_a_link_without_notices_delivers_and_ends_without_a_word_of_its_own():
    for notices_wanted in (True, False):
        registry = linked(LinkPolicy(budget=1, notices=notices_wanted), NoticeTexts(extended="more"))
        effects = turn(registry, ANN, "news")
        assert crossed(effects) == [("s-bob", "[From Ann's work] news")]
        assert LinkSpent(link="l", deliveries=1) in told(effects)
        extended = registry.extend("s-ann", "s-bob", 2, 2.0)
        closed = registry.close_link("s-ann", "s-bob", by="s-ann", last_words="bye")
        # Last words are a side's own, not a notice of the link.
        words = [text for each in (effects, extended, closed) for text in notices(each).values()]
        assert "[From Ann's work] bye" in words or notices_wanted
        assert (len(words) > 1) == notices_wanted, words
