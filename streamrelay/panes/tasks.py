"""Runs coroutines side by side until the first one ends, and long work in slices between which others run."""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Iterable
from typing import Any, TypeVar

SLICE = 0.01
"""Seconds for which long work may hold the event loop. One item more may follow: it cannot be interrupted."""
Result = TypeVar("Result")
Item = TypeVar("Item")


async def until_first(*coroutines: Coroutine[Any, Any, Result]) -> Result:
    """Run the coroutines until one of them ends, cancel the others, and return its result or raise its error."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_slices(items: Iterable[Item]) -> AsyncGenerator[Item, None]:
    """Yield the items; whenever they have taken `SLICE` seconds, let the other tasks of the loop run."""
    # The loop's own clock may stand still while one callback runs.
    until = time.monotonic() + SLICE
    for item in items:
        yield item
        if time.monotonic() >= until:
            await asyncio.sleep(0)
            until = time.monotonic() + SLICE
