"""Lists of choices that a program puts up on the main screen, where it reads a line (prompt_toolkit) or keys (fzf)."""

import pytest

from streamrelay.delta.inputs import Ended
from streamrelay.delta.printing.lines import MAX_DISPLAY
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


def runs(pane: ScriptedPane, command: str) -> None:
    """Let a person run a command in a shell."""
    pane.prints(ASKED)
    pane.rests(0.5)
    pane.prints(command)
    pane.rests(0.5)
    pane.prints(SUBMITTED)


def running(command: str) -> ScriptedPane:
    """Return a pane whose shell has run a command before, and runs this one."""
    pane = ScriptedPane()
    for typed in ("true", command):
        runs(pane, typed)
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
@pytest.mark.parametrize("rest", [0.1, 2, 25])
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


def test_a_loop_of_pickers_starts_each_one_as_soon_as_the_last_one_has_ended() -> None:
    pane = running("pick-three")
    for _ in range(3):
        picks(pane, "> ", 3)
        pane.prints(f"{ERASES}banana\r\n")
    pane.prints(ASKED)
    pane.rests()
    assert pane.said() == ["banana"] * 3


def test_a_picker_that_pauses_in_an_empty_row_shows_its_next_list_as_a_display() -> None:
    pane = running("fzf --height 4")
    picks(pane, "> ", 0.5)
    pane.prints("\x1b[?25l\r\x1b[3A\x1b[J\x1b[?25h")
    pane.rests(0.2)
    pane.prints(f"{GOES_DOWN * 3}\x1b[3A{paints(['', '  b', '> a', '  2/2', '> '])}")
    pane.rests(1.0)
    assert [line for line in pane.said() if line] == []


def test_what_a_command_prints_after_its_picker_does_not_wait_for_as_long_as_the_list_stood() -> None:
    pane = running("deploy")
    picks(pane, "> ", 20)
    pane.prints(f"{ERASES}banana\r\nworking on it\r\n")
    pane.rests(3)
    assert pane.said() == ["banana", "working on it"]


@pytest.mark.parametrize("search", ["> ", "Pick> "])
def test_each_picker_of_a_pane_says_what_was_picked_alone(search: str) -> None:
    pane = running("fzf")
    for number in range(4):
        picks(pane, search, 5)
        pane.prints(f"{ERASES}banana {number}\r\n")
        runs(pane, "fzf")
    assert pane.said() == [f"banana {number}" for number in range(4)]


def test_a_picker_may_show_the_prompt_of_a_program_that_ran_before() -> None:
    pane = running("node")
    pane.prints("Welcome\r\n> ")
    pane.rests()
    for typed in "12":
        pane.prints(typed)
        pane.rests(0.3)
        pane.prints(f"\r\n{typed}\r\n> ")
        pane.rests()
    pane.prints("\r\n")
    runs(pane, "fzf")
    picks(pane, "> ", 5)
    pane.prints(f"{ERASES}banana\r\n{ASKED}")
    pane.rests()
    assert pane.said() == ["Welcome", "1", "2", "banana"]


def test_a_picker_below_a_cleared_screen_erases_its_list_from_the_first_row_on() -> None:
    pane = running("clear; fzf --height 4")
    pane.prints("\x1b[H\x1b[2J")
    picks(pane, "> ", 3)
    pane.prints(f"{ERASES}banana\r\n{ASKED}")
    pane.rests()
    assert pane.said() == ["banana"]


def test_a_cancelled_picker_says_nothing_and_what_was_printed_before_it_is_said_at_once() -> None:
    pane = running("report")
    pane.prints("Found 2 fruits\r\nChoose one of them\r\n")
    picks(pane, "> ", 0.2)
    assert pane.said() == ["Found 2 fruits", "Choose one of them"]
    pane.prints(f"{ERASES}{ASKED}")
    pane.rests()
    assert pane.said() == ["Found 2 fruits", "Choose one of them"]


def test_a_picker_that_shows_its_cursor_says_no_row_of_the_room_that_it_makes() -> None:
    pane = running("report")
    pane.prints("intro\r\n\x1b[?1h\n\n\x1b[2A")
    pane.prints(f"  banana{GOES_DOWN}> apple{GOES_DOWN}> ")
    pane.rests(3)
    assert pane.said() == ["intro"]
    pane.prints(f"\x1b[2A\r\x1b[J\x1b[?1lapple\r\n{ASKED}")
    pane.rests()
    assert pane.said() == ["intro", "apple"]


@pytest.mark.parametrize("keys", ["\x1b[?1h", "\x1b[?1000h"])
@pytest.mark.parametrize("read", [0.3, 20])
def test_a_page_that_was_read_is_said_when_its_program_clears_it(keys: str, read: float) -> None:
    pane = running("adventure")
    pane.prints(keys)
    for room in range(3):
        pane.prints(f"\x1b[H\x1b[2JYou are in room {room}.\r\nA door leads north.\r\n> ")
        pane.rests(read)
        pane.prints("north")
        pane.rests(0.1)
    pane.rests()
    rooms = range(0 if read > 1.5 else 1, 3)
    assert pane.said() == [line for room in rooms for line in (f"You are in room {room}.", "A door leads north.")]


def test_a_display_is_held_for_a_minute() -> None:
    pane = running("agent")
    pane.prints("\x1b[?1000h\x1b[H\x1b[2J")
    for number in range(5):
        row = 2 * number + 1
        pane.prints(f"\x1b[{row};1HQuestion {number}\x1b[{row + 1};1HAnswer {number}\x1b[21;1H\x1b[K│ > ")
        pane.rests(20)
        pane.prints("q")
        pane.rests(1)
        answers = [text for text in pane.said() if text.startswith("Answer")]
        assert len(answers) == (number + 1 if pane.now > MAX_DISPLAY else 0)


def test_what_a_command_prints_where_its_picker_stood_is_said() -> None:
    pane = running("deploy")
    picks(pane, "> ", 3)
    pane.prints("\x1b[3A\r\x1b[Jworking on it\r\nstep 1\r\n")
    pane.rests(3)
    assert pane.said() == ["working on it", "step 1"]


def test_the_search_line_of_a_picker_is_not_said_when_its_pane_closes() -> None:
    pane = running("fzf")
    picks(pane, "> ", 3)
    pane.events += pane.stream.apply(Ended(pane.now, pane.pane, "pane_gone"))
    assert pane.said() == ["", "> banana", "  1/2 ----"]


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
    answers = ["hello!"]
    for number in range(3):
        if sends:
            pane.sends(f"tell me {number}", painted=f"tell me {number}")
        else:
            pane.prints(f"tell me {number}")
            pane.rests(0.1)
        pane.prints(f"\r\nthinking\r\n\x1b[1A\x1b[Kanswer {number}\r\n> ")
        pane.rests()
        answers.append(f"answer {number}")
        assert [text for text in pane.said() if text.startswith(("hello", "answer"))] == answers
