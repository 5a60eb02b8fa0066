"""Every journaled event for everybody who asks, in order, none skipped and none doubled.

A reader is no more than a place in the journal. Behind the newest events, which are kept here for all readers together,
it is served from memory; one that is slower than that reads the journal, and holds nobody up. Only where the journal
itself has been cleared meanwhile is there a gap, and it says how many events it lacks.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from itertools import islice
from typing import cast

from streamrelay.events import AnyEvent, Event, Gap
from streamrelay.history.journal import Journal

NEWEST_KEPT = 10_000
_AT_ONCE = 1_000


class Feed:
    """The events of one journal, as they are written."""

    def __init__(self, journal: Journal, last: int) -> None:
        """Begin behind the event with the number `last`."""
        self.last = last
        """The number of the newest event."""
        self.readers = 0
        """How many read at present."""
        self._journal = journal
        self._newest: deque[AnyEvent] = deque(maxlen=NEWEST_KEPT)
        self._more = asyncio.Event()
        self._closed = False

    def publish(self, events: Sequence[Event]) -> None:
        """Take events that were just journaled; they are nobody's to change from here on."""
        if events:
            self._newest.extend(cast("Sequence[AnyEvent]", events))
            self.last = events[-1].seq
            self._wake()

    def close(self) -> None:
        """End all readers, when they have what there is."""
        self._closed = True
        self._wake()

    async def batches(self, after: int | None = None) -> AsyncGenerator[list[AnyEvent], None]:
        """Yield what there is behind a place, or from now on, many at once; ends when the feed is closed."""
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
        if newest and newest[0].seq <= place + 1:
            start = place + 1 - newest[0].seq
            return list(islice(newest, start, start + _AT_ONCE))
        return await self._journal.since(place, limit=_AT_ONCE)

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()
