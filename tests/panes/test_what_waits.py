"""However much is there to be read, what was read and waits stays below a bound."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from streamrelay.control.transport import ControlChannel
from streamrelay.panes.scheduler import MAX_PENDING_BYTES, TURN, RenderScheduler


class Pane:
    """One that takes what is rendered of it, and throws it away."""

    turn = TURN
    urgency = 0.0
    patience = 0.0

    def __init__(self, taken: Callable[[int], None]) -> None:
        self.waiting = 0
        self._taken = taken

    @property
    def waits(self) -> bool:
        return self.waiting > 0

    def render(self, most: int) -> None:
        size = min(most, self.waiting)
        self.waiting -= size
        self._taken(size)


@pytest.fixture
def flood() -> Iterator[int]:
    """A pipe into which as much is written as it takes."""
    reader, writer = os.pipe()

    def write() -> None:
        with ExitStack() as owned:
            owned.callback(os.close, writer)
            data = b"x" * (1 << 20)
            try:
                while True:
                    os.write(writer, data)
            except BrokenPipeError:
                return

    thread = threading.Thread(target=write)
    thread.start()
    yield reader
    os.close(reader)
    thread.join()


@pytest.mark.requirement("ENG-10b")
@pytest.mark.parametrize("rate", [0, 1, 3, 40], ids="{} turns a read".format)
async def test_what_waits_is_bounded_however_slowly_it_is_rendered(flood: int, rate: int) -> None:
    most = reads = 0

    def take(data: bytes) -> None:
        nonlocal most, reads
        reads += 1
        first = not pane.waits
        pane.waiting += len(data)
        rendering.add(pane, len(data), loop.time(), first=first)
        most = max(most, rendering.waiting)
        render()

    def render() -> None:
        for _ in range(rate):
            if pane.waits:
                pane.render(pane.turn)

    def hold(held: bool) -> None:
        if held:
            channel.pause_reading()
        else:
            channel.resume_reading()

    loop = asyncio.get_running_loop()
    rendering: RenderScheduler[Pane] = RenderScheduler(hold=hold, failed=lambda _: None)
    pane = Pane(rendering.taken)
    back, answers = os.pipe()
    with ExitStack() as owned:
        owned.callback(os.close, back)
        owned.callback(os.close, answers)
        channel = ControlChannel(flood, answers, take, lambda: None, rendering)
        owned.callback(channel.stop)
        owned.callback(rendering.close)
        until = loop.time() + 0.3
        while loop.time() < until:
            await asyncio.sleep(0)
            render()
    assert reads > 0
    assert most < MAX_PENDING_BYTES
