"""A subscription: a bounded queue of events, numbered for one subscriber.

A subscriber that reads too slowly loses events, and gets a `gap` event with their number in their place. It never slows
other subscribers down. The stream ends with its last pane.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable

from streamrelay.batch import Batch, Lines, Part, size_of
from streamrelay.events import Event, Gap, Live, PaneClosed, Retracted

MAX_QUEUE = 100_000


class Subscription:
    """An async iterator over the events of some panes."""

    def __init__(self, panes: Iterable[str], *, size: int = MAX_QUEUE, live: bool = True) -> None:
        """Queue at most `size` events of panes, with live text only if `live` is set."""
        self._live = live
        self.panes = tuple(panes)
        self._open_panes = set(self.panes)
        self._queue: deque[Part] = deque()
        self._made: deque[Event] = deque()
        """Numbered events before the queue: the rest of a batch that is read one by one."""
        self._waiting = 0
        """The number of events in both queues."""
        self._size = size
        self._lost = 0
        self._seq = 0
        self._began = asyncio.get_running_loop().time()
        self._offsets: dict[str, float] = {}
        self._filled = asyncio.Event()
        self._closed = False
        self._awaited = 0

    def expect(self) -> None:
        """Keep the stream open until `expect_no_more`, because a closed pane may come back."""
        self._awaited += 1

    def expect_no_more(self) -> None:
        """Undo one `expect`."""
        self._awaited -= 1
        self._filled.set()

    def replace(self, pane: str, other: str, began: float) -> None:
        """Replace a pane of a restarted server by another one, whose stream `began` at that loop time."""
        self.panes = tuple(other if one == pane else one for one in self.panes)
        self._open_panes.add(other)
        self.publish(Batch([Gap(reason="restarted", t=began - self._began)]))

    def offset(self, pane: str, began: float) -> float:
        """Return the extra time offset of a pane whose stream began at `began`, beyond the pane's own offset.

        A pane of another server may have the id of a closed one whose events still wait.
        """
        return began - self._began - self._offsets.get(pane, 0.0)

    def align(self, pane: str, began: float) -> None:
        """Count the times of a pane, whose stream began at `began` (loop time), from this subscription's beginning."""
        self._offsets[pane] = began - self._began

    def publish(self, events: Batch) -> None:
        """Queue events of one of the panes; never waits."""
        if self._closed or not events:
            return
        last = events.last
        if isinstance(last, PaneClosed):
            self._open_panes.discard(last.pane)
        for part in events.parts:
            self._take(part)
        self._filled.set()

    def _take(self, part: Part) -> None:
        if not self._live and isinstance(part, Live | Retracted):
            return
        size, room = size_of(part), self._size - self._waiting
        if size > room and not isinstance(part, PaneClosed):
            if room <= 0 or not isinstance(part, Lines):
                self._lost += size
                return
            part, rest = part.split(room)
            self._put(part)
            self._lost += len(rest)
            return
        self._put(part)

    def _put(self, part: Part) -> None:
        self._say_what_was_lost()
        self._queue.append(part)
        self._waiting += size_of(part)

    def _say_what_was_lost(self) -> None:
        if self._lost:
            now = asyncio.get_running_loop().time() - self._began
            self._queue.append(Gap(reason="slow_subscriber", lost_events=self._lost, t=now))
            self._waiting += 1
            self._lost = 0

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while not self._made:
            if not self._queue and not await self._wait(None):
                raise StopAsyncIteration
            self._make()
        self._waiting -= 1
        return self._made.popleft()

    def _make(self) -> None:
        """Create the events of the first part."""
        part = self._queue.popleft()
        self._number((part,))
        if isinstance(part, Lines):
            self._made.extend(part.events())
        else:
            self._made.append(part)

    async def batches(self) -> AsyncIterator[Batch]:
        """Yield all waiting events as a batch: for consumers that forward events, or need only the texts."""
        while (events := await self.batch()) is not None:
            yield events

    async def batch(self, until: float | None = None) -> Batch | None:
        """Return the waiting events, at the latest at `until` (loop time), then possibly none; None at the end."""
        if not (self._made or self._queue or await self._wait(until)):
            return None
        made, waiting = self._made, self._queue
        self._made, self._queue, self._waiting = deque(), deque(), 0
        self._number(waiting)
        return Batch([*made, *waiting])

    async def _wait(self, until: float | None) -> bool:
        """Wait for events or the time; return False at the end of the stream."""
        loop = asyncio.get_running_loop()
        timer = loop.call_at(until, self._filled.set) if until is not None else None
        try:
            while not self._queue:
                self._say_what_was_lost()
                if self._queue:
                    break
                if self._closed or not (self._open_panes or self._awaited):
                    return False
                if until is not None and loop.time() >= until:
                    return True
                self._filled.clear()
                await self._filled.wait()
            return True
        finally:
            if timer is not None:
                timer.cancel()

    def _number(self, parts: Iterable[Part]) -> None:
        """Number the events for this subscriber, which owns them."""
        # All events of a burst have one time; rounding it once saves most of the cost.
        t, pane, shifted = -1.0, "", 0.0
        for part in parts:
            part.seq = self._seq + 1
            if part.t != t or part.pane != pane:
                t, pane = part.t, part.pane
                shifted = round(t + self._offsets.get(pane, 0.0), 6)
            part.t = shifted
            self._seq += size_of(part)

    def close(self) -> None:
        """End the subscription; a task that waits for an event gets the end of the stream."""
        if not self._closed:
            self._closed = True
            self._made.clear()
            self._queue.clear()
            self._waiting = 0
            self._filled.set()
