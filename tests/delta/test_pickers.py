"""Lists of choices that a program puts up on the main screen, where it reads a line (prompt_toolkit) or keys (fzf)."""

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


ASKED, SUBMITTED = "\x1b[?2004h$ ", "\r\n\x1b[?2004l\r"
GOES_DOWN = "\r\x1b[1B"


def running(command: str) -> ScriptedPane:
    """Return a pane whose shell has run a command before, and runs this one."""
    pane = ScriptedPane()
    for typed in ("true", command):
        pane.prints(ASKED)
        pane.rests(0.5)
        pane.prints(typed)
        pane.rests(0.5)
        pane.prints(SUBMITTED)
    return pane


def paints(rows: list[str]) -> str:
    """Return how fzf 0.38 paints rows from its first one on, and then stands behind the last one."""
    last = len(rows) - 1
    return f"\x1b[?25l{GOES_DOWN.join(f'{chr(13)}{chr(27)}[K{row}' for row in rows)}\x1b[{last}A\x1b[{last}B\x1b[?25h"


def picks(pane: ScriptedPane, search: str, rest: float) -> None:
    """Let a picker make room below the command, show its list, and narrow it down as a person types."""
    pane.prints("\x1b[?25l\x1b[J\x1b[6n\x1b[?25h")
    pane.prints("\x1b[?25l\n\x1b[G\n\x1b[G\n\x1b[G\x1b[?1000h\x1b[3A\x1b[G\x1b[K\x1b[6n\x1b[?25h")
    pane.prints(paints(["  banana", "> apple", "  2/2 ----", search]))
    pane.rests(rest)
    pane.prints(f"\x1b[3A{paints(['', '> banana', '  1/2 ----', f'{search}b'])}")
    pane.rests(rest)


ERASES = "\x1b[?25l\x1b[3A\r\x1b[J\x1b[?1000l\x1b[?25h"


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("search", ["> ", "Pick> ", "│ > "])
@pytest.mark.parametrize("rest", [0.1, 2, 30])
def test_a_list_that_its_picker_erases_is_not_said(search: str, rest: float) -> None:
    pane = running("ls | fzf --height 4")
    picks(pane, search, rest)
    pane.prints(f"{ERASES}banana\r\n{ASKED}")
    pane.rests()
    assert pane.said() == ["banana"]


@pytest.mark.parametrize("rest", [0.1, 3])
def test_a_command_that_shows_two_lists_says_what_was_picked_of_each(rest: float) -> None:
    pane = running("pick-two")
    for _ in range(2):
        picks(pane, "> ", rest)
        pane.prints(f"{ERASES}banana\r\n")
        pane.rests(0.05)
    pane.prints(ASKED)
    pane.rests()
    assert pane.said() == ["banana", "banana"]


def test_a_cancelled_picker_says_nothing_and_what_was_printed_before_it_is_said() -> None:
    pane = running("report")
    pane.prints("intro\r\n")
    picks(pane, "> ", 3)
    pane.prints(f"{ERASES}{ASKED}")
    pane.rests()
    assert pane.said() == ["intro"]


def test_a_display_that_stands_when_its_command_ends_is_said_once() -> None:
    pane = running("menu")
    picks(pane, "> ", 3)
    pane.prints(f"\r\n{ASKED}")
    pane.rests()
    assert pane.said() == ["", "> banana", "  1/2 ----", "> b"]


def test_what_stands_above_a_question_is_said_before_it_is_answered() -> None:
    pane = running("update")
    pane.prints("\x1b[?1000hone\r\ntwo\r\n")
    pane.prints("\x1b[2Aone done\r\ntwo done\r\nGo on? [y/N] ")
    pane.rests()
    assert pane.said()[:2] == ["one done", "two done"]


@pytest.mark.parametrize("keys", ["", "\x1b[?1000h"], ids=["lines", "keys"])
@pytest.mark.parametrize("sends", [False, True], ids=["typed", "sent"])
def test_a_program_that_goes_past_its_sign_is_no_picker(keys: str, *, sends: bool) -> None:
    pane = running("chat")
    pane.prints(f"{keys}hello\r\n\x1b[1Ahello!\r\n> ")
    pane.rests()
    for number in range(3):
        if sends:
            pane.sends(f"tell me {number}", painted=f"tell me {number}")
        else:
            pane.prints(f"tell me {number}")
            pane.rests(0.1)
        pane.prints(f"\r\nthinking\r\n\x1b[1A\x1b[Kanswer {number}\r\n> ")
        pane.rests()
        assert pane.said()[-1] == f"answer {number}"
    assert pane.said()[0] == "hello!"
