import pytest

from streamrelay.delta.prompt_detection import needed_for


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
