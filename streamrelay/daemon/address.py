"""The address of a daemon: its files, in a folder that only the user can open.

One tmux server has one daemon, whichever way the caller names the server (`-L`, `-S`, `$TMUX`, a symbolic link).
"""

import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from streamrelay.control import Tmux
from streamrelay.delivery.state import state_home


class DaemonAddress(NamedTuple):
    """The files of one daemon."""

    name: str
    """Tells this tmux server from the user's others."""
    tmux: str
    """The socket of its tmux server."""
    socket: Path
    """The unix socket on which the daemon answers."""
    lock: Path
    """Locked by the daemon while it runs; contains its process id."""
    state: Path
    """The folder of its journal."""
    log: Path
    """Standard error of a daemon that was started in the background."""


def address_of(tmux: Tmux) -> DaemonAddress:
    """Return the address of a tmux server's daemon, without touching the file system."""
    server = tmux_socket(tmux)
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", Path(server).name)[:24]
    name = f"{plain}-{hashlib.sha256(os.fsencode(server)).hexdigest()[:8]}"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = Path(runtime) / "streamrelay" if runtime.startswith("/") else state_home()
    return DaemonAddress(
        name,
        server,
        socket=folder / f"daemon-{name}.sock",
        lock=folder / f"daemon-{name}.lock",
        state=state_home() / "servers" / name,
        log=state_home() / f"daemon-{name}.log",
    )


def tmux_socket(tmux: Tmux) -> str:
    """Return the path of a tmux server's socket, whether or not the server runs (tmux 3.3a tmux.c make_label)."""
    path = tmux.socket_path
    if path is None:
        base = os.environ.get("TMUX_TMPDIR") or "/tmp"  # noqa: S108  # tmux's own
        path = f"{base}/tmux-{os.getuid()}/{tmux.socket_name or 'default'}"
    return os.path.realpath(path)
