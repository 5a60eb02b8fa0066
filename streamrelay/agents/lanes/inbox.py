"""Whether a running agent has a session inbox: a socket on which other sessions of the agent leave messages.

Claude Code writes a record of each running session, `sessions/PID.json` below its folder. 2.1.332 names there the
socket of an inbox (`messagingSocketPath`), 2.1.197 names none. The protocol of that socket is not documented, and
streamrelay writes nothing to it: `streamrelay doctor` tells what the version offers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from streamrelay.agents.witnesses.process import AgentProcess

MAX_RECORD: Final = 262_144
"""Bytes of a session record that are read; a longer one is no record."""


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
            socket = Path(record.messagingSocketPath) if record.messagingSocketPath else None
            return SessionInbox(record.version, socket if socket is not None and socket.is_socket() else None)
    return None


def _record(path: Path) -> _Record | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_RECORD + 1)
        return msgspec.json.decode(data, type=_Record) if len(data) <= MAX_RECORD else None
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
