"""Starts a daemon in the background: in its own session, with its log in a file, and without a terminal."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import running_pid
from streamrelay.errors import DaemonLost, StreamrelayError
from streamrelay.service.persistence import PANES

STARTING = 30.0
"""Seconds until a daemon that has nothing to read must answer."""
READ_RATE = 400_000
"""Bytes of pane logs that a starting daemon reads in a second, at least. On an idle machine it reads 3.5 million."""
MAX_LOG_SIZE = 10 * 2**20
"""Bytes; a longer log is renamed, and a new one begun. One old log is kept."""
_LOOK_AGAIN = 0.02
_ERROR, _HINT = "error: ", "hint: "


async def start(address: DaemonAddress, command: Sequence[str]) -> int:
    """Start the daemon with a command that serves in the foreground; return its process id when it answers.

    Raise the error with which the command ended, or DaemonLost if it neither ends nor answers. It has the longer for
    that, the more logs of panes it reads first.
    """
    with _log(address.log) as log:
        begin = log.tell()
        pid = _spawn(command, log.fileno())
    until = asyncio.get_running_loop().time() + starting_time(address)
    async with DaemonClient(address.socket, timeout=STARTING) as client:
        while not await client.is_healthy():
            if os.waitpid(pid, os.WNOHANG) != (0, 0):  # noqa: ASYNC222  # it does not block
                raise _said(address.log, begin)
            if asyncio.get_running_loop().time() > until:
                os.kill(pid, signal.SIGTERM)
                raise DaemonLost(f"the daemon does not answer; its log is {address.log}")
            await asyncio.sleep(_LOOK_AGAIN)
    return pid


async def revive(address: DaemonAddress, command: Sequence[str]) -> None:
    """Return when a daemon answers: the running one, or a new one, started when the lock is free. Raises as `start`.

    A daemon that ends or is killed stops listening a moment before it releases its lock. In that moment no daemon
    answers, and none can start.
    """
    until = asyncio.get_running_loop().time() + starting_time(address)
    async with DaemonClient(address.socket, timeout=STARTING) as client:
        while not await client.is_healthy():
            if running_pid(address) is None:
                try:
                    await start(address, command)
                except DaemonLost:
                    # Several clients notice at once that no daemon runs; one of them starts it first.
                    if running_pid(address) is None:
                        raise
            elif asyncio.get_running_loop().time() > until:
                raise DaemonLost(f"the daemon does not answer; its log is {address.log}")
            await asyncio.sleep(_LOOK_AGAIN)


def starting_time(address: DaemonAddress) -> float:
    """Return the seconds that the daemon may need until it answers, by the size of the logs that it reads first."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        for path in (address.state / PANES).iterdir():
            # A daemon that is starting already deletes old ones.
            with contextlib.suppress(FileNotFoundError):
                size += path.stat().st_size
    return STARTING + size / READ_RATE


def _spawn(command: Sequence[str], log: int) -> int:
    """Start a process that outlives this one; this process does not wait for its end."""
    devices = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    actions = [*devices, (os.POSIX_SPAWN_DUP2, log, 2)]
    return os.posix_spawn(command[0], list(command), os.environ, file_actions=actions, setsid=True)


def _log(path: Path) -> BinaryIO:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > MAX_LOG_SIZE:
            path.replace(path.with_name(f"{path.name}.1"))
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
    except OSError as error:
        raise StreamrelayError(f"cannot write {path}: {error.strerror}") from error
    file.seek(0, os.SEEK_END)
    return file


def _said(path: Path, begin: int) -> StreamrelayError:
    lines = path.read_bytes()[begin:].decode(errors="replace").splitlines()
    words = next((line.removeprefix(_ERROR) for line in reversed(lines) if line.startswith(_ERROR)), "")
    hint = next((line.removeprefix(_HINT) for line in reversed(lines) if line.startswith(_HINT)), "")
    return DaemonLost(f"the daemon did not start: {words or f'see {path}'}", hint=hint)
