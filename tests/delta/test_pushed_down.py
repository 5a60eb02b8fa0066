"""Programs whose repaint is pushed down or resized: what they paint again is said once, and all that they said is."""

import textwrap
from collections.abc import Sequence

import pytest

from streamrelay.delta.inputs import Reseeded, Resized
from streamrelay.events import Gap
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot

COLUMNS, LINES = 40, 30
WINDOW = 5
SENTENCES = [
    "The first sentence tells of barley and amber",
    "the second one adds some kettles and a lattice",
    "the third has thimbles, quarries and glaciers",
    "the fourth one ends with a walnut and a heron",
]
ANSWER = "\n".join(f"Part {part}: {'; '.join(f'{part}{line}' for line in SENTENCES)}." for part in range(3))


class LiveDisplay:
    """A display as `rich.live` shows it: final rows above a window of a few rows that is painted again and again."""

    def __init__(self, pane: ScriptedPane) -> None:
        self.pane = pane
        self.columns = COLUMNS
        self._rows: Sequence[str] = ()
        self._final = self._up = 0
        pane.prints("\x1b[?25l")

    def refreshes(self, above: Sequence[str] = ()) -> None:
        """Paint the window again, below new final rows."""
        up = "\r\x1b[2K" + "\x1b[1A\x1b[2K" * self._up
        self._up = max(0, len(self._rows) - 1)
        painted = [row.ljust(self.columns) for row in [*above, *self._rows]]
        self.pane.prints(up + "\r\n".join(painted))
        self.pane.rests(0.05)

    def shows(self, text: str, *, ends: bool = False) -> None:
        """Show a longer beginning of the text."""
        rows = [row for line in text.split("\n") for row in textwrap.wrap(line, self.columns - 1)]
        final = len(rows) if ends else max(self._final, len(rows) - WINDOW)
        above, self._final = rows[self._final : final], final
        if above:
            self.refreshes(above)
        self._rows = rows[final:] or [""]
        self.refreshes()

    def streams(self, text: str, start: int = 0) -> None:
        """Show a text word by word from a character on."""
        for end in range(start, len(text)):
            if text[end] == " ":
                self.shows(text[:end])

    def ends(self, text: str) -> None:
        """Show the whole text and the cursor, and close the pane."""
        self.shows(text, ends=True)
        self.pane.prints("\r\n\x1b[?25h")
        self.pane.ends()

    @property
    def said(self) -> list[str]:
        """What the program said, without blank lines."""
        return [line for line in self.pane.said() if line.strip()]


def shown(screen: TmuxScreen) -> Snapshot:
    """Return what tmux tells of a screen."""
    rows = screen.rows(0, screen.lines)
    painted, wraps = tuple(row.text.encode() for row in rows), tuple(row.wrapped for row in rows)
    place, total = Cursor(screen.cursor.x, screen.cursor.y), screen.history_total
    return Snapshot(screen.columns, screen.lines, painted, wraps, place, history_total=total)


@pytest.fixture
def display() -> LiveDisplay:
    return LiveDisplay(ScriptedPane(COLUMNS, LINES))


@pytest.mark.requirement("DEL-01", "DEL-08")
@pytest.mark.parametrize("rest", [0.0, 0.05])
@pytest.mark.parametrize("echo", ["", "\r\n", "^C\r\n\r\n", "go on\r\n"], ids=ascii)
@pytest.mark.parametrize("at", [180, 300])
def test_what_a_pushed_repaint_leaves_above_itself_is_not_said(
    display: LiveDisplay, echo: str, at: int, rest: float
) -> None:
    display.streams(ANSWER[:at])
    display.pane.prints(echo)
    display.pane.rests(rest)
    display.streams(ANSWER, at)
    display.ends(ANSWER)
    assert display.said == ANSWER.split("\n")


@pytest.mark.requirement("DEL-01", "DEL-08")
def test_a_copy_of_what_the_display_leaves_out_for_a_while_is_not_said(display: LiveDisplay) -> None:
    """aider shows the second part alone before it shows the first one above it again."""
    first, *others = ANSWER.split("\n")
    display.streams(first[:120])
    display.pane.prints("and then go on with the next part, too")
    display.pane.rests(0.05)
    display.refreshes()
    display._rows = [others[0][:20]]
    display.refreshes()
    display.pane.prints("\r\n")
    display.pane.rests(0.05)
    display.refreshes()
    display.streams(ANSWER, len(first) + 40)
    display.ends(ANSWER)
    assert display.said == ANSWER.split("\n")


@pytest.mark.requirement("DEL-01", "DEL-08")
def test_final_rows_that_stay_in_the_region_for_a_moment_are_said(display: LiveDisplay) -> None:
    rows = ["", "1 a hint is only a hint, and no state", "2 a line such as this is no prompt", "", "Go on?"]
    display.pane.prints("Worked for a while on this:\r\n")
    display._rows, display._up = rows, len(rows) - 1
    display.pane.prints("\r\n".join(rows))
    display.pane.rests(0.05)
    display.refreshes()
    # aider paints final rows with the old region below them, and then the new region.
    up = "\r" + "\x1b[1A" * (len(rows) - 2)
    display.pane.prints(up + "\r\n".join(row.ljust(COLUMNS) for row in [rows[1], *rows]))
    display.pane.rests(0.05)
    display._rows, display._up = [*rows[2:], "Yes", "No"], len(rows) - 1
    display.refreshes()
    display.pane.prints("\r\n\x1b[?25h")
    display.pane.ends()
    assert display.said == ["Worked for a while on this:", *filter(None, rows), "Yes", "No"]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("line", ["the same line of a song", "a long line of a song " * 3])
def test_lines_that_a_program_repeats_are_said_as_often(display: LiveDisplay, line: str) -> None:
    song = "\n".join([line.strip()] * 12)
    display.streams(song)
    display.ends(song)
    assert display.said == song.split("\n")


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("columns", [30, 60])
@pytest.mark.parametrize("reseeded", [False, True])
def test_what_is_painted_again_after_a_resize_is_said_once(display: LiveDisplay, columns: int, reseeded: bool) -> None:
    pane = display.pane
    display.streams(ANSWER[:250])
    pane.events += pane.stream.apply(Resized(pane.now, pane.pane, columns, LINES))
    if reseeded:
        # tmux is asked for its screen behind each resize of a live pane.
        pane.events += pane.stream.apply(Reseeded(pane.now, pane.pane, shown(pane.screen)))
    display.columns = columns
    # It counts its final rows in the old width, so it paints some again, or skips some.
    display._final = 4
    display.streams(ANSWER, 250)
    display.ends(ANSWER)
    assert " ".join(display.said).split() == ANSWER.split()
    assert not any(isinstance(event, Gap) for event in pane.events)


@pytest.mark.requirement("DEL-08")
def test_a_gap_stands_for_rows_that_were_not_painted_after_a_resize(display: LiveDisplay) -> None:
    pane = display.pane
    display.streams(ANSWER[:150])
    pane.events += pane.stream.apply(Resized(pane.now, pane.pane, 60, LINES))
    display.columns = 60
    display._final = 7
    display.shows(ANSWER)
    display.ends(ANSWER)
    gaps = [event.reason for event in pane.events if isinstance(event, Gap)]
    assert gaps == ["unpainted"]
    assert display.said[-1].endswith(ANSWER.split("\n")[-1][-20:])
