"""The user at the other end of a unix socket, as the kernel reports it."""

import socket
import struct
import sys

_LOCAL_PEERCRED = 1
"""Darwin and FreeBSD <sys/un.h>; answered with a `struct xucred`: version, uid, groups."""


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process that connected; raises OSError if the kernel does not tell."""
    if sys.platform.startswith("linux"):
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, uid, _ = struct.unpack("3i", credentials)
    else:
        _, uid = struct.unpack_from("2I", connection.getsockopt(0, _LOCAL_PEERCRED, 76))
    return int(uid)
