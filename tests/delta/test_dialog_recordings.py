"""Dialogs of real programs, asked for at every rest of every recording: found while they stand, and only then."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import regex

from streamrelay.delta.inputs import Resized
from streamrelay.delta.layout.dialogs import Dialog, find_dialog
from streamrelay.delta.profiles import DialogSign
from streamrelay.recordings import Output, open_recording
from streamrelay.vt import TmuxScreen

CORPUS = Path(__file__).parents[1] / "corpus"
DIALOGS = sorted(path.parent for path in (CORPUS / "dialogs").glob("*/*/meta.json"))
ORDINARY = sorted(path.parent for path in (CORPUS / "agents").glob("*/*/meta.json"))
REST = 0.3
LEAVING = 0.3
"""Seconds that a program gets to take a dialog away after the key that answered it."""

OPENCODE_WINDOW = DialogSign("picker", regex.compile(r"^ {4,}(?P<text>\S+(?: \S+)*) {3,}esc\s*$"))
"""A window in mid-screen, its choices told apart by colour alone: only a profile can know it."""
SIGNS = {"opencode": [OPENCODE_WINDOW]}


def name(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


def stays(folder: Path, rest: float) -> Iterator[tuple[float, TmuxScreen]]:
    """Yield the time and the screen whenever nothing was printed for so many seconds."""
    recording = open_recording(folder)
    screen = TmuxScreen(recording.columns, recording.lines)
    printed: float | None = None
    for entry in recording.entries():
        if printed is not None and entry.t - printed >= rest:
            yield printed + rest, screen
        if isinstance(entry, Output):
            screen.feed(entry.data)
            printed = entry.t
        elif isinstance(entry, Resized):
            screen.resize(entry.lines, entry.columns)
    if printed is not None:
        yield printed + rest, screen


def dialog_on(screen: TmuxScreen, program: str) -> Dialog | None:
    cursor = screen.cursor
    return find_dialog(
        screen.text(), (cursor.x, cursor.y), cursor_visible=not cursor.hidden, signs=SIGNS.get(program, ())
    )


def spans(folder: Path) -> list[dict[str, Any]]:
    dialogs: list[dict[str, Any]] = json.loads((folder / "meta.json").read_text())["dialogs"]
    return dialogs


def test_there_are_recordings() -> None:
    kinds = {span["kind"] for folder in DIALOGS for span in spans(folder)}
    assert kinds == {"confirmation", "permission", "trust", "login", "picker"}
    assert {folder.parent.name for folder in DIALOGS} >= {"claude", "codex", "gemini", "opencode", "qwen", "prompts"}
    assert len(ORDINARY) > 100


@pytest.mark.parametrize("folder", DIALOGS, ids=name)
def test_a_dialog_is_found_while_it_stands_and_not_else(folder: Path) -> None:
    expected = spans(folder)
    seen: set[int] = set()
    for t, screen in stays(folder, REST):
        shown = next((n for n, span in enumerate(expected) if span["t0"] <= t <= span["t1"]), None)
        if shown is None:
            if not any(span["t1"] < t <= span["t1"] + LEAVING for span in expected):
                assert dialog_on(screen, folder.parent.name) is None, (t, screen.text())
            continue
        seen.add(shown)
        found = dialog_on(screen, folder.parent.name)
        assert found is not None, (t, screen.text())
        assert found.kind == expected[shown]["kind"], found
        assert found.text
    assert seen == set(range(len(expected)))


@pytest.mark.sampled(16)
@pytest.mark.parametrize("folder", ORDINARY, ids=name)
def test_no_dialog_is_seen_in_an_ordinary_session(folder: Path) -> None:
    """Not even between two frames: answers, drafts, spinners, pagers and editors are no dialogs."""
    looks = 0
    for looks, (t, screen) in enumerate(stays(folder, 0.02), 1):  # noqa: B007
        assert dialog_on(screen, folder.parent.name) is None, (t, screen.text())
    assert looks > 0


QUESTIONS = {
    "claude-permission_bash": "Do you want to proceed?",
    "claude-permission_edit": "Do you want to create new.txt?",
    "claude-trust": "Quick safety check: Is this a project you created or one you trust?",
    "claude-api_key": "Do you want to use this API key?",
    "claude-question": "Which colour shall the button have?",
    "codex-approval": "Would you like to run the following command?",
    "codex-approval_patch": "Would you like to make the following edits?",
    "codex-trust": "Trust this folder?",
    "gemini-permission": "Allow execution of [Shell]?",
    "qwen-permission": "Allow execution of: 'rm, touch'?",
    "qwen-auth": "Select Authentication Method",
    "prompts-inquirer": "Pick a colour",
}


@pytest.mark.parametrize("folder", [folder for folder in DIALOGS if name(folder) in QUESTIONS], ids=name)
def test_the_question_is_told(folder: Path) -> None:
    span = spans(folder)[0]
    told = {
        found.text
        for t, screen in stays(folder, REST)
        if span["t0"] <= t <= span["t1"] and (found := dialog_on(screen, folder.parent.name))
    }
    assert told == {QUESTIONS[name(folder)]}


def test_a_window_that_only_colour_explains_needs_a_profile() -> None:
    folder = CORPUS / "dialogs" / "opencode" / "pickers"
    inside = [
        find_dialog(screen.text(), (screen.cursor.x, screen.cursor.y), cursor_visible=not screen.cursor.hidden)
        for t, screen in stays(folder, REST)
        if any(span["t0"] <= t <= span["t1"] for span in spans(folder))
    ]
    assert inside
    assert not any(inside)
