"""A listener that attaches while an agent starts hears no word of its first screen, however late that is.

tmux up to 3.6 does not tell which modes a program has asked for. So the listener begins on a screen that is half
painted, of a program that may have asked for bracketed paste or not.
"""

import json
from collections import Counter
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from streamrelay.agents import load_profiles
from streamrelay.delta.inputs import Began, Output, Waited
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Gap, Text
from streamrelay.recordings import open_recording
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Modes, Snapshot
from tests.late_attach import LateAttach

CORPUS = Path(__file__).parents[1] / "corpus"
COMMANDS = {"claude": "claude", "claude197": "claude", "codex": "codex", "opencode": "opencode"}
"""The foreground command of an agent; the others run in `node`."""
AGENTS = {*COMMANDS, "gemini", "ink"}
STARTS = [
    path.parent
    for part in ("agents", "lifecycle")
    for path in sorted((CORPUS / part).glob("*/*/meta.json"))
    if path.parent.parent.name in AGENTS and not path.parent.name.startswith("shelltrust")
]
JOINED = {
    "a draft in the composer": ("agents/gemini/short", 15),
    "a draft of two rows on the first screen": ("agents/opencode/quote", 19),
    "a draft below earlier turns": ("lifecycle/opencode/late_idle_live", 424),
    "a placeholder of what was pasted": ("agents/claude/multi", 13),
    "a placeholder, in a composer with another mark": ("live/gemini/rich", 283),
    "a message that has just left the composer": ("live/qwen/ten_80", 38),
    "a message without an answer": ("live/opencode/two", 19),
    "a question about a permission": ("lifecycle/gemini/permission", 55),
    "half an answer, and then all of it again": ("live/codex/resize", 399),
    "half an answer without its message, and then all of it again": ("live/qwen/long", 1464),
}
"""A recording and the number of the input at which a listener attaches, by what stands on the screen then."""
POINTS = 8
"""Moments of a start at which a listener attaches."""


def words(text: str) -> Counter[str]:
    return Counter("".join(letter if letter.isalnum() else " " for letter in text).split())


def moments(path: Path, until: float) -> list[int]:
    """Return numbers of inputs, spread over all that was painted until then."""
    inputs = takewhile(lambda told: told.t < until, open_recording(path).entries())
    painted = [number for number, told in enumerate(inputs) if isinstance(told, Output)][1:]
    return painted[:: max(1, len(painted) // POINTS)]


@pytest.mark.requirement("DEL-03a")
@pytest.mark.sampled(8)
@pytest.mark.parametrize("path", STARTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_word_of_a_first_screen_is_said(path: Path) -> None:
    meta: dict[str, Any] = json.loads((path / "meta.json").read_text())
    profiles = [profile.reading for profile in load_profiles()]
    truth = words(" ".join(answer["text"] or "" for answer in meta["truth"]))
    first = min(injected["t"] for injected in meta["injected"])
    over = min((answer["t1"] for answer in meta["truth"] if answer.get("t1")), default=first) + 1
    for number in moments(path, first):
        late = LateAttach(path, number, COMMANDS.get(path.parent.name, "node"))
        if not late.is_whole:
            continue
        heard = takewhile(lambda event: event.t < over, late.events(profiles))
        said = [event.text for event in heard if isinstance(event, Text) and event.origin == "program"]
        chrome = [line for line in said if words(line) - truth]
        assert chrome == [], f"attached at input {number}"


@pytest.mark.requirement("DEL-03a")
@pytest.mark.parametrize(("name", "number"), JOINED.values(), ids=JOINED)
def test_answers_are_heard_as_from_the_beginning(name: str, number: int) -> None:
    """What is heard before the next answer begins is of the answer that was going on, and at most all of that."""
    path = CORPUS / name
    meta: dict[str, Any] = json.loads((path / "meta.json").read_text())
    command = COMMANDS.get(path.parent.name, "node")
    profiles = [profile.reading for profile in load_profiles()]
    at = [*open_recording(path).entries()][number].t
    began = sorted(answer["t0"] for answer in meta["truth"] if answer["t0"] is not None)
    following = next((t for t in began if t > at), at)
    going_on = words([answer["text"] for answer in meta["truth"] if answer["t0"] < at][-1] if began[0] < at else "")
    whole, heard = (
        [event for event in LateAttach(path, first, command).events(profiles) if isinstance(event, Text)]
        for first in (1, number)
    )
    due, later, before = (
        words(" ".join(event.text for event in part if event.origin == "program"))
        for part in (
            [event for event in whole if event.t > following],
            [event for event in heard if event.t > following],
            [event for event in heard if event.t <= following],
        )
    )
    assert due - going_on <= later <= due
    assert before <= going_on


def test_a_table_that_is_painted_again_and_again_is_no_composer() -> None:
    """A listener attaches while it is painted; the lines of the program are said."""
    screen = Snapshot(30, 12, (b"",) * 12, (False,) * 12, Cursor(0, 0), modes=Modes(cursor_visible=False))
    stream = DeltaStream(TmuxScreen(30, 12), pane="%0")
    events = [*stream.apply(Began(0.0, "%0", "late", "python3", "", screen))]
    table = ["┌──────────────┐", "│ {n} of 3      │", "└──────────────┘"]
    for n in range(4):
        painted = "\r\n".join(table).format(n=n) + "\r\x1b[2A"
        events += stream.apply(Output(1.0 + n, "%0", painted.encode()))
        while (due := stream.deadline()) is not None and due < 1.5 + n:
            events += stream.apply(Waited(due, "%0"))
    events += stream.apply(Output(5.0, "%0", b"\x1b[2B\r\n\x1b[?25hThat was all.\r\n"))
    while (due := stream.deadline()) is not None:
        events += stream.apply(Waited(due, "%0"))
    assert [event.text for event in events if isinstance(event, Text)][-1] == "That was all."


@pytest.mark.requirement("DEL-03a")
def test_an_agent_that_works_at_the_attach_is_no_editor() -> None:
    """OpenCode shows on its screen alone that it works; the message above was sent before the attach."""
    path = CORPUS / "agents" / "opencode" / "short"
    meta: dict[str, Any] = json.loads((path / "meta.json").read_text())
    answer = meta["truth"][0]
    inputs = [*open_recording(path).entries()]
    number = next(n for n, told in enumerate(inputs) if isinstance(told, Output) and told.t > answer["t0"])
    late = LateAttach(path, number, "opencode")
    events = [*late.events([profile.reading for profile in load_profiles()])]
    said = words(" ".join(event.text for event in events if isinstance(event, Text) and event.origin == "program"))
    assert said.total() > words(answer["text"]).total() // 2
    assert any(isinstance(event, Gap) for event in events)
