"""The reads of a flood, handed on in lots.

tmux writes what a busy pane prints 8 KiB at a time. Each is read at once, so that tmux never waits for it; but to go
through everything for each costs more than its bytes do, and all of it is time that tmux and the programs do not have
on the same cores. So while more than `RATE` comes, what was read is handed on when there is a `LOT` of it, or after
`DELAY` (one pane on tmux 3.8: 0.014 against 0.024 s of CPU a megabyte). What comes more slowly is handed on at once.

To everything behind it is as if a flood had been read up to `DELAY` later.
"""

import asyncio
from collections.abc import Callable
from typing import Final

RATE: Final = 4_000_000
"""Bytes a second, of the stream as tmux writes it."""
LOT: Final = 1 << 16
"""Bytes."""
DELAY: Final = 0.002
"""Seconds."""
WINDOW: Final = 0.02
"""Seconds, at least, over which it is counted how much comes."""


class Lots:
    """Joins what is put, and calls `take` with it, in order. Needs a running event loop."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._pieces: list[bytes] = []
        self.size = 0
        """Bytes that wait; fewer than a lot."""
        self._floods = False
        self._counted = 0
        self._began = 0.0

    def put(self, data: bytes) -> None:
        """Take what was just read."""
        self._count(len(data))
        if not (self._floods or self._pieces):
            self._take(data)
            return
        self._pieces.append(data)
        self.size += len(data)
        if self.size >= LOT or not self._floods:
            self.hand_on()
        else:
            self.resume()

    def hand_on(self) -> None:
        """Wait for no more."""
        data = b"".join(self._pieces)
        self.drop()
        if data:
            self._take(data)

    def pause(self) -> None:
        """Hand nothing on before `resume`, `hand_on` or the next `put`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def resume(self) -> None:
        """Go on waiting."""
        if self._pieces and self._timer is None:
            self._timer = self._loop.call_later(DELAY, self.hand_on)

    def drop(self) -> None:
        """Forget what waits."""
        self.pause()
        self._pieces.clear()
        self.size = 0

    def _count(self, size: int) -> None:
        self._counted += size
        now = self._loop.time()
        passed = now - self._began
        if passed >= WINDOW:
            self._floods = self._counted > RATE * passed
            self._counted, self._began = 0, now
