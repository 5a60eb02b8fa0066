"""Programs that go up to rows which they have passed, with the cursor shown: several bars at once."""

import pytest

from streamrelay.delta.repainting import PATIENCE
from streamrelay.delta.turns import QUIET
from streamrelay.events import Live
from streamrelay.testing.scripted import ScriptedPane

REST = 0.05


@pytest.fixture
def pane() -> ScriptedPane:
    """A pane whose shell is running a command: no silence ends its turn."""
    pane = ScriptedPane(40, 10)
    pane.prints("$ \x1b[?2004h")
    pane.rests(0.1)
    pane.sends("run", painted="run")
    pane.prints("\r\n\x1b[?2004l")
    return pane


def prompt_again(pane: ScriptedPane) -> None:
    pane.prints("$ \x1b[?2004h")
    pane.rests(0.1)


def paint(pane: ScriptedPane, *rows: str, up: int) -> None:
    pane.prints(f"\x1b[{up}A" + "".join(f"\r\x1b[K{row}\r\n" for row in rows))
    pane.rests(REST)


def paint_layers(pane: ScriptedPane) -> None:
    pane.prints("Pulling\r\na: waiting\r\nb: waiting\r\n")
    pane.rests(REST)
    for percent in range(0, 100, 20):
        paint(pane, f"a: {percent}%", f"b: {percent // 2}%", up=2)
    paint(pane, "a: complete", "b: complete", up=2)


FIRST = ["Pulling", "a: waiting", "b: waiting"]


@pytest.mark.requirement("DEL-03b")
def test_only_the_last_state_of_rows_that_were_painted_over_is_said(pane: ScriptedPane) -> None:
    paint_layers(pane)
    assert pane.said() == FIRST
    pane.prints("Digest\r\nStatus\r\n")
    prompt_again(pane)
    assert pane.said() == [*FIRST, "a: complete", "b: complete", "Digest", "Status"]


def test_a_row_that_is_painted_as_it_was_is_not_said_again(pane: ScriptedPane) -> None:
    pane.prints("a: cached\r\nb: waiting\r\n\r\n")
    pane.rests(REST)
    paint(pane, "a: cached", "b: 50%", "", up=3)
    paint(pane, "a: cached", "b: complete", "", up=3)
    prompt_again(pane)
    assert pane.said() == ["a: cached", "b: waiting", "", "b: complete"]


def test_bars_that_notes_move_down_are_not_said_again(pane: ScriptedPane) -> None:
    pane.prints("Loading:\r\nbar 0%\r\n")
    pane.rests(REST)
    for number in range(3):
        paint(pane, f"note {number}", "Loading:", f"bar {number}0%", up=2)
    prompt_again(pane)
    assert pane.said() == ["Loading:", "bar 0%", "note 0", "note 1", "note 2", "bar 20%"]


def test_rows_that_leave_the_screen_are_final(pane: ScriptedPane) -> None:
    paint_layers(pane)
    for number in range(20):
        pane.prints(f"log {number}\r\n")
    assert pane.said() == [*FIRST, "a: complete", "b: complete", *(f"log {number}" for number in range(20))]


def test_rows_above_which_a_program_goes_on_printing_are_final_after_a_while(pane: ScriptedPane) -> None:
    paint_layers(pane)
    pane.prints("Digest\r\n")
    pane.rests(PATIENCE - 4 * REST)
    assert pane.said() == FIRST
    pane.rests(4 * REST)
    assert pane.said() == [*FIRST, "a: complete", "b: complete", "Digest"]
    pane.prints("Status\r\n")
    assert pane.said()[-1] == "Status"


def test_rows_are_held_as_long_as_nothing_is_printed_below_them(pane: ScriptedPane) -> None:
    paint_layers(pane)
    pane.rests(5 * PATIENCE)
    assert pane.said() == FIRST
    paint(pane, "a: removed", "b: removed", up=2)
    prompt_again(pane)
    assert pane.said() == [*FIRST, "a: removed", "b: removed"]


def test_painting_that_goes_on_after_rows_were_said_adds_only_their_last_state(pane: ScriptedPane) -> None:
    paint_layers(pane)
    pane.prints("Digest\r\n")
    pane.rests(2 * PATIENCE)
    for step in ("checked", "unpacked", "ready"):
        paint(pane, f"a: {step}", "b: complete", "Digest", up=3)
    prompt_again(pane)
    assert pane.said() == [*FIRST, "a: complete", "b: complete", "Digest", "a: ready"]


def test_nested_bars_between_which_the_cursor_rests_on_the_upper_one(pane: ScriptedPane) -> None:
    pane.prints("outer 0%")
    for outer in (1, 2):
        for inner in (0, 50, 100):
            pane.prints(f"\n\r\x1b[Kinner {outer}: {inner}%\x1b[A")
            pane.rests(REST)
        pane.prints(f"\r\x1b[Kouter {outer}/2")
        pane.rests(REST)
    pane.prints("\r\n\r\n")
    prompt_again(pane)
    assert pane.said() == ["outer 0%", "outer 2/2", "inner 2: 100%"]


def test_bars_that_are_erased_leave_the_rows_to_what_comes_next(pane: ScriptedPane) -> None:
    pane.prints("one 0%\r\ntwo 0%\r\nthree 0%\r\n")
    pane.rests(REST)
    paint(pane, "one 50%", "two 30%", "three 10%", up=3)
    pane.prints("\x1b[3A\x1b[Jadded 3 packages\r\n")
    prompt_again(pane)
    pane.sends("echo next", painted="echo next")
    pane.prints("\r\n\x1b[?2004lnext\r\n")
    prompt_again(pane)
    assert pane.said() == ["one 0%", "two 0%", "three 0%", "added 3 packages", "next"]


def test_where_no_prompt_is_known_the_end_of_the_turn_ends_it() -> None:
    pane = ScriptedPane(40, 10)
    paint_layers(pane)
    pane.rests(2 * QUIET)
    assert pane.said() == [*FIRST, "a: complete", "b: complete"]


def test_a_pane_that_closes_has_its_rows_said() -> None:
    pane = ScriptedPane(40, 10)
    paint_layers(pane)
    pane.ends()
    assert pane.said() == [*FIRST, "a: complete", "b: complete"]


def test_another_screen_in_between_takes_nothing_away(pane: ScriptedPane) -> None:
    paint_layers(pane)
    pane.prints("\x1b[?1049h\x1b[Hpager\r\n")
    pane.rests(2 * PATIENCE)
    pane.prints("\x1b[?1049l")
    prompt_again(pane)
    assert pane.said() == [*FIRST, "a: complete", "b: complete"]


def test_an_unfinished_line_below_held_rows_is_shown_to_people(pane: ScriptedPane) -> None:
    paint_layers(pane)
    pane.prints("verifying")
    pane.rests(REST)
    assert [event.text for event in pane.events if isinstance(event, Live)] == ["verifying"]
