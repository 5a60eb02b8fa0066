"""Recorded sessions of real programs against what `capture-pane` said at quiet moments (tmux 3.3a)."""

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from streamrelay.vt import TmuxScreen

AGENTS = Path(__file__).parent.parent / "corpus" / "agents"
RECORDINGS = sorted(path.parent for path in AGENTS.glob("*/*/meta.json"))
OUTPUT = "%output %0 "

NOT_COMPARED = {
    ("aider/two", "both-injected"): "taken while the program was printing: the captures are younger than `t`",
    ("claude/resize", "resized"): "tmux reflows on a resize, a terminal here is seeded again",
    ("claude/resize", "after-t2"): "behind a resize",
    ("claude/resize", "resized2"): "behind a resize",
    ("claude/resize", "final"): "behind a resize",
    **{
        (program, label): "the program has ended: tmux itself wrote `Pane is dead`"
        for program, last in {
            "fzf/pick": "picked", "fzf/pick_inline": "picked", "less/file": "quit", "vim/edit": "quit",
        }.items()
        for label in (last, "final")
    },
}  # fmt: skip


def name(recording: Path) -> str:
    return str(recording.relative_to(AGENTS))


@cache
def meta(recording: Path) -> dict[str, Any]:
    return json.loads((recording / "meta.json").read_text())  # type: ignore[no-any-return]


def output(recording: Path) -> Iterator[tuple[float, bytes]]:
    """The bytes of the pane, with their times."""
    with gzip.open(recording / "stream.jsonl.gz", "rt") as lines:
        for line in map(json.loads, lines):
            if line["dir"] == "out" and line["line"].startswith(OUTPUT):
                data = line["line"].removeprefix(OUTPUT).encode("latin-1")
                yield line["t"], re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), data)


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_same_screen_history_and_cursor_as_tmux(recording: Path) -> None:
    facts = meta(recording)
    screen = TmuxScreen(facts["cols"], facts["rows"], history=20_000)
    stream = output(recording)
    waiting = next(stream, None)
    for snapshot in facts["snapshots"]:
        while waiting and waiting[0] <= snapshot["t"]:
            screen.feed(waiting[1])
            waiting = next(stream, None)
        if (name(recording), snapshot["label"]) in NOT_COMPARED:
            continue
        state = dict(item.partition("=")[::2] for item in snapshot["state"].split())
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
    assert set(NOT_COMPARED) <= labels
    assert len(labels) > 20 * len(NOT_COMPARED)
