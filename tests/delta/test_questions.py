"""A program that asks on an unfinished line has answered with the question: the sender's next message is the answer."""

import pytest

from streamrelay.delta.inputs import Ran
from streamrelay.delta.turns import AT_WORK, MAX_AT_WORK, QUIET, UNHEARD
from streamrelay.events import NeedsHuman, TurnEnded
from streamrelay.testing.scripted_pane import ScriptedPane

ASKS, WITHDRAWS = "\x1b[?2004h", "\x1b[?2004l"


def shell(command: str) -> ScriptedPane:
    """Return a pane in which a shell with a line editor runs a command that was sent, a builtin of its own."""
    pane = ScriptedPane(60, 12)
    pane.events += pane.stream.apply(Ran(pane.now, "%0", "bash"))
    pane.prints(f"{ASKS}$ ")
    pane.rests()
    message_id = pane.pastes(command)
    pane.prints(command)
    pane.submits(message_id)
    pane.prints(f"\r\n{WITHDRAWS}\r")
    return pane


def console(prompt: str = "sql> ") -> ScriptedPane:
    """Return a pane with a program that reads lines without a line editor, and has answered one."""
    pane = ScriptedPane(60, 12)
    for _ in range(2):
        pane.prints(prompt)
        pane.rests(0.5)
        pane.sends("go", painted="go")
        pane.prints("\r\nfine\r\n")
    pane.prints(prompt)
    pane.rests()
    pane.events.clear()
    return pane


def ends(pane: ScriptedPane) -> list[str]:
    """Return the reasons of the turns that have ended."""
    return [event.reason for event in pane.events if isinstance(event, TurnEnded)]


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("above", [[], ["working"]], ids=["alone", "below a line"])
@pytest.mark.parametrize("question", ["name: ", "Which one? ", "Choice [3] ", "(yes or no) "])
def test_a_question_of_a_shells_own_command_is_its_answer(question: str, above: list[str]) -> None:
    pane = shell("read -p ...")
    pane.prints("".join(f"{line}\r\n" for line in above) + question)
    pane.rests(QUIET - 0.2)
    assert ends(pane) == []
    pane.rests(0.4)
    assert pane.said() == [*above, question.rstrip()]
    assert ends(pane) == ["quiet"]
    assert not pane.stream.pane_state.withdrawn
    pane.sends("Bob", painted="Bob")
    pane.prints(f"\r\nhello Bob\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == [*above, question.rstrip(), "hello Bob"]
    assert pane.said("injected")[1:] == ["Bob"]
    assert ends(pane) == ["quiet", "composer"]


@pytest.mark.requirement("DEL-04b")
def test_what_a_person_types_behind_a_question_that_was_said_is_typed() -> None:
    pane = shell("read -p ...")
    pane.prints("name: ")
    pane.rests(QUIET + 0.2)
    for key in "Bob":
        pane.prints(key)
        pane.rests(0.1)
    pane.prints(f"\r\nhello Bob\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["name:", "hello Bob"]
    assert pane.said("typed") == ["Bob"]


@pytest.mark.requirement("DEL-04b")
def test_a_line_that_only_paused_goes_on_behind_what_was_said() -> None:
    pane = shell("make")
    pane.prints("Looking for updates: ")
    pane.rests(QUIET + 0.2)
    pane.prints(f"none\r\nall done\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["Looking for updates:", "none", "all done"]
    assert pane.said("typed") == []


@pytest.mark.requirement("DEL-04b")
def test_a_line_behind_which_the_program_is_at_work_comes_whole() -> None:
    """Seen with tmux 3.3a and bash 5.2: `printf 'Downloading: '; sleep 12; echo done`."""
    pane = shell("make")
    pane.prints("checking\r\nDownloading: ")
    for _ in range(12):
        pane.rests(1.0)
        pane.works()
    assert ends(pane) == []
    pane.prints(f"done\r\n{ASKS}$ ")
    pane.rests()
    assert pane.said() == ["checking", "Downloading: done"]
    assert ends(pane) == ["composer"]


@pytest.mark.requirement("DEL-04b")
def test_a_program_that_was_at_work_has_asked_once_it_no_longer_is() -> None:
    pane = shell("printf 'Name: '; sleep 2; read x")
    pane.prints("Name: ")
    pane.rests(1.0)
    pane.works()
    pane.rests(AT_WORK - 0.2)
    assert ends(pane) == []
    pane.rests(0.4)
    assert pane.said() == ["Name:"]
    assert ends(pane) == ["quiet"]


@pytest.mark.requirement("DEL-04b")
def test_a_program_that_polls_the_terminal_between_sleeps_has_asked_at_last() -> None:
    """Seen with bash 5.2: `printf 'Press a key: '; until read -t 0.01 -n1; do sleep 1; done`."""
    pane = shell("pause.sh")
    pane.prints("Press a key: ")
    for _ in range(int(MAX_AT_WORK)):
        pane.rests(1.0)
        pane.works()
    assert ends(pane) == []
    for _ in range(int(AT_WORK) + 1):
        pane.rests(1.0)
        pane.works()
    assert pane.said() == ["Press a key:"]
    assert ends(pane) == ["quiet"]


@pytest.mark.requirement("DEL-04b")
def test_output_renews_how_long_a_program_counts_as_at_work() -> None:
    pane = shell("make")
    for _ in range(3):
        pane.prints("Downloading: ")
        for _ in range(int(MAX_AT_WORK) - 5):
            pane.rests(1.0)
            pane.works()
    assert ends(pane) == []


@pytest.mark.requirement("DEL-04b")
def test_only_a_program_that_was_sent_something_has_a_message() -> None:
    pane = ScriptedPane(60, 12)
    pane.prints("Downloading: ")
    pane.rests()
    assert pane.stream.may_be_question
    assert not pane.stream.has_message
    pane = shell("make")
    assert pane.stream.has_message
    pane.prints("Downloading: ")
    pane.rests(1.0)
    assert pane.stream.has_message
    pane.rests()
    assert not pane.stream.has_message


@pytest.mark.requirement("DEL-04b")
def test_a_pause_without_a_blank_behind_the_sign_takes_longer() -> None:
    pane = shell("ask")
    pane.prints("Here is the code:")
    pane.rests(UNHEARD - 0.2)
    assert ends(pane) == []
    pane.rests(0.4)
    assert pane.said() == ["Here is the code:"]
    assert ends(pane) == ["quiet"]


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("text", ["", "downloading 50%", "word"])
def test_a_command_that_asks_nothing_is_waited_for(text: str) -> None:
    pane = shell("sleep")
    pane.prints(text)
    pane.rests(UNHEARD * 2)
    assert ends(pane) == []
    assert pane.stream.pane_state.withdrawn


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("question", ["Password: ", "Go on? [y/N] "])
def test_a_question_for_a_person_is_waited_for(question: str) -> None:
    pane = shell("sudo")
    pane.prints(question)
    pane.rests(UNHEARD)
    assert [event.text for event in pane.events if isinstance(event, NeedsHuman)] == [question.rstrip()]
    assert pane.said() == []
    assert ends(pane) == []


@pytest.mark.requirement("DEL-04b")
@pytest.mark.parametrize("more", ["... ", "> ", "   ...> ", "dquote> "])
def test_a_prompt_for_more_of_the_line_is_an_answer_without_words(more: str) -> None:
    pane = console()
    pane.sends("select 2", painted="select 2")
    pane.prints(f"\r\n{more}")
    pane.rests()
    assert pane.said() == []
    assert ends(pane) == ["quiet"]
    pane.sends("+ 3;", painted="+ 3;")
    pane.prints("\r\n5\r\nsql> ")
    pane.rests()
    assert pane.said() == ["5"]
    assert pane.said("injected") == ["select 2", "+ 3;"]


@pytest.mark.requirement("DEL-04b")
def test_the_prompt_at_which_a_message_was_sent_is_not_its_answer() -> None:
    pane = console()
    pane.sends("hidden")
    pane.rests()
    assert ends(pane) == []
    pane.prints("\r\nfine\r\nsql> ")
    pane.rests()
    assert pane.said() == ["fine"]
    assert ends(pane) == ["quiet"]


@pytest.mark.requirement("DEL-04b")
def test_a_half_typed_answer_is_no_question() -> None:
    pane = shell("read -p ...")
    pane.prints("name: ")
    pane.rests(0.5)
    pane.prints("Bo")
    pane.rests(UNHEARD * 2)
    assert pane.said() == []
    assert ends(pane) == []
