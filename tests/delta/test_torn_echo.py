"""A message of several lines that the kernel echoes while the program already answers the first ones."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamrelay.delta.printing.torn_echo import MAX_ROWS
from streamrelay.testing.scripted_pane import ScriptedPane

LINES = [f"line {number} abc" for number in range(30)]
ANSWERS = [f"Line {number} Abc" for number in range(30)]


def mixed(cuts: list[int]) -> str:
    """Return what the terminal gets: the echo of the lines, and an answer printed at each place of the echo."""
    echo = "\r\n".join(LINES)
    pieces, at = [], len(LINES[0]) + 2
    pieces.append(echo[:at])
    for cut, answer in zip(sorted(cuts), ANSWERS, strict=False):
        pieces += [echo[at : max(at, cut)], answer, "\r\n"]
        at = max(at, cut)
    return "".join([*pieces, echo[at:]])


def heard(painted: str, *, read_size: int | None = None) -> tuple[list[str], list[str]]:
    """Return the lines of the program and of the message."""
    pane = ScriptedPane(80, 60)
    message = pane.pastes("\n".join(LINES))
    pane.prints(painted, read_size=read_size)
    pane.rests(0.1)
    pane.submits(message)
    pane.prints("\r\n")
    pane.rests(1)
    pane.ends()
    return pane.said(), pane.said("injected")


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("read_size", [None, 1, 7])
def test_the_pieces_of_an_echo_are_not_the_programs(read_size: int | None) -> None:
    torn = [
        LINES[0], "liLine 0 Abc", "ne 1 abc", "line 2 abLine 1 Abc", "Line 2 Abc", "c", "line 3 abcLine 3 Abc", "",
        "lLine 4 Abc", "inLine 5 Abc", "e 4 abc", *LINES[5:],
    ]  # fmt: skip
    assert heard("\r\n".join(torn), read_size=read_size) == (ANSWERS[:6], LINES)


@pytest.mark.requirement("DEL-02a")
@given(st.lists(st.integers(len(LINES[0]) + 2, sum(map(len, LINES)) + 58), max_size=29))
@example([12, 13, 14, 15])
@example([20, 20, 21])
def test_wherever_the_answers_stand_in_the_echo_no_line_of_it_is_the_programs(cuts: list[int]) -> None:
    # A carriage return behind which the program prints is the beginning of its row, and no place in a line.
    echo = "\r\n".join(LINES)
    cuts = [cut for cut in cuts if echo[cut - 1 : cut] != "\r"]
    said, injected = heard(mixed(cuts))
    assert [line for line in said if line] == ANSWERS[: len(cuts)]
    assert injected == LINES


@pytest.mark.requirement("DEL-01")
def test_what_only_begins_like_a_line_is_the_programs_in_its_order() -> None:
    words = ["li and so on", "line up", "the end of a line 1"]
    assert heard("\r\n".join([LINES[0], *words, *LINES[1:]])) == (words, LINES)


@pytest.mark.requirement("DEL-01")
def test_of_a_line_whose_rest_never_comes_the_rows_are_the_programs_and_the_next_one_is_found() -> None:
    rows = [LINES[0], "line 1Line 0 Abc", "Line 1 Abc", *LINES[2:]]
    assert heard("\r\n".join(rows)) == (rows[1:3], [LINES[0], *LINES[2:]])


@pytest.mark.requirement("DEL-01")
def test_so_many_rows_are_held_and_no_more() -> None:
    pane = ScriptedPane(80, 60)
    pane.pastes("\n".join(LINES))
    pane.prints(f"{LINES[0]}\r\nlin of the program\r\n")
    rows = [f"row {number}" for number in range(3 * MAX_ROWS)]
    pane.prints("".join(f"{row}\r\n" for row in rows))
    pane.rests(10)
    assert pane.said() == ["lin of the program", *rows]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("message", ["list the files", "list the files\nand more"])
def test_what_a_program_says_beside_a_text_that_stays_in_the_pane_is_published_soon(message: str) -> None:
    """Nothing of it is echoed, and no Enter is sent: the program's row may begin like it."""
    pane = ScriptedPane(80, 24)
    pane.pastes(message)
    pane.prints("lint: all is well\r\n")
    pane.rests(3)
    assert pane.said() == ["lint: all is well"]
