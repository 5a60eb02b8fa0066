"""An in-process broker with the contract of `streamrelay.federation.streams`, for tests and simulations.

One contract suite (tests/federation/test_broker_contract.py) holds it and the real servers against each other.

    broker = MemoryBroker()
    alpha, beta = MemoryStreams(broker, "alpha"), MemoryStreams(broker, "beta")
    await alpha.send("beta", [{b"x": b"1"}])
    (entry,) = await beta.read()
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence

from streamrelay.errors import RedisLost
from streamrelay.federation.streams import BATCH, MAX_DEAD_FIELD, MAX_DEAD_LETTERS, READ_SECONDS, TTL, StreamEntry


class MemoryBroker:
    """Inboxes, dead letters and presence in memory. All calls raise RedisLost while `is_down`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.is_down = False
        self.clock = clock
        self.arrived = asyncio.Event()
        """Set when an entry comes for any node."""
        self.dead: dict[str, deque[dict[bytes, bytes]]] = {}
        self._inboxes: dict[str, dict[bytes, dict[bytes, bytes]]] = {}
        self._read_up_to: dict[str, int] = {}
        self._nodes: dict[str, tuple[str, float]] = {}
        self._last = (0, 0)

    def wipe(self) -> None:
        """Forget everything, as a server does whose disk is gone."""
        self._inboxes.clear()
        self._read_up_to.clear()
        self._nodes.clear()

    def lose_last(self, count: int) -> None:
        """Forget the newest entries of each inbox, as a server does that had not written them to its disk."""
        for node, inbox in self._inboxes.items():
            for entry_id in list(inbox)[max(len(inbox) - count, 0) :]:
                del inbox[entry_id]
            self._read_up_to[node] = self._pending(node)

    def inbox(self, node: str) -> list[StreamEntry]:
        """Return what is in an inbox, oldest first."""
        return [StreamEntry(entry_id, dict(fields)) for entry_id, fields in self._inboxes.get(node, {}).items()]

    def add(self, node: str, fields: Mapping[bytes, bytes]) -> None:
        """Put an entry into an inbox; its id is later than all before it."""
        self._check()
        now = int(self.clock() * 1000)
        self._last = (now, 0) if now > self._last[0] else (self._last[0], self._last[1] + 1)
        self._inboxes.setdefault(node, {})[b"%d-%d" % self._last] = dict(fields)
        self.arrived.set()

    def unread(self, node: str, count: int) -> list[StreamEntry]:
        """Return entries that were not read before, oldest first; they count as read."""
        self._check()
        entries = self.inbox(node)[self._pending(node) :][:count]
        self._read_up_to[node] = self._pending(node) + len(entries)
        return entries

    def claimed(self, node: str) -> list[StreamEntry]:
        """Return entries that were read and not acknowledged, oldest first."""
        self._check()
        return self.inbox(node)[: self._pending(node)]

    def acknowledge(self, node: str, entry_ids: Sequence[bytes]) -> None:
        """Forget entries that were read, and all before the last of them."""
        self._check()
        inbox = self._inboxes.get(node, {})
        if not entry_ids or entry_ids[-1] not in inbox:
            return
        for entry_id in list(inbox):
            del inbox[entry_id]
            self._read_up_to[node] = max(0, self._pending(node) - 1)
            if entry_id == entry_ids[-1]:
                return

    def _pending(self, node: str) -> int:
        return min(self._read_up_to.get(node, 0), len(self._inboxes.get(node, {})))

    def be_there(self, node: str, service: str) -> bool:
        """Note that a node is there; False if another service has its name."""
        self._check()
        if node in self.present([node]) and self._nodes[node][0] != service:
            return False
        self._nodes[node] = (service, self.clock() + TTL)
        return True

    def leave(self, node: str, service: str) -> None:
        """Note that it is not any more, unless another service has its name."""
        self._check()
        if self._nodes.get(node, ("", 0.0))[0] == service:
            del self._nodes[node]

    def present(self, nodes: Sequence[str]) -> set[str]:
        """Return which of these nodes are there."""
        self._check()
        return {node for node in nodes if node in self._nodes and self._nodes[node][1] > self.clock()}

    def bury(self, node: str, entry: StreamEntry, why: str) -> None:
        """Keep the beginning of an entry that cannot be used, and why."""
        self._check()
        kept = {name: value[:MAX_DEAD_FIELD] for name, value in entry.fields.items()}
        letters = self.dead.setdefault(node, deque(maxlen=MAX_DEAD_LETTERS))
        letters.append({**kept, b"why": why.encode(), b"entry": entry.entry_id})

    def _check(self) -> None:
        if self.is_down:
            raise RedisLost("the broker is down")


class MemoryStreams:
    """The streams of one node at a broker in memory; the same calls as `Streams`."""

    def __init__(self, broker: MemoryBroker, node: str) -> None:
        self._broker = broker
        self._node = node

    async def unfinished(self, count: int = BATCH) -> AsyncGenerator[list[StreamEntry], None]:
        """Return what was read before and not acknowledged, so many at a time."""
        entries = self._broker.claimed(self._node)
        for start in range(0, max(len(entries), 1), count):
            yield entries[start : start + count]

    async def read(self, count: int = BATCH) -> list[StreamEntry]:
        """Return what came since, so many at most, waiting some time for it."""
        self._broker.arrived.clear()
        if entries := self._broker.unread(self._node, count):
            return entries
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(READ_SECONDS):
                await self._broker.arrived.wait()
        return self._broker.unread(self._node, count)

    async def send(self, node: str, entries: Iterable[Mapping[bytes, bytes]]) -> None:
        """Put entries into the inbox of a node, in order."""
        await self.exchange((), ((node, fields) for fields in entries))

    async def acknowledge(self, entry_ids: Sequence[bytes]) -> None:
        """Be done with entries, and let go of what lies behind the last of them."""
        await self.exchange(entry_ids, ())

    async def exchange(self, entry_ids: Sequence[bytes], entries: Iterable[tuple[str, Mapping[bytes, bytes]]]) -> None:
        """Acknowledge entries of the inbox, and put others into the inboxes of nodes."""
        for node, fields in entries:
            self._broker.add(node, fields)
        self._broker.acknowledge(self._node, entry_ids)

    async def bury(self, entry: StreamEntry, why: str) -> None:
        """Put what cannot be used aside."""
        self._broker.bury(self._node, entry, why)

    async def be_there(self, service: str) -> bool:
        """Say that the node is there; False if another service has its name."""
        return self._broker.be_there(self._node, service)

    async def leave(self, service: str) -> None:
        """Say that it is not any more, unless another service has its name by now."""
        self._broker.leave(self._node, service)

    async def present(self, nodes: Sequence[str]) -> set[str]:
        """Return which of these nodes are there."""
        return self._broker.present(nodes)
