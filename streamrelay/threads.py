"""Threads for blocking work that may never end, which do not delay the process's exit.

Python waits for asyncio's own threads at exit, so a file system that hangs would keep the process alive.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def in_thread(work: Callable[[], Result], *, name: str) -> "asyncio.Future[Result]":
    """Have a thread do it; the future has what it returns or raises. Cancelling that does not end the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def tell(settle: Callable[..., None], value: object) -> None:
        def told() -> None:
            if not future.done():
                settle(value)

        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(told)

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  # it is raised where it is awaited
            tell(future.set_exception, error)
        else:
            tell(future.set_result, result)

    threading.Thread(target=run, daemon=True, name=name).start()
    return future
