"""One subscription to the service's events, shared by all followers over HTTP.

Each event is encoded once. A bounded ring holds the latest encoded events, and a subscriber is a place in the journal.
Subscribers that keep up share the same bytes; a slow one does not hold up the others. A subscriber behind the ring
reads pages from the journal, at its own pace, until it reaches the ring. It loses only events that the journal has
forgotten; a `gap` counts them.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import NamedTuple

from streamrelay.daemon.sse import frame
from streamrelay.events import AnyEvent, Gap
from streamrelay.service.interface import Service

MAX_EVENTS = 20_000
MAX_BYTES = 16 * 2**20
MAX_WRITTEN = 256 * 1024
"""Bytes of one write (a single larger event is written whole): the most that waits for a subscriber that stalls."""
_PAGE = 500
_BATCH = 256
"""Events after which other tasks get their turn, however many events still wait."""


class _Joined(NamedTuple):
    """The bytes of the last write: the events after `after` up to `until`, when the ring ended at `end`."""

    after: int
    end: int
    data: bytes
    until: int


class Broadcast:
    """The ring and its subscribers. It calls `observe` with every event."""

    def __init__(
        self,
        service: Service,
        *,
        observe: Callable[[AnyEvent], object] = lambda _: None,
        most_events: int = MAX_EVENTS,
        most_bytes: int = MAX_BYTES,
    ) -> None:
        self.subscribers = 0
        self.lost = 0
        """Events that the journal forgot before a subscriber read them."""
        self._service = service
        self._observe = observe
        self._most_events, self._most_bytes = most_events, most_bytes
        self._frames: list[bytes] = []
        self._seqs: list[int] = []
        self._bytes = 0
        self._begins = 0
        """The ring holds all journaled events after this place."""
        self._joined = _Joined(-1, -1, b"", 0)
        self._awaited: asyncio.Future[None] | None = None
        self._ended = False

    async def start(self) -> None:
        """Fix the place in the journal from which `run` reads on."""
        self._begins = (await self._service.status()).seq

    async def run(self) -> None:
        """Read the service's events until they end."""
        try:
            count = 0
            async for event in self._service.events(self._begins):
                self._take(event)
                count += 1
                if count % _BATCH == 0:
                    await asyncio.sleep(0)
        finally:
            self.end()

    def end(self) -> None:
        """End each subscription when its subscriber has read the rest."""
        self._ended = True
        self._wake()

    @property
    def last(self) -> int:
        """The place of the newest event."""
        return self._seqs[-1] if self._seqs else self._begins

    def subscribe(self, after: int | None = None) -> AsyncGenerator[bytes]:
        """Yield frames, all available ones at once, after a place in the journal or from now on."""
        return self._read(self.last if after is None else after)

    async def _read(self, after: int) -> AsyncGenerator[bytes]:
        self.subscribers += 1
        try:
            while True:
                if after < self._begins:
                    events = self._without_holes(after, await self._service.read_since(after, limit=_PAGE))
                    after = events[-1].seq
                    yield b"".join(map(frame, events))
                elif after < self.last:
                    data, after = self._behind(after)
                    yield data
                elif self._ended:
                    return
                else:
                    await self._more()
        finally:
            self.subscribers -= 1

    def _without_holes(self, after: int, events: Sequence[AnyEvent]) -> Sequence[AnyEvent]:
        first = events[0].seq if events else self._begins + 1
        missing = first - after - 1
        if missing <= 0:
            return events
        self.lost += missing
        return [Gap(reason="forgotten", lost_events=missing, seq=first - 1), *events]

    def _behind(self, after: int) -> tuple[bytes, int]:
        """Return the next bytes for a subscriber at this place, and its place after them."""
        # All subscribers that keep up are at the same place.
        if (self._joined.after, self._joined.end) != (after, self.last):
            first = stop = bisect_right(self._seqs, after)
            size = 0
            while stop < len(self._frames) and (size == 0 or size + len(self._frames[stop]) <= MAX_WRITTEN):
                size += len(self._frames[stop])
                stop += 1
            self._joined = _Joined(after, self.last, b"".join(self._frames[first:stop]), self._seqs[stop - 1])
        return self._joined.data, self._joined.until

    def _take(self, event: AnyEvent) -> None:
        self._observe(event)
        encoded = frame(event)
        self._frames.append(encoded)
        self._seqs.append(event.seq)
        self._bytes += len(encoded)
        if len(self._frames) > self._most_events or self._bytes > self._most_bytes:
            self._drop()
        self._wake()

    def _drop(self) -> None:
        # Drops a quarter at once: deleting from the front of a list moves all the rest.
        most, bytes_left, gone = self._most_events * 3 // 4, self._bytes, 0
        while gone < len(self._frames) and (len(self._frames) - gone > most or bytes_left > self._most_bytes * 3 // 4):
            bytes_left -= len(self._frames[gone])
            gone += 1
        self._begins, self._bytes = self._seqs[gone - 1], bytes_left
        del self._frames[:gone], self._seqs[:gone]

    def _wake(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)
        self._awaited = None

    async def _more(self) -> None:
        if self._awaited is None:
            self._awaited = asyncio.get_running_loop().create_future()
        # All subscribers share one future: cancelling one of them must not cancel it.
        await asyncio.shield(self._awaited)
