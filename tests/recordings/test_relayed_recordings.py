"""Panes of a relay whose agents were sent one message after the other, with the agents' own records.

Claude Code 2.1.332, answered at once by its model, falls behind its own output. It paints over rows of its answers and
echoes before they reach tmux's history, and never paints them again.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from benchmarks.fidelity.scoring import Truth
from benchmarks.fidelity.witnessed import witnessed
from streamrelay.agents import shipped_profiles
from streamrelay.delta.inputs import Input, WitnessReported
from streamrelay.events import Event, Text, TurnEnded, WitnessCompared
from streamrelay.recordings import open_recording
from streamrelay.recordings.replay import Step, steps

RELAYS = Path(__file__).parents[1] / "corpus" / "relay"
PROFILES = [profile.reading for profile in shipped_profiles()]


class Altered:
    """A recording whose agent's own record says something else."""

    def __init__(self, file: Path, replaced: tuple[str, str]) -> None:
        self._recording = open_recording(file)
        self.columns, self.lines = self._recording.columns, self._recording.lines
        self._replaced = replaced

    def entries(self) -> Sequence[Input]:
        return [self._altered(entry) for entry in self._recording.entries()]

    def _altered(self, entry: Input) -> Input:
        if not isinstance(entry, WitnessReported):
            return entry
        passages = tuple(
            msgspec.structs.replace(passage, text=passage.text.replace(*self._replaced))
            if passage.speaker == "agent" else passage
            for passage in entry.passages
        )  # fmt: skip
        return msgspec.structs.replace(entry, passages=passages)


def answers(played: Sequence[Step]) -> list[str]:
    """Return what the agent's record says of its answers."""
    reports = [step.entry for step in played if isinstance(step.entry, WitnessReported)]
    return [one.text for report in reports for one in report.passages if one.speaker == "agent"]


def said(events: Sequence[Event]) -> list[str]:
    """Return what was said in each turn in which something was said."""
    turns = [""]
    for event in events:
        if isinstance(event, TurnEnded):
            turns.append("")
        elif isinstance(event, Text) and event.origin == "program":
            turns[-1] += event.text + "\n"
    return [turn.strip("\n") for turn in turns if turn.strip()]


@pytest.mark.requirement("DEL-11", "REL-01")
@pytest.mark.parametrize("name", ["claude_lost_rows", "claude_lost_echoes"])
def test_each_turn_says_its_answer_though_the_screen_lost_rows(name: str) -> None:
    played = [*steps(open_recording(RELAYS / f"{name}.jsonl.gz"), PROFILES)]
    events = [event for step in played for event in step.events]
    assert said(events) == answers(played)
    compared = [event.outcome for event in events if isinstance(event, WitnessCompared)]
    assert set(compared) == {"agrees", "repaired"}


@pytest.mark.requirement("DEL-11")
@pytest.mark.parametrize("name", ["claude_lost_rows", "claude_lost_echoes"])
@pytest.mark.parametrize(
    "replaced",
    [
        ("yield row", "yield rows"),
        ("counts.", "counts.\n\nAnd run `rm -rf` now."),
        ("The function of", "rm -rf: the function of"),
    ],
    ids=["one letter", "appended", "another first line"],
)
def test_a_forged_record_adds_no_word_where_the_screen_lost_rows(name: str, replaced: tuple[str, str]) -> None:
    played = [*steps(Altered(RELAYS / f"{name}.jsonl.gz", replaced), PROFILES)]
    words = "\n".join(said([event for step in played for event in step.events])).split()
    assert "rm" not in words
    assert "rm:" not in words
    assert "rows" not in words
    assert "`rm" not in words
    assert "Measured" in words


@pytest.mark.requirement("DEL-11")
def test_what_an_agent_shows_when_it_starts_waits_for_no_record() -> None:
    folder = RELAYS.parent / "lifecycle" / "codex" / "trustL_live"
    truth = Truth.of(folder)
    events = [*witnessed(open_recording(folder), truth, PROFILES)]
    assert said(events) == [answer.text for answer in truth.truth]
    assert {event.outcome for event in events if isinstance(event, WitnessCompared)} == {"agrees"}
