from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.testing.conversation import Header, RawComposer, ScriptedConversation, Typed, parse_header


def test_the_header_of_a_relayed_message_is_read() -> None:
    assert parse_header("Bob (2):") == Header("Bob", "2")
    assert parse_header("Bob (the Builder) (12):  ") == Header("Bob (the Builder)", "12")
    assert parse_header("message 5 from Bob") is None
    assert parse_header("Bob (2): hello") is None


def test_two_participants_count_to_the_last_round() -> None:
    ann, bob = ScriptedConversation("Ann", rounds=3), ScriptedConversation("Bob", rounds=3)
    said, line = [], ann.start()
    while line:
        said += line
        line = (bob if len(said) % 2 else ann).hear(said[-1])
    assert said == [f"message {n} from {'Ann' if n % 2 else 'Bob'}" for n in range(1, 7)]
    assert ann.finished
    assert bob.finished


def test_every_so_many_answers_quote_what_was_heard() -> None:
    bob = ScriptedConversation("Bob", quote_every=2)
    assert bob.hear("message 1 from Ann") == ["message 2 from Bob"]
    assert bob.hear("message 3 from Ann") == [
        "You said: message 3 from Ann",
        "message 3 from Ann",
        "message 4 from Bob",
    ]


def test_a_quote_of_oneself_a_repetition_and_other_talk_are_not_answered() -> None:
    ann = ScriptedConversation("Ann")
    assert ann.start() == ["message 1 from Ann"]
    assert ann.start() == []
    assert ann.hear("message 9 from Ann") == []
    assert ann.hear("You said: message 9 from Bob") == []
    assert ann.hear("  message 2 from Bob ") == ["message 3 from Ann"]
    assert ann.hear("message 2 from Cid") == []


@pytest.mark.parametrize(
    ("data", "typed"),
    [
        (b"hi\r", [Typed("text", "hi"), Typed("enter")]),
        (b"\x1b[200~a\rb\r\nc\nd\x1b[201~\r", "a\nb\nc\nd"),
        (b"a\x7f\x03", [Typed("text", "a"), Typed("erase"), Typed("leave")]),
        (b"\x1b[200~\x03\x7f\x1b[Ax\x1b[201~", [Typed("text", "x")]),
        (b"\xc3\r", [Typed("text", "\ufffd"), Typed("enter")]),
    ],
)
def test_the_composer_reads_keys_and_pastes(data: bytes, typed: list[Typed] | str) -> None:
    events = RawComposer().feed(data)
    if isinstance(typed, str):
        assert "".join(event.text for event in events) == typed
        assert events[-1] == Typed("enter")
    else:
        assert events == typed


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_the_composer_never_raises_on_bytes(data: bytes, cuts: list[int]) -> None:
    composer = RawComposer()
    edges = [0, *sorted(cuts), len(data)]
    for begin, end in pairwise(edges):
        composer.feed(data[begin:end])


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=30), st.integers(1, 5))
def test_cutting_anywhere_changes_nothing(text: str, size: int) -> None:
    data = b"\x1b[200~" + text.encode() + b"\x1b[201~\r"
    composer = RawComposer()
    events = [event for at in range(0, len(data), size) for event in composer.feed(data[at : at + size])]
    assert "".join(event.text for event in events) == text
    assert events[-1] == Typed("enter")
