"""Whatever fails between two machines, or of them: nothing that is said is lost, nothing comes twice, in order.

What each agent really got is compared with what the other one said, after each kind of failure in mid-conversation.
"""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from streamrelay.errors import RedisLost
from streamrelay.federation import streams
from streamrelay.links.link import Link, LinkPolicy
from streamrelay.service.api import SendMessage
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machine, Machines, until_connected, until_link
from tests.service.conftest import PATIENCE

PROCESS = Path(__file__).with_name("node_process.py")


def heard(machine: Machine, name: str) -> list[str]:
    return [text for text in machine.heard(name) if not text.startswith("[streamrelay]")]


def exchanged(machines: Machines) -> int:
    return len(heard(machines.alpha, "Ann")) + len(heard(machines.beta, "Bob")) - 1


async def until_exchanged(machines: Machines, count: int) -> None:
    await wait_until_async(lambda: exchanged(machines) >= count, PATIENCE, f"{count} deliveries")


def compare(machines: Machines, budget: int) -> None:
    """Each heard all that the other said, in order and once."""
    ann, bob = heard(machines.alpha, "Ann"), heard(machines.beta, "Bob")
    assert ann == [f"[From Bob@beta] answer {number}" for number in range(1, len(ann) + 1)]
    assert bob == ["begin", *(f"[From Ann@alpha] answer {number}" for number in range(1, len(bob)))]
    assert len(ann) + len(bob) - 1 == budget


async def begun(alpha: LocalService, beta: LocalService, budget: int) -> Link:
    """Let the two begin to talk."""
    link = await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=budget))
    await until_link(beta, link.link_id)
    await beta.send_message(SendMessage(to="Bob", text="begin", message_id="m0"))
    return link


@asynccontextmanager
async def conversation(machines: Machines, budget: int) -> AsyncIterator[None]:
    """Disturb what two agents say to each other, and compare what they got."""
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await begun(alpha, beta, budget)
        await until_exchanged(machines, 2)
        yield
        assert exchanged(machines) < budget, "the exchange was over before it was disturbed"
        for service in (alpha, beta):
            assert (await until_link(service, link.link_id, "spent")).deliveries == budget
        await until_exchanged(machines, budget)
    compare(machines, budget)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take Redis for away sooner than usual."""
    monkeypatch.setattr(streams, "READ_SECONDS", 0.5)
    monkeypatch.setattr(streams, "ANSWER_SECONDS", 0.5)


@pytest.mark.requirement("NET-03")
async def test_redis_is_killed_and_comes_back(machines: Machines) -> None:
    async with conversation(machines, budget=8):
        for _ in range(2):
            machines.redis.kill()
            await asyncio.sleep(0.3)
            machines.redis.start()
            await until_exchanged(machines, exchanged(machines) + 1)


@pytest.mark.requirement("NET-03")
async def test_redis_comes_back_with_nothing_of_what_it_had(machines: Machines) -> None:
    async with conversation(machines, budget=8):
        machines.redis.kill()
        machines.redis.forget()
        await asyncio.sleep(0.3)
        machines.redis.start()


@pytest.mark.requirement("NET-03")
@pytest.mark.usefixtures("impatient")
async def test_a_partition_delays_and_loses_nothing(machines: Machines) -> None:
    async with conversation(machines, budget=8):
        for seconds in (0.3, 1.2):
            with machines.redis.stopped():
                await asyncio.sleep(seconds)
            await until_exchanged(machines, exchanged(machines) + 1)


@pytest.mark.requirement("NET-03")
async def test_what_comes_twice_or_out_of_order_is_taken_once(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = streams.Streams.send

    async def send_more(self: streams.Streams, node: str, entries: Iterable[Mapping[bytes, bytes]]) -> None:
        entries = list(entries)
        await send(self, node, [*reversed(entries), *entries, *entries])

    monkeypatch.setattr(streams.Streams, "send", send_more)
    async with conversation(machines, budget=6):
        pass


@pytest.mark.requirement("NET-03")
async def test_what_gets_lost_is_sent_again(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    send, chance = streams.Streams.send, random.Random(0)

    async def send_less(self: streams.Streams, node: str, entries: Iterable[Mapping[bytes, bytes]]) -> None:
        await send(self, node, [entry for entry in entries if chance.random() < 0.8])

    async with conversation(machines, budget=8):
        monkeypatch.setattr("streamrelay.federation.channel.PATIENCE", 0.3)
        monkeypatch.setattr(streams.Streams, "send", send_less)


@pytest.mark.requirement("NET-03")
async def test_a_node_that_is_away_gets_all_when_it_is_back(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    texts = [f"message {number}" for number in range(20)]
    async with machines.alpha.as_node() as alpha:
        await until_connected(alpha)
        for number, text in enumerate(texts[:10]):
            await alpha.send_message(SendMessage(to="Bob@beta", text=text, message_id=f"m{number}"))
        machines.redis.kill()
        for number, text in enumerate(texts[10:], 10):
            await alpha.send_message(SendMessage(to="Bob@beta", text=text, message_id=f"m{number}"))
    machines.redis.start()
    async with machines.services() as (alpha, _):
        await machines.beta.until_heard("Bob", texts[-1])

        async def answered() -> bool:
            return all([(await alpha.get_delivery(f"m{n}"))[0].state == "answered" for n in range(len(texts))])

        await wait_until_async(answered, PATIENCE, "all receipts")
    assert machines.beta.heard("Bob") == texts


@pytest.mark.requirement("NET-03")
async def test_over_a_line_on_which_little_comes_at_a_time_all_comes(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, unfinished = streams.Streams.read, streams.Streams.unfinished

    def in_time(entries: list[streams.StreamEntry]) -> list[streams.StreamEntry]:
        if len(entries) > 2:
            raise RedisLost("the answer takes too long")
        return entries

    async def read_in_time(self: streams.Streams, count: int) -> list[streams.StreamEntry]:
        return in_time(await read(self, count))

    async def unfinished_in_time(self: streams.Streams, count: int) -> AsyncIterator[list[streams.StreamEntry]]:
        async for entries in unfinished(self, count):
            yield in_time(entries)

    machines.beta.start("Bob")
    texts = [f"message {number}" for number in range(12)]
    async with machines.services() as (alpha, _):
        pass
    async with machines.alpha.as_node() as alpha:
        await until_connected(alpha)
        for text in texts:
            await alpha.send_message(SendMessage(to="Bob@beta", text=text))
        monkeypatch.setattr(streams.Streams, "read", read_in_time)
        monkeypatch.setattr(streams.Streams, "unfinished", unfinished_in_time)
        async with machines.beta.as_node():
            await machines.beta.until_heard("Bob", *texts)
    assert machines.beta.heard("Bob") == texts


def running(machine: Machine) -> subprocess.Popen[bytes]:
    """Run a node, for whoever gets it to kill."""
    table = msgspec.json.encode(machine.table()).decode()
    words = [machine.tmux.binary, machine.tmux.socket_path, str(machine.folder / "state"), table]
    with (machine.folder / "errors").open("ab") as errors:
        return subprocess.Popen([sys.executable, str(PROCESS), *words], stderr=errors)


async def nodes_survive(machines: Machines, seed: int, deaths: int, budget: int) -> None:
    """Kill either node, both, or Redis, at random moments of a busy exchange."""
    chance = random.Random(seed)
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await begun(alpha, beta, budget)
    nodes = {machine.node: running(machine) for machine in (machines.alpha, machines.beta)}
    busy = 0
    try:
        for _ in range(deaths):
            await asyncio.sleep(chance.uniform(0.2, 1.6))
            busy += exchanged(machines) < budget
            for node in chance.choice([("alpha",), ("beta",), ("alpha", "beta"), ("redis",)]):
                if node == "redis":
                    machines.redis.kill()
                    machines.redis.start()
                    continue
                assert nodes[node].poll() is None, (getattr(machines, node).folder / "errors").read_text()
                nodes[node].kill()
                nodes[node].wait()
                nodes[node] = running(getattr(machines, node))
    finally:
        for process in nodes.values():
            process.kill()
            process.wait()
    assert busy > deaths // 2, "the exchange was over before it was disturbed"
    async with machines.services() as (alpha, beta):
        for service in (alpha, beta):
            assert (await until_link(service, link.link_id, "spent")).deliveries == budget
        await until_exchanged(machines, budget)
    compare(machines, budget)


@pytest.mark.requirement("NET-03")
@pytest.mark.timeout(300)
async def test_nodes_and_redis_are_killed_in_mid_conversation(machines: Machines) -> None:
    await nodes_survive(machines, 0, deaths=4, budget=14)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 104))
async def test_nodes_and_redis_are_killed_many_times(machines: Machines, seed: int) -> None:
    await nodes_survive(machines, seed, deaths=20, budget=40)
