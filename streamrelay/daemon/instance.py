"""One daemon for each tmux server, by a lock that the kernel releases however its holder ends.

A process that locks the file checks that the name still leads to it, and tries again if not: the previous daemon may
have deleted the file meanwhile. A socket that exists when a daemon takes the lock was left by a dead one.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from streamrelay.daemon.address import DaemonAddress
from streamrelay.delivery.lock import is_named
from streamrelay.errors import DaemonLost, DaemonRunning, StreamrelayError

BACKLOG = 512
MAX_SOCKET_PATH = 103
"""Bytes: `sun_path` holds 104 with its NUL on macOS, 108 on Linux."""
ENDING = 30.0
"""Seconds to wait for a daemon's end; longer than it needs to finish the work in flight."""
_LOOK_AGAIN = 0.02
_ASKED_FOR = 0.1
"""Seconds to try for the lock: a process that only asks whether a daemon runs holds it for a moment."""


@contextlib.contextmanager
def only_daemon(address: DaemonAddress) -> Iterator[None]:
    """Hold the lock of an address inside the context; raises DaemonRunning if a daemon holds it.

    Creates the folders of the address and closes them to other users.
    """
    for folder in {address.socket.parent, address.lock.parent, address.state}:
        _close_to_others(folder)
    descriptor = _locked(address)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        yield
    finally:
        address.lock.unlink(missing_ok=True)
        os.close(descriptor)


def running_pid(address: DaemonAddress) -> int | None:
    """Return the process id of the daemon at an address; None if none runs, 0 if it has just started."""
    try:
        descriptor = os.open(address.lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        # A missing or unreadable lock file means that no daemon of this user runs.
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid_in(address.lock)
    finally:
        os.close(descriptor)
    return None


async def until_ended(address: DaemonAddress, pid: int) -> None:
    """Return when that process is no longer the daemon; raises DaemonLost if it does not end in time."""
    until = asyncio.get_running_loop().time() + ENDING
    while running_pid(address) == pid:
        if asyncio.get_running_loop().time() > until:
            raise DaemonLost(f"the daemon (process {pid}) does not end", hint=f"kill -9 {pid}", data={"pid": pid})
        await asyncio.sleep(_LOOK_AGAIN)


@contextlib.contextmanager
def listening(address: DaemonAddress) -> Iterator[socket.socket]:
    """Listen at an address whose lock is held; the socket's file (0600) is gone afterwards."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        address.socket.unlink(missing_ok=True)
        if len(os.fsencode(address.socket)) > MAX_SOCKET_PATH:
            raise StreamrelayError(
                f"{address.socket} is too long for a socket", hint="set XDG_RUNTIME_DIR to a folder with a shorter path"
            )
        try:
            listener.bind(str(address.socket))
            # Other users cannot enter the folder, so none could connect before this.
            address.socket.chmod(0o600)
            listener.listen(BACKLOG)
        except OSError as error:
            raise StreamrelayError(
                f"cannot listen on {address.socket}: {error.strerror}",
                hint="check the permissions of its folder; streamrelay daemon status shows whether one runs",
            ) from error
        listener.setblocking(False)
        try:
            yield listener
        finally:
            address.socket.unlink(missing_ok=True)


def _close_to_others(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.getuid():
            raise StreamrelayError(
                f"{folder} belongs to another user", hint="set XDG_RUNTIME_DIR to a folder of your own"
            )
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        hint = "set XDG_RUNTIME_DIR and XDG_STATE_HOME to folders of your own"
        raise StreamrelayError(f"cannot use the folder {folder}: {error.strerror}", hint=hint) from error


def _locked(address: DaemonAddress) -> int:
    until = time.monotonic() + _ASKED_FOR
    while True:
        descriptor = os.open(address.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_named(descriptor, address.lock):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            if time.monotonic() < until:
                time.sleep(_LOOK_AGAIN)
                continue
            pid = _pid_in(address.lock)
            raise DaemonRunning(
                f"a daemon already runs for {address.tmux} (process {pid})",
                data={"pid": pid, "tmux": address.tmux, "socket": str(address.socket)},
            ) from error
        os.close(descriptor)


def _pid_in(path: Path) -> int:
    try:
        text = path.read_text(errors="replace").strip()
    except OSError:
        return 0
    return int(text) if text.isdecimal() else 0
