"""Lists of choices that a program puts up where it reads a line (prompt_toolkit): no composer stands there."""

import pytest

from streamrelay.testing.scripted_pane import ScriptedPane

FIRST, SECOND = "? Which of the machines is the one to del", "ete?"
ASKS = f"\x1b[?2004h\x1b[?25l\x1b[?7l\x1b[J{FIRST}\r\r\n{SECOND} (Use arrow keys)\r\r\n"
OFFERS = [f"{ASKS} » one\r\r\n   two\x1b[2A\x1b[15C\x1b[?7h", "\x1b[?7l\r\r\n   one\r\r\n » two\x1b[2A\x1b[15C\x1b[?7h"]


def offering() -> ScriptedPane:
    pane = ScriptedPane(len(FIRST), 12)
    for written in OFFERS:
        pane.prints(written)
        pane.rests(0.5)
    return pane


@pytest.mark.requirement("DEL-01")
def test_what_is_left_of_the_choices_is_the_programs_word_and_so_is_what_follows() -> None:
    pane = offering()
    pane.prints(f"\x1b[?7l\x1b[A\r\x1b[J{FIRST}\r\r\n{SECOND} two\r\r\n\x1b[J\x1b[?7h")
    pane.prints("\x1b[?2004l\x1b[?25h")
    pane.prints("chose two\r\n")
    pane.rests(0.05)
    pane.prints("\x1b[?2004h? Go on? (Y/n) ")
    pane.ends()
    assert pane.said() == [f"{FIRST}{SECOND} two", "chose two"]
    assert pane.said("typed") == []


@pytest.mark.requirement("DEL-01")
def test_choices_that_stand_when_their_program_stops_reading_are_not_said() -> None:
    pane = offering()
    pane.prints("\x1b[?2004l\x1b[?25h")
    pane.prints("\r\x1b[A\x1b[J")
    pane.rests(0.05)
    pane.prints("cancelled\r\n")
    pane.ends()
    assert pane.said() == ["cancelled"]
