"""A Redis Cluster on this machine: three masters with a replica each, servers of one broker on free ports."""

import contextlib
import random
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.waiting import wait_until
from tests.service.conftest import PATIENCE

HOST = "127.0.0.1"
MASTERS = 3
SLOTS = 16_384
BUS = 10_000
"""How far the port of a server is from that on which the servers of a cluster talk to each other."""
NODE_TIMEOUT = 1_000
"""Milliseconds after which a server that does not answer counts as dead."""


class Cluster:
    """The servers while they run, by port."""

    def __init__(self, servers: Mapping[int, PrivateRedis]) -> None:
        self.servers = servers
        self.ports = tuple(servers)
        self.url = "redis+cluster://" + ",".join(f"{HOST}:{port}" for port in self.ports)

    def master_of(self, key: str) -> int:
        """Return the port of the master that has a key, as a living server knows it; 0 while none has it."""
        for port in self.ports:
            with contextlib.suppress(RedisError, OSError):
                slot = _asked(port, "CLUSTER", "KEYSLOT", key)
                for first, last, master, *_ in _asked(port, "CLUSTER", "SLOTS"):
                    if first <= slot <= last:
                        return int(master[1])
        return 0

    def is_replicated(self, port: int) -> bool:
        """Return whether the replica of a master has acknowledged all that the master has.

        A replica whose first copy has just ended counts as connected, and gets no write yet (state `send_bulk`).
        """
        said = _asked(port, "INFO", "replication")
        replica = said.get("slave0", {})
        return replica.get("state") == "online" and replica["offset"] == said["master_repl_offset"]


@contextlib.contextmanager
def cluster(binary: str) -> Iterator[Cluster]:
    """Run three masters, which share the slots, and a replica of each."""
    with contextlib.ExitStack() as stack:
        servers: dict[int, PrivateRedis] = {}
        for port in _free_ports(2 * MASTERS):
            options = ("--port", str(port), "--bind", HOST, "--cluster-enabled", "yes")
            options += ("--cluster-node-timeout", str(NODE_TIMEOUT))
            servers[port] = stack.enter_context(PrivateRedis(binary, *options))
        masters, replicas = list(servers)[:MASTERS], list(servers)[MASTERS:]
        for number, port in enumerate(masters):
            _asked(port, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            first, behind = (SLOTS * place // MASTERS for place in (number, number + 1))
            _asked(port, "CLUSTER", "ADDSLOTS", *range(first, behind))
        for port in list(servers)[1:]:
            _asked(port, "CLUSTER", "MEET", HOST, masters[0])
        wait_until(
            lambda: all(b"cluster_known_nodes:6" in _asked(port, "CLUSTER", "INFO") for port in servers), PATIENCE
        )
        for replica, master in zip(replicas, masters, strict=True):
            _asked(replica, "CLUSTER", "REPLICATE", _asked(master, "CLUSTER", "MYID"))
        for port in servers:
            wait_until(lambda port=port: b"cluster_state:ok" in _asked(port, "CLUSTER", "INFO"), PATIENCE)
        for port in replicas:
            wait_until(lambda port=port: _asked(port, "INFO", "replication")["master_link_status"] == "up", PATIENCE)
        made = Cluster(servers)
        for port in masters:
            wait_until(lambda port=port: made.is_replicated(port), PATIENCE)
        yield made


def _asked(port: int, *words: Any) -> Any:
    with Redis(host=HOST, port=port, socket_timeout=2.0) as client:
        return client.execute_command(*words)


def _free_ports(count: int) -> list[int]:
    """Return ports that are free with those of their buses, below those that the system gives to others."""
    free: list[int] = []
    candidates = random.sample(range(10_000, 22_000), 200)
    for port in candidates:
        with contextlib.suppress(OSError), socket.socket() as one, socket.socket() as other:
            one.bind((HOST, port))
            other.bind((HOST, port + BUS))
            free.append(port)
        if len(free) == count:
            return free
    raise AssertionError("there are no free ports")
