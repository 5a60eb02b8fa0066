"""Two machines: each a private tmux server with scripted agents and a service, and one Redis between them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from streamrelay.config.settings import FederationTable
from streamrelay.federation.keys import KeyPair, KeyRing
from streamrelay.links.link import Link
from streamrelay.service.local import LocalService
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.federation import brokers
from tests.service.conftest import PATIENCE, Stage

NODES = ("alpha", "beta")
MORE_NODES = (*NODES, "gamma", "delta", "epsilon")
KEYS = {node: KeyPair.generate() for node in MORE_NODES}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs a broker over the first one that is installed, and with --whole over each of them."""
    names = list(brokers.installed())
    if "private_redis" in metafunc.fixturenames and names:
        chosen = names if metafunc.config.option.whole else names[:1]
        metafunc.parametrize("private_redis", chosen, indirect=True)


@pytest.fixture
def private_redis(request: pytest.FixtureRequest) -> Iterator[PrivateRedis]:
    """A private server of one of the brokers."""
    with PrivateRedis(brokers.installed().get(getattr(request, "param", ""))) as server:
        yield server


def peer_keys(*nodes: str) -> tuple[str, ...]:
    return tuple(f"{node} {KEYS[node].public_text}" for node in nodes)


def ring(node: str) -> KeyRing:
    """The keys of one node, which knows those of all others."""
    return KeyRing([KEYS[node]], {peer: [pair.public] for peer, pair in KEYS.items() if peer != node})


class Machine(Stage):
    """A machine of its own: `service` runs as the node of that name."""

    def __init__(self, node: str, tmux: PrivateTmux, folder: Path, url: str) -> None:
        super().__init__(tmux, folder)
        self.node = node
        self.url = url
        self.key_file = folder / "key"
        self.key_file.write_text(KEYS[node].private_text)
        self.key_file.chmod(0o600)

    def table(self, **said: Any) -> FederationTable:
        values = {
            "node": self.node,
            "peers": tuple(node for node in NODES if node != self.node),
            "redis_url": self.url,
            "key_file": str(self.key_file),
            "peer_keys": peer_keys(*KEYS),
        }
        return FederationTable(**values | said)

    @asynccontextmanager
    async def as_node(self, **said: Any) -> AsyncIterator[LocalService]:
        async with self.service(federation=self.table(**said)) as service:
            yield service


class Machines:
    """Both of them."""

    def __init__(self, alpha: Machine, beta: Machine, redis: PrivateRedis) -> None:
        self.alpha = alpha
        self.beta = beta
        self.redis = redis

    @asynccontextmanager
    async def services(self) -> AsyncIterator[tuple[LocalService, LocalService]]:
        """Both services, when they know of each other."""
        async with self.alpha.as_node() as alpha, self.beta.as_node() as beta:
            await until_connected(alpha)
            await until_connected(beta)
            yield alpha, beta


async def until_connected(service: LocalService) -> None:
    async def well() -> bool:
        return not any(problem.startswith("federation:") for problem in (await service.status()).problems)

    await wait_until_async(well, PATIENCE, "Redis to be reached")


async def until_link(service: LocalService, link_id: str, *states: str) -> Link:
    """Return a link when it is in one of these states there."""

    async def found() -> list[Link]:
        return [
            link for link in await service.links() if link.link_id == link_id and link.state in (states or ("open",))
        ]

    return (await wait_until_async(found, PATIENCE, f"{link_id} to be {states}"))[0]


async def until_no_link(service: LocalService) -> None:
    async def none() -> bool:
        return not await service.links()

    await wait_until_async(none, PATIENCE, "no link to be left")


@pytest.fixture
def machines(private_redis: PrivateRedis, private_tmux: PrivateTmux, tmp_path: Path) -> Iterator[Machines]:
    with PrivateTmux() as other_tmux:
        made = []
        for node, tmux in zip(NODES, (private_tmux, other_tmux), strict=True):
            folder = tmp_path / node
            folder.mkdir()
            tmux.new_session("keeper", ["sleep", "1000"])
            made.append(Machine(node, tmux, folder, private_redis.url))
        yield Machines(*made, private_redis)
