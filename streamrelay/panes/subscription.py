"""What a subscriber holds: a bounded queue of events, numbered for this subscriber.

A subscriber that reads too slowly loses events and is told how many, by a gap event where they would have stood; it
never slows anybody else down. The end of the last pane is the end of the stream.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable

import msgspec

from streamrelay.events import Event, Gap, PaneClosed

LONGEST_QUEUE = 100_000


class Subscription:
    """An async iterator over the events of some panes."""

    def __init__(self, panes: Iterable[str], *, size: int = LONGEST_QUEUE) -> None:
        self.panes = tuple(panes)
        self._open_panes = set(self.panes)
        self._queue: deque[Event] = deque()
        self._size = size
        self._lost = 0
        self._seq = 0
        self._began = asyncio.get_running_loop().time()
        self._offsets: dict[str, float] = {}
        self._filled = asyncio.Event()
        self._closed = False

    def align(self, pane: str, began: float) -> None:
        """Count the times of a pane, whose own stream began at `began` (loop time), from this stream's beginning."""
        self._offsets[pane] = began - self._began

    def publish(self, events: Iterable[Event]) -> None:
        """Take events of the subscribed panes; never waits."""
        if self._closed:
            return
        for event in events:
            if isinstance(event, PaneClosed):
                self._open_panes.discard(event.pane)
            elif len(self._queue) >= self._size:
                self._lost += 1
                continue
            self._say_what_was_lost()
            self._queue.append(event)
        self._filled.set()

    def _say_what_was_lost(self) -> None:
        if self._lost:
            now = asyncio.get_running_loop().time() - self._began
            self._queue.append(Gap(reason="slow_subscriber", lost_events=self._lost, t=now))
            self._lost = 0

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        if not self._queue and not await self._wait(None):
            raise StopAsyncIteration
        return self._next()

    async def batches(self) -> AsyncIterator[list[Event]]:
        """Yield whatever is waiting, all at once: for those who write events on."""
        while (events := await self.batch()) is not None:
            yield events

    async def batch(self, until: float | None = None) -> list[Event] | None:
        """Return what is waiting, at the latest at `until` (loop time), if need be nothing; None at the end."""
        if not self._queue and not await self._wait(until):
            return None
        return [self._next() for _ in range(len(self._queue))]

    async def _wait(self, until: float | None) -> bool:
        """Wait for events or the time; False at the end of the stream."""
        loop = asyncio.get_running_loop()
        timer = loop.call_at(until, self._filled.set) if until is not None else None
        try:
            while not self._queue:
                self._say_what_was_lost()
                if self._queue:
                    break
                if self._closed or not self._open_panes:
                    return False
                if until is not None and loop.time() >= until:
                    return True
                self._filled.clear()
                await self._filled.wait()
            return True
        finally:
            if timer is not None:
                timer.cancel()

    def _next(self) -> Event:
        self._seq += 1
        event = self._queue.popleft()
        return msgspec.structs.replace(event, seq=self._seq, t=round(event.t + self._offsets.get(event.pane, 0.0), 6))

    def close(self) -> None:
        """End the subscription; whoever waits for an event gets the end of the stream."""
        if not self._closed:
            self._closed = True
            self._queue.clear()
            self._filled.set()
