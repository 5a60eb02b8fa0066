"""How a conversation stands, from its events to what people are shown. Pure."""

import pytest

from streamrelay.events import (
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    NeedsHuman,
    PaneClosed,
    RelayClosed,
    RelayDelivered,
    RelayLeft,
    RelayMuted,
    RelayPaused,
    Text,
    TurnStarted,
)
from streamrelay.notifying.board import MAX_CHARACTERS, ConversationBoard, Notify, ShowStatus
from streamrelay.notifying.notifier import said, shown

DELIVERED = RelayDelivered(relay="l", message_id="m", speaker="Ann", listeners=("Bob",), text="secret")


@pytest.fixture
def shows():
    """The board of a link, and what its two panes show after an event."""
    board = ConversationBoard({"%1": "Ann", "%2": "Bob"})
    panes = {}

    def take(event=None):
        effects = board.opening() if event is None else board.take(event)
        panes.update({effect.pane: effect.text for effect in effects if isinstance(effect, ShowStatus)})
        return panes.get("%1"), panes.get("%2"), [effect for effect in effects if isinstance(effect, Notify)]

    return take


def test_each_side_shows_the_other_and_the_count(shows):
    assert shows() == ("Bob 0", "Ann 0", [])
    assert shows(LinkCreated(link="l", parties=("a", "b"), titles=("Ann", "Bob"), budget=2)) == (
        "Bob 0/2",
        "Ann 0/2",
        [],
    )
    assert shows(DELIVERED) == ("Bob 1/2", "Ann 1/2", [])
    assert shows(RelayPaused(relay="l", paused=True))[0] == "Bob 1/2 paused"
    assert shows(RelayPaused(relay="l", paused=False))[0] == "Bob 1/2"
    assert shows(RelayMuted(relay="l", participant="Ann", muted=True))[:2] == ("Bob 1/2 muted", "Ann 1/2")
    assert shows(RelayMuted(relay="l", participant="Ann", muted=False))[:2] == ("Bob 1/2", "Ann 1/2")


def test_a_spent_budget_is_told_once_to_both_and_extended(shows):
    shows(LinkCreated(link="l", parties=("a", "b"), titles=("Ann", "Bob"), budget=1))
    shows(DELIVERED)
    told = [Notify(("%1", "%2"), "Ann and Bob: the budget of 1 delivery is spent")]
    assert shows(LinkSpent(link="l", deliveries=1)) == ("Bob 1/1 spent", "Ann 1/1 spent", told)
    assert shows(LinkExtended(link="l", deliveries=1, budget=3)) == ("Bob 1/3", "Ann 1/3", [])
    assert shows(LinkSpent(link="l", deliveries=3))[2]
    assert shows(LinkClosed(link="l", reason="spent", by="", deliveries=3)) == ("", "", [])


def test_a_relay_that_ends_with_its_budget_tells_it():
    board = ConversationBoard({"%1": "Ann (1)", "%2": "Bob (2)", "%3": "Cyd (3)"}, budget=1)
    assert {effect.text for effect in board.opening()} == {
        "Bob (2), Cyd (3) 0/1", "Ann (1), Cyd (3) 0/1", "Ann (1), Bob (2) 0/1",
    }  # fmt: skip
    board.take(RelayLeft(relay="r", participant="Cyd (3)", reason="pane_gone", remaining=2))
    effects = board.take(RelayClosed(relay="r", reason="budget_spent", deliveries=1))
    assert Notify(("%1", "%2"), "Ann (1) and Bob (2): the budget of 1 delivery is spent") in effects
    assert {ShowStatus("%1", ""), ShowStatus("%2", "")} <= set(effects)


@pytest.mark.parametrize("goes_on", [TurnStarted(pane="%2"), Text(text="x", origin="program", pane="%2")])
def test_a_dialog_is_told_once_until_the_program_goes_on(shows, goes_on):
    shows()
    asks = NeedsHuman(kind="permission", text="rm -rf /?", pane="%2")
    assert shows(asks) == (
        "Bob 0",
        "waits for you: permission",
        [Notify(("%2",), "Bob waits for a person (permission)")],
    )
    assert shows(asks)[2] == []
    assert shows(NeedsHuman(kind="login", pane="%2"))[2]
    assert shows(goes_on) == ("Bob 0", "Ann 0", [])
    assert shows(asks)[2]
    assert shows(NeedsHuman(kind="login", pane="%9"))[2] == []


def test_one_who_is_alone_shows_nothing_but_that_it_waits():
    board = ConversationBoard({"%1": "work:0.0"})
    assert board.opening() == []
    assert ShowStatus("%1", "waits for you: trust") in board.take(NeedsHuman(kind="trust", pane="%1"))
    assert board.closing() == [ShowStatus("%1", "")]
    assert board.closing() == []


def test_a_pane_that_closed_is_shown_nothing_more(shows):
    shows()
    assert shows(PaneClosed(reason="exited", pane="%2")) == ("", "", [])


def test_nothing_that_was_said_is_shown_and_names_are_short():
    board = ConversationBoard({"%1": "A" * 64, "%2": "Bob"})
    texts = [effect.text for effect in [*board.opening(), *board.take(DELIVERED)]]
    assert max(map(len, texts)) <= MAX_CHARACTERS + 2
    assert not any("secret" in text for text in texts)


def test_names_are_no_formats():
    assert shown("#[fg=red]#{pane_id}") == "##[fg=red]##{pane_id}"
    assert said("100 %H #(x)") == "100 %%H ##(x)"
