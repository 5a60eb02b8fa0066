"""The second machine of a schedule that restarts the broker: daemon, tmux server and agents; and the broker."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux
from tests.federation import brokers
from tests.federation.conftest import NODES
from tests.federation.homes import Home, join_federation


class FarNode:
    """A machine that no fault hits, and the broker between it and the first machine, which faults do hit."""

    def __init__(self, home: Home, redis: PrivateRedis) -> None:
        self._home = home
        self._redis = redis

    def start(self, name: str) -> str:
        """Start an agent there; return its address."""
        self._home.start(name, "--answer", f"{name} says {{number}}")
        return f"{name}@{self._home.node}"

    def log(self, name: str) -> Path:
        """Return what that agent writes itself."""
        return self._home.folder / name

    async def restart_broker(self, seconds: float) -> None:
        """Kill the broker, and start it after `seconds` with all entries that it had acknowledged."""
        self._redis.kill()
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self._redis.start)


@contextlib.contextmanager
def far_node(directory: Path) -> Iterator[FarNode | None]:
    """Make the daemon of `directory` (its XDG folders) one of two nodes; None where no broker is installed."""
    programs = list(brokers.installed().values())
    if not programs:
        yield None
        return
    own, other = NODES
    with PrivateRedis(programs[0]) as redis, PrivateTmux() as tmux:
        join_federation(own, (other,), directory, redis.url)
        (directory / "far").mkdir()
        home = Home(other, (own,), tmux, directory / "far", redis.url)
        tmux.new_session("keeper", ["sleep", "10000"])
        try:
            home.begin()
            yield FarNode(home, redis)
        finally:
            home.end()
