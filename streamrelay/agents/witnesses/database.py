"""Reads OpenCode's database of sessions: the passages of the active session of a folder since a time.

OpenCode keeps `opencode.db` open (seen with 1.18.33). From outside, it is unknown which session is on the screen, so
the reader accepts a session only if no other session of the folder has new or changed messages.
"""

import contextlib
import json
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from streamrelay.agents.witnesses.process import AgentProcess
from streamrelay.agents.witnesses.reading import Reading, SinceWatched
from streamrelay.delta.inputs import WitnessPassage

NAME: Final = "opencode.db"
MAX_MESSAGES: Final = 200
MAX_TIME: Final = 0.5
"""The most seconds of one query."""
MAX_DATA: Final = 400_000
"""The most characters of one part of a message."""
MAX_MESSAGE: Final = 4_000_000
"""The most characters of a message without its parts; it can contain the differences of files."""
_SESSIONS: Final = """
    SELECT DISTINCT message.session_id FROM message JOIN session ON session.id = message.session_id
    WHERE session.directory = ? AND session.parent_id IS NULL AND message.time_updated >= ? LIMIT 2
"""
_EARLIER: Final = """
    SELECT time_created, data FROM message WHERE session_id = ? AND time_created < ?
    AND typeof(time_created) = 'integer' AND length(data) <= ? ORDER BY time_created DESC, id DESC LIMIT ?
"""
_MESSAGES: Final = """
    SELECT id, time_created, data FROM message WHERE session_id = ? AND time_created >= ?
    AND typeof(id) = 'text' AND typeof(time_created) = 'integer' AND length(data) <= ?
    ORDER BY time_created, id LIMIT ?
"""
_PARTS: Final = """
    SELECT data FROM part WHERE message_id = ? AND length(data) <= ? ORDER BY time_created, id LIMIT 1000
"""


class AgentDatabase:
    """The record of OpenCode in one pane."""

    def __init__(self, processes: Callable[[], Sequence[AgentProcess]], *, since: float) -> None:
        self._processes = processes
        self._since = int(since * 1000)
        """What was created earlier is read already, or is not to be (Unix time in milliseconds)."""
        self._read: dict[str, None] = {}
        self._watched = SinceWatched(since)
        self._has_begun = False
        self._found: tuple[Path, Path, int] | None = None
        """The database of the agent, its folder and its user; they are read on when it has ended."""

    def read(self) -> Reading:
        """Return the passages since the last call."""
        processes = self._processes()
        if processes:
            open_ones = {(path, process.folder) for process in processes for path in process.files if path.name == NAME}
            if len(open_ones) != 1:
                return Reading(reason="several" if open_ones else "no_record")
            self._found = (*open_ones.pop(), processes[-1].uid)
        if self._found is None:
            return Reading(reason="no_process")
        path, folder, uid = self._found
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                return Reading(reason="unreadable")
            if status.st_uid != uid or status.st_mode & 0o022:
                return Reading(reason="not_trusted")
            with contextlib.closing(_connected(path)) as database:
                sessions = [session for (session,) in database.execute(_SESSIONS, (str(folder), self._since))]
                if len(sessions) != 1:
                    return Reading(reason="several" if sessions else "")
                if not self._has_begun:
                    self._begin(database, sessions[0])
                return Reading(tuple(self._watched.pick(self._said(database, sessions[0]))))
        except (sqlite3.Error, OSError):
            return Reading(reason="unreadable")

    def _begin(self, database: sqlite3.Connection, session: str) -> None:
        """Begin to read at the last message before the watching: the answer to it may be under way."""
        for created, data in database.execute(_EARLIER, (session, self._since, MAX_MESSAGE, MAX_MESSAGES)):
            if _object(data).get("role") == "user":
                self._since = created
                break
        self._has_begun = True

    def _said(self, database: sqlite3.Connection, session: str) -> Iterator[WitnessPassage]:
        """Yield what is new, up to a message that is being written."""
        rows = database.execute(_MESSAGES, (session, self._since, MAX_MESSAGE, MAX_MESSAGES))
        messages = [(number, created, _object(data)) for number, created, data in rows]
        last = max((at for at, (_, _, message) in enumerate(messages) if _is_answer(message)), default=-1)
        for at, (number, created, message) in enumerate(messages):
            is_answer = _is_answer(message)
            if message.get("role") != "user" and not is_answer:
                if at > last:
                    break
                # It was broken off, for a later one is whole.
                continue
            if number in self._read:
                continue
            texts = [part["text"] for part in self._parts(database, number)]
            if not is_answer and not texts:
                if at > last:
                    break
                # A command for its shell, which OpenCode stores as a message with a text of its own.
                continue
            self._read[number] = None
            self._since = max(self._since, created - 1)
            said_at = max(created, _completed(message) or 0) / 1000
            yield from (WitnessPassage("agent" if is_answer else "person", text, said_at) for text in texts)
            if is_answer and message.get("finish") != "tool-calls":
                yield WitnessPassage("end")
        while len(self._read) > 2 * MAX_MESSAGES:
            del self._read[next(iter(self._read))]

    @staticmethod
    def _parts(database: sqlite3.Connection, message: str) -> Iterator[dict[str, Any]]:
        for (data,) in database.execute(_PARTS, (message, MAX_DATA)):
            part = _object(data)
            is_said = part.get("type") == "text" and not (part.get("synthetic") or part.get("ignored"))
            if is_said and isinstance(part.get("text"), str):
                yield part


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0.1)
    until = time.monotonic() + MAX_TIME
    database.set_progress_handler(lambda: int(time.monotonic() > until), 10_000)
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _completed(message: dict[str, Any]) -> int | None:
    """Return when a message was completed (Unix time in milliseconds); None if it is not."""
    times = message.get("time")
    completed = times.get("completed") if isinstance(times, dict) else None
    return completed if isinstance(completed, int) else None


def _is_answer(message: dict[str, Any]) -> bool:
    """Return whether a message is the agent's, and whole."""
    return message.get("role") == "assistant" and ("error" in message or _completed(message) is not None)


def _object(data: object) -> dict[str, Any]:
    try:
        value = json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
