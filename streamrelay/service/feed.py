"""The journaled events for any number of readers: in order, none skipped, none doubled.

A reader is only a place in the journal. All readers share the newest events in memory. A reader that has fallen behind
those reads the journal, without holding up the others. If the journal has deleted events before a reader came to them,
the reader gets a `gap` with their number.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from itertools import islice
from typing import cast

import msgspec

from streamrelay.events import AnyEvent, Event, Gap
from streamrelay.history.journal import Journal

NEWEST_KEPT, MAX_KEPT_BYTES = 10_000, 16 * 2**20
"""Events in memory, and their texts' bytes in memory, at most: the newest event is kept whatever its size."""
_AT_ONCE = 1_000


class Feed:
    """The events of one journal, as they are written."""

    def __init__(self, journal: Journal, last: int) -> None:
        """Begin after the event with the number `last`."""
        self.last = last
        """The number of the newest event."""
        self.readers = 0
        """The number of current readers."""
        self._journal = journal
        self._newest: deque[tuple[AnyEvent, int]] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._closed = False

    def publish(self, events: Sequence[Event]) -> None:
        """Take events that were just journaled; the caller must not change them afterwards."""
        if events:
            for event in cast("Sequence[AnyEvent]", events):
                size = _texts_size(event)
                self._newest.append((event, size))
                self._bytes += size
            while len(self._newest) > NEWEST_KEPT or (self._bytes > MAX_KEPT_BYTES and len(self._newest) > 1):
                self._bytes -= self._newest.popleft()[1]
            self.last = events[-1].seq
            self._wake()

    def close(self) -> None:
        """End all readers once they have read the rest."""
        self._closed = True
        self._wake()

    async def batches(self, after: int | None = None) -> AsyncGenerator[list[AnyEvent], None]:
        """Yield batches of events after a place, or from now on; ends when the feed is closed."""
        place = self.last if after is None else after
        self.readers += 1
        try:
            while True:
                if place >= self.last:
                    if self._closed:
                        return
                    await self._more.wait()
                    continue
                events = await self._behind(place)
                missing = events[0].seq - place - 1 if events else self.last - place
                if missing > 0:
                    gap = Gap(reason="forgotten", lost_events=missing, seq=place + missing)
                    events.insert(0, gap)
                place = events[-1].seq
                yield events
        finally:
            self.readers -= 1

    async def _behind(self, place: int) -> list[AnyEvent]:
        newest = self._newest
        if newest and (oldest := newest[0][0].seq) <= place + 1:
            start = place + 1 - oldest
            return [event for event, _ in islice(newest, start, start + _AT_ONCE)]
        return await self._journal.since(place, limit=_AT_ONCE)

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()


def _texts_size(event: AnyEvent) -> int:
    return sum(sys.getsizeof(value) for value in msgspec.structs.astuple(event) if isinstance(value, str))
