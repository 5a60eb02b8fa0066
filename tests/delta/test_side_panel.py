"""What stands beside a transcript is no part of it."""

import pytest

from streamrelay.delta.layout.side_panel import transcript_edge
from streamrelay.delta.transcript.document import Document
from streamrelay.vt import TmuxScreen

COLUMNS, LINES, EDGE = 80, 12, 52
PANEL = ["Session one", "", "Context", "107 tokens"]
STATUS = f"  /home/ann/work{'esc interrupt':>{EDGE - 16}}    version 1.2"


class Beside:
    """A program on the alternate screen with a box for a composer, and a panel on its right."""

    def __init__(self, panel: list[str], status: str = STATUS, edge: int = EDGE) -> None:
        self.screen = TmuxScreen(COLUMNS, LINES)
        self.screen.feed(b"\x1b[?1049h")
        self.document = Document(self.screen)
        self.document.restart(self.screen.take())
        self._panel, self._status, self._edge = panel, status, edge

    def shows(self, transcript: list[str]) -> None:
        left = transcript + [""] * (LINES - 4 - len(transcript))
        left += ["  ┃", "  ╹" + "▀" * (self._edge - 3), self._status, ""]
        painted = ""
        for y, (row, beside) in enumerate(zip(left, self._panel + [""] * LINES, strict=False)):
            painted += f"\x1b[{y + 1};1H{row}\x1b[K" + (f"\x1b[{y + 1};{self._edge + 4}H{beside}" if beside else "")
        self.screen.feed(f"{painted}\x1b[{LINES - 3};5H".encode())
        frame = self.screen.take()
        self.document.take(frame)
        self.document.look(frame.cursor.y)

    @property
    def edge(self) -> int | None:
        return transcript_edge(self.screen, self.screen.text())


def test_a_panel_is_left_out_while_the_transcript_scrolls_beside_it() -> None:
    beside = Beside(PANEL)
    rows = [f"row {number} 繁體" for number in range(30)]
    for end in range(1, len(rows) + 1):
        beside.shows(rows[max(0, end - (LINES - 4)) : end])
    assert beside.edge == EDGE
    assert beside.document.columns == EDGE
    assert [row.text for row in beside.document.rows()][: len(rows)] == rows


@pytest.mark.parametrize(
    "beside",
    [
        Beside([]),
        Beside(["one"]),
        Beside(PANEL, status="  " + "word " * 14),
        Beside(PANEL, edge=COLUMNS - 10),
    ],
    ids=["nothing beside it", "two rows alone", "a row goes across", "too narrow for one"],
)
def test_what_is_no_panel(beside: Beside) -> None:
    beside.shows(["row one", "row two"])
    assert beside.edge is None
    assert beside.document.columns == COLUMNS


def test_a_new_size_is_looked_at_anew() -> None:
    beside = Beside(PANEL)
    beside.shows(["row one"])
    assert beside.document.columns == EDGE
    beside.screen.resize(LINES, COLUMNS - 10)
    beside.document.restart(beside.screen.take())
    assert beside.document.columns == COLUMNS - 10


def test_a_composer_that_is_drawn_across_the_screen_leaves_no_panel() -> None:
    """After a resize half a repaint has a narrow transcript, and beside it what is left of a wider one."""
    beside = Beside(PANEL)
    beside.shows(["row one"])
    assert beside.document.columns == EDGE
    across = Beside([], edge=COLUMNS)
    across.screen, across.document = beside.screen, beside.document
    wide = "row one " + "word " * 12
    across.shows([wide.rstrip()])
    assert across.document.columns == COLUMNS
    assert across.document.rows()[0].text == wide.rstrip()
