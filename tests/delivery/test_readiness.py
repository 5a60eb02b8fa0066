"""Whether a program may be typed to, judged on recorded agents: an empty composer, and one that holds a message."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.agents import AgentProfile, shipped_profiles
from streamrelay.delivery.readiness import draft, obstacle
from streamrelay.delta.inputs import Looked, Output, Pasted, Submitted, Waited
from streamrelay.delta.pane_state import PaneState
from streamrelay.delta.stream import DeltaStream
from streamrelay.recordings.replay import open_recording
from streamrelay.vt import TmuxScreen

AGENTS = Path(__file__).parents[1] / "corpus" / "agents"
PROFILES = {profile.name: profile for profile in shipped_profiles()}


def pane_states(folder: Path, *, known: bool) -> Iterator[tuple[type, PaneState, AgentProfile | None]]:
    """Yield the state of the pane before each paste and each Enter of a recording, with its kind and the profile."""
    recording = open_recording(folder)
    readings = [profile.reading for profile in PROFILES.values()] if known else []
    stream = DeltaStream(TmuxScreen(recording.columns, recording.lines), newborn=True, profiles=readings)
    for entry in recording.entries():
        while (due := stream.deadline()) is not None and due <= entry.t:
            stream.apply(Waited(due, entry.pane))
        if isinstance(entry, Output):
            stream.apply(entry)
        elif isinstance(entry, Pasted | Submitted):
            stream.apply(Looked(entry.t, entry.pane))
            yield type(entry), stream.pane_state, PROFILES.get(stream.profile) if known else None
            stream.apply(entry)


@pytest.mark.requirement("DLV-03a")
@pytest.mark.parametrize("known", [True, False], ids=["with profiles", "without"])
@pytest.mark.parametrize("scenario", ["short", "multi", "long3k"])
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "aider", "bash"])
def test_an_empty_composer_is_told_from_a_message_that_stands_there(agent: str, scenario: str, known: bool) -> None:
    seen = list(pane_states(AGENTS / agent / scenario, known=known))
    assert seen
    for kind, pane_state, profile in seen:
        if kind is Pasted:
            assert obstacle(pane_state, profile, answering=False) is None
        else:
            assert draft(pane_state, profile)


@pytest.mark.parametrize(("agent", "though_it_queues"), [("codex", "not_ready"), ("aider", "at_work")])
def test_a_recorded_agent_at_work_is_let_finish_where_its_profile_says_so(agent: str, though_it_queues: str) -> None:
    seen = list(pane_states(AGENTS / agent / "two", known=True))
    pastes = [(pane_state, profile) for kind, pane_state, profile in seen if kind is Pasted]
    found = [obstacle(pane_state, profile, answering=False) for pane_state, profile in pastes]
    assert found == [None, "at_work"]
    queueing = PROFILES["claude"]
    assert obstacle(pastes[-1][0], queueing, answering=True) == though_it_queues
    assert pastes[-1][0].withdrawn is (agent == "aider"), "a request for pastes that is withdrawn is waited for anyway"
