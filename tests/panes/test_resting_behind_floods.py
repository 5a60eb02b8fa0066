"""A pane that rests while what it printed waits for its turn behind floods: whatever happens next comes after that."""

import asyncio
from collections.abc import Callable

import pytest

from streamrelay.delta.frames import SETTLE
from streamrelay.delta.inputs import Began, Input, Missed, Output, Reseeded, Waited
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.log import Past
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.scheduler import SLICE, TURN, RenderScheduler
from streamrelay.vt.engine import Cursor, Snapshot

pytestmark = pytest.mark.moves_clock

INFO = PaneInfo("%0", "$0", "@0", 0, 0, 80, 5, 1, False, False, False, True, False, True, "", "sh", "work", "")
BLANK = Snapshot(80, 5, (b"",) * 5, (False,) * 5, Cursor(0, 0))
FLOODS = 8
PRINTED = b"x" * (TURN + 1)


class Server:
    """Panes of which one prints more than a turn of bytes, beside floods; each turn takes all of a slice."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._time = self._processor_time = 100.0
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self._time)
        self.entries: list[Input] = []
        self.failed: list[object] = []
        self._rendering = RenderScheduler(hold=lambda _: None, failed=self.failed.append, clock=self._tick)
        self.pane = PanePipeline(INFO, rendering=self._rendering, record_input=self.entries.append)
        self._floods = [PanePipeline(INFO, rendering=self._rendering) for _ in range(FLOODS)]
        for pipeline in (self.pane, *self._floods):
            pipeline.seed(BLANK)
        self.entries.clear()

    def _tick(self) -> float:
        self._processor_time += SLICE
        return self._processor_time

    async def resume(self, *past: Input) -> None:
        """Go on with a pane that an earlier process was told of, until some time ago; tmux is asked what it missed."""
        self.pane.discard()
        self.entries.clear()
        self.pane = PanePipeline(INFO, rendering=self._rendering, record_input=self.entries.append)
        await self.pane.resume(Past(self._time, iter(past)))
        self._time += 5.0
        self.pane.question()

    def answer(self, row: bytes) -> None:
        """Answer that: the alternate screen holds one row, behind which the cursor stands."""
        state = b"%d 0 80 5 0 1 1 0 1 0 0 4 0 0 1  " % len(row)
        assert self.pane.answer([[], [row], [row], [], [state], [row], [row], [b"2000 0 "]])

    async def read(self, *printed: bytes, flood: bytes, after: float = 0.0) -> None:
        """Read what the pane printed, and what each flood did, so many seconds after the last read."""
        self._time += after
        for data in printed:
            self.pane.output(data, self._time)
        for pipeline in self._floods:
            pipeline.output(flood, self._time)
        self._rendering.take_turns()
        await asyncio.sleep(0)
        self._time += 0.001

    @property
    def kinds(self) -> list[type[Input]]:
        return [type(entry) for entry in self.entries]


STEPS: list[Callable[[PanePipeline], object]] = [
    lambda pane: pane.stopped("codex", "done"),
    lambda pane: pane.inject("m1", "hello"),
    lambda pane: pane.submit("m1"),
    lambda pane: pane.look(),
    lambda pane: pane.missed("moved"),
    lambda pane: pane.end_recording(),
]


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


@pytest.mark.requirement("ENG-10a", "DEL-05")
@pytest.mark.parametrize("step", STEPS)
async def test_that_it_rested_is_told_before_what_happens_next(server, step):
    await server.read(PRINTED, flood=PRINTED * 2)
    await server.read(flood=PRINTED, after=2 * SETTLE)
    assert server.pane.waits
    step(server.pane)
    assert server.kinds[:3] == [Output, Output, Waited]
    times = [entry.t for entry in server.entries]
    assert times == sorted(times)
    assert server.failed == []


@pytest.mark.parametrize("step", STEPS)
async def test_nobody_knows_that_it_rests_before_something_was_read_later(server, step):
    await server.read(PRINTED, flood=PRINTED * 2)
    assert server.pane.waits
    step(server.pane)
    assert server.kinds[:2] == [Output, Output]
    assert Waited not in server.kinds


@pytest.mark.requirement("DEL-05")
async def test_no_time_passes_before_what_was_printed_while_no_process_listened(server):
    began = Began(0.0, INFO.pane, INFO.session_name, INFO.command, INFO.title, BLANK)
    await server.resume(began, Output(0.1, INFO.pane, b"\x1b[?1049hhalf a snapshot"))
    await server.read(flood=b"x")
    server.answer(b"half a snapshot, and the rest of it")
    assert server.kinds == [Missed, Reseeded]
    await server.read(flood=b"x", after=1.0)
    server.pane.look()
    assert server.kinds[2] is Waited
    times = [entry.t for entry in server.entries]
    assert times == sorted(times)
