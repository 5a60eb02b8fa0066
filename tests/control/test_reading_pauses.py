"""A channel whose receiver lets the next read wait: what came meanwhile is read at once, and nothing is lost."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest

from streamrelay.control.transport import MAX_READ, ControlChannel
from streamrelay.testing.waiting import wait_until_async

PAUSE = 0.2


class Pipe:
    """A channel on a pipe that somebody writes into, and the receiver of what is read."""

    def __init__(self, owned: ExitStack) -> None:
        reader, self.writer = os.pipe()
        back, answers = os.pipe()
        for descriptor in (reader, back, answers):
            owned.callback(os.close, descriptor)
        self.reads: list[bytes] = []
        self.room = MAX_READ
        self.pause = PAUSE
        self.has_ended = False
        self.channel = ControlChannel(reader, answers, self.reads.append, self._end, self)
        owned.callback(self.channel.stop)

    def _end(self) -> None:
        self.has_ended = True

    async def reads_first(self) -> None:
        os.write(self.writer, b"first")
        await wait_until_async(lambda: self.reads == [b"first"])


@pytest.fixture
async def pipe() -> AsyncIterator[Pipe]:
    with ExitStack() as owned:
        pipe = Pipe(owned)
        yield pipe
        if not pipe.has_ended:
            os.close(pipe.writer)


async def test_what_comes_in_a_pause_is_read_at_once_after_it(pipe: Pipe) -> None:
    await pipe.reads_first()
    read_at = asyncio.get_running_loop().time()
    for data in (b"second ", b"third"):
        os.write(pipe.writer, data)
        await asyncio.sleep(0.01)
    await wait_until_async(lambda: len(pipe.reads) > 1)
    assert pipe.reads == [b"first", b"second third"]
    assert asyncio.get_running_loop().time() > read_at + PAUSE / 2


async def test_after_a_pause_in_which_nothing_came_the_next_bytes_are_read_as_they_come(pipe: Pipe) -> None:
    await pipe.reads_first()
    await asyncio.sleep(2 * PAUSE)
    began = asyncio.get_running_loop().time()
    os.write(pipe.writer, b"second")
    await wait_until_async(lambda: pipe.reads == [b"first", b"second"])
    assert asyncio.get_running_loop().time() < began + PAUSE


async def test_what_is_written_ends_the_pause_because_an_answer_follows(pipe: Pipe) -> None:
    pipe.pause = 60.0
    await pipe.reads_first()
    os.write(pipe.writer, b"answer")
    pipe.channel.write(b"question\n")
    await wait_until_async(lambda: pipe.reads == [b"first", b"answer"])


async def test_the_end_is_seen_after_the_pause(pipe: Pipe) -> None:
    await pipe.reads_first()
    os.write(pipe.writer, b"last")
    os.close(pipe.writer)
    await wait_until_async(lambda: pipe.has_ended)
    assert pipe.reads == [b"first", b"last"]


async def test_reading_that_is_paused_meanwhile_stays_paused(pipe: Pipe) -> None:
    await pipe.reads_first()
    pipe.channel.pause_reading()
    os.write(pipe.writer, b"second")
    await asyncio.sleep(2 * PAUSE)
    assert pipe.reads == [b"first"]
    pipe.channel.resume_reading()
    await wait_until_async(lambda: pipe.reads == [b"first", b"second"])


async def test_nothing_is_read_after_it_was_stopped_in_a_pause(pipe: Pipe) -> None:
    await pipe.reads_first()
    pipe.channel.stop()
    os.write(pipe.writer, b"second")
    await asyncio.sleep(2 * PAUSE)
    assert pipe.reads == [b"first"]
