"""A control client over pipes that is left while the event loop ends, or cannot be started: nothing is left behind."""

import asyncio
import errno
import gc
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.control.pipes import PipeTransport

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
"""Neither the end of its input nor SIGTERM ends it."""
DESCRIPTORS = Path("/proc/self/fd")


@pytest.mark.sampled(3)
@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="/proc tells what is open")
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 5, 6, 100])
def test_nothing_is_left_where_the_loop_ends_meanwhile(turns: int) -> None:
    """So many turns of the loop after the client was started, and left."""

    async def main() -> asyncio.Future[None]:
        transport = await PipeTransport.open(
            [sys.executable, "-c", STUBBORN], os.environ, lambda _: None, lambda: None, lambda: 1
        )
        leaving = asyncio.ensure_future(transport.close())
        for _ in range(turns):
            await asyncio.sleep(0)
        return leaving

    before = set(DESCRIPTORS.iterdir())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        assert asyncio.run(main()).cancelled()
        # A child whose end was not heard of complains when its transport goes.
        gc.collect()
    assert [str(one.message) for one in told] == []
    assert set(DESCRIPTORS.iterdir()) == before


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="/proc tells what is open")
@pytest.mark.parametrize("had", range(5))
def test_nothing_is_started_where_descriptors_run_out(had: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On asyncio's own loop, which takes the fifth pipe to start a child; uvloop takes none of these."""
    pipes = [os.pipe] * had

    def pipe() -> tuple[int, int]:
        if not pipes:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return pipes.pop()()

    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before, there = set(DESCRIPTORS.iterdir()), children.read_text()
    monkeypatch.setattr(os, "pipe", pipe)
    with pytest.raises(OSError, match="open files"):
        asyncio.run(PipeTransport.open(["sleep", "1000"], os.environ, lambda _: None, lambda: None, lambda: 1))
    assert pipes == []
    assert set(DESCRIPTORS.iterdir()) == before
    assert children.read_text() == there


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="/proc tells what is open")
@pytest.mark.parametrize("had", range(2))
def test_nothing_is_left_where_the_loop_can_watch_no_more_descriptors(had: int) -> None:
    """As where the user watches all that the kernel lets him (`fs.epoll.max_user_watches`)."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")

    async def main() -> None:
        loop, watched = asyncio.get_running_loop(), [None] * had

        def add_reader(descriptor: int, callback: Callable[[], None]) -> None:
            if not watched:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            watched.pop()
            adds(descriptor, callback)

        before, there = set(DESCRIPTORS.iterdir()), children.read_text()
        adds, loop.add_reader = loop.add_reader, add_reader  # type: ignore[method-assign,assignment]
        with pytest.raises(OSError, match="No space left"):
            await PipeTransport.open(["sleep", "1000"], os.environ, lambda _: None, lambda: None, lambda: 1)
        assert set(DESCRIPTORS.iterdir()) == before
        assert children.read_text() == there

    asyncio.run(main())
