"""What an agent reads of the journal: all that matters, nothing twice, no more than it can take."""

from streamrelay.events import (
    Activity,
    Gap,
    LinkClosed,
    LinkCreated,
    LinkSpent,
    NeedsHuman,
    PaneClosed,
    Receipt,
    RelayDelivered,
    RelayWithheld,
    Text,
    TurnEnded,
)
from streamrelay.mcp.entries import MAX_CHARACTERS, read


def said(seq: int, text: str, session: str = "s", turn: int = 1, origin: str = "program") -> Text:
    return Text(seq=seq, at=60.0, session=session, turn=turn, text=text, origin=origin)


def test_lines_of_one_turn_are_one_entry_until_somebody_else_speaks():
    events = [said(1, "a"), said(2, "b"), said(3, "c", session="t"), said(4, "d"), said(5, "e", turn=2)]
    entries, last = read(events, 100)
    assert [(entry.seq, entry.session, entry.text) for entry in entries] == [
        (2, "s", "a\nb"), (3, "t", "c"), (4, "s", "d"), (5, "s", "e"),
    ]  # fmt: skip
    assert last == 5
    assert entries[0].at == "1970-01-01 00:01:00Z"


def test_what_was_typed_by_us_is_not_told_again_and_what_a_person_types_is():
    entries, last = read([said(1, "[From Bob] x", origin="injected"), said(2, "y", origin="typed")], 100)
    assert [(entry.what, entry.text) for entry in entries] == [("a person typed", "y")]
    assert last == 2


def test_what_happened_is_told_in_words():
    events = [
        NeedsHuman(seq=1, session="s", kind="permission", text="Do you want?"),
        TurnEnded(seq=2, session="s", reason="signal", certain=True),
        PaneClosed(seq=3, session="s", reason="pane_gone"),
        Gap(seq=4, session="s", reason="paused"),
        Receipt(seq=5, pane="%3", message_id="m", state="failed", reason="needs_human"),
        LinkCreated(seq=6, link="l", parties=("a", "b"), titles=("Ann\n", "Bob"), budget=8),
        RelayDelivered(seq=7, relay="l", message_id="m", speaker="Ann", listeners=("Bob",), text="long"),
        RelayWithheld(seq=8, relay="l", speaker="Ann", reason="muted", why="a person muted Ann", count=1),
        LinkSpent(seq=9, link="l", deliveries=8),
        LinkClosed(seq=10, link="l", reason="closed", by="a", deliveries=8),
        Activity(seq=11, session="s", text="Bash(ls)"),
    ]
    entries, last = read(events, 100)
    assert [entry.what for entry in entries] == [
        "waits for a person (permission)",
        "has finished its turn",
        "is gone (pane_gone)",
        "something may be missing here (paused)",
        "message m is failed (needs_human)",
        "link l of Ann and Bob begins",
        "what Ann said goes to Bob",
        "what Ann said was not delivered (a person muted Ann)",
        "link l is spent after 8 deliveries",
        "link l is closed (closed)",
    ]
    assert last == 11
    assert entries[4].as_text() == "[5] 1970-01-01 00:00:00Z %3 message m is failed (needs_human)"
    assert entries[5].as_text() == "[6] 1970-01-01 00:00:00Z link l of Ann and Bob begins"


def test_an_answer_has_an_end_and_says_where():
    events = [said(seq, "x" * (MAX_CHARACTERS // 2), session=str(seq)) for seq in (1, 2, 3)]
    entries, last = read(events, 100)
    assert ([entry.seq for entry in entries], last) == ([1], 1)
    entries, last = read([said(1, "y" * (MAX_CHARACTERS + 5))], 100)
    assert entries[0].text.endswith("y [and 5 characters more]")
    assert last == 1
    assert read([], 100) == ([], None)
    assert [entry.seq for entry in read(events, 1)[0]] == [1]
