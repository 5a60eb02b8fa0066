"""What agents say is the same, however many panes are read beside them, whether their live text is followed or not."""

from pathlib import Path

import pytest

from streamrelay.agents import load_profiles
from streamrelay.events import Event, Text, TurnEnded
from streamrelay.panes.scheduler import DEFERRED
from streamrelay.recordings.replay import open_recording, replay
from tests.panes.paced_replay import paced

pytestmark = pytest.mark.requirement("DEL-05", "ENG-10a")

LIVE = Path(__file__).parents[1] / "corpus" / "live"
QUICK = ("claude/two", "codex/two")
LONG = ("aider/rich", "claude/rich", "codex/rich", "gemini/ten_80", "gemini/two", "opencode/two", "qwen/rich")


def said(events: list[Event]) -> list[tuple[int, str, str]]:
    return [(event.turn, event.origin, event.text) for event in events if isinstance(event, Text)]


@pytest.mark.parametrize("live", [True, False], ids=["followed", "turns"])
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_what_an_agent_says_does_not_depend_on_how_it_is_read(name: str, live: bool) -> None:
    profiles = [profile.reading for profile in load_profiles()]
    alone = list(replay(open_recording(LIVE / name), profiles))
    read = paced(LIVE / name, live=live)
    assert said(read) == said(alone)
    ends, expected = ([event for event in events if isinstance(event, TurnEnded)] for events in (read, alone))
    assert [end.reason for end in ends] == [end.reason for end in expected]
    assert all(end.t <= other.t + 2 * DEFERRED for end, other in zip(ends, expected, strict=True))
