"""Faults of real machines and the broker between them; a seed makes the schedule.

| fault | what is done |
|---|---|
| `broker_killed` | the broker gets `kill -9`, and is started again with what it had synced |
| `broker_wiped` | the same, and it has lost everything |
| `broker_paused` | the broker stands still while its connections stay open |
| `daemon_killed` | one daemon, or all, get `kill -9`, and are started again |
| `daemon_frozen` | one daemon stands still, as on a suspended machine |
| `cut` | nothing passes between one machine and the broker (needs Linux and root) |
| `slow_line` | a line to the broker delays and loses packets (needs netem or tbf as well) |
| `clock_moved` | one machine's clock is an hour off for a while (needs libfaketime) |
"""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamrelay.testing.redis import PrivateRedis
from tests.federation import network
from tests.federation.conftest import NODES
from tests.federation.homes import Home, daemons

HOUR = 3600
LONG, SHARE_OF_LONG = (7.5, 10.0), 0.08
"""Seconds of a fault that outlasts the timeout of a connection, and how many do."""
SHORT = (0.1, 2.5)


class RealFaults:
    """Strikes machines, one fault at a time, and counts what it did."""

    def __init__(
        self, homes: Sequence[Home], redis: PrivateRedis, between: network.Network | None, chance: random.Random
    ) -> None:
        self._homes = homes
        self._redis = redis
        self._between = between
        self._chance = chance
        self.counts: Counter[str] = Counter()
        self.kinds = ["broker_killed", "broker_wiped", "broker_paused", "daemon_killed", "daemon_frozen"]
        if between is not None:
            self.kinds.append("cut")
            if network.can_be_slow():
                self.kinds.append("slow_line")
        if all(home.clock is not None for home in homes):
            self.kinds.append("clock_moved")

    async def strike(self, kind: str = "") -> str:
        """Cause one fault, of any kind unless one is named, and end it; return its kind."""
        kind = kind or self._chance.choice(self.kinds)
        seconds = self._chance.uniform(*(LONG if self._chance.random() < SHARE_OF_LONG else SHORT))
        home = self._chance.choice(self._homes)
        self.counts[kind] += 1
        match kind:
            case "broker_killed" | "broker_wiped":
                self._redis.kill()
                if kind == "broker_wiped":
                    self._redis.forget()
                await asyncio.sleep(seconds / 4)
                await asyncio.to_thread(self._redis.start)
            case "broker_paused":
                with self._redis.stopped():
                    await asyncio.sleep(seconds)
            case "daemon_killed":
                homes = self._homes if self._chance.random() < 0.3 else (home,)
                await asyncio.gather(*(asyncio.to_thread(one.kill) for one in homes))
                await asyncio.gather(*(asyncio.to_thread(one.begin) for one in homes))
            case "daemon_frozen":
                home.freeze()
                await asyncio.sleep(seconds)
                home.thaw()
            case "cut":
                assert self._between is not None
                with self._between.cut(home.node):
                    await asyncio.sleep(seconds)
            case "slow_line":
                assert self._between is not None
                with self._between.slow(home.node):
                    await asyncio.sleep(3 * seconds)
            case "clock_moved":
                assert home.clock is not None
                home.clock.move(self._chance.choice([HOUR, -HOUR]))
                await asyncio.sleep(seconds)
                home.clock.move(0)
            case _:
                raise AssertionError(f"unknown fault: {kind}")
        return kind


@contextlib.contextmanager
def failing_machines(folder: Path, seed: int, nodes: Sequence[str] = NODES) -> Iterator[tuple[list[Home], RealFaults]]:
    """Run daemons and a broker, in namespaces of their own where the machine allows, and what makes them fail."""
    with contextlib.ExitStack() as stack:
        between = stack.enter_context(network.Network(*nodes)) if network.is_possible() else None
        options, within = ((), ()) if between is None else (between.options, between.at_broker)
        redis = stack.enter_context(PrivateRedis(None, *options, within=within))
        homes = stack.enter_context(daemons(folder, redis, between, nodes=nodes, have_own_clocks=True))
        yield homes, RealFaults(homes, redis, between, random.Random(seed))
