"""Recorded dialogs, through the whole stream: each is told while it stands, with its kind, and nothing else is."""

import json
from pathlib import Path
from typing import Any

import pytest

from streamrelay.agents import load_profiles
from streamrelay.delta.prompt_detection import REST
from streamrelay.events import NeedsHuman
from streamrelay.recordings.replay import open_recording, replay

CORPUS = Path(__file__).parents[1] / "corpus" / "dialogs"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/*/meta.json"))
PROFILES = [profile.reading for profile in load_profiles(None)]


def name(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


def dialogs(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "meta.json").read_text()).get("dialogs", [])
    return found


def needs(folder: Path) -> list[NeedsHuman]:
    return [event for event in replay(open_recording(folder), PROFILES) if isinstance(event, NeedsHuman)]


def lasting(folder: Path) -> list[dict[str, Any]]:
    return [dialog for dialog in dialogs(folder) if dialog["t1"] - dialog["t0"] > 2 * REST]


WITH_DIALOGS = [folder for folder in FOLDERS if lasting(folder)]


def test_there_are_dialogs_that_last() -> None:
    assert len(WITH_DIALOGS) > 20


@pytest.mark.requirement("DEL-10")
@pytest.mark.parametrize("folder", WITH_DIALOGS, ids=name)
def test_dialogs_are_told_while_they_stand(folder: Path) -> None:
    told = needs(folder)
    for dialog in lasting(folder):
        inside = {need.kind for need in told if dialog["t0"] <= need.t <= dialog["t1"]}
        assert dialog["kind"] in inside, (dialog, told)


@pytest.mark.requirement("DEL-10")
@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if not dialogs(folder)], ids=name)
def test_what_is_no_dialog_needs_nobody(folder: Path) -> None:
    assert needs(folder) == []
