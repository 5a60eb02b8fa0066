"""Which turn the words of a program that paints its screen belong to, and that each turn ends."""

from dataclasses import replace

import pytest

from streamrelay.delta.frames import SETTLE
from streamrelay.delta.inputs import Ran
from streamrelay.events import TurnEnded, TurnStarted
from streamrelay.testing.painted_talk import LOOKS, SILENT, TELLING, Talk, name
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.testing.transcript_program import TranscriptProgram

pytestmark = pytest.mark.sampled(6)

MAIN = [look for look in LOOKS if not look.alternate]


def turns_of(pane: ScriptedPane) -> list[tuple[str, int]]:
    """Return the beginnings and ends of turns, by number."""
    return [
        ("begins" if isinstance(event, TurnStarted) else "ends", event.turn)
        for event in pane.events
        if isinstance(event, TurnStarted | TurnEnded)
    ]


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("look", SILENT, ids=name)
def test_a_message_that_was_given_up_and_one_that_waits_are_both_answered(look) -> None:
    talk = Talk(look)
    talk.sends("zero")
    talk.answers("nought")
    for message in ("first", "second"):
        talk.asks(message)
        talk.program.queues()
        talk.paints(talk.program.rests(), rest=15.0 if message == "first" else 0.2)
    for message, answer in (("first", "one"), ("second", "two")):
        talk.paints(talk.program.drafts(message), talk.program.submits())
        talk.streams(answer)
    talk.paints(talk.program.rests(), rest=15.0)
    assert talk.pane.said() == ["nought", "one", "two"]


@pytest.mark.requirement("DEL-02c", "DEL-05")
@pytest.mark.parametrize("look", LOOKS, ids=name)
@pytest.mark.parametrize("is_behind", [False, True], ids=["composer-empty", "next-in-composer"])
def test_messages_that_begin_with_the_same_name_are_told_apart_while_one_stands_in_the_composer(
    look, is_behind: bool
) -> None:
    """The program queues messages of one speaker and answers two in one snapshot, as after a lost connection."""
    talk = Talk(replace(look, lines=24))
    talk.sends("zero")
    talk.answers("nought")
    first, second, third = (f"Bob@beta (2):\n\nBob says {number}." for number in range(1, 4))
    talk.sends(first)
    talk.asks(second)
    talk.program.queues()
    talk.paints(talk.program.works())
    if is_behind:
        talk.pane.pastes(third)
        talk.paints(talk.program.drafts(third), rest=0.12)
    snapshot = talk.program.says("one") + talk.program.rests() + talk.program.shows(second)
    talk.paints(snapshot + talk.program.says("two") + talk.program.rests(), rest=15.0)
    assert talk.heard()[2:] == [
        ("injected", "Bob@beta (2):"),
        ("injected", "Bob says 1."),
        ("program", "one"),
        ("injected", "Bob@beta (2):"),
        ("injected", "Bob says 2."),
        ("program", "two"),
    ]


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("look", LOOKS, ids=name)
def test_what_is_typed_at_a_shell_counts_no_turn_of_the_agent_started_there(look) -> None:
    pane, program = ScriptedPane(look.columns, look.lines), TranscriptProgram(look)
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "sh"))
    for command in ("ls", "pwd", "agent"):
        pane.prints("\x1b[?2004h$ ")
        pane.rests()
        for letter in command:
            pane.prints(letter)
            pane.rests(0.05)
        pane.prints("\x1b[?2004l\r\r\n" + (f"out of {command}\r\n" if command != "agent" else ""))
        pane.rests(3.0)
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "agent"))
    for snapshot in (program.starts(), program.drafts("hello"), program.submits(), program.says("Hi there")):
        pane.prints(snapshot)
        pane.rests(0.1)
    pane.prints(program.rests())
    pane.rests()
    said = [(text.text, text.turn) for text in pane.texts() if text.text in {"hello", "Hi there"}]
    assert [text for text, _ in said] == ["hello", "Hi there"]
    assert {turn for _, turn in said} == {turn for _, turn in turns_of(pane)[-2:]}


@pytest.mark.requirement("DEL-04a")
@pytest.mark.parametrize("look", MAIN, ids=name)
def test_a_turn_over_which_an_editor_asked_something_ends(look) -> None:
    talk = Talk(look)
    talk.sends("hello")
    talk.streams("Hi!")
    talk.paints(talk.program.rests(), rest=0.05)
    talk.pane.prints("\x1b[?1049h\x1b[2J\x1b[Hfile.txt\r\n\r\nPress ENTER or type command to continue")
    talk.pane.rests(5.0)
    assert not talk.ends()
    talk.pane.prints("\x1b[?1049l")
    talk.pane.rests(60.0)
    assert talk.pane.said() == ["Hi!"]
    assert turns_of(talk.pane) == [("begins", 1), ("ends", 1)]


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("look", [look for look in TELLING if not look.synchronized], ids=name)
def test_a_turn_does_not_end_before_what_was_painted_last_is_looked_at(look) -> None:
    talk = Talk(look)
    talk.sends("first")
    talk.streams("one")
    talk.paints(talk.program.rests(), rest=0.05)
    talk.paints(*(talk.program.works() for _ in range(100)), rest=SETTLE / 2)
    assert not talk.ends()
    talk.answers("two")
    assert turns_of(talk.pane) == [("begins", 1), ("ends", 1)]
    assert talk.pane.said()[-1].endswith("two")


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("look", MAIN, ids=name)
def test_the_last_words_of_an_agent_that_leaves_are_heard(look) -> None:
    talk = Talk(replace(look, witness=None))
    talk.sends("first")
    talk.answers("one")
    talk.sends("second")
    talk.streams("two")
    talk.paints(talk.program.rests(), rest=0.5)
    talk.pane.prints(talk.program.leaves())
    talk.pane.prints("$ ")
    talk.pane.rests(60.0)
    assert [text for text in talk.pane.said() if text.strip(" >")] == ["one", "two"]
    assert turns_of(talk.pane) == [("begins", 1), ("ends", 1), ("begins", 2), ("ends", 2)]


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_a_message_that_nobody_saw_being_typed_has_a_turn_of_its_own(look) -> None:
    talk = Talk(look)
    talk.sends("first")
    talk.answers("one")
    talk.program.drafts("second")
    talk.paints(talk.program.submits())
    talk.answers("two")
    talk.sends("third")
    talk.answers("three")
    said = [(text.origin, text.text, text.turn) for text in talk.pane.texts() if text.text]
    assert said[2:] == [
        ("typed", "second", 2),
        ("program", "two", 2),
        ("injected", "third", 3),
        ("program", "three", 3),
    ]
    assert [turn for what, turn in turns_of(talk.pane) if what == "ends"][-2:] == [2, 3]
