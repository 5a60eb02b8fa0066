"""Replay of recorded sessions: reality, in the pieces in which tmux told of it."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import ROOT
from streamrelay.events import PaneClosed
from streamrelay.recordings.replay import open_recording, replay

_AGENTS = ROOT / "tests" / "corpus" / "agents"
_RECORDINGS = ("claude/long200", "codex/long200", "bash/long300", "textual/short")


@pytest.mark.parametrize("name", _RECORDINGS)
def bench_replay(benchmark: BenchmarkFixture, name: str) -> None:
    events = benchmark(lambda: list(replay(open_recording(_AGENTS / name))))
    assert isinstance(events[-1], PaneClosed)
