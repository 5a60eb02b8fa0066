"""The user's runtime folder: what processes on this machine tell each other of the panes of a tmux server.

It is `$XDG_RUNTIME_DIR/streamrelay`, or `/tmp/streamrelay-UID` where there is none. Files in it are named after the
process of the tmux server, so those of a server that has ended are known for leftovers.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from streamrelay.control import ServerInfo
from streamrelay.errors import StreamrelayError


def runtime_folder() -> Path:
    """Return where the folder is, or would be."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "streamrelay"
    return Path(tempfile.gettempdir()) / f"streamrelay-{os.getuid()}"


def make_runtime_folder() -> Path:
    """Return the folder, made if need be and closed to others; raises StreamrelayError unless it is the user's own.

    In `/tmp` another user may have put a link of that name there first, to any folder of this user.
    """
    folder = runtime_folder()
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.stat()
        owners = {found.st_uid, folder.lstat().st_uid}
        if owners == {os.getuid()} and found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise StreamrelayError(f"{folder} cannot be made: {error.strerror}", hint="set XDG_RUNTIME_DIR") from error
    if owners != {os.getuid()}:
        raise StreamrelayError(f"{folder} belongs to another user", hint="set XDG_RUNTIME_DIR to a folder of yours")
    return folder


def file_prefix(server: ServerInfo) -> str:
    """Return what the names of a server's files begin with."""
    # A host may hold what no file name can.
    host = f"-{hashlib.sha256(server.address.encode()).hexdigest()[:16]}" if server.host else ""
    return f"{server.pid}{host}"


def is_running(pid: int) -> bool:
    """Return whether a process with that pid runs here, anybody's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
