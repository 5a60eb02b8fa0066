"""A long log is replayed in slices: other tasks run meanwhile, and the events are the same, also after a kill."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delta.inputs import Began, Output
from streamrelay.events import Event, PaneClosed, Text
from streamrelay.panes.log import PaneLog
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import SLICE, in_slices
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.vt.engine import Cursor, Snapshot

COLUMNS, LINES = 80, 24
PRINTED = 60_000
"""Lines in the log: its replay takes seconds."""
SHARE = 10
"""The loop may be held for the tenth part of the replay at most. A replay in one go holds it for all of it."""


def write_log(path: Path, pane: str) -> list[str]:
    """Write what a program printed for a long time; return its lines."""
    log = PaneLog(path)
    log.open()
    now = asyncio.get_running_loop().time()
    log.begin(now - PRINTED)
    rows, wrapped = (b"",) * LINES, (False,) * LINES
    log.take(Began(0.0, pane, "work", "sh", "", Snapshot(COLUMNS, LINES, rows, wrapped, Cursor(0, 0), history_total=0)))
    said = [f"line {number} of the \x1b[3{number % 8}mlog\x1b[0m" for number in range(PRINTED)]
    for number, line in enumerate(said, 1):
        log.take(Output(float(number), pane, line.encode() + b"\r\n"))
    log.flush()
    log.close()
    return [f"line {number} of the log" for number in range(PRINTED)]


class Heartbeat:
    """A task that wants to run all the time; `longest` is how long it had to wait (seconds)."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.beats = 0

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        async def beat() -> None:
            last = time.monotonic()
            while True:
                await asyncio.sleep(0)
                now = time.monotonic()
                self.longest, self.beats, last = max(self.longest, now - last), self.beats + 1, now

        task = asyncio.ensure_future(beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def program_lines(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Text)]


async def replayed(server: Server, pane: str, path: Path) -> list[Event]:
    """Continue a pane's stream from its log; return the events of the replay."""
    log = PaneLog(path)
    log.open()
    events: list[Event] = []
    try:
        async with server.listen(pane, events.extend, log):
            return list(events)
    finally:
        log.close()


@pytest.mark.slow
@pytest.mark.requirement("DLV-07a", "OPS-03")
@pytest.mark.timeout(240)
async def test_the_replay_of_a_long_log_never_holds_the_loop_for_long(
    private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    pane = private_tmux.new_session("work", ["sleep", "1000"], columns=COLUMNS, lines=LINES)
    said = write_log(tmp_path / "log", pane)
    written = (tmp_path / "log").read_bytes()
    async with streamrelay.connect(socket_path=private_tmux.socket_path) as server:
        # Killed in the middle of it, it has changed nothing.
        cut = asyncio.ensure_future(replayed(server, pane, tmp_path / "log"))
        await asyncio.sleep(5 * SLICE)
        assert not cut.done()
        cut.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cut
        assert (tmp_path / "log").read_bytes() == written
        assert not server.is_watched(pane)

        heart = Heartbeat()
        began = time.monotonic()
        async with heart.beating():
            events = await replayed(server, pane, tmp_path / "log")
        took = time.monotonic() - began
        assert program_lines(events)[: len(said)] == said
        assert heart.beats > 3 * SHARE
        assert heart.longest < took / SHARE, (heart.longest, took)

        # The same for a pane that is gone: its last events, each once.
        log = PaneLog(tmp_path / "log")
        log.open()
        heart = Heartbeat()
        began = time.monotonic()
        async with heart.beating():
            last = await server.last_events(log)
        took = time.monotonic() - began
        log.close()
        assert program_lines(last)[: len(said)] == said
        assert isinstance(last[-1], PaneClosed)
        assert heart.longest < took / SHARE, (heart.longest, took)


async def test_work_in_slices_yields_every_item_in_order_and_lets_others_run() -> None:
    heart = Heartbeat()
    done: list[int] = []
    async with heart.beating():
        async for number in in_slices(range(20)):
            end = time.monotonic() + SLICE / 2
            while time.monotonic() < end:
                pass
            done.append(number)
    assert done == list(range(20))
    assert heart.beats >= 5


async def test_the_end_of_a_log_is_found_however_long_its_last_entry_is(tmp_path: Path) -> None:
    whole = b'{"dir":"clock","began":1.0}\n' + b'{"x":1}\n' * 3
    for torn in (b"", b"x", b"y" * (1 << 16), b"z" * ((1 << 17) + 5)):
        path = tmp_path / "log"
        path.write_bytes(whole + torn)
        log = PaneLog(path)
        log.open()
        assert log.past() is not None
        assert path.read_bytes() == whole
        log.close()
