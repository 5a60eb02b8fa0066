"""A transcript in a window on the main screen: what scrolls away inside it goes into no history."""

import pytest

from streamrelay.events import Gap, Text, TurnEnded
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.testing.window_program import WindowProgram

MESSAGE = "what do you think of windows"
LINES = [f"Thought number {n} is not the last one." for n in range(12)]


class Window:
    """A pane with a shell's output, and below it a program with a window."""

    def __init__(self, rows: int = 5, *, lines: int = 24, above: int = 3, grows: bool = False) -> None:
        self.pane = ScriptedPane(60, lines)
        self.program = WindowProgram(60, rows, grows=grows)
        self.pane.prints("".join(f"earlier output {n}\r\n" for n in range(above)))
        self.paints(self.program.starts(), rest=1.0)
        self.printed = len(self.pane.events)

    def paints(self, *screens: bytes, rest: float = 0.05) -> None:
        for screen in screens:
            self.pane.prints(screen)
            self.pane.rests(rest)

    def sends(self, text: str = MESSAGE) -> None:
        message_id = self.pane.pastes(text)
        self.paints(self.program.drafts(text), rest=0.2)
        self.pane.submits(message_id)
        self.paints(self.program.submits(text), self.program.says())

    def heard(self) -> list[str]:
        self.pane.rests(5.0)
        said = (event for event in self.pane.events[self.printed :] if isinstance(event, Text))
        return [event.text for event in said if event.text and event.origin == "program"]

    def gaps(self) -> int:
        return sum(isinstance(event, Gap) for event in self.pane.events)


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("grows", [False, True], ids=["filled", "growing"])
@pytest.mark.parametrize("above", [0, 3, 16], ids=lambda rows: f"{rows} rows above")
def test_what_scrolls_away_in_a_window_is_said(above: int, grows: bool) -> None:
    window = Window(above=above, grows=grows)
    window.sends()
    for line in LINES:
        window.paints(window.program.says(line))
    assert window.heard() == LINES
    assert window.pane.said("injected") == [MESSAGE]
    assert window.gaps() == 0
    ended = [(event.turn, event.reason) for event in window.pane.events if isinstance(event, TurnEnded) and event.turn]
    assert ended == [(1, "quiet")]


@pytest.mark.requirement("DEL-01")
def test_every_turn_is_said_once() -> None:
    window = Window()
    for turn in range(3):
        window.sends(f"{MESSAGE}, question {turn}")
        for line in LINES[:7]:
            window.paints(window.program.says(f"{line} ({turn})."))
        window.pane.rests(5.0)
    assert window.heard() == [f"{line} ({turn})." for turn in range(3) for line in LINES[:7]]


@pytest.mark.requirement("DEL-01")
def test_a_snapshot_that_is_gone_at_once_leaves_its_text_and_a_gap() -> None:
    window = Window(8)
    window.sends()
    window.paints(window.program.says(*LINES[:4]))
    window.paints(window.program.shows("The end of it all."))
    assert window.heard() == [*LINES[:4], "The end of it all."]
    assert window.gaps() == 1


def test_text_that_is_taken_away_and_shown_elsewhere_is_said_once() -> None:
    window = Window(8)
    window.sends()
    window.paints(window.program.says(*LINES[:4]))
    window.paints(window.program.shows(f"> {MESSAGE}"))
    window.paints(window.program.shows(*LINES[2:6]))
    assert window.heard() == LINES[:6]
    assert window.gaps() == 0


def test_half_a_snapshot_is_none() -> None:
    window = Window(8)
    window.sends()
    window.paints(window.program.says(*LINES[:4]))
    screen = window.program.shows("The end of it all.")
    half = window.program.half_of(screen)
    window.paints(half, rest=0.03)
    window.paints(screen[len(half) :])
    assert window.heard() == [*LINES[:4], "The end of it all."]


def test_rows_that_are_repainted_below_others_are_not_kept() -> None:
    window = Window(8)
    window.sends()
    for number in range(4):
        window.paints(window.program.shows(f"> {MESSAGE}", "An answer.", f"{'|/-'[number % 3]} {number} tokens so far"))
    window.paints(window.program.shows(f"> {MESSAGE}", "An answer.", "And more of it."))
    assert window.heard() == ["An answer.", "And more of it."]
