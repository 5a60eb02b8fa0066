"""A private Redis server with its own socket and folder, which ends with the `with` block.

It listens on a unix socket only, and syncs an append-only file before it acknowledges a command. After `kill` and
`start` it therefore has every entry that it acknowledged. With `appendfsync everysec` it would not: Redis delays
its write by up to two seconds while an fsync runs, and a kill in that time loses acknowledged entries.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from streamrelay.errors import UsageError
from streamrelay.testing.tmux import DIRECTORY_PREFIX
from streamrelay.testing.waiting import wait_until

_SERVER = "redis-server"
_START_SECONDS = 20.0
HINT = "scripts/bootstrap installs it where it can; or: apt-get install redis-server (brew install redis)"


class PrivateRedis:
    """A context manager for one private Redis server; `url` is what clients connect to.

    Entering raises UsageError where there is no redis-server.
    """

    def __init__(self, binary: str | None = None, *options: str, within: Sequence[str] = ()) -> None:
        """`options` are options of redis-server, such as `--maxmemory 1mb`.

        `within` is a command that runs the server elsewhere, such as `ip netns exec NAME`.
        """
        self.binary = binary or redis_binary()
        self._options = options
        self._within = tuple(within)
        # A unix socket's path may have some 100 bytes.
        self._temporary = tempfile.TemporaryDirectory(prefix=DIRECTORY_PREFIX, dir="/tmp")  # made anew
        self.directory = Path(self._temporary.name)
        self.socket_path = self.directory / "redis"
        self.url = f"unix://{self.socket_path}?db=0"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._temporary.cleanup()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.kill()
        finally:
            self._temporary.cleanup()

    def start(self) -> None:
        """Start the server with its earlier data; return when it answers."""
        # redis-check-rdb is the same program, and acts by the name under which it is started.
        server = self.directory / _SERVER
        if not server.is_symlink():
            server.symlink_to(shutil.which(self.binary) or self.binary)
        words = [
            *self._within,
            str(server),
            "--port",
            "0",
            "--unixsocket",
            str(self.socket_path),
            "--dir",
            str(self.directory),
        ]
        words += ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no", *self._options]
        log = self.directory / "log"
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        except OSError as error:
            raise UsageError(f"{self.binary} cannot be run: {error.strerror}", hint=HINT) from error
        try:
            wait_until(self._answers, _START_SECONDS, f"redis-server to answer: {log}")
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Kill the server at once, as a crash would."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None
        self.socket_path.unlink(missing_ok=True)

    def forget(self) -> None:
        """Delete all data of the server, which must not be running."""
        for path in sorted(self.directory.rglob("*.aof*")):
            path.unlink()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Keep the server from answering inside the block, with its connections open: a partition."""
        assert self._process is not None  # noqa: S101  # it is entered
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            log = (self.directory / "log").read_text(errors="replace")
            raise UsageError(f"{self.binary} has ended: {log[-500:]}")
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1.0)
            client.connect(str(self.socket_path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
        return False


def redis_binary() -> str:
    """Return the name of the server program; redis-check-rdb is the same program under another name."""
    named = os.environ.get("STREAMRELAY_REDIS")
    return named or next(filter(shutil.which, (_SERVER, "redis-check-rdb")), _SERVER)
