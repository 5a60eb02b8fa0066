"""What it costs to carry messages between machines: rate and latency, against bare Redis Streams in the same run.

The real parts are measured: node, channels, encryption, journal (one SQLite commit a step) and redis-py, in one process
for all nodes. A message counts when the other node has committed it for its outbox. Left out are tmux and the panes.
The bare run carries records of the same size with XADD, XREADGROUP and XACK through the same server, whose append-only
file is synced at each write (`appendfsync always`). The two runs of a pair follow each other; medians are shown.

    python -m benchmarks.federation                    # 2 nodes, 100 B, 4 KB and 256 KB, five pairs
    python -m benchmarks.federation --nodes 2 5 10 --sizes 4096
"""

import argparse
import asyncio
import contextlib
import statistics
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from redis.asyncio import Redis

from streamrelay.config.settings import FederationTable
from streamrelay.federation.keys import KeyPair
from streamrelay.federation.messages import Message
from streamrelay.federation.streams import open_streams
from streamrelay.history.journal import Journal
from streamrelay.relay.rules import Effect
from streamrelay.relay.steps import Decision, RelayStep
from streamrelay.service.core import Core
from streamrelay.service.federation import Federation
from streamrelay.service.feed import Feed
from streamrelay.service.machine import ServiceMachine
from streamrelay.service.persistence import ServiceStore
from streamrelay.sessions.model import Session
from streamrelay.testing.redis import PrivateRedis

BATCH = 64
"""Messages that are handed over at once, as the runner of a busy service takes up what waits."""
PINGS = 40
BUDGET = 6_000_000
"""Bytes of one throughput run, about."""


class Figures(NamedTuple):
    """What one run has measured."""

    per_second: float
    latency: float
    """Median seconds from handing a single message over until it is accepted."""


class BareRunner:
    """Stands for the runner of a service that has no panes."""

    def participant(self, _pane: str) -> None:
        return None

    def decide(self, _decision: Decision) -> None:
        return None


class BareCore:
    """A service without tmux: it decides, commits, and counts what is ready for its outbox."""

    def __init__(self, table: FederationTable, journal: Journal, folder: Path) -> None:
        self.machine = ServiceMachine()
        self.runner = BareRunner()
        self.accepted = 0
        self.arrived = asyncio.Event()
        self.federation = Federation(cast("Core", self), table, {}, epoch=time.time_ns())
        store = ServiceStore(journal, Feed(journal, 0), folder, self._changes)
        self._keeper = self.federation.keeper(store)
        self._lock = asyncio.Lock()

    def _changes(self) -> dict[str, bytes | None]:
        return self.machine.changes() | self.federation.node.changes()

    async def do(self, decision: Decision) -> None:
        async with self._lock:
            step = RelayStep()
            step.follow(decision(time.monotonic()))
            await self._keeper.keep(step)
        if step.outgoing:
            self.accepted += len(step.outgoing)
            self._keeper.gone_out(step.outgoing)
            self.arrived.set()

    async def find(self, name: str) -> Session:
        return Session(session=name, pane="%1", title=name, session_name=name, program="cat", state="idle")

    async def admit(self, _session: Session) -> None:
        return None

    async def until_accepted(self, count: int) -> None:
        while self.accepted < count:
            self.arrived.clear()
            await self.arrived.wait()


@contextlib.asynccontextmanager
async def running_nodes(url: str, count: int, folder: Path) -> AsyncIterator[list[BareCore]]:
    """Run so many nodes, each with a journal of its own."""
    names = [f"n{number}" for number in range(count)]
    pairs = {name: KeyPair.generate() for name in names}
    peer_keys = tuple(f"{name} {pair.public_text}" for name, pair in pairs.items())
    async with contextlib.AsyncExitStack() as stack:
        cores: list[BareCore] = []
        for name in names:
            own = folder / name
            own.mkdir(parents=True)
            key = own / "key"
            key.touch(mode=0o600)
            key.write_text(pairs[name].private_text)
            table = FederationTable(
                node=name,
                peers=tuple(peer for peer in names if peer != name),
                redis_url=url,
                key_file=str(key),
                peer_keys=peer_keys,
                namespace=f"bench{folder.name}",
            )
            journal = await stack.enter_async_context(Journal(own / "journal.db"))
            cores.append(BareCore(table, journal, own))
            task = asyncio.ensure_future(cores[-1].federation.run())
            stack.push_async_callback(_ended, task)
        while any(core.federation.problem or len(core.federation.present) < count - 1 for core in cores):
            for core in cores:
                if core.federation._streams is not None:  # noqa: SLF001  # presence is looked for every 5 seconds
                    core.federation.present = await core.federation._streams.present(core.federation.node.peers)  # noqa: SLF001
            await asyncio.sleep(0.02)
        yield cores


async def _ended(task: "asyncio.Future[Any]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def measure_federation(url: str, nodes: int, size: int, messages: int) -> Figures:
    """Let the first node send to the others in turn."""
    with tempfile.TemporaryDirectory() as name:
        async with running_nodes(url, nodes, Path(name)) as (first, *others):
            peers, text = first.federation.node.peers, "x" * size
            numbers = iter(range(10**9))

            def posting(count: int) -> Callable[[float], list[Effect]]:
                def decide(_now: float) -> list[Effect]:
                    for number in [next(numbers) for _ in range(count)]:
                        body = Message(message_id=f"m{number}", name="cat", text=text)
                        first.federation.node.post(peers[number % len(peers)], body)
                    return []

                return decide

            latencies: list[float] = []
            for number in range(PINGS):
                begun, target = time.perf_counter(), others[number % len(others)]
                expected = target.accepted + 1
                await first.do(posting(1))
                await target.until_accepted(expected)
                latencies.append(time.perf_counter() - begun)
            base = [core.accepted for core in others]
            begun = time.perf_counter()
            for start in range(0, messages, BATCH):
                await first.do(posting(min(BATCH, messages - start)))
            while sum(core.accepted for core in others) - sum(base) < messages:
                await asyncio.wait(
                    [asyncio.ensure_future(core.arrived.wait()) for core in others],
                    return_when=asyncio.FIRST_COMPLETED,
                    timeout=1.0,
                )
                for core in others:
                    core.arrived.clear()
            return Figures(messages / (time.perf_counter() - begun), statistics.median(latencies))


async def measure_bare(url: str, nodes: int, size: int, messages: int) -> Figures:
    """Carry the same records with nothing but the commands of Redis."""
    record = {b"record": b"x" * size}
    namespace = f"bare{time.time_ns()}"
    names = [f"n{number}" for number in range(1, nodes)]
    async with contextlib.AsyncExitStack() as stack:
        sender = await stack.enter_async_context(open_streams(url, "n0", namespace=namespace))
        receivers = {
            name: await stack.enter_async_context(open_streams(url, name, namespace=namespace)) for name in names
        }

        async def receive(name: str, count: int) -> None:
            while count > 0:
                entries = await receivers[name].read()
                await receivers[name].acknowledge([entry.entry_id for entry in entries])
                count -= len(entries)

        latencies: list[float] = []
        for number in range(PINGS):
            name = names[number % len(names)]
            begun = time.perf_counter()
            receiving = asyncio.ensure_future(receive(name, 1))
            await sender.send(name, [record])
            await receiving
            latencies.append(time.perf_counter() - begun)
        shares = {name: len(range(place, messages, len(names))) for place, name in enumerate(names)}
        begun = time.perf_counter()
        receiving_all = [asyncio.ensure_future(receive(name, share)) for name, share in shares.items()]
        waiting = deque(number % len(names) for number in range(messages))
        while waiting:
            batch = [waiting.popleft() for _ in range(min(BATCH, len(waiting)))]
            for place in sorted(set(batch)):
                await sender.send(names[place], [record] * batch.count(place))
        await asyncio.gather(*receiving_all)
        return Figures(messages / (time.perf_counter() - begun), statistics.median(latencies))


async def compare(server: PrivateRedis, nodes: int, size: int, pairs: int) -> str:
    """Return one line of the table: medians over pairs of runs, with their spread."""
    messages = max(min(BUDGET // size, 2_000), 24)
    ratios, hops, rates = [], [], []
    for _ in range(pairs):
        bare = await measure_bare(server.url, nodes, size, messages)
        ours = await measure_federation(server.url, nodes, size, messages)
        async with Redis.from_url(server.url) as client:
            await client.flushall()
        ratios.append(ours.per_second / bare.per_second)
        hops.append((ours.latency - bare.latency) * 1000)
        rates.append((ours.per_second, bare.per_second))
    ours_rate, bare_rate = (statistics.median(rate[place] for rate in rates) for place in (0, 1))
    return (
        f"{nodes:>5}  {size:>9,}  {messages:>8,}  {ours_rate:>9,.0f}  {bare_rate:>9,.0f}  "
        f"{statistics.median(ratios):>5.2f} ({min(ratios):.2f}-{max(ratios):.2f})  "
        f"{statistics.median(hops):>6.1f} ({min(hops):.1f}-{max(hops):.1f})"
    )


async def run(nodes: Sequence[int], sizes: Sequence[int], pairs: int) -> None:
    print("nodes      bytes  messages     ours/s     bare/s  ratio (spread)     hop above bare, ms (spread)")
    with PrivateRedis(None, "--appendfsync", "always") as server:
        for count in nodes:
            for size in sizes:
                print(await compare(server, count, size, pairs), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what carries messages between machines.")
    parser.add_argument("--nodes", type=int, nargs="+", default=[2])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 4096, 262_144])
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    asyncio.run(run(asked.nodes, asked.sizes, asked.pairs))


if __name__ == "__main__":
    main()
