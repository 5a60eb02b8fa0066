"""Threads that do not delay the process's exit: for blocking work in async code, and for a loop in plain code.

Python waits for asyncio's own threads at exit, so a file system that hangs would keep the process alive.
"""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from streamrelay.loops import new_event_loop

Result = TypeVar("Result")


def in_thread(work: Callable[[], Result], *, name: str) -> "asyncio.Future[Result]":
    """Run `work` in a new thread; the future gets its result or error. Cancelling it does not end the thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle_in_loop(settle: Callable[..., None], value: object) -> None:
        def settle_once() -> None:
            if not future.done():
                settle(value)

        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle_once)

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001  # awaiting the future raises it
            settle_in_loop(future.set_exception, error)
        else:
            settle_in_loop(future.set_result, result)

    threading.Thread(target=run, daemon=True, name=name).start()
    return future


class LoopThread:
    """An event loop in a thread of its own, for callers without asyncio; the caller has to `close` it."""

    def __init__(self, name: str) -> None:
        self._runner = asyncio.Runner(loop_factory=new_event_loop)
        started: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name=name, daemon=True)
        self._thread.start()
        self._loop = started.result()

    def _run(self, started: "concurrent.futures.Future[asyncio.AbstractEventLoop]") -> None:
        # The runner must be closed in this thread: Python refuses that in a thread in which another loop runs.
        with self._runner:
            loop = self._runner.get_loop()
            started.set_result(loop)
            loop.run_forever()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in this thread, where `wait` would wait for itself."""
        return threading.current_thread() is self._thread

    def wait(self, work: Coroutine[Any, Any, Result], timeout: float | None = None) -> Result:
        """Run `work` in the loop and wait for it, at most `timeout` seconds; an interrupted wait cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def call(self, work: Callable[[], None]) -> None:
        """Run `work` in the loop, and do not wait for it."""
        self._loop.call_soon_threadsafe(work)

    def abandon(self) -> None:
        """Stop the loop without waiting for its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    def close(self) -> None:
        """Stop the loop and wait for its thread."""
        self.abandon()
        self._thread.join()
