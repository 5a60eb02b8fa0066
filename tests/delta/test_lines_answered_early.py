"""A message of several lines to a program that reads lines: it answers the first ones before the Enter is sent."""

import pytest

from streamrelay.events import Injected, Text, TurnEnded, TurnStarted
from streamrelay.testing.scripted_pane import ScriptedPane

CAT = "a1\r\nb2\r\nc3a1\r\nb2\r\n"
"""What the kernel echoes of `a1`, `b2` and `c3` before the Enter, and what `cat` prints of it."""


def answers(pane: ScriptedPane, message_id: str) -> list[str]:
    """Return what belongs to the turn that the Enter behind a message began."""
    turn = next(
        event.turn
        for event in pane.events
        if isinstance(event, Injected) and event.message_id == message_id and event.state == "entering"
    )
    return [event.text for event in pane.texts() if event.origin == "program" and event.turn == turn]


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("read_size", [None, 1, 7])
@pytest.mark.parametrize(
    ("painted", "rest", "wanted"),
    [
        (CAT, "\r\nc3\r\n", ["a1", "b2", "c3"]),
        ("a1\r\nre: A1\r\nb2\r\nre: B2\r\nc3", "\r\nre: C3\r\n", ["re: A1", "re: B2", "re: C3"]),
        ("a1\r\nb2\r\nc3re: A1\r\nre: B2\r\n", "\r\nre: C3\r\n", ["re: A1", "re: B2", "re: C3"]),
        ("re: A1\r\nre: B2\r\n", "re: C3\r\n", ["re: A1", "re: B2", "re: C3"]),
    ],
    ids=["cat", "in turn", "at once", "without an echo"],
)
def test_all_answers_belong_to_the_turn_of_the_message(
    painted: str, rest: str, wanted: list[str], read_size: int | None
) -> None:
    pane = ScriptedPane()
    message_id = pane.pastes("a1\nb2\nc3")
    pane.prints(painted, read_size=read_size)
    pane.rests(0.1)
    assert pane.said() == []
    pane.submits(message_id)
    pane.prints(rest, read_size=read_size)
    pane.ends()
    assert answers(pane, message_id) == pane.said() == wanted
    assert [event.message_id for event in pane.events if isinstance(event, TurnStarted)] == [message_id]
    assert [event.reason for event in pane.events if isinstance(event, TurnEnded)] == ["quiet"]


def test_what_a_program_still_answers_to_another_message_is_said_at_once() -> None:
    pane = ScriptedPane()
    first = pane.sends("one", painted="one")
    pane.prints("\r\nanswer\r\n")
    second = pane.pastes("two\nthree")
    pane.prints("more of it\r\n")
    assert pane.said() == ["answer", "more of it"]
    pane.prints("two\r\nthreere: two\r\n")
    pane.submits(second)
    pane.prints("\r\nre: three\r\n")
    pane.ends()
    assert answers(pane, first) == ["answer", "more of it"]
    assert answers(pane, second) == ["re: two", "re: three"]


def test_an_answer_is_not_kept_for_an_enter_that_does_not_come() -> None:
    pane = ScriptedPane()
    pane.pastes("a1\nb2")
    pane.prints("a1\r\nb2re: A1\r\n")
    pane.rests(60)
    assert pane.said() == ["re: A1"]


def test_a_line_alone_is_no_early_answer() -> None:
    pane = ScriptedPane()
    message_id = pane.pastes("a1")
    pane.prints("log line\r\n")
    assert pane.said() == ["log line"]
    pane.submits(message_id)
    assert [event.text for event in pane.events if isinstance(event, Text)] == ["log line"]
