"""Whole lives of real agents: each answer is said, and a person is called for each dialog and for nothing else.

The recordings (corpus/lifecycle) hold trust and approval dialogs, permissions, a list of tasks below a dialog, agents
started from a shell, and agents whose panes were attached late.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from streamrelay.agents import load_profiles
from streamrelay.events import NeedsHuman, Text
from streamrelay.recordings import open_recording, replay
from streamrelay.recordings.replay import steps

CORPUS = Path(__file__).parents[1] / "corpus" / "lifecycle"
LIVES = sorted(path.parent for path in CORPUS.glob("*/*/meta.json"))
PROFILES = [profile.reading for profile in load_profiles()]
CLEARED_WITHIN = 2.5
"""Seconds from the key that answers a dialog to the rest of the screen that the program paints next."""
CHROME = re.compile(r"^\s*[─━═╌▔▁]{3,}\s*$|^\s*[✻✽✶✳✢·] \w+(…| for \d)|⎿|\bTip: |esc to interrupt|\? for shortcuts")
"""Rows of an agent's screen that are chrome: rules, spinners, hints."""

lives = pytest.mark.parametrize("folder", LIVES, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
pytestmark = pytest.mark.skipif(not LIVES, reason="the recordings of whole lives are not in this clone")


class Call(NamedTuple):
    """A person was called for `kind` at a time, and the call lasted until another."""

    kind: str
    began: float
    ended: float


def meta_of(folder: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads((folder / "meta.json").read_text())
    return meta


def calls(folder: Path) -> Iterator[Call]:
    """Yield when a person was needed: from the event to the first moment at which nobody is."""
    open_call: NeedsHuman | None = None
    for step in steps(open_recording(folder), PROFILES):
        if open_call is not None and step.stream.needs_human is None:
            yield Call(open_call.kind, open_call.t, step.stream.now)
            open_call = None
        for event in step.events:
            if isinstance(event, NeedsHuman):
                open_call = event
    if open_call is not None:
        yield Call(open_call.kind, open_call.t, float("inf"))


@lives
def test_a_person_is_called_for_each_dialog_and_for_nothing_else(folder: Path) -> None:
    dialogs = [dialog for dialog in meta_of(folder).get("dialogs", ()) if dialog["kind"] is not None]
    called = list(calls(folder))
    for dialog in dialogs:
        during = [call for call in called if call.began < dialog["t_answered"] and call.ended > dialog["t_shown"]]
        assert during, f"nobody was called for {dialog}"
        assert during[-1].ended < dialog["t_answered"] + CLEARED_WITHIN
        called = [call for call in called if call not in during]
    assert called == []


@lives
def test_each_answer_is_said(folder: Path) -> None:
    said = [event for event in replay(open_recording(folder), PROFILES) if isinstance(event, Text)]
    words = " ".join(" ".join(event.text.split()) for event in said if event.origin == "program")
    for answer in meta_of(folder)["truth"]:
        if answer["text"] and answer.get("t1") is not None:
            assert " ".join(answer["text"].split()[:8]) in words


@lives
def test_no_rule_spinner_or_hint_is_said(folder: Path) -> None:
    texts = [event for event in replay(open_recording(folder), PROFILES) if isinstance(event, Text)]
    assert texts
    assert [event.text for event in texts if event.origin == "program" and CHROME.search(event.text)] == []
