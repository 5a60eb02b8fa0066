"""How links between machines grow to 10,000 nodes: the real pure machines, and the requests that they make of a broker.

One node is built with 10 to 10,000 peers, from the parts that a daemon runs: service, channels, envelopes, keys. What
grows with the number of peers is timed: a start, a pass of the writer over all peers, and the look for who is there. A
relay of 100 sessions on 20 nodes is opened, and what one output costs its home is counted. The broker's share is timed
on a private Redis: keys of one MGET, and entries of 64 messages with and without a sync of its file.

    python -m benchmarks.scaling                # print the figures
    python -m benchmarks.scaling docs/pictures  # and draw scaling.svg there
"""

import argparse
import math
import secrets
import statistics
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from redis import Redis

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
    """What the broker does in a second."""

    keys: float
    entries: float
    synced_entries: float


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
    """Time the requests that nodes make, on a private server."""
    names = [f"streamrelay:node:n{number}" for number in range(10_000)]
    entry = {b"sealed": b"x" * 64 * 400}
    with PrivateRedis() as server, Redis.from_url(server.url) as redis:

        def add() -> None:
            for _ in range(200):
                redis.xadd("streamrelay:inbox:n0", entry, maxlen=1_000)

        redis.mset(dict.fromkeys(names, b"1"))
        keys = len(names) / median(lambda: redis.mget(names), time.perf_counter)
        synced = 200 / median(add, time.perf_counter)
        redis.config_set("appendfsync", "no")
        return BrokerRates(keys, 200 / median(add, time.perf_counter), synced)


def picture(costs: Sequence[NodeCost]) -> str:
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


def main() -> None:
    """Print the figures, and draw them where asked."""
    parser = argparse.ArgumentParser(description="Simulate how links between machines grow.")
    parser.add_argument("folder", nargs="?", type=Path, help="where scaling.svg goes")
    asked = parser.parse_args()
    costs = [node_cost(size) for size in SIZES]
    print("| nodes | start | memory | idle pass of the writer | presence, all nodes |\n|---|---|---|---|---|")
    for cost in costs:
        print(
            f"| {cost.nodes:,} | {cost.start * 1e3:,.2f} ms | {cost.memory / 1e3:,.2f} MB | {cost.write * 1e3:,.2f} ms "
            f"| {cost.presence:,.0f} keys/s |"
        )
    print(f"\n{MEMBERS} sessions on {MACHINES} nodes, one output:")
    for length in (100, 4_000):
        cost = fan_out(length)
        print(f"  {length:,} characters: {cost.seconds * 1e3:.2f} ms, {cost.envelopes} envelopes, {cost.size:,} bytes")
    shares = ", ".join(f"{shards} brokers {largest_share(shards):.2f}" for shards in SHARDS)
    print(f"\nfullest of several brokers, by the mean: {shares}")
    rates = broker_rates()
    print(f"broker: {rates.keys:,.0f} keys/s of one MGET", end=", ")
    print(f"{rates.entries:,.0f} entries/s of 25 KB, {rates.synced_entries:,.0f} with a sync each")
    if asked.folder is not None:
        (asked.folder / "scaling.svg").write_text(picture(costs), encoding="utf-8")


if __name__ == "__main__":
    main()
