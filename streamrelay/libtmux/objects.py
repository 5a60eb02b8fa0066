"""What an object of libtmux names: the server to connect to, or the target to watch."""

import os
from pathlib import Path
from typing import TypedDict

import libtmux

from streamrelay.errors import UsageError


class Address(TypedDict):
    """The arguments of `streamrelay.connect` that name a server."""

    socket_name: str | None
    socket_path: str | None
    tmux: str | None


def address(server: libtmux.Server) -> Address:
    """Return the arguments with which `streamrelay.connect` reaches the server of libtmux."""
    path = None if server.socket_path is None else str(server.socket_path)
    return {
        "socket_name": None if path else server.socket_name or None,
        "socket_path": path,
        "tmux": None if server.tmux_bin is None else str(server.tmux_bin),
    }


def target(of: libtmux.Pane | libtmux.Window | libtmux.Session, socket_path: str) -> str:
    """Return the id that tmux knows the object by: "%3", "@2" or "$1".

    Raises UsageError for an object of a server with another socket than `socket_path`, and for another type.
    """
    if isinstance(of, libtmux.Pane):
        name = of.pane_id
    elif isinstance(of, libtmux.Window):
        name = of.window_id
    elif isinstance(of, libtmux.Session):
        name = of.session_id
    else:
        raise UsageError(
            f"a target is a string or an object of libtmux, not {type(of).__name__}",
            hint="pass a pane id such as %3, or a Pane, Window or Session of libtmux",
        )
    if not _is_on(of.server, socket_path):
        raise UsageError(
            f"{of} belongs to another tmux server than {socket_path}",
            hint="connect to its server: streamrelay.connect(pane.server)",
        )
    return str(name)


def _is_on(server: libtmux.Server, socket_path: str) -> bool:
    if server.socket_path is not None:
        return os.path.realpath(server.socket_path) == os.path.realpath(socket_path)
    # Without a socket tmux takes the server of $TMUX, else the one with this name.
    return server.socket_name is None or Path(socket_path).name == server.socket_name
