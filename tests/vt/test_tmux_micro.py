"""Small streams with the answers tmux 3.3a gave: one rule each."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamrelay.vt import TmuxScreen

FILE = Path(__file__).parent.parent / "corpus" / "vt" / "micro.jsonl"
CASES = [json.loads(line) for line in FILE.read_text().strip().split("\n")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_same_screen_as_tmux(case: dict[str, Any]) -> None:
    screen = TmuxScreen(case["cols"], case["rows"])
    screen.feed(case["data"].encode("latin-1"))
    tmux = case["tmux"]
    assert screen.text() == tmux["screen"]
    assert screen.history_text() == tmux["history"]
    # Whoever recorded the cases wrote down a pending wrap as the last column.
    assert [min(screen.cursor.x, screen.columns - 1), screen.cursor.y] == tmux["cursor"]
    assert screen.alternate == tmux["alt"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_same_soft_wraps_and_blanks_as_tmux(case: dict[str, Any]) -> None:
    screen = TmuxScreen(case["cols"], case["rows"])
    screen.feed(case["data"].encode("latin-1"))
    rows = [*screen.take().committed, *(screen.row(y) for y in range(screen.lines))]
    if case["data"].count("\x1b[3J"):
        rows = rows[-len(screen.history_text()) - screen.lines :]
    joined = "".join(row.text + "\n" * (not row.wrapped) for row in rows)
    assert joined.rstrip("\n") == case["tmux"]["joined"].rstrip("\n")
