"""Notifies systemd of the daemon's state (sd_notify(3)); does nothing without a supervisor."""

import contextlib
import os
import socket


def notify(state: str) -> None:
    """Send `READY=1` and the like to the supervisor, if there is one."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path.startswith(("/", "@")):
        return
    # An abstract socket is written with @ for its leading NUL.
    address = "\0" + path[1:] if path.startswith("@") else path
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as messenger:
        messenger.sendto(state.encode(), address)
