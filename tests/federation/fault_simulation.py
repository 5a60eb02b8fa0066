"""Nodes that talk over a broker while everything fails, in simulated time; they write histories for the checker.

The nodes are the real pure machines: links, relays, channels, envelopes, keys, admission. What a node commits with a
step (`kept`, and what it types) survives its death, all else is lost, as with the daemon's database. One seed makes one
schedule of words and faults, so a failing seed replays.

    python -m tests.federation.fault_simulation --seed 7 --messages 10000 --faults 100 --write FOLDER
"""

import argparse
import contextlib
import json
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from streamrelay.errors import RedisLost
from streamrelay.events import Event, Text, TurnEnded, TurnStarted
from streamrelay.federation import incoming, outgoing
from streamrelay.federation.admission import Admission
from streamrelay.federation.allowance import Allowance, Limits
from streamrelay.federation.envelope import Envelope, batches, read_body, sealed, written
from streamrelay.federation.keys import VERSION, KeyPair, KeyRing, Refused
from streamrelay.federation.messages import Ack, AnyBody, Body, Seated
from streamrelay.federation.node import COUNTED, Node
from streamrelay.federation.streams import StreamEntry
from streamrelay.links.link import LinkPolicy, Party
from streamrelay.relay.rules import Effect, Participant, Rules
from streamrelay.relay.steps import RelayStep
from streamrelay.service.machine import ServiceMachine
from streamrelay.testing.memory_broker import MemoryBroker
from tests.history_checker import Verdict, check

FAULTS = (
    "kill", "kill_in_step", "broker_down", "broker_wiped", "broker_loses", "node_paused", "clock_off", "copies",
    "forgery", "reload",
)  # fmt: skip
START = 1_700_000_000.0


class DiesHere(Exception):
    """The process of a node is killed at this point."""


class CapturingBroker(MemoryBroker):
    """A broker of which somebody has captured what it held lately."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.captured: defaultdict[str, deque[dict[bytes, bytes]]] = defaultdict(lambda: deque(maxlen=200))

    def add(self, node: str, fields: Mapping[bytes, bytes]) -> None:
        super().add(node, fields)
        self.captured[node].append(dict(fields))


class SimulatedNode:
    """One node: what it keeps on disk, and what it has in memory until it dies."""

    def __init__(
        self, name: str, peers: Sequence[str], keys: KeyRing, parties: Sequence[Party], limits: Limits | None = None
    ) -> None:
        self.name = name
        self.limits = limits or Limits()
        self.taken: Counter[str] = Counter()
        """What it took in from its peers: how many messages, and bytes of all bodies."""
        self.peers = tuple(peers)
        self.keys = keys
        self.parties = {party.session: party for party in parties}
        self.kept: dict[str, bytes] = {}
        self.history: list[dict[str, str]] = []
        self.refused: Counter[str] = Counter()
        self.clock_offset = 0.0
        self.paused_until = 0.0
        self.dies_after: int | None = None
        """How many more commits and sends the node makes before it is killed."""
        self.deaths = 0
        self.begin()

    def begin(self) -> None:
        """Start the process anew with what is kept."""
        life = self.deaths + 1
        self.machine = ServiceMachine.restored(self.kept, life=f"{life:06x}")
        self.node = Node.restored(self.kept, self.name, self.peers, self.machine, lambda _: True, epoch=life)
        self.node.allowances = {peer: Allowance(self.limits) for peer in self.peers}
        self.admission = Admission(self.name, self.keys)
        self.must_claim = True
        for channel in self.node.channels.values():
            channel.send_again()

    def die(self) -> None:
        self.refused.update({refusal.reason: refusal.count for refusal in self.admission.refusals})
        self.dies_after, self.deaths = None, self.deaths + 1
        self.begin()

    def point(self) -> None:
        """Be killed here, where the schedule says so."""
        if self.dies_after is not None:
            self.dies_after -= 1
            if self.dies_after < 0:
                raise DiesHere

    def commit(self, effects: Iterable[Effect], events: Sequence[Event] = (), said: str = "", who: str = "") -> None:
        """Keep a step as a whole: state, what it types, and what was said; or nothing of it."""
        step = RelayStep(events=list(events))
        step.follow(effects)
        outgoing.take(self.node, step)
        changes = self.machine.changes() | self.node.changes()
        self.point()
        for key, value in changes.items():
            self.kept.pop(key, None) if value is None else self.kept.update({key: value})
        if said:
            self.history.append({"event": "said", "channel": channel_of(said), "who": who, "text": said})
        for message in step.outgoing:
            for pane in message.panes:
                self._type(pane, message.message.text)
        self.node.kept()
        self.point()

    def _type(self, pane: str, typed: str) -> None:
        head, _, text = typed.rpartition("|")
        if not head:
            return  # a notice
        listener = next(party.title for party in self.parties.values() if party.pane == pane)
        speaker = head.removeprefix("[From ").partition("]")[0].partition(" (")[0].partition("@")[0]
        record = {"event": "heard", "channel": channel_of(text), "who": listener, "from": speaker, "text": text}
        self.history.append(record)

    def say(self, party: Party, text: str, now: float) -> None:
        """Let a session say something, as a whole turn."""
        events: list[Event] = [
            TurnStarted(pane=party.pane),
            Text(text=f"|{text}", origin="program", pane=party.pane),
            TurnEnded(reason="signal", certain=True, pane=party.pane),
        ]
        effects = [effect for event in events for effect in self.machine.handle(event, now)]
        self.commit(effects, events, said=text, who=party.title)

    # Over the broker

    def write(self, broker: MemoryBroker, now: float, random_bytes: random.Random) -> None:
        """Send what is due, as the daemon's writer does."""
        for peer, channel in self.node.channels.items():
            if channel.overdue(now):
                channel.send_again()
            for batch in batches(self.node.due(peer, [], now)):
                self.point()
                at = START + now + self.clock_offset
                broker.add(peer, sealed(batch, self.keys, at=at, salt=random_bytes.randbytes(16)))

    def read(self, broker: MemoryBroker, now: float) -> None:
        """Take in what came, as the daemon's reader does."""
        entries = broker.claimed(self.name) if self.must_claim else broker.unread(self.name, 64)
        self.must_claim = False
        if entries:
            self._take_in(broker, entries, now)

    def _take_in(self, broker: MemoryBroker, entries: Sequence[StreamEntry], now: float) -> None:
        numbered: list[tuple[Envelope, AnyBody]] = []
        for entry in entries:
            envelopes: tuple[Envelope, ...] = ()
            try:
                envelopes = self.admission.open(entry.entry_id, entry.fields)
            except Refused as error:
                self.admission.count(error)
                broker.bury(self.name, entry, str(error))
            for envelope in envelopes:
                body = read_body(envelope)
                if envelope.number:
                    numbered.append((envelope, body))
                elif isinstance(body, Ack):
                    self.node.acknowledge(envelope.sender, body, now)
        effects: list[Effect] = []
        for envelope, body in numbered:
            if self.node.admit(envelope, body, now) == "new":
                self.taken["messages"] += isinstance(body, COUNTED)
                self.taken["bytes"] += len(envelope.body)
                effects += self._handled(envelope.sender, body, now)
        if numbered:
            # What was acknowledged is kept with a later step, as the daemon does it.
            self.commit(effects)
        self.point()
        broker.acknowledge(self.name, [entry.entry_id for entry in entries])

    def _handled(self, sender: str, body: AnyBody, now: float) -> list[Effect]:
        if isinstance(body, Seated):
            return incoming.seat(self.node, sender, body, self.parties[body.session])
        return incoming.handle(self.node, sender, body, now)


class Simulation:
    """Two to five nodes in a ring of links, with one relay of a session of each."""

    def __init__(self, seed: int, *, nodes: int = 2, limits: Limits | None = None) -> None:
        """`limits` are those of each node for each of its peers, once links and relays are open."""
        self.random = random.Random(seed)
        self.now = 0.0
        self.broker = CapturingBroker(clock=lambda: START + self.now)
        self.down_until = 0.0
        self.faults: Counter[str] = Counter()
        names = [f"node{number}" for number in range(nodes)]
        pairs = {name: KeyPair.read(f"sr-private-{key_text(self.random)}") for name in names}
        self.stranger = KeyRing([KeyPair.read(f"sr-private-{key_text(self.random)}")], public(pairs))
        self.nodes = [
            SimulatedNode(
                name,
                [peer for peer in names if peer != name],
                KeyRing([pairs[name]], {peer: keys for peer, keys in public(pairs).items() if peer != name}),
                [Party(f"s-{kind}-{name}", f"%{place}", f"{kind}-{name}") for place, kind in enumerate(("L", "R"))],
            )
            for name in names
        ]
        self.said: Counter[str] = Counter()
        self._open()
        for node in self.nodes:
            node.limits = limits or Limits()
            node.node.allowances = {peer: Allowance(node.limits) for peer in node.peers}
            node.taken.clear()

    def _open(self) -> None:
        first, second = self.nodes[0], self.nodes[1]
        policy = LinkPolicy(budget=0, acknowledgements=0, hops=0)
        own, other = party(first, "L"), away(second, "L")
        first.commit(first.machine.link(own, other, link_id="link-1", at=0.0, now=0.0, policy=policy)[1])
        members = [party(first, "R"), *(away(node, "R") for node in self.nodes[1:])]
        relay = [Participant(one.session, one.pane, one.title, number) for number, one in enumerate(members, 1)]
        first.commit(first.machine.open_relay("relay-1", relay, Rules(acknowledgements=0, hops=0), 0.0))
        self.settle()
        for node in self.nodes:
            kinds = [("relay-1", "R"), *([("link-1", "L")] if node in self.nodes[:2] else [])]
            for channel, kind in kinds:
                node.history.append({"event": "joined", "channel": channel, "who": party(node, kind).title})

    def run(self, messages: int, faults: int) -> Verdict:
        """Say so many messages from each node, with so many faults among them; return the checker's verdict."""
        steps = ["say"] * (messages * len(self.nodes)) + ["fault"] * faults
        self.random.shuffle(steps)
        for step in steps:
            if step == "say":
                self._say()
            else:
                self._fault()
            if self.random.random() < 0.6:
                self._turn()
            self.now += self.random.expovariate(5.0)
        self.heal()
        return check([node.history for node in self.nodes])

    def heal(self) -> None:
        """End all faults and let everything arrive."""
        self.down_until = 0.0
        for node in self.nodes:
            node.clock_offset, node.paused_until, node.dies_after = 0.0, 0.0, None
        self.settle()

    def settle(self) -> None:
        """Let time pass until nothing waits anywhere."""
        for _ in range(2_000):
            self._turn(everyone=True)
            waiting = sum(channel.waiting for node in self.nodes for channel in node.node.channels.values())
            if not waiting:
                return
            self.now += 0.5
        raise AssertionError(f"{waiting} envelopes still wait after all faults have ended")

    def _say(self) -> None:
        node = min(self.nodes, key=lambda node: (self.said[node.name], self.random.random()))
        kind = self.random.choice("LR") if node in self.nodes[:2] else "R"
        channel = "link-1" if kind == "L" else "relay-1"
        text = f"{channel}/{node.name}/{self.said[node.name]}"
        self.said[node.name] += 1
        with self._mortal(node):
            node.say(party(node, kind), text, self.now)

    def _turn(self, *, everyone: bool = False) -> None:
        self.broker.is_down = self.now < self.down_until
        for node in self.nodes:
            if self.now < node.paused_until or not (everyone or self.random.random() < 0.7):
                continue
            with self._mortal(node), contextlib.suppress(RedisLost):
                node.write(self.broker, self.now, self.random)
                node.read(self.broker, self.now)

    @contextlib.contextmanager
    def _mortal(self, node: SimulatedNode) -> Iterator[None]:
        try:
            yield
        except DiesHere:
            node.die()

    def _fault(self) -> None:
        kind = self.random.choice(FAULTS)
        self.faults[kind] += 1
        node = self.random.choice(self.nodes)
        match kind:
            case "kill" | "reload":
                node.die()
            case "kill_in_step":
                node.dies_after = self.random.randrange(6)
            case "broker_down":
                self.down_until = self.now + self.random.uniform(0.05, 2.0)
            case "broker_wiped":
                self.broker.wipe()
            case "broker_loses":
                self.broker.lose_last(self.random.randrange(1, 40))
            case "node_paused":
                node.paused_until = self.now + self.random.uniform(0.05, 20.0 if self.random.random() < 0.1 else 2.0)
            case "clock_off":
                node.clock_offset = self.random.choice([0.0, 0.0, 3600.0, -3600.0])
            case "copies":
                for fields in list(self.broker.captured[node.name])[:20]:
                    self._add(node, fields)
            case "forgery":
                self._forge(node)

    def _forge(self, node: SimulatedNode) -> None:
        sender = node.peers[0]
        envelope = Envelope(sender=sender, to=node.name, epoch=1, number=1, body=raw(Ack(epoch=1, up_to=1)))
        fields = sealed([envelope], self.stranger, at=START + self.now, salt=self.random.randbytes(16))
        known = next(other for other in self.nodes if other.name == sender).keys.own_fingerprints[0].encode()
        too_large = {b"v": VERSION, b"sealed": b"z" * 10_000_000}
        words = fields[b"head"].split(b" ")
        relabelled = {**fields, b"head": b" ".join([*words[:2], known, *words[3:]])}
        hostile = [fields, relabelled, {b"v": b"9"}, {b"x": b"y"}, too_large]
        self._add(node, self.random.choice(hostile))

    def _add(self, node: SimulatedNode, fields: dict[bytes, bytes]) -> None:
        with contextlib.suppress(RedisLost):
            self.broker.add(node.name, fields)

    @property
    def refused(self) -> Counter[str]:
        """How many entries all nodes have refused, by reason."""
        total: Counter[str] = Counter()
        for node in self.nodes:
            total += node.refused
            total.update({refusal.reason: refusal.count for refusal in node.admission.refusals})
        return total


def party(node: SimulatedNode, kind: str) -> Party:
    return node.parties[f"s-{kind}-{node.name}"]


def away(node: SimulatedNode, kind: str) -> Party:
    own = party(node, kind)
    return Party(f"{own.session}@{node.name}", f"{own.pane}@{node.name}", f"{own.title}@{node.name}")


def channel_of(text: str) -> str:
    return text.partition("/")[0]


def raw(body: Body) -> msgspec.Raw:
    return msgspec.Raw(written(body))


def public(pairs: dict[str, KeyPair]) -> dict[str, list[bytes]]:
    return {name: [pair.public] for name, pair in pairs.items()}


def key_text(source: random.Random) -> str:
    return KeyPair(source.randbytes(32), b"").private_text.removeprefix("sr-private-")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run one schedule of faults and judge it.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--messages", type=int, default=1000, help="from each node")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--write", type=Path, help="a folder for the histories, for `python -m tests.history_checker`")
    asked = parser.parse_args()
    simulation = Simulation(asked.seed, nodes=asked.nodes)
    verdict = simulation.run(asked.messages, asked.faults)
    if asked.write is not None:
        asked.write.mkdir(parents=True, exist_ok=True)
        for node in simulation.nodes:
            lines = (json.dumps(record) + "\n" for record in node.history)
            (asked.write / f"{node.name}.jsonl").write_text("".join(lines), encoding="utf-8")
    print(verdict)
    print("faults:", dict(simulation.faults), "deaths:", sum(node.deaths for node in simulation.nodes))
    print("refused:", dict(simulation.refused))


if __name__ == "__main__":
    main()
