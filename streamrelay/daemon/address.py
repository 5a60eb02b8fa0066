"""Where a daemon is found: one for each tmux server of a user, in a folder that is the user's alone.

Whoever names the same tmux server finds the same daemon, however it is named (`-L`, `-S`, `$TMUX`, a link in the path).
"""

import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from streamrelay.control import Tmux
from streamrelay.delivery.state import state_folder
from streamrelay.errors import StreamrelayError

LONGEST_SOCKET_PATH = 103
"""Bytes: `sun_path` holds 104 with its NUL on macOS, 108 on Linux."""


class Address(NamedTuple):
    """The files of one daemon."""

    name: str
    """Of this tmux server among others."""
    tmux: str
    """The socket of its tmux server."""
    socket: Path
    """Where it answers."""
    lock: Path
    """Held by it for as long as it lives; holds its process id."""
    log: Path
    """What it says, when it was started in the background."""


def address_of(tmux: Tmux) -> Address:
    """Return where the daemon of a tmux server is found; raises StreamrelayError where no socket can be."""
    server = tmux_socket(tmux)
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", Path(server).name)[:24]
    name = f"{plain}-{hashlib.sha256(os.fsencode(server)).hexdigest()[:8]}"
    folder = socket_folder()
    socket = folder / f"daemon-{name}.sock"
    if len(os.fsencode(socket)) > LONGEST_SOCKET_PATH:
        raise StreamrelayError(
            f"{socket} is too long for a socket", hint="set XDG_RUNTIME_DIR to a folder with a shorter path"
        )
    return Address(name, server, socket, folder / f"daemon-{name}.lock", state_folder() / f"daemon-{name}.log")


def tmux_socket(tmux: Tmux) -> str:
    """Return the path of a tmux server's socket, whether or not the server runs (tmux 3.3a tmux.c make_label)."""
    path = tmux.socket_path
    if path is None:
        base = os.environ.get("TMUX_TMPDIR") or "/tmp"  # noqa: S108  # tmux's own
        path = f"{base}/tmux-{os.getuid()}/{tmux.socket_name or 'default'}"
    return os.path.realpath(path)


def socket_folder() -> Path:
    """Return `$XDG_RUNTIME_DIR/streamrelay`, or the state folder where there is none, closed to everybody else."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(runtime) / "streamrelay" if runtime.startswith("/") and os.access(runtime, os.W_OK) else None
    try:
        if folder is None:
            folder = state_folder()
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.stat()
        if found.st_uid != os.getuid():
            raise StreamrelayError(f"{folder} is somebody else's", hint="set XDG_RUNTIME_DIR to a folder of yours")
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise StreamrelayError(f"{folder} cannot be used: {error.strerror}", hint="set XDG_RUNTIME_DIR") from error
    return folder
