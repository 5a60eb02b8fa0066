"""Starts a daemon in the background: in its own session, with its log in a file, and without a terminal."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import running_pid
from streamrelay.daemon.openapi import Health
from streamrelay.errors import DaemonLost, DaemonRunning, StreamrelayError, error_with_code, error_with_exit_code
from streamrelay.service.persistence import PANES

STARTING = 30.0
"""Seconds until a daemon that has nothing to read must be ready."""
READ_RATE = 400_000
"""Bytes of pane logs that a starting daemon reads in a second, at least. On an idle machine it reads 3.5 million."""
MAX_LOG_SIZE = 10 * 2**20
"""Bytes; a longer log is renamed, and a new one begun. One old log is kept."""
_LOOK_AGAIN = 0.05
_ERROR, _HINT = "error: ", "hint: "
"""What a command prints before its error and before the hint."""


Report = Callable[[Health], object]
"""Takes what a daemon that starts says of itself, again and again."""


async def start(address: DaemonAddress, command: Sequence[str], report: Report = lambda _: None) -> int:
    """Start the daemon with a command that serves in the foreground; return its process id when it answers all calls.

    Raise the error with which the command ended, with its code, data and hint, or DaemonLost if it neither ends nor
    becomes ready. It has the longer for that, the more logs of panes it reads first.
    """
    with _log(address.log) as log:
        begin = log.tell()
        pid = _spawn(command, log.fileno())
    until = asyncio.get_running_loop().time() + starting_time(address)
    async with DaemonClient(address.socket, timeout=STARTING) as client:
        while not await _is_ready(client, report):
            ended, status = os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222  # it does not block
            if ended:
                raise _reported(address.log, begin, os.waitstatus_to_exitcode(status))
            if asyncio.get_running_loop().time() > until:
                os.kill(pid, signal.SIGTERM)
                raise DaemonLost(f"the daemon does not answer; its log is {address.log}")
            await asyncio.sleep(_LOOK_AGAIN)
    return pid


async def revive(address: DaemonAddress, command: Sequence[str], report: Report = lambda _: None) -> None:
    """Return when a daemon answers all calls: the running one, or a new one, started when the lock is free.

    Raises as `start`.

    A daemon that ends or is killed stops listening a moment before it releases its lock. In that moment no daemon
    answers, and none can start.
    """
    until = asyncio.get_running_loop().time() + starting_time(address)
    async with DaemonClient(address.socket, timeout=STARTING) as client:
        while not await _is_ready(client, report):
            if running_pid(address) is None:
                # Several clients notice at once that no daemon runs; one of them starts it first.
                with contextlib.suppress(DaemonRunning):
                    await start(address, command, report)
            if asyncio.get_running_loop().time() > until:
                raise DaemonLost(f"the daemon does not answer; its log is {address.log}")
            await asyncio.sleep(_LOOK_AGAIN)


async def _is_ready(client: DaemonClient, report: Report) -> bool:
    if (health := await client.health()) is None:
        return False
    report(health)
    return health.status == "ok"


def starting_time(address: DaemonAddress) -> float:
    """Return the seconds that the daemon may need until it is ready, by the size of the logs that it reads first."""
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
        raise StreamrelayError(
            f"cannot write {path}: {error.strerror}",
            hint="check the folder's permissions and the free space of its disk",
        ) from error
    file.seek(0, os.SEEK_END)
    return file


class _Failed(msgspec.Struct):
    """The line of the log in which a daemon reports the error with which it ends."""

    event: Literal["failed"]
    code: str
    message: str
    hint: str
    data: dict[str, object]


def _reported(path: Path, begin: int, exit_code: int) -> StreamrelayError:
    """Return the error with which the command ended; `begin` is where its part of the log begins.

    A daemon reports it in its log. A command that fails before that only prints it, so it has no data.
    """
    lines = path.read_bytes()[begin:].splitlines()
    for line in reversed(lines):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            failed = msgspec.json.decode(line, type=_Failed)
            return error_with_code(failed.code, failed.message, hint=failed.hint, data=failed.data)
    printed = [line.decode(errors="replace") for line in reversed(lines)]
    words = next((line.removeprefix(_ERROR) for line in printed if line.startswith(_ERROR)), "")
    hint = next((line.removeprefix(_HINT) for line in printed if line.startswith(_HINT)), "")
    if not words:
        return DaemonLost(f"the daemon did not start: see {path}", data={"log": str(path)})
    return error_with_exit_code(exit_code, words, hint=hint)
