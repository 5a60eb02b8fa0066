"""Finds the session inbox of a running agent: a socket on which other sessions of the agent leave messages.

Claude Code writes a record of each running session, `sessions/PID.json` below its folder. The record of 2.1.332 names
the socket of an inbox (`messagingSocketPath`); that of 2.1.197 names none. The protocol of the socket is not
documented, so streamrelay writes nothing to it; `streamrelay doctor` reports whether it exists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from streamrelay.agents.transcript_files import open_plain
from streamrelay.agents.witnesses.process import AgentProcess

MAX_RECORD: Final = 262_144
"""Bytes of the longest session record that is read; a longer file is ignored."""


class _Record(msgspec.Struct):
    pid: int
    version: str = ""
    messagingSocketPath: str | None = None  # noqa: N815  # the record's name


@dataclass(frozen=True, slots=True)
class SessionInbox:
    """What the record of a running session says: the agent's version, and the socket of its inbox, if it has one."""

    version: str
    socket: Path | None


def session_inbox(processes: Sequence[AgentProcess]) -> SessionInbox | None:
    """Return what the record of the first process that has one says; None without a readable record. Never raises."""
    for process in processes:
        folder = process.home("CLAUDE_CONFIG_DIR", ".claude")
        record = None if folder is None else _record(folder / "sessions" / f"{process.pid}.json")
        if record is not None and record.pid == process.pid:
            return SessionInbox(record.version, _socket(record.messagingSocketPath))
    return None


def _socket(path: str | None) -> Path | None:
    """Return the path of a socket that is there; None for any other text."""
    try:
        return Path(path) if path and Path(path).is_socket() else None
    except OSError:  # a name that is too long
        return None


def _record(path: Path) -> _Record | None:
    try:
        with open_plain(path) as file:
            data = file.read(MAX_RECORD + 1)
        return msgspec.json.decode(data, type=_Record) if len(data) <= MAX_RECORD else None
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
