"""A primary, its replica and a sentinel that lets the replica take over: servers of one broker, each in a process."""

import contextlib
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.waiting import wait_until
from tests.service.conftest import PATIENCE

SERVICE = "relay"
_HOST = "127.0.0.1"
_CONFIGURATION = """\
port {port}
bind {host}
dir {folder}
sentinel monitor {service} {host} {primary} 1
sentinel down-after-milliseconds {service} 1000
sentinel failover-timeout {service} 6000
"""


class GuardedRedis:
    """The servers while they run; `url` names the sentinel."""

    def __init__(self, primary: PrivateRedis, replica: PrivateRedis, sentinel_port: int) -> None:
        self.primary = primary
        self.replica = replica
        self.url = f"redis+sentinel://{_HOST}:{sentinel_port}/{SERVICE}/0"


@contextlib.contextmanager
def guarded_redis(binary: str, folder: Path) -> Iterator[GuardedRedis]:
    """Run a primary, a replica that has caught up, and a sentinel that knows both."""
    primary_port, replica_port, sentinel_port = _free_ports(3)
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(PrivateRedis(binary, "--port", str(primary_port), "--bind", _HOST))
        following = ("--replicaof", _HOST, str(primary_port))
        replica = stack.enter_context(PrivateRedis(binary, "--port", str(replica_port), "--bind", _HOST, *following))
        wait_until(lambda: b"state=online" in _told(primary_port, "INFO replication"), PATIENCE, "the replica")
        configuration = folder / "sentinel.conf"
        configuration.write_text(
            _CONFIGURATION.format(port=sentinel_port, host=_HOST, folder=folder, service=SERVICE, primary=primary_port)
        )
        stack.enter_context(_sentinel(binary, configuration, folder))
        wait_until(lambda: b"slaves=1" in _told(sentinel_port, "INFO sentinel"), PATIENCE, "the sentinel to know both")
        yield GuardedRedis(primary, replica, sentinel_port)


@contextlib.contextmanager
def _sentinel(binary: str, configuration: Path, folder: Path) -> Iterator[None]:
    # redis-check-rdb is the same program, and acts by the name under which it is started.
    server = folder / "redis-server"
    server.symlink_to(shutil.which(binary) or binary)
    with (folder / "sentinel.log").open("wb") as log:
        process = subprocess.Popen(
            [server, configuration, "--sentinel"], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _told(port: int, question: str) -> bytes:
    with contextlib.suppress(OSError), socket.create_connection((_HOST, port), timeout=1.0) as client:
        client.sendall(f"{question}\r\n".encode())
        return client.recv(65_536)
    return b""


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((_HOST, 0))
        return [each.getsockname()[1] for each in sockets]
