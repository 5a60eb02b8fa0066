"""The writer lock: one process at a time types into a pane, over all processes of a user.

Two processes that type into one pane could paste one message into the other, or submit both as one. The kernel releases
the lock however its holder ends: it is an flock on a file for each pane of each tmux server. The file names the kind
and pid of the writer, as `daemon 4711`, so that a refused process can tell the user who it is.

A lock holds on this machine only: of a tmux server that is reached by ssh, writers on other machines are not seen.
"""

import contextlib
import fcntl
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, cast

from streamrelay.control import ServerInfo
from streamrelay.errors import PaneTaken, StreamrelayError
from streamrelay.panes.runtime_folder import file_prefix, is_running, make_runtime_folder, runtime_folder

WriterKind = Literal["daemon", "service", "relay", "link", "send", "cancel", "record"]
"""What types into a pane; a `service` is a Python program that runs a `LocalService`."""

_LOCK_NAME = re.compile(r"(?P<owner>(?P<pid>[0-9]{1,10})(?P<host>-[0-9a-f]{16})?)-%[0-9]+\.lock")
_WRITERS: Mapping[WriterKind, tuple[str, str]] = MappingProxyType(
    {
        "daemon": ("the daemon", "stop the daemon first: streamrelay -S {socket} daemon stop"),
        "service": ("a Python program", "end the process {pid} first"),
        "relay": ("a relay", "press Ctrl-C where `streamrelay relay` runs (process {pid})"),
        "link": ("a link", "press Ctrl-C where `streamrelay link` runs (process {pid})"),
        "send": ("`streamrelay send`", "wait until process {pid} has sent its message, or press Ctrl-C where it runs"),
        "cancel": ("`streamrelay delivery cancel`", "try again: it takes a moment"),
        "record": (
            "`streamrelay record --say`",
            "wait until process {pid} has recorded, or press Ctrl-C where it runs",
        ),
    }
)
"""What an error calls a writer, and how the user ends it."""
BRIEF_WRITERS: frozenset[WriterKind] = frozenset({"send", "cancel"})
"""The writers that are done with one message; the others hold a pane for as long as they run."""
_HOLDER = re.compile(rf"(?P<kind>{'|'.join(_WRITERS)}) (?P<pid>[1-9][0-9]{{0,9}})\n".encode())
_MAX_HOLDER_BYTES = 64


class _Holder(NamedTuple):
    kind: WriterKind
    pid: int


@contextlib.contextmanager
def only_writer(server: ServerInfo, pane: str, kind: WriterKind) -> Iterator[None]:
    """Hold the writer lock of `pane` while the context is open, as a writer of that kind.

    Raises PaneTaken while another writer holds it; `data` has its `holder` (a WriterKind) and `pid`, both None if the
    lock file does not name a running process.
    """
    path = make_runtime_folder() / f"{file_prefix(server)}-{pane}.lock"
    try:
        descriptor = _locked(path)
    except BlockingIOError as error:
        raise _taken(server, pane, _read_holder(path)) from error
    except OSError as error:
        raise StreamrelayError(
            f"cannot lock {path}: {error.strerror}", hint=f"remove the file: rm {shlex.quote(str(path))}"
        ) from error
    try:
        try:
            # A full disk costs the name of the holder, not the lock.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, os.pwrite(descriptor, f"{kind} {os.getpid()}\n".encode(), 0))
            yield
        finally:
            # Delete the file before the lock is released: a process that opens the name from now on gets another file.
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def is_held_briefly(server: ServerInfo, pane: str) -> bool:
    """Return whether a writer of one message (`BRIEF_WRITERS`) seems to hold the writer lock of a pane."""
    holder = _read_holder(make_runtime_folder() / f"{file_prefix(server)}-{pane}.lock")
    return holder is not None and holder.kind in BRIEF_WRITERS


def _taken(server: ServerInfo, pane: str, holder: _Holder | None) -> PaneTaken:
    if holder is None:
        data = {"pane": pane, "holder": None, "pid": None}
        return PaneTaken(f"another process writes into pane {pane} already", data=data)
    name, hint = _WRITERS[holder.kind]
    return PaneTaken(
        f"{name} (pid {holder.pid}) writes into pane {pane} already",
        hint=hint.format(pid=holder.pid, socket=shlex.quote(server.socket_path)),
        data={"pane": pane, "holder": holder.kind, "pid": holder.pid},
    )


def _read_holder(path: Path) -> _Holder | None:
    """Return who holds a lock by its file; None for a file that is gone, empty or damaged, or of an older version."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        named = _HOLDER.fullmatch(os.read(descriptor, _MAX_HOLDER_BYTES))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if named is None or not is_running(int(named["pid"])):
        # A killed holder left its name, and the process that has the lock now is about to write its own.
        return None
    return _Holder(cast("WriterKind", named["kind"].decode()), int(named["pid"]))


def find_free_locks(server: ServerInfo | None) -> list[Path]:
    """Return the lock files that killed processes left for panes of `server`, or of a server that has ended.

    A lock file that a process holds, or that belongs to another running server, is not among them.
    """
    owner = file_prefix(server) if server else ""
    found = []
    for path in sorted(runtime_folder().glob("*.lock")):
        named = _LOCK_NAME.fullmatch(path.name)
        if named is None or not (named["owner"] == owner or (not named["host"] and not is_running(int(named["pid"])))):
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
    """Return whether a file is still the one of that name: its holder may have taken it away before it was locked."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    found = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino)


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
    """Lock the file of that name and return its descriptor; raises BlockingIOError while another writer holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_named(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
