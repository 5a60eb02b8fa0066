"""One daemon for each tmux server: a lock that the kernel lets go of however its holder ends.

The lock file is never taken away while somebody may wait for it: whoever locked a file that is no longer the one of
that name tries again. A socket that is found while the lock is held is what a dead daemon left.
"""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from streamrelay.daemon.address import Address
from streamrelay.errors import DaemonRunning, StreamrelayError

BACKLOG = 512


@contextlib.contextmanager
def only_daemon(address: Address) -> Iterator[None]:
    """Be the only daemon at an address for as long as this is entered; raises DaemonRunning if there is one."""
    descriptor = _locked(address)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        yield
    finally:
        address.lock.unlink(missing_ok=True)
        os.close(descriptor)


def running_pid(address: Address) -> int | None:
    """Return the process id of the daemon at an address; None where none runs, 0 for one that has just begun."""
    try:
        descriptor = os.open(address.lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid_in(address.lock)
    finally:
        os.close(descriptor)
    return None


@contextlib.contextmanager
def listening(address: Address) -> Iterator[socket.socket]:
    """Listen at an address whose lock is held; the socket's file (0600) is gone afterwards."""
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        address.socket.unlink(missing_ok=True)
        try:
            listener.bind(str(address.socket))
            # The folder is closed to others: nobody was in time to connect before this.
            address.socket.chmod(0o600)
            listener.listen(BACKLOG)
        except OSError as error:
            raise StreamrelayError(f"{address.socket} cannot be listened at: {error.strerror}") from error
        listener.setblocking(False)
        try:
            yield listener
        finally:
            address.socket.unlink(missing_ok=True)


def _locked(address: Address) -> int:
    while True:
        descriptor = os.open(address.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_named(descriptor, address.lock):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            pid = _pid_in(address.lock)
            raise DaemonRunning(
                f"a daemon runs for {address.tmux} already (process {pid})",
                data={"pid": pid, "tmux": address.tmux, "socket": str(address.socket)},
            ) from error
        os.close(descriptor)


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino)


def _pid_in(path: Path) -> int:
    try:
        text = path.read_text(errors="replace").strip()
    except OSError:
        return 0
    return int(text) if text.isdecimal() else 0
