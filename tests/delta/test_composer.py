"""What a composer shows whose program hides the cursor below it, as Ink leaves it once its text fills the screen."""

from collections.abc import Sequence

import pytest

from streamrelay.events import TurnEnded
from streamrelay.testing.scripted_pane import ScriptedPane

COLUMNS, LINES = 60, 14


def snapshot(answer: int, draft: str, *, faint: bool = False, more: Sequence[str] = ()) -> str:
    """Return the whole transcript as it is printed again; the cursor stays behind the hints, in the last row."""
    rows = ["> first", *(f"  answer line {number}" for number in range(answer)), *more]
    text = f"> {draft or 'Ask me anything'}".ljust(COLUMNS - 4)
    style = "\x1b[2m" if faint else ""
    box = ["╭" + "─" * (COLUMNS - 2) + "╮", f"│ {style}{text}\x1b[m │", "╰" + "─" * (COLUMNS - 2) + "╯"]
    return "\x1b[2J\x1b[3J\x1b[H" + "\r\n".join([*rows, "", *box, "  ? for help"])


def answered() -> ScriptedPane:
    """Return a program that has answered one message."""
    pane = ScriptedPane(COLUMNS, LINES)
    pane.prints("\x1b[?25l\x1b[?2004h" + snapshot(0, ""))
    pane.rests()
    pane.sends("first", painted=snapshot(0, "first"))
    for height in range(1, 21):
        pane.prints(snapshot(height, ""))
        pane.rests(0.05)
    pane.rests()
    return pane


@pytest.mark.requirement("DLV-03a")
def test_a_placeholder_above_a_hidden_cursor_is_no_draft() -> None:
    view = answered().stream.pane_state.composer
    assert (view.text, view.typed) == ("Ask me anything", "")


@pytest.mark.requirement("DLV-03a")
def test_what_is_typed_above_a_hidden_cursor_is_one() -> None:
    pane = answered()
    pane.prints(snapshot(20, "half a wo"))
    pane.rests()
    assert pane.stream.pane_state.composer.typed == "half a wo"


@pytest.mark.requirement("DLV-03a")
def test_another_faint_placeholder_is_none() -> None:
    pane = answered()
    pane.prints(snapshot(20, "Try: write a test", faint=True))
    pane.rests()
    assert pane.stream.pane_state.composer.typed == ""


ANSWERED = ["> second", "  answer to it"]


@pytest.mark.requirement("DLV-03a", "DLV-10")
def test_what_is_typed_while_a_message_goes_past_it_stays_typed() -> None:
    """The answer ends with the draft in the composer, which is not learned as what an empty composer shows."""
    pane = answered()
    pane.prints(snapshot(20, "half a wo"))
    pane.rests(0.05)
    pane.hands_over("second")
    pane.prints(snapshot(20, "half a wo", more=ANSWERED))
    pane.rests()
    assert isinstance(pane.events[-1], TurnEnded)
    assert pane.stream.pane_state.composer.typed == "half a wo"


@pytest.mark.requirement("DLV-03a")
def test_the_next_placeholder_after_a_typed_message_is_none() -> None:
    """A message that a person typed is past the composer as well, and no draft was beside it."""
    pane = answered()
    pane.prints(snapshot(20, "second"))
    pane.rests(0.05)
    for more in (ANSWERED[:1], ANSWERED):
        pane.prints(snapshot(20, "Try: write a test", more=more))
        pane.rests(0.05)
    pane.rests()
    assert isinstance(pane.events[-1], TurnEnded)
    assert pane.stream.pane_state.composer.typed == ""
