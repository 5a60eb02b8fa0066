"""Lines that a program writes over without meaning the line: clocks and bars at fixed places, and lines that wrap."""

from collections.abc import Callable

import pytest

from streamrelay.delta.printing.line_rows import LineRow, Overwritten, logical, unfinished
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt import TmuxScreen

ENTRIES = [f"entry {number}" for number in range(30)]


def clock(number: int) -> str:
    return f"\x1b7\x1b[1;30H\x1b[7m12:00:{number:02}\x1b[0m\x1b8"


def status(number: int) -> str:
    return f"\x1b7\x1b[12;1H\x1b[2K{number} of {len(ENTRIES)} done\x1b8"


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("rest", [0.0, 0.005, 0.06, 2.0])
@pytest.mark.parametrize("read_size", [None, 1, 7])
@pytest.mark.parametrize("over", [clock, status])
def test_what_is_painted_at_a_fixed_place_is_no_part_of_the_lines_there(
    over: Callable[[int], str], read_size: int | None, rest: float
) -> None:
    pane = ScriptedPane(40, 12)
    for number, line in enumerate(ENTRIES):
        pane.prints(over(number), read_size=read_size)
        pane.rests(rest)
        pane.prints(f"{line}\r\n", read_size=read_size)
        pane.rests(rest)
    pane.ends()
    assert [line for line in pane.said() if "done" not in line] == ENTRIES


def test_a_clock_delays_no_line() -> None:
    pane = ScriptedPane(40, 12)
    for number, line in enumerate(ENTRIES):
        pane.prints(clock(number))
        pane.rests(0.05)
        pane.prints(f"{line}\r\n")
        pane.rests(0.05)
    assert pane.said() == ENTRIES


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("rest", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("read_size", [None, 1, 7])
@pytest.mark.parametrize("begin", ["\r", "\r\x1b[K", "\r\x1b[2K"])
def test_of_a_line_that_wraps_and_is_written_again_the_last_state_is_said(
    begin: str, read_size: int | None, rest: float
) -> None:
    states = [f"loading {percent:3}%|{'#' * (percent // 5):20}| {percent} of 100 files" for percent in range(0, 101, 5)]
    pane = ScriptedPane(40, 8)
    for written in ["begin\r\n", *(f"{begin}{state}" for state in states), "\r\n", "end\r\n"]:
        pane.prints(written, read_size=read_size)
        pane.rests(rest)
    pane.ends()
    assert pane.said() == ["begin", states[-1], "end"]


def test_a_line_editor_knows_how_wide_the_terminal_is() -> None:
    pane = ScriptedPane(10, 6)
    pane.prints("\x1b[?2004h$ ")
    pane.rests(0.1)
    pane.prints("echo 12345")
    pane.rests(0.1)
    pane.prints("\r45")
    pane.rests(0.1)
    pane.prints("\rX\r\n\x1b[?2004l\r")
    pane.ends()
    assert pane.said("typed") == ["echo 123X5"]


def test_what_lies_over_a_row_is_taken_off_where_it_still_stands() -> None:
    screen = TmuxScreen(20, 4)
    screen.feed(b"one\x1b7\x1b[1;10Hnoon\x1b8")
    overwritten = Overwritten(screen)
    overwritten.note(screen.take(), edits=False)
    assert overwritten.text(0, screen.row(0).text) == "one"
    screen.feed(b" two")
    assert overwritten.text(0, screen.row(0).text).rstrip() == "one two"
    screen.feed(b" three four")
    assert overwritten.text(0, screen.row(0).text) == "one two three four"
    screen.feed(b"\x1b7\x1b[1;1H\x1b[2K\x1b8")
    overwritten.note(screen.take(), edits=False)
    assert overwritten.text(0, screen.row(0).text) == "one two three four"


def test_a_row_that_was_replaced_is_part_of_no_line() -> None:
    rows = [LineRow("", False, is_replaced=True), LineRow("new", True), LineRow("er", False), LineRow("op", True)]
    assert logical(rows) == ["newer", "op"]
    assert logical([LineRow("old", True), *rows[:1]]) == []
    assert unfinished(rows[:2]) == [LineRow("new", True)]
