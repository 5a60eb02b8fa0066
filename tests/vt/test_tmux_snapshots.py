"""Recorded sessions of real programs against what `capture-pane` said at quiet moments (tmux 3.3a).

What tmux itself did is done here too, by its own rules: a new size of the window, and the notice it writes into a
pane whose program ended (server-fn.c, server_destroy_pane): the region is the whole screen again, the bottom line
scrolls up, the text is written there, and the cursor is hidden in its first column.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from streamrelay.delta.inputs import Output, Resized
from streamrelay.recordings.control_stream import ControlRecording
from streamrelay.vt import TmuxScreen

AGENTS = Path(__file__).parent.parent / "corpus" / "agents"
RECORDINGS = sorted(path.parent for path in AGENTS.glob("*/*/meta.json"))
NOTICE = re.compile(r"Pane is dead \(status \d+, .*\)\Z")

NOT_COMPARED = {
    ("fzf/pick", label): "the last bytes of the program are not in the recording: tmux had no time to hand them out"
    for label in ("picked", "final")
}
ANSWERED_LATER = {("aider/two", "both-injected"): 0.04}
"""Snapshots taken in mid-output: seconds after `t`, by which the next output had come."""


def name(recording: Path) -> str:
    return str(recording.relative_to(AGENTS))


@cache
def meta(recording: Path) -> dict[str, Any]:
    return json.loads((recording / "meta.json").read_text())  # type: ignore[no-any-return]


def died(screen: TmuxScreen, notice: str) -> None:
    """Do what tmux does to the pane of a program that ended."""
    screen.feed(b"\x18\x1b[m\x1b[?6l\x1b[r\x1b[%dH\n%b\r\x1b[?25l" % (screen.lines, notice.encode()))


@pytest.mark.sampled(40)
@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_same_screen_history_and_cursor_as_tmux(recording: Path) -> None:
    facts = meta(recording)
    screen = TmuxScreen(facts["cols"], facts["rows"], history=20_000)
    entries = (entry for entry in ControlRecording(recording).entries() if isinstance(entry, Output | Resized))
    waiting = next(entries, None)
    dead = False
    for snapshot in facts["snapshots"]:
        key = (name(recording), snapshot["label"])
        while waiting and waiting.t <= snapshot["t"] + ANSWERED_LATER.get(key, 0):
            if isinstance(waiting, Output):
                screen.feed(waiting.data)
            else:
                screen.resize(waiting.lines, waiting.columns)
            waiting = next(entries, None)
        if key in NOT_COMPARED:
            continue
        state = dict(item.partition("=")[::2] for item in snapshot["state"].split())
        notice = NOTICE.search(snapshot["screen"].rstrip("\n"))
        if state["dead"] == "1" and notice and not dead:
            dead = True
            died(screen, notice[0])
        where = snapshot["label"]
        assert f"{screen.cursor.x},{screen.cursor.y}" == state["cur"], where
        assert str(len(screen.history_text())) == state["hist"], where
        assert screen.alternate == (state["alt"] == "1"), where
        assert screen.text() == padded(snapshot["screen"], screen.lines), where
        assert screen.history_text() + screen.text() == padded(
            snapshot["history"], screen.lines + int(state["hist"])
        ), where


def padded(captured: str, count: int) -> list[str]:
    """Rows of a capture; empty ones at its end were not recorded."""
    rows = captured.rstrip("\n").split("\n")
    return rows + [""] * (count - len(rows))


def test_what_is_not_compared_is_there() -> None:
    labels = {
        (name(recording), snapshot["label"]) for recording in RECORDINGS for snapshot in meta(recording)["snapshots"]
    }
    assert {*NOT_COMPARED, *ANSWERED_LATER} <= labels
    assert len(labels) > 100 * len(NOT_COMPARED)
