"""Injection log: text typed into a pane, shared with every process on this machine that watches the pane.

A pasted message is echoed in the streams of all watching processes, but only the sender's stream knows of the paste;
the others would report the echo as the program's own output. The sender therefore writes each paste, and each Enter
after it, to a file of the pane (panes/runtime_folder.py) before it asks tmux to type, and each message to the program's
own API before it sends it. A stream reads that file before it processes pane output. tmux sends the echo only after the
paste was logged, so no echo overtakes its log entry. A process that begins to watch the pane while such a message is on
its way learns of it from the file, too.

The file has a line of JSON per note, in the order of the machine's monotonic clock. Only the user can read it. It is
replaced above `MAX_BYTES`, and deleted when its pane closes while a process watches that; a daemon that starts deletes
the files of servers that have ended (`remove_ended`), and one that runs those of closed panes of its server
(`remove_closed`). A failing disk costs the note, never the message. Writers on
other machines (a tmux server that is reached by ssh) are invisible.
"""

import contextlib
import hashlib
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from streamrelay.control import ServerInfo
from streamrelay.errors import StreamrelayError
from streamrelay.panes.runtime_folder import is_running, make_runtime_folder, runtime_folder

logger = logging.getLogger(__name__)

MAX_BYTES = 1 << 20
SUFFIX = ".injected"
PENDING = 60.0
"""Seconds for which a new stream waits for the Enter after a paste: it comes at once, or never."""
HELD = 600.0
"""Seconds for which a new stream expects a message that was sent by an API: the program may hold it while it works."""

REMOVED_AFTER = 3600.0
"""Seconds since the last note after which `remove_ended` deletes a file.

The process of a server on another machine never runs here, so its files look like those of an ended one. Their notes
are of use for `HELD` seconds.
"""
_FILE = re.compile(rf"(?P<pid>[1-9][0-9]{{0,9}})-[0-9a-f]{{16}}-%[0-9]+{re.escape(SUFFIX)}")

NoteKind = Literal["pasted", "entered", "handed", "shown"]
"""What a note is about: a paste, the Enter after it, a message that is sent by the program's own API, or that the
program has come to such a message."""

_Stamp = tuple[int, int, int]


class InjectionNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """Input that a pane is about to get from one process; the others are to know it as such."""

    at: int
    """When the note was written: nanoseconds of the machine's monotonic clock."""
    by: str
    """The stream that noted it."""
    kind: NoteKind
    message_id: str
    text: str = ""


class InjectionLog:
    """The notes on one pane, as one stream writes and reads them."""

    def __init__(self, server: ServerInfo, pane: str) -> None:
        self._path = runtime_folder() / f"{_prefix(server)}-{pane}{SUFFIX}"
        self._name = str(self._path)
        self._by = secrets.token_hex(8)
        self._stamp: _Stamp | None = None
        self._read_until = 0

    def begin(self, since: float | None = None) -> list[InjectionNote]:
        """Return the notes after `since` (monotonic seconds); without `since`, those of messages that are not over.

        These are the pastes whose Enter is still to come, and the messages sent by an API that the program has not come
        to. `news` begins after the notes written so far.
        """
        notes = self.news()
        if since is not None:
            return [note for note in notes if note.at > since * 1e9]
        pending: dict[tuple[str, str], InjectionNote] = {}
        now = time.monotonic_ns()
        for note in notes:
            if note.kind == "entered":
                pending.pop((note.by, note.message_id), None)
            elif note.kind == "shown":
                # Another process may have gone on where the sender ended.
                pending = {key: each for key, each in pending.items() if key[1] != note.message_id}
            elif note.at > now - int((PENDING if note.kind == "pasted" else HELD) * 1e9):
                pending[note.by, note.message_id] = note
        return list(pending.values())

    def news(self) -> list[InjectionNote]:
        """Return the notes of other streams since the last call, in order; costs a system call if there are none."""
        if not os.access(self._name, os.F_OK):
            # Nearly always, and before each piece of output: an exception would cost four times as much.
            return []
        try:
            status = self._path.stat()
        except OSError:
            return []
        stamp = status.st_ino, status.st_size, status.st_mtime_ns
        if stamp == self._stamp:
            return []
        self._stamp = stamp
        notes = [note for note in self._read() if note.at > self._read_until]
        if notes:
            self._read_until = notes[-1].at
        return [note for note in notes if note.by != self._by]

    def note(self, kind: NoteKind, message_id: str, text: str = "") -> None:
        """Write a note about input that the pane is about to get."""
        line = msgspec.json.encode(InjectionNote(time.monotonic_ns(), self._by, kind, message_id, text)) + b"\n"
        try:
            make_runtime_folder()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self._path, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size + len(line) > MAX_BYTES:
                    os.ftruncate(descriptor, 0)
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except (OSError, StreamrelayError) as error:
            logger.warning("cannot tell other processes about typed text: %s", error)

    def discard(self) -> None:
        """Delete the notes of a pane that is gone."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _read(self) -> list[InjectionNote]:
        """Read all notes; ignore invalid lines, and a file that belongs to another user."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_uid != os.getuid():
                return []
            data = file.read(2 * MAX_BYTES)
        notes = []
        for line in data.splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                notes.append(msgspec.json.decode(line, type=InjectionNote))
        return notes


def find_notes(server: ServerInfo | None) -> list[Path]:
    """Return the files of notes on panes of `server`, and of servers on this machine that have ended."""
    prefix = f"{_prefix(server)}-%" if server is not None else ""
    found = []
    for path in sorted(runtime_folder().glob(f"*{SUFFIX}")):
        owner = path.name.split("-", 1)[0]
        ended = owner.isdecimal() and "-%" in path.name and not is_running(int(owner))
        if (prefix and path.name.startswith(prefix)) or ended:
            found.append(path)
    return found


def remove_ended() -> int:
    """Delete the files of notes on panes of servers that have ended, and return their number.

    Only regular files of the user with such a name, in a folder that is the user's own; a file that cannot be deleted
    stays. 20,000 files cost about 0.4 s.
    """
    try:
        folder = make_runtime_folder()
        entries = list(os.scandir(folder))
    except (OSError, StreamrelayError) as error:
        logger.warning("cannot look for the notes of ended servers: %s", error)
        return 0
    removed = 0
    running: dict[int, bool] = {}
    for entry in entries:
        if (named := _FILE.fullmatch(entry.name)) is None:
            continue
        pid = int(named["pid"])
        if pid not in running:
            running[pid] = is_running(pid)
        if not running[pid]:
            removed += _remove_older(Path(entry.path), REMOVED_AFTER)
    return removed


def remove_closed(server: ServerInfo, panes: Collection[str], files: Iterable[Path]) -> int:
    """Delete those of a server's files whose pane is not among `panes`, which were listed after the files were found.

    Returns their number. No later reader needs them: a pane's id names no other pane while its server runs (tmux 3.3a
    window.c counts `next_window_pane_id` up), a stream that begins reads no note older than `HELD`, and a stream that
    watched the pane has deleted its file at the pane's end. So a file stays for `HELD` seconds after its last note, for
    a stream that still reads what came before the end.
    """
    removed = 0
    for path in files:
        pane = path.name.removeprefix(f"{_prefix(server)}-").removesuffix(SUFFIX)
        if pane not in panes and _FILE.fullmatch(path.name):
            removed += _remove_older(path, HELD)
    return removed


def files_of(server: ServerInfo) -> list[Path]:
    """Return the files of notes on a server's panes, also on closed ones; none in a folder that is not the user's."""
    with contextlib.suppress(OSError, StreamrelayError):
        return sorted(make_runtime_folder().glob(f"{_prefix(server)}-%*{SUFFIX}"))
    return []


def _remove_older(path: Path, seconds: float) -> bool:
    """Delete a regular file of the user that was not written to for a time; return whether it is deleted."""
    with contextlib.suppress(OSError):
        status = path.lstat()
        is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
        if is_own and status.st_mtime < time.time() - seconds:
            path.unlink()
            return True
    return False


def _prefix(server: ServerInfo) -> str:
    """Return the file name prefix of a server's notes.

    Process ids are reused: without the address, a new server could get the notes of a killed one.
    """
    address = hashlib.sha256(server.address.encode()).hexdigest()[:16]
    return f"{server.pid}-{address}"
