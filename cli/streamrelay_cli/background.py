"""Writes output in a thread, so that a slow reader does not stop the event loop; the process can end without it.

A coroutine that awaits a write waits for the reader, while the event loop keeps reading panes and signals. Events that
arrive faster than the reader reads wait in the subscription, which is bounded and counts the lost ones.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable


class BackgroundWriter:
    """Writes bytes to a file descriptor, in order."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: queue.SimpleQueue[tuple[bytes, Callable[[OSError | None], object]]] = queue.SimpleQueue()
        threading.Thread(target=self._write_all, name="output", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """Write the data, and return when it is written; raises the OSError of the write."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()

        def tell(error: OSError | None) -> None:
            if written.done():
                return
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

        self._waiting.put((data, lambda error: loop.call_soon_threadsafe(tell, error)))
        await written

    def _write_all(self) -> None:
        while True:
            data, tell = self._waiting.get()
            error: OSError | None = None
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as caught:
                error = caught
            try:
                tell(error)
            except RuntimeError:
                # The loop is closed, so no coroutine waits for this write.
                return
