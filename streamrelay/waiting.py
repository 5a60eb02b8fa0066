"""Bounded polling: wait until a predicate is true, or fail with the last value it returned.

For conditions that send no notification, such as the end of a process that is not a child of this one, or what a test
expects to see in a pane. `wait_until` blocks the thread, `wait_until_async` does not block the event loop.
"""

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.005
STOOD_STILL = 1.0
"""Seconds by which a timer of a loop comes too late if the process stood still, or did something else meanwhile."""
MAX_EXTENSIONS = 5
"""How often the time for an answer begins anew for that reason."""


def wait_until(predicate: Callable[[], T], timeout: float = 5.0, message: str = "") -> T:
    """Call `predicate` every few milliseconds until it returns a true value, and return that value.

    Raises `TimeoutError` with `message` and the last value after `timeout` seconds. The predicate is called at
    least twice, the last time after the deadline, so that a stalled machine alone never causes a timeout.
    """
    deadline = time.monotonic() + timeout
    while True:
        late = time.monotonic() >= deadline
        value = predicate()
        if value:
            return value
        if late:
            raise TimeoutError(_complaint(timeout, message, value))
        time.sleep(POLL_SECONDS)


async def wait_until_async(
    predicate: Callable[[], T | Awaitable[T]],
    timeout: float = 5.0,  # noqa: ASYNC109  # asyncio.timeout could not carry the message
    message: str = "",
) -> T:
    """Do what `wait_until` does without blocking the event loop; the predicate may be a coroutine function.

    A coroutine that never returns is cancelled at the deadline.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    value: object = None
    while True:
        late = loop.time() >= deadline
        result = predicate()
        if inspect.isawaitable(result):
            try:
                async with asyncio.timeout_at(max(deadline, loop.time() + POLL_SECONDS)):
                    result = await result
            except TimeoutError as error:
                raise TimeoutError(_complaint(timeout, message, value)) from error
        if result:
            return result
        value = result
        if late:
            raise TimeoutError(_complaint(timeout, message, value))
        await asyncio.sleep(POLL_SECONDS)


def _complaint(timeout: float, message: str, value: object) -> str:
    return f"{message or 'condition not met'} (waited {timeout:g} s; last value: {value!r})"


@contextlib.asynccontextmanager
async def answer_within(seconds: float) -> AsyncIterator[None]:
    """Raise TimeoutError if the block takes longer; time in which this process could read no answer does not count.

    A daemon that is suspended, or that reads the log of a pane for ten seconds, would take an answer that has long come
    for a missing one: its timer and the answer are due at the same moment. So the time begins anew then.
    """
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []

    def begin() -> None:
        due = loop.time() + seconds
        timers.append(loop.call_at(due, look, due))

    def look(due: float) -> None:
        if loop.time() - due > STOOD_STILL and len(timers) <= MAX_EXTENSIONS:
            begin()
        else:
            limit.reschedule(loop.time())

    async with asyncio.timeout(None) as limit:
        begin()
        try:
            yield
        finally:
            timers[-1].cancel()
