"""Start and signal child processes so that asyncio alone collects their exit status.

Polling a child that has just ended takes its status away from asyncio, which then prints `Unknown child process` on
standard error and reports status 255. Python polls when it sends a child a signal, when it closes the child's transport
before asyncio has the status, and when a start is cancelled. So this module lets a start finish before it cancels it,
and sends signals to the process id. Once asyncio has the status, it sends no signal, so the id cannot belong to another
process. A caller that ends a child waits for its end even if the caller itself is cancelled: a loop that closes earlier
leaves the child's transport behind.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

_MOMENT = 0.002


async def start_child(program: str, *arguments: str, **settings: Any) -> asyncio.subprocess.Process:
    """Start a child as `asyncio.create_subprocess_exec` does, with the same settings.

    Cancelled meanwhile, it returns the child all the same, and what awaits next is cancelled: there is the child to be
    ended. Raises OSError for a program that cannot be started.
    """
    return await uncut(asyncio.create_subprocess_exec(program, *arguments, **settings))


async def uncut(work: Coroutine[Any, Any, Result]) -> Result:
    """Await something short to its end. What cancels meanwhile cancels what awaits next."""
    ours = asyncio.current_task()
    assert ours is not None  # noqa: S101  # a coroutine that runs is some task's
    working = asyncio.ensure_future(work)
    cancelled = 0
    while not working.done():
        try:
            await asyncio.wait([working])
        except asyncio.CancelledError:
            ours.uncancel()
            cancelled += 1
    for _ in range(cancelled):
        ours.cancel()
    return working.result()


async def ended(process: asyncio.subprocess.Process, within: float = 5.0) -> bool:
    """Wait for a child's end, at most `within` seconds; return whether it came.

    What cancels meanwhile cancels what awaits next. It may be the end of the event loop, which cancels every task: no
    other than the one that calls this is relied on.
    """

    async def for_its_end(seconds: float) -> None:
        waiting = asyncio.ensure_future(process.wait())
        try:
            await asyncio.wait([waiting], timeout=seconds)
        finally:
            waiting.cancel()

    return await _insist(lambda: process.returncode is not None, for_its_end, within)


async def reaped(process: subprocess.Popen[bytes], within: float = 5.0) -> bool:
    """The same for a child that asyncio knows nothing of, and that is about to end."""

    async def a_moment(seconds: float) -> None:
        await asyncio.sleep(min(seconds, _MOMENT))

    return await _insist(lambda: process.poll() is not None, a_moment, within)


async def _insist(is_over: Callable[[], bool], wait: Callable[[float], Awaitable[None]], within: float) -> bool:
    loop, ours = asyncio.get_running_loop(), asyncio.current_task()
    assert ours is not None  # noqa: S101  # a coroutine that runs is some task's
    until, cancelled = loop.time() + within, 0
    while not is_over() and (left := until - loop.time()) > 0:
        try:
            await wait(left)
        except asyncio.CancelledError:
            ours.uncancel()
            cancelled += 1
    for _ in range(cancelled):
        ours.cancel()
    return is_over()


def send_signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a child, if it has not ended."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
