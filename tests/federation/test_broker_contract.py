"""One contract for every broker: Redis, Valkey where it is installed, and the broker in memory."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from streamrelay.errors import RedisLost
from streamrelay.federation.streams import Streams, open_streams
from streamrelay.testing.memory_broker import MemoryBroker, MemoryStreams
from streamrelay.testing.redis import PrivateRedis
from tests.federation import brokers

AnyStreams = Streams | MemoryStreams


class Broker:
    """A broker that nodes can be opened on, and that can be ended and started with what it had."""

    def __init__(self, server: PrivateRedis | None) -> None:
        self._server = server
        self._memory = MemoryBroker()

    @asynccontextmanager
    async def node(self, name: str) -> AsyncIterator[AnyStreams]:
        if self._server is None:
            yield MemoryStreams(self._memory, name)
            return
        async with open_streams(self._server.url, name, namespace="test") as streams:
            yield streams

    def kill(self) -> None:
        self._memory.is_down = True
        if self._server is not None:
            self._server.kill()

    def start(self) -> None:
        self._memory.is_down = False
        if self._server is not None:
            self._server.start()


@pytest.fixture(params=["redis", "valkey", "memory"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    if request.param == "memory":
        yield Broker(None)
        return
    binary = brokers.installed().get(request.param)
    if binary is None:
        pytest.skip(f"there is no {request.param}-server here: STREAMRELAY_{request.param.upper()} names one")
    with PrivateRedis(binary) as server:
        yield Broker(server)


def entries(count: int) -> list[dict[bytes, bytes]]:
    return [{b"sealed": b"%d" % number} for number in range(count)]


async def claimed(streams: AnyStreams) -> list[dict[bytes, bytes]]:
    return [entry.fields async for found in streams.unfinished() for entry in found]


@pytest.mark.requirement("NET-01", "NET-06b")
async def test_entries_come_once_in_order_and_are_claimed_until_they_are_acknowledged(broker: Broker) -> None:
    sent = entries(150)
    async with broker.node("alpha") as alpha, broker.node("beta") as beta:
        assert await claimed(beta) == []
        await alpha.send("beta", sent)
        first, second = await beta.read(64), await beta.read(64)
        assert [entry.fields for entry in first + second] == sent[:128]
        ids = [tuple(map(int, entry.entry_id.split(b"-"))) for entry in first + second]
        assert ids == sorted(set(ids))
        await beta.acknowledge([entry.entry_id for entry in first])
        assert [entry.fields for entry in await beta.read(64)] == sent[128:]
        assert await claimed(beta) == sent[64:]
        await beta.acknowledge([])
        assert await claimed(beta) == sent[64:]
    async with broker.node("beta") as beta:
        assert await claimed(beta) == sent[64:]


@pytest.mark.requirement("NET-06b")
async def test_a_broker_that_is_away_is_an_error_and_keeps_what_it_had(broker: Broker) -> None:
    async with broker.node("alpha") as alpha:
        await alpha.send("beta", entries(3))
        broker.kill()
        with pytest.raises(RedisLost):
            await alpha.send("beta", entries(1))
        with pytest.raises(RedisLost):
            await alpha.present(["beta"])
    broker.start()
    async with broker.node("beta") as beta:
        assert [entry.fields for entry in await beta.read()] == entries(3)


@pytest.mark.requirement("NET-04a", "NET-06b")
async def test_a_name_belongs_to_one_service_until_that_leaves(broker: Broker) -> None:
    async with broker.node("alpha") as alpha, broker.node("beta") as beta:
        assert await alpha.present(["alpha", "beta"]) == set()
        assert await beta.be_there("one")
        assert await beta.be_there("one")
        assert not await beta.be_there("two")
        assert await alpha.present(["alpha", "beta"]) == {"beta"}
        await beta.leave("two")
        assert await alpha.present(["beta"]) == {"beta"}
        await beta.leave("one")
        assert await beta.be_there("two")


@pytest.mark.requirement("NET-06b")
async def test_what_is_put_aside_does_not_come_again(broker: Broker) -> None:
    async with broker.node("alpha") as alpha, broker.node("beta") as beta:
        await alpha.send("beta", [{b"x": b"y" * 10_000}, *entries(1)])
        bad, good = await beta.read()
        await beta.bury(bad, "malformed")
        await beta.acknowledge([bad.entry_id, good.entry_id])
        assert await claimed(beta) == []
        await alpha.send("beta", entries(2))
        assert [entry.fields for entry in await beta.read()] == entries(2)
