"""What it costs to carry messages between machines: rate and latency, against bare Redis Streams in the same run.

The real parts are measured: node, channels, encryption, journal (one SQLite commit a step) and redis-py, each node in a
process of its own. A message counts when the other node has committed it for its outbox. Left out are tmux and the
panes. The bare run carries records of the same size with XADD, XREADGROUP and XACK between as many processes through
the same server, whose append-only file is synced at each write (`appendfsync always`). Both hand 64 over at a time.

A busy disk changes its speed within seconds. So both ways stay open for all runs, the two short runs of a pair follow
each other, the way that begins changes from pair to pair, and each pair gives one ratio. Medians are shown. The first
pair, in which files get their size, is not counted.

The messages are Markdown (this project's documents). From 16 KB on, where bodies are compressed, random letters are
measured too.

    python -m benchmarks.federation                    # 2 nodes, 100 B, 4 KB and 256 KB, 31 pairs
    python -m benchmarks.federation --nodes 2 5 10 --sizes 4096
"""

import argparse
import asyncio
import contextlib
import itertools
import multiprocessing
import os
import random
import statistics
import string
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import msgspec
from redis.asyncio import Redis

from benchmarks import measuring
from benchmarks.measuring import ROOT, Report, Sample, Table, progress
from streamrelay.config.settings import FederationTable
from streamrelay.delivery.outbox import Outbox
from streamrelay.federation.compression import MIN_SIZE
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
PINGS = 20
"""Single messages of each pair and way, in turns; their latencies are compared."""
MAX_MESSAGES = 3_072
BUDGET = 96 << 20
"""Bytes of one throughput run, about: several batches even of large messages, for what follows one batch overlaps with
the next one.
"""
WAITING = 256
"""Messages that are handed over before the earlier ones are accepted, at most."""
LETTERS = string.ascii_letters + string.digits + "+/"
"""As text without any repetition has them, for instance a file in base64."""
Wording = Literal["Markdown", "random letters"]


class BareRunner:
    """Stands for the runner of a service that has no panes."""

    def participant(self, _pane: str) -> None:
        return None

    def decide(self, _decision: Decision) -> None:
        return None


class BareCore:
    """A service without tmux: it decides, commits, and counts what is ready for its outbox."""

    def __init__(self, table: FederationTable, journal: Journal, outbox: Outbox, folder: Path) -> None:
        self.machine = ServiceMachine()
        self.runner = BareRunner()
        self.accepted = 0
        self.arrived = asyncio.Event()
        self.federation = Federation(cast("Core", self), table, {}, epoch=time.time_ns())
        store = ServiceStore(journal, Feed(journal, 0), outbox, folder, self._changes)
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


class Node(NamedTuple):
    """What a process needs to be a node."""

    table: FederationTable
    folder: Path


def prepared_nodes(url: str, count: int, folder: Path) -> list[Node]:
    """Return so many nodes that know each other's keys."""
    names = [f"n{number}" for number in range(count)]
    pairs = {name: KeyPair.generate() for name in names}
    peer_keys = tuple(f"{name} {pair.public_text}" for name, pair in pairs.items())
    nodes = []
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
        nodes.append(Node(table, own))
    return nodes


@contextlib.asynccontextmanager
async def running(node: Node) -> AsyncIterator[BareCore]:
    """Run a node with a journal of its own, and wait until its peers are there."""
    async with Journal(node.folder / "journal.db") as journal, Outbox(node.folder / "outbox.db") as outbox:
        core = BareCore(node.table, journal, outbox, node.folder)
        federation = core.federation
        task = asyncio.ensure_future(federation.run())
        try:
            while federation.problem or len(federation.present) < len(node.table.peers):
                if federation._streams is not None:  # noqa: SLF001  # presence is looked for every 5 seconds
                    federation.present = await federation._streams.present(node.table.peers)  # noqa: SLF001
                await asyncio.sleep(0.02)
            yield core
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def texts(wording: Wording, size: int) -> Iterator[str]:
    """Return texts of so many bytes without end; each begins elsewhere in the same long one."""
    if wording == "Markdown":
        pages = "".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
        whole = pages.encode("ascii", "replace").decode()
    else:
        whole = "".join(random.Random(0).choices(LETTERS, k=2 * size))  # the same in every run
    whole *= 1 + 2 * size // len(whole)
    for number in itertools.count():
        start = 7_919 * number % (len(whole) - size)
        yield whole[start : start + size]


# A receiver is a process of its own. It tells how many messages it has accepted, and when, until its parent hangs up.


def receive_as_node(node: Node, told: Connection) -> None:
    """Be a node that others send to."""

    async def receive() -> None:
        async with running(node) as core:
            told.send((0, time.monotonic()))
            while True:
                core.arrived.clear()
                await core.arrived.wait()
                told.send((core.accepted, time.monotonic()))

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        asyncio.run(receive())


def receive_bare(url: str, name: str, namespace: str, told: Connection) -> None:
    """Read and acknowledge records, and do nothing else."""

    async def receive() -> None:
        accepted = 0
        async with open_streams(url, name, namespace=namespace) as streams:
            told.send((0, time.monotonic()))
            while True:
                if entries := await streams.read():
                    await streams.acknowledge([entry.entry_id for entry in entries])
                    accepted += len(entries)
                    told.send((accepted, time.monotonic()))

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        asyncio.run(receive())


class Receivers:
    """The processes that receive; a context manager, which ends them."""

    def __init__(self, works: Sequence[tuple[Callable[..., None], tuple[Any, ...]]]) -> None:
        context = multiprocessing.get_context("spawn")
        self.accepted = [0] * len(works)
        self.last = 0.0
        """When the last message was accepted."""
        self._ready = 0
        self._told = asyncio.Event()
        self._pipes: list[Connection] = []
        self._processes = []
        for work, arguments in works:
            ours, theirs = context.Pipe(duplex=False)
            self._processes.append(context.Process(target=work, args=(*arguments, theirs), daemon=True))
            self._pipes.append(ours)

    async def __aenter__(self) -> "Receivers":
        for process in self._processes:
            process.start()
        for place, pipe in enumerate(self._pipes):
            asyncio.get_running_loop().add_reader(pipe.fileno(), self._take, place, pipe)
        return self

    async def __aexit__(self, *_: object) -> None:
        for process, pipe in zip(self._processes, self._pipes, strict=True):
            asyncio.get_running_loop().remove_reader(pipe.fileno())
            process.kill()
            process.join()
            pipe.close()

    def _take(self, place: int, pipe: Connection) -> None:
        count, at = pipe.recv()
        self._ready += count == 0
        self.accepted[place], self.last = count, max(self.last, at)
        self._told.set()

    async def until_ready(self) -> None:
        await self._until(lambda: self._ready == len(self._pipes))

    async def until_accepted(self, count: int) -> float:
        """Wait until so many messages were accepted in all; return when that was."""
        await self._until(lambda: sum(self.accepted) >= count)
        return self.last

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._told.clear()
            await self._told.wait()


class Way:
    """One way to carry messages from the first node to the others, kept open for all runs."""

    def __init__(self, post: Callable[[int], Awaitable[None]], receivers: Receivers) -> None:
        """`post(count)` hands so many messages over, to all receivers in turn."""
        self._post = post
        self._receivers = receivers
        self._posted = 0

    async def ping(self) -> float:
        """Hand a single message over; return the seconds until it is accepted."""
        begun = time.monotonic()
        await self._hand_over(1)
        return await self._receivers.until_accepted(self._posted) - begun

    async def carry(self, messages: int) -> float:
        """Hand so many over; return how many a second were accepted."""
        begun = time.monotonic()
        for start in range(0, messages, BATCH):
            await self._hand_over(min(BATCH, messages - start))
            await self._receivers.until_accepted(self._posted - WAITING)
        return messages / (await self._receivers.until_accepted(self._posted) - begun)

    async def _hand_over(self, count: int) -> None:
        self._posted += count
        await self._post(count)


@contextlib.asynccontextmanager
async def our_way(url: str, nodes: int, size: int, wording: Wording = "Markdown") -> AsyncIterator[Way]:
    """Let the first node send to the others in turn."""
    with tempfile.TemporaryDirectory() as name:
        first, *others = prepared_nodes(url, nodes, Path(name))
        peers = first.table.peers
        numbered = enumerate(texts(wording, size))
        works = [(receive_as_node, (node,)) for node in others]
        async with Receivers(works) as receivers, running(first) as core:
            await receivers.until_ready()

            async def post(count: int) -> None:
                def decide(_now: float) -> list[Effect]:
                    for number, text in itertools.islice(numbered, count):
                        body = Message(message_id=f"m{number}", name="cat", text=text)
                        core.federation.node.post(peers[number % len(peers)], body)
                    return []

                await core.do(decide)

            yield Way(post, receivers)


@contextlib.asynccontextmanager
async def bare_way(url: str, nodes: int, size: int) -> AsyncIterator[Way]:
    """Carry the same records with nothing but the commands of Redis."""
    record = {b"record": os.urandom(size)}  # sealed envelopes do not compress either
    namespace = f"bare{time.time_ns()}"
    names = [f"n{number}" for number in range(1, nodes)]
    turn = itertools.cycle(names)
    works = [(receive_bare, (url, name, namespace)) for name in names]
    async with Receivers(works) as receivers, open_streams(url, "n0", namespace=namespace) as sender:
        await receivers.until_ready()

        async def post(count: int) -> None:
            await sender.exchange((), ((next(turn), record) for _ in range(count)))

        yield Way(post, receivers)


class Compared(msgspec.Struct, frozen=True):
    """One kind of run: messages per second of both, their ratio, and what a hop takes above bare, in milliseconds."""

    nodes: int
    size: int
    wording: Wording
    messages: int
    ours: Sample
    bare: Sample
    ratio: Sample
    hop: Sample


class Pair(NamedTuple):
    """Two runs that followed each other: messages per second, and how many seconds longer a hop of ours took."""

    ours: float
    bare: float
    hop: float


async def compare(server: PrivateRedis, nodes: int, size: int, wording: Wording, repetitions: int) -> Compared:
    """Run pairs, one way after the other."""
    messages = min(BUDGET // size, MAX_MESSAGES)
    pairs = []
    async with our_way(server.url, nodes, size, wording) as ours, bare_way(server.url, nodes, size) as bare:
        for number in range(repetitions + 1):
            progress(f"federation: {nodes} nodes, {size} bytes of {wording}, pair {number} of {repetitions}")
            hops = [await ours.ping() - await bare.ping() for _ in range(PINGS)]
            ways = (ours, bare) if number % 2 else (bare, ours)
            rates = {way: await way.carry(messages) for way in ways}
            pairs.append(Pair(rates[ours], rates[bare], statistics.median(hops)))
    async with Redis.from_url(server.url) as client:
        await client.flushall()
    counted = pairs[1:]
    return Compared(
        nodes, size, wording, messages,
        Sample.of(pair.ours for pair in counted), Sample.of(pair.bare for pair in counted),
        Sample.of(pair.ours / pair.bare for pair in counted),
        Sample.of(pair.hop * 1_000 for pair in counted),
    )  # fmt: skip


async def compare_all(nodes: Sequence[int], sizes: Sequence[int], repetitions: int) -> list[Compared]:
    """Compare every number of nodes with every size, on one Redis server that syncs each entry."""
    # A rewrite of the file would disturb whichever run it falls into.
    with PrivateRedis(None, "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0") as server:
        return [
            await compare(server, count, size, wording, repetitions)
            for count in nodes
            for size in sizes
            for wording in wordings(size)
        ]


def wordings(size: int) -> tuple[Wording, ...]:
    """Return the kinds of text that messages of that size are measured with."""
    return ("Markdown",) if size < MIN_SIZE else ("Markdown", "random letters")


def measure(arguments: argparse.Namespace) -> Report:
    """Compare, and put it into a table."""
    figures = asyncio.run(compare_all(arguments.nodes, arguments.sizes, arguments.repetitions))
    rows = [
        (
            str(one.nodes), f"{one.size:,}", one.wording, f"{one.messages:,}", one.ours.spread(0),
            one.bare.spread(0), one.ratio.spread(2), one.hop.spread(),
        )
        for one in figures
    ]  # fmt: skip
    head = ("nodes", "bytes", "text", "messages", "messages/s", "bare, messages/s", "ratio", "hop above bare, ms")
    return Report("federation", measuring.machine(), figures, (Table("Between machines", head, rows),))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=31)
    parser.add_argument("--nodes", type=int, nargs="+", default=[2], help="(%(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 4096, 262_144], help="bytes (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
