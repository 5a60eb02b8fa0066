"""One writer a pane, over all processes of a user: two relays on the same panes would take each other's words for news.

Whoever types from another machine is not seen: of a server that is reached by ssh, only this machine's are kept apart.
A lock file for each pane of each server, held with flock: the kernel lets go of it however the holder ends.
"""

import contextlib
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from streamrelay.control import ServerInfo
from streamrelay.errors import PaneTaken, StreamrelayError


@contextlib.contextmanager
def only_writer(server: ServerInfo, pane: str) -> Iterator[None]:
    """Be the only one who types into a pane for as long as this is entered; raises PaneTaken if somebody else is."""
    # A host may hold what no file name can.
    host = f"-{hashlib.sha256(server.address.encode()).hexdigest()[:16]}" if server.host else ""
    path = _folder() / f"{server.pid}{host}-{pane}.lock"
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


def is_named(descriptor: int, path: Path) -> bool:
    """Tell whether a file is still the one of that name: its holder may have taken it away before it was locked."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino)


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
