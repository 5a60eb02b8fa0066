"""How much of what tmux says may wait in the pipe: much where it is read, little while its reader is slow."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack

import pytest

from streamrelay.control.transport import ControlChannel, Eager

pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="only Linux tells how much a pipe holds")


class Pipe:
    """A channel on a pipe that somebody writes into."""

    def __init__(self, owned: ExitStack) -> None:
        self.reader, self.writer = os.pipe()
        back, answers = os.pipe()
        for descriptor in (self.reader, self.writer, back, answers):
            owned.callback(os.close, descriptor)
        self.got = 0
        self.channel = ControlChannel(self.reader, answers, self._take, lambda: None, Eager())
        owned.callback(self.channel.stop)

    def _take(self, data: bytes) -> None:
        self.got += len(data)

    @property
    def size(self) -> int:
        return fcntl.fcntl(self.reader, fcntl.F_GETPIPE_SZ)

    async def passes(self, size: int) -> None:
        until = self.got + size
        os.write(self.writer, b"x" * size)
        async with asyncio.timeout(30):
            while self.got < until:
                await asyncio.sleep(0)


@pytest.fixture
async def pipe() -> AsyncIterator[Pipe]:
    with ExitStack() as owned:
        yield Pipe(owned)


async def pauses(pipe: Pipe, seconds: float) -> None:
    pipe.channel.pause_reading()
    await asyncio.sleep(seconds)
    pipe.channel.resume_reading()


async def test_it_holds_much_while_it_is_read(pipe: Pipe) -> None:
    large = pipe.size
    assert large > 1 << 16
    await pauses(pipe, 0.0)
    await pipe.passes(60_000)
    assert pipe.size == large


async def test_it_holds_little_while_its_reader_is_slow_and_much_again_afterwards(pipe: Pipe) -> None:
    large = pipe.size
    await pauses(pipe, 0.2)
    await pipe.passes(60_000)
    assert pipe.size < 1 << 16
    await pipe.passes(10_000)
    assert pipe.size < 1 << 16, "it is still slow: much was found in the pipe"
    await pipe.passes(10)
    assert pipe.size == large


async def test_many_short_pauses_are_a_slow_reader_too(pipe: Pipe) -> None:
    for _ in range(40):
        await pauses(pipe, 0.01)
    await pipe.passes(60_000)
    assert pipe.size < 1 << 16
