"""What is read slowly is handed on at once, what floods in batches; either way all of it, in order."""

import asyncio
import os
from contextlib import ExitStack

import pytest

from streamrelay.control.flow_batches import BATCH_SIZE, FLOOD_RATE, MAX_DELAY, MEASURING_WINDOW, FlowBatches
from streamrelay.control.transport import ControlChannel

pytestmark = pytest.mark.moves_clock

_READ = 8192


class Stage:
    """Lots, what they handed on, and a clock that goes on when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken: list[bytes] = []
        self.clock = 100.0
        self.batches = FlowBatches(self.taken.append)
        self._number = 0
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: self.clock)

    def read(self, seconds: float) -> bytes:
        """Have a read come after so many seconds; no two are alike."""
        self.clock += seconds
        self._number += 1
        data = b"%8d" % self._number * (_READ // 8)
        self.batches.put(data)
        return data

    def flood(self) -> None:
        """Read for longer than it takes to see that it is a flood, and forget all of it."""
        for _ in range(30):
            self.read(_READ / FLOOD_RATE / 2)
        self.batches.flush()
        self.taken.clear()


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


async def test_what_comes_slowly_is_handed_on_at_once(stage: Stage) -> None:
    for seconds in (
        0.0,
        1.0,
        _READ / FLOOD_RATE * 1.1,
        _READ / FLOOD_RATE * 1.1,
        0.1,
        *[_READ / FLOOD_RATE * 1.1] * 40,
    ):
        assert stage.read(seconds) == stage.taken[-1]


async def test_a_burst_is_not_yet_a_flood(stage: Stage) -> None:
    stage.read(1.0)
    for _ in range(3):
        assert stage.read(MEASURING_WINDOW / 4) == stage.taken[-1]


async def test_a_flood_is_handed_on_in_batches(stage: Stage) -> None:
    stage.flood()
    reads = [stage.read(_READ / FLOOD_RATE / 2) for _ in range(BATCH_SIZE // _READ - 1)]
    assert stage.taken == []
    reads.append(stage.read(_READ / FLOOD_RATE / 2))
    assert stage.taken == [b"".join(reads)]


async def test_what_is_no_lot_waits_no_longer_than_the_delay(stage: Stage) -> None:
    stage.flood()
    reads = [stage.read(0.0), stage.read(MAX_DELAY / 2)]
    await asyncio.sleep(0)
    assert stage.taken == []
    stage.clock += MAX_DELAY / 2
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert stage.taken == [b"".join(reads)]


async def test_after_a_flood_everything_is_handed_on_at_once_again(stage: Stage) -> None:
    stage.flood()
    before = stage.read(0.0)
    after = stage.read(1.0)
    assert stage.taken == [before + after]
    assert stage.read(0.001) == stage.taken[-1]


async def test_nothing_is_handed_on_during_a_pause(stage: Stage) -> None:
    stage.flood()
    read = stage.read(0.0)
    stage.batches.pause()
    stage.clock += 10 * MAX_DELAY
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert stage.taken == []
    stage.batches.resume()
    stage.clock += MAX_DELAY
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert stage.taken == [read]


async def test_what_is_dropped_never_comes(stage: Stage) -> None:
    stage.flood()
    stage.read(0.0)
    stage.batches.drop()
    stage.clock += 1.0
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    read = stage.read(1.0)
    assert stage.taken == [read]


class Full:
    """A receiver without room for more than what comes in any case."""

    room = 0
    pause = 0.0


async def test_a_channel_hands_on_all_of_a_flood_before_it_says_that_it_is_over() -> None:
    with ExitStack() as owned:
        reader, writer = os.pipe()
        back, answers = os.pipe()
        for descriptor in (reader, back, answers):
            owned.callback(os.close, descriptor)
        got: list[bytes] = []
        ended: list[int] = []
        channel = ControlChannel(reader, answers, got.append, lambda: ended.append(len(b"".join(got))), Full())
        owned.callback(channel.stop)
        data = os.urandom(1 << 22)

        def write() -> None:
            view = memoryview(data)
            while view:
                view = view[os.write(writer, view[:_READ]) :]
            os.close(writer)

        async with asyncio.timeout(60):
            await asyncio.to_thread(write)
            await channel.ended.wait()
        assert b"".join(got) == data
        assert ended == [len(data)]
