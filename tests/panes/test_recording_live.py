"""What was recorded of a live pane replays as what its watchers were told: the same events, at the same times."""

import asyncio
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from streamrelay.agents import shipped_profiles
from streamrelay.delivery.message import Message
from streamrelay.delivery.writer import PaneWriter
from streamrelay.delta.inputs import Ended, Output
from streamrelay.errors import PaneGone, RecordingError, TargetNotFound, UsageError
from streamrelay.events import Event, Injected, PaneClosed, PaneOpened, PaneResized, ProgramChanged, TurnEnded
from streamrelay.panes.tasks import until_first
from streamrelay.recordings import open_recording, replay
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 20.0
AGENT = [sys.executable, str(Path(__file__).with_name("painted_agent.py"))]
COUNTER = ["sh", "-c", "stty -echo; while read n; do seq 1 $n; done; exec cat"]
PROFILES = [profile.reading for profile in shipped_profiles()]


def plain(events: Sequence[Event]) -> list[Event]:
    """Without wall clock, host and time."""
    return [msgspec.structs.replace(event, at=msgspec.UNSET, host=msgspec.UNSET, t=0.0) for event in events]


def times(events: Sequence[Event]) -> list[float]:
    """Seconds since the first event: two streams began at two moments."""
    return [event.t - events[0].t for event in events]


def are_the_same(replayed: Sequence[Event], heard: Sequence[Event]) -> bool:
    assert plain(replayed) == plain(heard)
    return times(replayed) == pytest.approx(times(heard), abs=1e-4)


async def talk(server, pane: str, *texts: str) -> None:
    pipeline = server.pipeline(pane)
    writer = PaneWriter(server, pipeline, program=pipeline.info.command, report=lambda _progress: None)
    for number, text in enumerate(texts, 1):
        await writer.put(Message(f"m{number}", text))
    await until_first(writer.run(), writer.finish())


@pytest.mark.requirement("DEL-09a")
async def test_a_conversation_replays_as_it_was_heard(private_tmux, server, heard, tmp_path):
    pane = private_tmux.new_session("work", AGENT, columns=60, lines=16)
    await wait_until_async(lambda: "shortcuts" in private_tmux.run("capture-pane", "-p", "-t", pane), PATIENCE)
    path = tmp_path / "talk.jsonl.gz"
    async with server.record("work", path) as recorded:
        says = heard(recorded.stream)
        await talk(server, pane, "What is this?")
        await says.until(lambda s: s.of(TurnEnded))
        private_tmux.run("resize-window", "-t", "work", "-x", "50", "-y", "12")
        await says.until(lambda s: s.of(PaneResized))
        await talk(server, pane, "And\nthis?")
        await says.until(lambda s: len(s.of(TurnEnded)) == 2)
        assert recorded.bytes > 500
        assert recorded.messages == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    replayed = list(replay(open_recording(path), PROFILES))
    assert isinstance(replayed[-1], PaneClosed)
    assert are_the_same(replayed[: len(says.events)], says.events)
    assert "Nothing else." in says.said
    assert [event.state for event in says.of(Injected)].count("entering") == 2
    assert {event.pane for event in replayed} == {pane}


@pytest.mark.requirement("DEL-09a", "ENG-06a")
async def test_whatever_happens_to_a_pane_replays(private_tmux, server, heard, tmp_path):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.run("split-window", "-d", "-t", "work", "cat")
    path = tmp_path / "all.jsonl"
    async with server.record(pane, path) as recorded:
        says = heard(recorded.stream)
        await says.until(lambda s: s.of(PaneOpened))
        for number in ("3000", "30"):
            private_tmux.run("send-keys", "-t", pane, number, "Enter")
            await says.until(lambda s, number=number: s.said[-1:] == [number])
            private_tmux.run("resize-window", "-t", "work", "-x", number[:2] + "0", "-y", "20")
        private_tmux.run("send-keys", "-t", pane, "C-d")
        await says.until(lambda s: any(event.command == "cat" for event in s.of(ProgramChanged)))
        resized = len(says.of(PaneResized))
        private_tmux.run("join-pane", "-d", "-s", pane, "-t", "keeper")
        await says.until(lambda s: len(s.of(PaneResized)) > resized)
        private_tmux.run("kill-pane", "-t", pane)
        await says.until_end()

    entries = list(open_recording(path).entries())
    assert b"".join(entry.data for entry in entries if isinstance(entry, Output)).count(b"\n") >= 3030
    assert isinstance(entries[-1], Ended)
    assert are_the_same(list(replay(open_recording(path), PROFILES)), says.events)


async def test_a_recording_that_is_stopped_says_when_and_the_pane_is_watched_on(private_tmux, server, heard, tmp_path):
    pane = private_tmux.new_session("work", COUNTER)
    path = tmp_path / "part.jsonl.gz"
    async with server.record(pane, path) as recorded, server.watch(pane) as stream:
        assert recorded.stream.panes == (pane,)
        says = heard(stream)
        private_tmux.run("send-keys", "-t", pane, "3", "Enter")
        await says.until(lambda s: s.said[-1:] == ["3"])
    closed = list(replay(open_recording(path)))[-1]
    assert (closed.reason, closed.t > 0) == ("recording_ended", True)

    async with server.watch(pane):
        with pytest.raises(UsageError, match="watched already"):
            async with server.record(pane, tmp_path / "late.jsonl"):
                pass
    assert not (tmp_path / "late.jsonl").exists()


async def test_nothing_is_left_behind_where_there_is_nothing_to_record(private_tmux, server, tmp_path):
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    pane = private_tmux.new_session("dead", ["true"])
    await wait_until_async(lambda: private_tmux.run("display", "-p", "-t", pane, "#{pane_dead}").strip() == "1")
    for target, error in (("nowhere", TargetNotFound), (pane, PaneGone)):
        with pytest.raises(error):
            async with server.record(target, tmp_path / "none.jsonl.gz"):
                pass
    assert list(tmp_path.iterdir()) == []


async def test_a_disk_that_takes_nothing_ends_the_recording(private_tmux, server, heard, tmp_path, monkeypatch):
    def full(_writer: object, _entries: object) -> None:
        raise RecordingError("the disk is full")

    monkeypatch.setattr("streamrelay.recordings.writer.RecordingWriter.write", full)
    pane = private_tmux.new_session("work", COUNTER)
    with pytest.raises(RecordingError, match="the disk is full"):
        async with asyncio.timeout(PATIENCE), server.record(pane, tmp_path / "full.jsonl") as recorded:
            async for _ in recorded.stream:
                pass
