"""A control client over pipes that is left while the event loop ends, or cannot be started: nothing is left behind."""

import asyncio
import errno
import gc
import os
import sys
import warnings
from pathlib import Path

import pytest

from streamrelay.control.pipes import PipeTransport

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
"""Neither the end of its input nor SIGTERM ends it."""
DESCRIPTORS = Path("/proc/self/fd")


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="/proc tells what is open")
@pytest.mark.parametrize("seconds", [0.0, 0.1], ids=["at-once", "later"])
def test_nothing_is_left_where_the_loop_ends_meanwhile(seconds: float) -> None:
    async def main() -> asyncio.Future[None]:
        transport = await PipeTransport.open(
            [sys.executable, "-c", STUBBORN], os.environ, lambda _: None, lambda: None, lambda: 1
        )
        await asyncio.sleep(seconds)
        leaving = asyncio.ensure_future(transport.close())
        await asyncio.sleep(seconds)
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
