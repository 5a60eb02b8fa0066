"""Batches for floods: join the reads of a busy connection before the rest of the program sees them.

tmux writes the output of a busy pane in pieces of 8 KiB. The transport reads each piece at once, so tmux never waits.
Passing each piece through the whole pipeline costs more CPU than its bytes do, and tmux and the programs need the same
cores. While more than `FLOOD_RATE` arrives, pieces are therefore delivered when `BATCH_SIZE` bytes are there, or after
`MAX_DELAY` (one pane on tmux 3.8: 0.014 instead of 0.024 s of CPU a megabyte). Slower input is delivered at once.

The code behind this module sees a flood as if it had been read up to `MAX_DELAY` later.
"""

import asyncio
from collections.abc import Callable
from typing import Final

FLOOD_RATE: Final = 4_000_000
"""Bytes a second, of the stream as tmux writes it."""
BATCH_SIZE: Final = 1 << 16
"""Bytes."""
MAX_DELAY: Final = 0.002
"""Seconds."""
MEASURING_WINDOW: Final = 0.02
"""Minimum seconds over which the rate is measured."""


class FlowBatches:
    """Joins the bytes passed to `put` and calls `take` with them, in order. Needs a running event loop."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._pieces: list[bytes] = []
        self.size = 0
        """Pending bytes; always less than `BATCH_SIZE`."""
        self._floods = False
        self._counted = 0
        self._began = 0.0

    def put(self, data: bytes) -> None:
        """Add bytes that were just read."""
        self._count(len(data))
        if not (self._floods or self._pieces):
            self._take(data)
            return
        self._pieces.append(data)
        self.size += len(data)
        if self.size >= BATCH_SIZE or not self._floods:
            self.flush()
        else:
            self.resume()

    def flush(self) -> None:
        """Deliver the pending bytes now."""
        data = b"".join(self._pieces)
        self.drop()
        if data:
            self._take(data)

    def pause(self) -> None:
        """Deliver nothing until `resume`, `flush` or the next `put`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def resume(self) -> None:
        """Restart the delivery timer if bytes are pending."""
        if self._pieces and self._timer is None:
            self._timer = self._loop.call_later(MAX_DELAY, self.flush)

    def drop(self) -> None:
        """Discard the pending bytes."""
        self.pause()
        self._pieces.clear()
        self.size = 0

    def _count(self, size: int) -> None:
        self._counted += size
        now = self._loop.time()
        passed = now - self._began
        if passed >= MEASURING_WINDOW:
            self._floods = self._counted > FLOOD_RATE * passed
            self._counted, self._began = 0, now
