import pytest

from streamrelay.delta.inputs import Looked
from streamrelay.delta.prompt_detection import needed_for
from streamrelay.events import NeedsHuman
from streamrelay.testing.painted_talk import LOOKS, Talk


@pytest.mark.parametrize(
    "line",
    [
        "Password:",
        "[sudo] password for ann: ",
        "Enter passphrase for key '/home/a/.ssh/id': ",
        "Enter PIN:",
        "passcode?",
    ],
)
def test_a_password_is_asked_for(line: str) -> None:
    assert needed_for(line) == "password"


@pytest.mark.parametrize(
    "line",
    [
        "Continue? [Y/n] ",
        "Proceed (y/n)?",
        "Are you sure (yes/no)? ",
        "connecting (yes/no/[fingerprint])? ",
        "ok [ y / N ]:",
    ],
)
def test_a_confirmation_is_asked_for(line: str) -> None:
    assert needed_for(line) == "confirmation"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "$ ",
        "> ",
        "your password: changed",
        "passwords:",
        "the pin: is 3",
        "either (y/n) will do",
        "opinion: ",
        "a/b",
    ],
)
def test_ordinary_output_needs_no_person(line: str) -> None:
    assert needed_for(line) is None


@pytest.mark.requirement("DLV-04")
def test_a_half_painted_dialog_holds_a_sender_back_and_is_not_reported() -> None:
    """A sender looks after every read, so it can look in the middle of a repaint."""
    talk = Talk(LOOKS[0])
    talk.sends("make a file")
    asked = ("  Do you want to proceed?", "  ❯ 1. Yes", "    2. No")
    halves = (talk.program.asks("  Do you want to see", *asked[1:]), talk.program.asks(*asked))
    for snapshot in halves:
        talk.pane.prints(snapshot)
        talk.pane.events += talk.pane.stream.apply(Looked(talk.pane.now, talk.pane.pane))
        assert talk.pane.stream.needs_human == "permission"
        assert talk.of(NeedsHuman) == []
    talk.pane.rests(1.0)
    assert [event.text for event in talk.of(NeedsHuman)] == ["Do you want to proceed?"]
