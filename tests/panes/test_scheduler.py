"""Whose bytes are rendered next, with panes that are nothing but a list of what was taken from them."""

import asyncio
from collections import deque

import pytest

from streamrelay.panes import scheduler
from streamrelay.panes.scheduler import LIMIT, TURN, RenderScheduler

pytestmark = pytest.mark.moves_clock


class Pane:
    def __init__(self, name: str, stage: "Stage") -> None:
        self.name = name
        self.turn = TURN
        self.urgency = 1.0
        self.patience = 0.0
        self._stage = stage
        self._waiting: deque[int] = deque()
        self.fails = False

    def put(self, *sizes: int) -> None:
        for size in sizes:
            first = not self._waiting
            self._waiting.append(size)
            self._stage.scheduler.add(self, size, self._stage.clock, first=first)

    @property
    def waits(self) -> bool:
        return bool(self._waiting)

    @property
    def waiting(self) -> int:
        return sum(self._waiting)

    def render(self, most: int) -> None:
        if self.fails:
            self._stage.scheduler.taken(sum(self._waiting))
            self._waiting.clear()
            raise ZeroDivisionError
        size = self._waiting.popleft()
        if size > most:
            self._waiting.appendleft(size - most)
            size = most
        self._stage.scheduler.taken(size)
        self._stage.turns.append(self.name)
        self._stage.clock += self._stage.turn_seconds


class Stage:
    """Two panes, and a clock that goes on by a millisecond for each turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.turns: list[str] = []
        self.holds: list[bool] = []
        self.failed: list[Pane] = []
        self.clock = 100.0
        self.turn_seconds = 0.001
        self.scheduler: RenderScheduler[Pane] = RenderScheduler(
            hold=self.holds.append, failed=self.failed.append, clock=lambda: self.clock
        )
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self.clock)
        self.flood, self.other, self.idle = (Pane(name, self) for name in ("flood", "other", "idle"))

    async def until_done(self) -> None:
        while any(pane.waits for pane in (self.flood, self.other, self.idle)):
            await asyncio.sleep(0)


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


@pytest.mark.requirement("ENG-10a")
async def test_a_line_of_an_idle_pane_waits_for_one_slice_of_a_flood(stage):
    stage.flood.put(20 * TURN)
    stage.scheduler.take_turns()
    slice_ = len(stage.turns)
    assert slice_ == scheduler.SLICE / 0.001
    stage.idle.put(10)
    await asyncio.sleep(0)
    assert stage.turns[slice_] == "idle"
    await stage.until_done()
    assert stage.turns.count("flood") == 20


async def test_floods_take_turns(stage):
    stage.flood.put(10 * TURN)
    stage.other.put(10 * TURN)
    stage.scheduler.take_turns()
    await stage.until_done()
    assert stage.turns == ["flood", "other"] * 10


async def test_what_was_idle_goes_first_once_and_then_takes_turns(stage):
    stage.flood.put(10 * TURN)
    stage.scheduler.take_turns()
    before = len(stage.turns)
    stage.idle.put(2 * TURN)
    await stage.until_done()
    assert stage.turns[before:][:3] == ["idle", "flood", "idle"]


class Crowd:
    """More panes than are rendered after each read, all of which have printed much in the window before."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.panes = [Pane(str(number), stage) for number in range(scheduler.FEW + 1)]

    async def stream(self) -> None:
        self.stage.scheduler.take_turns()
        for pane in self.panes:
            pane.put(2 * TURN)
        self.stage.idle.put(1)
        while any(pane.waits for pane in (*self.panes, self.stage.idle)):
            self.stage.scheduler.take_turns()
            await asyncio.sleep(0)
        self.stage.clock += scheduler.WINDOW
        self.stage.scheduler.take_turns()
        self.stage.turns.clear()


async def test_what_one_of_many_prints_is_collected_until_it_fills_a_turn(stage):
    crowd = Crowd(stage)
    await crowd.stream()
    for size in (TURN - 1, 1):
        assert stage.turns == []
        crowd.panes[0].put(size)
        crowd.panes[1].put(1)
        stage.scheduler.take_turns()
    assert set(stage.turns) == {"0"}


async def test_after_a_lull_of_all_it_is_still_known_who_streams(stage):
    crowd = Crowd(stage)
    await crowd.stream()
    stage.clock += scheduler.LULL / 2
    for pane in crowd.panes:
        pane.put(TURN // 2)
    stage.scheduler.take_turns()
    assert stage.turns == []
    stage.clock += scheduler.PATIENCE
    while any(pane.waits for pane in crowd.panes):
        stage.scheduler.take_turns()
        await asyncio.sleep(0)
    stage.turns.clear()
    crowd.panes[0].put(1)
    stage.scheduler.take_turns()
    assert stage.turns == []


async def test_a_turn_is_longer_where_rendering_is_quick_and_short_again_where_it_is_not(stage):
    stage.turn_seconds = scheduler.SLICE / 20
    stage.flood.put(20 * TURN)
    stage.scheduler.take_turns()
    await stage.until_done()
    assert stage.flood.turn == scheduler.MAX_TURN_BYTES
    assert len(stage.turns) == 1 + -(-19 * TURN // scheduler.MAX_TURN_BYTES)
    stage.turn_seconds = scheduler.SLICE * 5
    stage.flood.put(scheduler.MAX_TURN_BYTES, 10)
    stage.scheduler.take_turns()
    await stage.until_done()
    assert stage.flood.turn == TURN


async def test_a_turn_of_few_bytes_tells_nothing(stage):
    stage.turn_seconds = scheduler.SLICE / 20
    stage.idle.put(*[100] * 10)
    stage.scheduler.take_turns()
    await stage.until_done()
    assert stage.idle.turn == TURN


async def test_who_prints_little_beside_them_is_not_delayed(stage):
    crowd = Crowd(stage)
    await crowd.stream()
    crowd.panes[0].put(1)
    stage.idle.put(1)
    stage.scheduler.take_turns()
    assert stage.turns == ["idle"]


async def test_what_fills_no_turn_is_rendered_when_it_has_waited_long_enough(stage):
    crowd = Crowd(stage)
    await crowd.stream()
    crowd.panes[0].put(1)
    stage.scheduler.take_turns()
    assert stage.turns == []
    stage.clock += scheduler.PATIENCE
    stage.scheduler.take_turns()
    assert stage.turns == ["0"]


async def test_all_is_read_until_the_last_read_that_is_over(stage):
    stage.turn_seconds = 0.0
    before = stage.scheduler.read_until
    for _ in range(3):
        stage.clock += 1
        read_at = stage.clock
        for pane in (stage.flood, stage.other):
            pane.put(1)
            stage.scheduler.take_turns()
            assert stage.scheduler.read_until == before, "this read may hold more"
        await asyncio.sleep(0)
        assert stage.scheduler.read_until == read_at
        before = read_at


async def test_nothing_is_collected_while_reading_is_held(stage):
    crowd = Crowd(stage)
    await crowd.stream()
    crowd.panes[0].put(1)
    stage.flood.put(LIMIT)
    assert stage.holds[-1:] == [True]
    stage.scheduler.take_turns()
    assert "0" in stage.turns


@pytest.mark.requirement("ENG-10b")
async def test_reading_is_held_while_too_much_waits(stage):
    stage.flood.put(LIMIT - 1)
    assert stage.holds == []
    stage.idle.put(1)
    assert stage.holds == [True]
    stage.scheduler.take_turns()
    assert stage.holds == [True, False]
    stage.flood.put(LIMIT)
    stage.flood.put(1)
    assert stage.holds == [True, False, True, True], "whoever reads on is told again"
    await stage.until_done()
    assert stage.holds[4:] == [False]
    assert stage.scheduler.waiting == 0


async def test_how_far_time_is_known(stage):
    assert stage.scheduler.known_until() == stage.clock
    read_at = stage.clock
    stage.idle.put(1)
    stage.scheduler.take_turns()
    assert stage.scheduler.known_until() == read_at < stage.clock, "there may be more to read"
    await asyncio.sleep(0)
    assert stage.scheduler.known_until() == stage.clock
    read_at = stage.clock
    stage.flood.put(LIMIT)
    stage.clock += 1.0
    assert stage.scheduler.known_until() == read_at, "reading is held"


@pytest.mark.requirement("ENG-09b")
async def test_a_pane_that_cannot_be_rendered_fails_alone(stage):
    stage.flood.fails = True
    stage.flood.put(TURN)
    stage.idle.put(1)
    stage.scheduler.take_turns()
    await stage.until_done()
    assert stage.failed == [stage.flood]
    assert stage.turns == ["idle"]
    assert stage.scheduler.waiting == 0


async def test_after_the_end_nothing_is_rendered(stage):
    stage.flood.put(10 * TURN)
    stage.scheduler.take_turns()
    stage.scheduler.close()
    before = list(stage.turns)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert stage.turns == before


async def get_busy(stage: Stage) -> None:
    """Read often of the other pane, until reading pauses."""
    stage.other.urgency = stage.idle.urgency = 0.0
    while not stage.scheduler.pause:
        stage.clock += scheduler.WINDOW / 20
        stage.other.put(1)
        stage.scheduler.take_turns()
        await asyncio.sleep(0)
    stage.turns.clear()


async def test_patient_panes_get_one_turn_together_when_they_have_waited(stage):
    await get_busy(stage)
    stage.idle.patience = stage.flood.patience = scheduler.DEFERRED
    began = stage.clock
    while not {"idle", "flood"} & set(stage.turns):
        stage.idle.put(1)
        stage.flood.put(1)
        stage.other.put(1)
        stage.scheduler.take_turns()
        last, stage.clock = stage.clock, max(stage.clock, stage.scheduler.next_read)
    assert scheduler.DEFERRED / 2 < last - began <= scheduler.DEFERRED + 0.01
    assert stage.turns.count("other") > 2
    stage.turns.clear()
    await stage.until_done()
    assert set(stage.turns) == {"idle", "flood"}


async def test_patient_panes_get_their_turns_with_the_least_patient_one(stage):
    await get_busy(stage)
    stage.idle.patience, stage.flood.patience = scheduler.DEFERRED, scheduler.DEFERRED_LIVE
    stage.idle.put(1)
    stage.flood.put(1)
    stage.scheduler.take_turns()
    assert stage.turns == []
    stage.clock += scheduler.DEFERRED_LIVE
    await stage.until_done()
    assert set(stage.turns) == {"idle", "flood"}


async def test_a_patient_pane_waits_no_longer_although_nothing_more_is_read(stage):
    await get_busy(stage)
    stage.idle.patience = scheduler.DEFERRED
    stage.idle.put(1)
    stage.scheduler.take_turns()
    await asyncio.sleep(0)
    assert stage.turns == []
    stage.clock += scheduler.DEFERRED
    await stage.until_done()
    assert stage.turns == ["idle"]


async def test_a_patient_pane_waits_neither_with_a_full_turn_nor_while_few_are_read(stage):
    stage.idle.patience = scheduler.DEFERRED
    stage.idle.put(1)
    stage.scheduler.take_turns()
    assert stage.turns == ["idle"]
    await get_busy(stage)
    stage.idle.put(1)
    stage.idle.put(TURN)
    stage.scheduler.take_turns()
    await stage.until_done()
    assert stage.turns == ["idle", "idle"]


async def test_patient_panes_do_not_wait_while_reading_is_held(stage):
    await get_busy(stage)
    stage.idle.patience = scheduler.DEFERRED
    stage.idle.put(1)
    stage.flood.put(LIMIT)
    stage.scheduler.take_turns()
    assert "idle" in stage.turns


async def test_while_reading_pauses_time_is_known_until_the_last_read(stage):
    stage.idle.urgency = 0.0
    while not stage.scheduler.pause:
        stage.clock += scheduler.WINDOW / 20
        stage.idle.put(1)
        stage.scheduler.take_turns()
        await asyncio.sleep(0)
    stage.idle.put(1)
    read_at = stage.clock
    stage.scheduler.take_turns()
    await asyncio.sleep(0)
    assert stage.scheduler.known_until() == stage.scheduler.read_until == read_at < stage.clock
    stage.clock = stage.scheduler.next_read
    assert stage.scheduler.known_until() == stage.clock, "nothing has come in the pause"
