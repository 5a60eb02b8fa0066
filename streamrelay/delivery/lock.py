"""One writer a pane, over all processes of a user: two relays on the same panes would take each other's words for news.

Whoever types from another machine is not seen: of a server that is reached by ssh, only this machine's are kept apart.
A lock file for each pane of each server, held with flock: the kernel lets go of it however the holder ends.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from streamrelay.control import ServerInfo
from streamrelay.errors import PaneTaken, StreamrelayError

_LOCK_NAME = re.compile(r"(?P<owner>(?P<pid>[0-9]{1,10})(?P<host>-[0-9a-f]{16})?)-%[0-9]+\.lock")


@contextlib.contextmanager
def only_writer(server: ServerInfo, pane: str) -> Iterator[None]:
    """Be the only one who types into a pane for as long as this is entered; raises PaneTaken if somebody else is."""
    path = _folder() / f"{_owner(server)}-{pane}.lock"
    try:
        descriptor = _locked(path)
    except BlockingIOError as error:
        raise PaneTaken(f"somebody else types into pane {pane} already", data={"pane": pane}) from error
    try:
        try:
            yield
        finally:
            # Gone before it is free: whoever opens the name from now on gets a file of his own.
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def find_free_locks(server: ServerInfo | None) -> list[Path]:
    """Return the lock files that killed processes left for panes of `server`, or of a server that has ended.

    A lock file that a process holds, or that belongs to another running server, is not among them.
    """
    owner = _owner(server) if server else ""
    found = []
    for path in sorted(lock_folder().glob("*.lock")):
        named = _LOCK_NAME.fullmatch(path.name)
        if named is None or not (named["owner"] == owner or (not named["host"] and not _runs(int(named["pid"])))):
            continue
        if _is_free(path):
            found.append(path)
    return found


def remove_free_lock(path: Path) -> bool:
    """Delete a lock file unless a process holds it; return whether it was deleted. May raise OSError."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_named(descriptor, path):
            path.unlink()
            return True
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)
    return False


def is_named(descriptor: int, path: Path) -> bool:
    """Tell whether a file is still the one of that name: its holder may have taken it away before it was locked."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino)


def _owner(server: ServerInfo) -> str:
    """Return what the names of a server's lock files begin with."""
    # A host may hold what no file name can.
    host = f"-{hashlib.sha256(server.address.encode()).hexdigest()[:16]}" if server.host else ""
    return f"{server.pid}{host}"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_free(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _locked(path: Path) -> int:
    """Lock the file of that name, as a descriptor; raises BlockingIOError where somebody holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_named(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def lock_folder() -> Path:
    """Return where the locks are, or would be."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "streamrelay"
    return Path(tempfile.gettempdir()) / f"streamrelay-{os.getuid()}"


def _folder() -> Path:
    """Return a folder that is the user's alone, else the locks in it would mean nothing."""
    folder = lock_folder()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = folder.stat().st_uid
    except OSError as error:
        raise StreamrelayError(f"{folder} cannot be made: {error.strerror}", hint="set XDG_RUNTIME_DIR") from error
    if owner != os.getuid():
        raise StreamrelayError(f"{folder} is somebody else's", hint="set XDG_RUNTIME_DIR to a folder of yours")
    return folder
