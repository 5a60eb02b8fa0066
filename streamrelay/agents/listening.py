"""Finds the HTTP servers that a process listens on, through /proc. Linux only; elsewhere it finds none.

Only addresses that this machine can reach over loopback count. The process of another user is unreadable here.
"""

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

MAX_DESCRIPTORS: Final = 4_096
MAX_SOCKETS: Final = 20_000
_PROC: Final = Path("/proc")
_LISTENING: Final = "0A"
_LOCAL, _STATE, _INODE = 1, 3, 9
"""Columns of /proc/PID/net/tcp (proc_pid_net(5))."""
_HOSTS: Final = {
    "0100007F": "127.0.0.1",
    "00000000": "127.0.0.1",
    "00000000000000000000000001000000": "[::1]",
    "00000000000000000000000000000000": "[::1]",
}
"""The addresses that loopback reaches, as /proc writes them on a little-endian machine."""
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def listening_urls(pid: int) -> list[str]:
    """Return the URLs of the TCP sockets on which a process listens, in the order of their ports."""
    place = _PROC / str(pid)
    inodes = _socket_inodes(place / "fd")
    if not inodes:
        return []
    found: dict[int, str] = {}
    for table in ("tcp6", "tcp"):
        for host, port, inode in _listeners(place / "net" / table):
            if inode in inodes:
                found[port] = f"http://{host}:{port}"
    return [found[port] for port in sorted(found)]


def loopback_url(text: str) -> str | None:
    """Return a URL without path if it is plain HTTP on loopback, and None otherwise."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme != "http" or parts.hostname not in _LOOPBACK or port is None or parts.username is not None:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"http://{host}:{port}"


def command_line(pid: int) -> list[str]:
    """Return the words with which a process was started; empty if they are unreadable."""
    try:
        raw = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return [word.decode(errors="replace") for word in raw.split(b"\0")[:-1]]


def _socket_inodes(folder: Path) -> set[str]:
    inodes: set[str] = set()
    try:
        for _, descriptor in zip(range(MAX_DESCRIPTORS), folder.iterdir(), strict=False):
            try:
                target = str(descriptor.readlink())
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    except OSError:
        pass
    return inodes


def _listeners(table: Path) -> list[tuple[str, int, str]]:
    """Return host, port and inode of each socket of a table that listens on an address loopback reaches."""
    try:
        with table.open() as lines:
            rows = [line.split() for _, line in zip(range(MAX_SOCKETS), lines, strict=False)]
    except OSError:
        return []
    found: list[tuple[str, int, str]] = []
    for row in rows[1:]:
        if len(row) > _INODE and row[_STATE] == _LISTENING:
            address, _, port = row[_LOCAL].partition(":")
            if host := _HOSTS.get(address):
                found.append((host, int(port, 16), row[_INODE]))
    return found
