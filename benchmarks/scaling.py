"""How links between machines grow to 10,000 nodes: the real pure machines, and the requests that they make of a broker.

One node is built with 10 to 10,000 peers, from the parts that a daemon runs: service, channels, envelopes, keys. What
grows with the number of peers is timed: a start, a pass of the writer over all peers, and the look for who is there. A
relay of 100 sessions on 20 nodes is opened, and what one output costs its home is counted.

The broker's share is measured on a private Redis: keys of one MGET, and entries of 64 messages. Redis works in one
thread, so what it carries at most is what it does in a second of CPU, as it counts that itself (`INFO cpu`). The time
on the clock says less: the client needs ten times as long to read an answer, and other programs take the CPU. How many
entries it syncs depends on the disk; each run is paired with plain writes and syncs of the same bytes.

    python -m benchmarks.scaling                            # print the figures
    streamrelay bench scaling --output FOLDER               # and draw scaling.svg
"""

import argparse
import math
import os
import secrets
import statistics
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from redis import Redis

from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress
from benchmarks.plotting import Panel, bars
from streamrelay.events import Event, Text, TurnEnded, TurnStarted
from streamrelay.federation import outgoing
from streamrelay.federation.envelope import batches, sealed
from streamrelay.federation.keys import KeyPair, KeyRing
from streamrelay.federation.node import Node
from streamrelay.federation.streams import TTL
from streamrelay.relay.rules import Effect, Participant, Rules
from streamrelay.relay.steps import RelayStep
from streamrelay.service.machine import ServiceMachine
from streamrelay.testing.redis import PrivateRedis

SIZES = (10, 100, 1_000, 10_000)
"""Nodes of one federation."""
MEMBERS, MACHINES = 100, 20
"""Sessions of the relay, and nodes that they are on."""
LOOK_EVERY = TTL / 3
"""Seconds between two looks of a node for who is there."""
SHARDS = (2, 8, 32)
REPEATS = 5
PAIRS = 9
LOOKS, ENTRIES = 20, 100
"""Requests of one run."""
PIXELS_PER_DECADE = 45


class NodeCost(NamedTuple):
    """What one node costs that has so many peers."""

    nodes: int
    start: float
    """CPU seconds to begin with what was kept."""
    memory: float
    """Kilobytes that it holds."""
    write: float
    """CPU seconds of one pass of the writer while nothing waits."""
    presence: float
    """Keys that all nodes together ask the broker for, a second."""


class FanOut(NamedTuple):
    """What one output costs the home of the relay."""

    seconds: float
    envelopes: int
    size: int
    """Bytes of all entries, sealed."""


class BrokerRates(NamedTuple):
    """What the broker does: keys and entries in a second of its CPU, and entries in a second with a sync each."""

    keys: Sample
    entries: Sample
    synced_entries: Sample
    of_disk: Sample
    """Entries that are synced, by what the disk itself takes of the same size."""


def median(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the median seconds of some repetitions: of this process' CPU, or by another clock."""
    times = []
    for _ in range(REPEATS):
        began = clock()
        work()
        times.append(clock() - began)
    return statistics.median(times)


def take(node: Node, machine: ServiceMachine, effects: Sequence[Effect], events: Sequence[Event] = ()) -> None:
    """Carry a step as the service does, up to what would be kept."""
    step = RelayStep(events=list(events))
    step.follow(effects)
    outgoing.take(node, step)
    machine.changes()
    node.changes()
    node.kept()


def node_cost(nodes: int) -> NodeCost:
    """Build a node with all others as peers, and time what grows with them."""
    peers = [f"n{number}" for number in range(1, nodes)]

    def begin() -> Node:
        return Node.restored({}, "n0", peers, ServiceMachine(), lambda _: True, epoch=1)

    start = median(begin)
    tracemalloc.start()
    node = begin()
    memory = tracemalloc.get_traced_memory()[0] / 1_000
    tracemalloc.stop()

    def write() -> None:
        for peer, channel in node.channels.items():
            channel.overdue(0.0)
            list(batches(node.due(peer, [], 0.0)))

    return NodeCost(nodes, start, memory, median(write), nodes * (nodes - 1) / LOOK_EVERY)


def fan_out(length: int) -> FanOut:
    """Open the relay and let a session of its home say so many characters."""
    peers = [f"n{number}" for number in range(1, MACHINES)]
    pairs = {name: KeyPair.generate() for name in ("n0", *peers)}
    keys = KeyRing([pairs["n0"]], {peer: [pairs[peer].public] for peer in peers})
    machine = ServiceMachine()
    node = Node.restored({}, "n0", peers, machine, lambda _: True, epoch=1)
    members = []
    for number in range(MEMBERS):
        own, place = divmod(number, MACHINES)
        at = "" if place == 0 else f"@n{place}"
        members.append(Participant(f"s{own}-{place}{at}", f"%{own}{at}", f"Session {own}-{place}{at}", number + 1))
    take(node, machine, machine.open_relay("relay-1", members, Rules(acknowledgements=0, hops=0), 0.0))
    for peer in peers:
        node.due(peer, [], 0.0)
    times, envelopes, size = [], 0, 0
    for turn in range(REPEATS):
        events: list[Event] = [
            TurnStarted(pane="%0"),
            Text(text=f"{turn} {'x' * length}", origin="program", pane="%0"),
            TurnEnded(reason="signal", certain=True, pane="%0"),
        ]
        began = time.process_time()
        take(node, machine, [effect for event in events for effect in machine.handle(event, 0.0)], events)
        batched = [batch for peer in peers for batch in batches(node.due(peer, [], 0.0))]
        entries = [sealed(batch, keys, at=0.0, salt=secrets.token_bytes(16)) for batch in batched]
        times.append(time.process_time() - began)
        envelopes = sum(map(len, batched))
        size = sum(len(value) for entry in entries for value in entry.values())
    return FanOut(statistics.median(times), envelopes, size)


def largest_share(shards: int) -> float:
    """Return how many inboxes of the largest federation the fullest of so many brokers has, by the mean.

    An inbox lies on the broker that the hash of its node's name chooses.
    """
    counts = Counter(zlib.crc32(f"n{number}".encode()) % shards for number in range(SIZES[-1]))
    return max(counts.values()) * shards / SIZES[-1]


def broker_rates() -> BrokerRates:
    """Measure the requests that nodes make, on a private server."""
    names = [f"streamrelay:node:n{number}" for number in range(SIZES[-1])]
    entry = {b"sealed": secrets.token_bytes(64 * 400)}
    with PrivateRedis(None, "--auto-aof-rewrite-percentage", "0") as server, Redis.from_url(server.url) as redis:

        def cpu() -> float:
            spent = redis.info("cpu")
            return float(spent["used_cpu_user"] + spent["used_cpu_sys"])

        def rate(count: int, work: Callable[[], object], clock: Callable[[], float]) -> float:
            began = clock()
            work()
            return count / (clock() - began)

        def look() -> None:
            for _ in range(LOOKS):
                redis.mget(names)

        def add() -> None:
            for _ in range(ENTRIES):
                redis.xadd("streamrelay:inbox:n0", entry, maxlen=1_000)

        def write() -> None:
            with (server.directory / "plain").open("ab", buffering=0) as file:
                for _ in range(ENTRIES):
                    file.write(entry[b"sealed"])
                    os.fdatasync(file.fileno())

        redis.mset(dict.fromkeys(names, b"1"))
        keys = [rate(LOOKS * len(names), look, cpu) for _ in range(PAIRS)]
        pairs = [(rate(ENTRIES, add, time.perf_counter), rate(ENTRIES, write, time.perf_counter)) for _ in range(PAIRS)]
        redis.config_set("appendfsync", "no")
        entries = [rate(ENTRIES, add, cpu) for _ in range(PAIRS)]
        synced, of_disk = [one for one, _ in pairs], [one / plain for one, plain in pairs]
        return BrokerRates(*map(Sample.of, (keys, entries, synced, of_disk)))


def plot(costs: Sequence[NodeCost]) -> str:
    """Draw how the cost of a node grows, on a logarithmic scale."""

    def width(value: float) -> float:
        return max(0.0, PIXELS_PER_DECADE * (math.log10(max(value, 1e-9)) + 3))

    panels = [
        Panel("start, ms", [[cost.start * 1_000] for cost in costs], width, digits=2),
        Panel("idle pass of the writer, ms", [[cost.write * 1_000] for cost in costs], width, digits=2),
        Panel("memory, MB", [[cost.memory / 1_000] for cost in costs], width, digits=2),
        Panel("presence, 1,000 keys/s at the broker", [[cost.presence / 1_000] for cost in costs], width, digits=2),
    ]
    names = [f"{cost.nodes:,} nodes" for cost in costs]
    return bars(names, [("one node of so many (logarithmic scale)", "#4477aa")], panels, labels=110, span=340)


def measure(arguments: argparse.Namespace) -> Report:
    """Cost nodes among more and more others, the fan-out of a relay, and the broker's part."""
    costs = []
    for size in arguments.nodes:
        progress(f"scaling: a node among {size:,}")
        costs.append(node_cost(size))
    outputs = {length: fan_out(length) for length in (100, 4_000)}
    shares = {shards: largest_share(shards) for shards in SHARDS}
    progress("scaling: the broker")
    rates = broker_rates()
    nodes = Table(
        "A node, and the presence of all",
        ("nodes", "start, ms", "memory, MB", "idle pass of the writer, ms", "presence, keys/s"),
        [
            (
                f"{one.nodes:,}", f"{one.start * 1e3:.2f}", f"{one.memory / 1e3:.2f}", f"{one.write * 1e3:.2f}",
                f"{one.presence:,.0f}",
            )
            for one in costs
        ],
    )  # fmt: skip
    relay = Table(
        f"One output in a relay of {MEMBERS} sessions on {MACHINES} nodes",
        ("characters", "CPU of its home, ms", "envelopes", "bytes"),
        [
            (f"{length:,}", f"{one.seconds * 1e3:.2f}", str(one.envelopes), f"{one.size:,}")
            for length, one in outputs.items()
        ],
    )
    brokers = Table(
        "Several brokers: the fullest by the mean",
        ("brokers", "share"),
        [(str(shards), f"{share:.2f}") for shards, share in shares.items()],
    )
    broker = Table(
        "What one broker carries",
        ("keys/s of CPU", "entries of 25 KB/s of CPU", "entries/s with a sync each", "of what the disk takes"),
        [(rates.keys.spread(0), rates.entries.spread(0), rates.synced_entries.spread(0), rates.of_disk.spread(2))],
    )
    figures = {"nodes": costs, "fan_out": outputs, "shares": shares, "broker": rates}
    plots = {"scaling.svg": plot(costs)}
    return Report("scaling", measuring.machine(), figures, (nodes, relay, brokers, broker), plots)


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=list(SIZES), help="(%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
