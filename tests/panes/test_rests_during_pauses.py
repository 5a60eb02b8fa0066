"""Rests of programs whose output is read with pauses: when output came in a pause is not known."""

import asyncio

import pytest

from streamrelay.delta.frames import SETTLE
from streamrelay.delta.inputs import Input, Output, Waited
from streamrelay.delta.profiles import Profile
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.listeners import never
from streamrelay.panes.live import TYPING, UNSEEN
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.reading_pace import PAUSE, READ_LINES, READ_SNAPSHOT
from streamrelay.panes.scheduler import DEFERRED, DEFERRED_LIVE, RenderScheduler
from streamrelay.vt.engine import Cursor, Snapshot

pytestmark = pytest.mark.moves_clock

INFO = PaneInfo("%0", "$0", "@0", 0, 0, 80, 5, 1, False, False, False, True, False, True, "", "sh", "work", "")
BLANK = Snapshot(80, 5, (b"",) * 5, (False,) * 5, Cursor(0, 0))


class Server:
    """A pane whose entries are kept and another one, both with a program that paints, on a clock that tests move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time = 100.0
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self.time)
        self.entries: list[Input] = []
        self.failed: list[object] = []
        self.rendering = RenderScheduler(hold=lambda _: None, failed=self.failed.append, clock=lambda: self.time)
        self.pane = PanePipeline(INFO, rendering=self.rendering, record_input=self.entries.append)
        self.other = PanePipeline(INFO, rendering=self.rendering)
        for pipeline in (self.pane, self.other):
            pipeline.seed(BLANK)
            pipeline.output(b"\x1b[?1049h", self.time)

    async def read(self, *pipelines: PanePipeline, after: float) -> None:
        """Read a piece of a repaint of these panes, so many seconds after the last read."""
        self.time += after
        for pipeline in pipelines:
            pipeline.output(b"\x1b[Hpicture", self.time)
        self.rendering.take_turns()
        for _ in range(3):
            await asyncio.sleep(0)

    async def get_busy(self) -> None:
        """Read often of the other pane until reading pauses, and then of the pane."""
        while not self.rendering.pause:
            await self.read(self.other, after=SETTLE + 0.001)
        await self.read(self.pane, after=PAUSE)
        self.entries.clear()

    @property
    def kinds(self) -> list[type[Input]]:
        return [type(entry) for entry in self.entries]


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


@pytest.mark.requirement("DEL-05")
async def test_output_that_came_in_the_next_pause_may_belong_to_the_same_picture(server):
    await server.get_busy()
    for _ in range(3):
        await server.read(server.pane, after=PAUSE)
    assert server.kinds == [Output] * 3
    assert server.failed == []


@pytest.mark.requirement("DEL-05")
async def test_a_program_that_never_rests_for_long_is_read_without_pauses_until_it_rests(server):
    await server.get_busy()
    for _ in range(int(UNSEEN / PAUSE) + 2):
        await server.read(server.pane, after=PAUSE)
    assert Waited not in server.kinds
    assert server.rendering.pause == 0.0
    await server.read(server.pane, after=0.016)
    server.time += SETTLE
    for _ in range(3):
        await asyncio.sleep(0)
    assert server.kinds[-1] is Waited
    await server.read(server.pane, server.other, after=0.004)
    assert server.rendering.pause == PAUSE


@pytest.mark.requirement("DEL-05")
async def test_a_read_without_output_of_the_pane_shows_that_it_rests(server):
    await server.get_busy()
    await server.read(server.other, after=PAUSE)
    assert server.kinds == [Waited]
    await server.read(server.pane, after=PAUSE)
    assert server.kinds == [Waited, Output]
    times = [entry.t for entry in server.entries]
    assert times == sorted(times)


@pytest.mark.requirement("DEL-05")
async def test_it_rests_when_nothing_came_in_the_pause(server):
    await server.get_busy()
    server.time = server.rendering.next_read
    for _ in range(3):
        await asyncio.sleep(0)
    assert server.kinds == [Waited]
    assert server.rendering.known_until() == server.time


SUBMITTED = "\x1b[?2004h> \x1b[?2004l\r\r\n"
"""A line editor that asks for input, and withdraws with what was typed: it runs that now."""


@pytest.mark.requirement("DEL-05")
@pytest.mark.parametrize(
    ("is_agent", "printed", "urgency"),
    [(True, SUBMITTED, 0.0), (True, "", READ_SNAPSHOT), (False, SUBMITTED, READ_LINES), (False, "", READ_LINES)],
    ids=["answering-agent", "starting-agent", "command", "program"],
)
async def test_printed_lines_end_the_pauses_unless_an_agent_answers(server, is_agent, printed, urgency):
    profile = Profile("printer", is_agent=is_agent, commands=frozenset({INFO.command}))
    pane = PanePipeline(INFO, [profile], rendering=server.rendering)
    pane.seed(BLANK)
    pane.output(f"{printed}one line\r\n".encode(), server.time)
    server.rendering.take_turns()
    assert pane.urgency == urgency


AGENT = (
    "\x1b[?2004h\x1b[?25l\x1b[H" + "─" * 80 + "\r\n❯ \r\n" + "─" * 80 + "\x1b[?25h\x1b[2;3H"
)  # fmt: skip
"""A program that shows its composer on the main screen."""


@pytest.mark.requirement("DEL-05")
async def test_only_an_agent_is_patient_less_if_it_is_followed_and_not_while_it_is_typed_into(server):
    pane = PanePipeline(INFO, rendering=server.rendering)
    pane.seed(BLANK)
    shows = [False]

    async def read(text: str) -> float:
        server.time += SETTLE + 0.001
        pane.output(text.encode(), server.time)
        server.rendering.take_turns()
        await server.read(server.other, after=SETTLE + 0.001)
        pane.catch_up()
        return pane.patience

    assert await read("a line\r\n") == 0.0
    pane.add_listener(lambda _: None, never)
    assert await read(AGENT) == DEFERRED
    pane.add_listener(lambda _: None, lambda: shows[0])
    assert await read("\x1b[2;3Ha") == DEFERRED
    shows[0] = True
    assert await read("\x1b[2;3Hb") == DEFERRED_LIVE
    shows[0] = False
    assert await read("\x1b[2;3H ") == DEFERRED
    pane.inject("m1", "hello")
    assert pane.patience == 0.0
    assert await read("\x1b[2;3Hhello") == 0.0
    server.time += TYPING
    assert await read("\x1b[2;3Hhello") == DEFERRED
    assert await read("\x1b[?1049h\x1b[Hpicture") == 0.0
