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
def test_ordinary_output_needs_nobody(line: str) -> None:
    assert needed_for(line) is None


@pytest.mark.requirement("DLV-04")
def test_half_a_picture_of_a_dialog_holds_a_sender_back_and_is_not_told() -> None:
    """A sender looks whenever the program has printed: between two reads of one picture, too."""
    talk = Talk(LOOKS[0])
    talk.sends("make a file")
    asked = ("  Do you want to proceed?", "  ❯ 1. Yes", "    2. No")
    halves = (talk.program.asks("  Do you want to see", *asked[1:]), talk.program.asks(*asked))
    for picture in halves:
        talk.pane.prints(picture)
        talk.pane.events += talk.pane.stream.apply(Looked(talk.pane.now, talk.pane.pane))
        assert talk.pane.stream.needs_human == "permission"
        assert talk.of(NeedsHuman) == []
    talk.pane.rests(1.0)
    assert [event.text for event in talk.of(NeedsHuman)] == ["Do you want to proceed?"]
