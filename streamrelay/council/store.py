"""The council's database: messages with author and cost, and the state of each session.

Everything is written before it is shown, so that a session resumes with every message that anybody saw, whatever ended
the process. An answer that comes in is written as far as it has come, marked as partial until it is whole.
"""

import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import msgspec

from streamrelay.council.clients.contract import Usage
from streamrelay.council.config import CouncilConfig
from streamrelay.council.context import Entry
from streamrelay.council.coordinator import Saved
from streamrelay.council.members import Markers
from streamrelay.database import Database, transaction
from streamrelay.errors import UsageError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, created REAL NOT NULL, ended REAL, title TEXT NOT NULL DEFAULT '', config TEXT NOT NULL,
    rotation_state TEXT NOT NULL, state TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id), id TEXT NOT NULL, at REAL NOT NULL,
    author TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, round INTEGER NOT NULL, round_kind TEXT NOT NULL,
    partial INTEGER NOT NULL, queued INTEGER NOT NULL DEFAULT 0, read INTEGER, written INTEGER, cost REAL,
    UNIQUE (session, id)
);
"""
_MAX_TITLE = 60


class SessionInfo(msgspec.Struct, frozen=True):
    """A session, as `council list` shows it."""

    id: str
    created: float
    ended: float | None
    title: str
    members: tuple[str, ...]
    messages: int
    cost: float
    person: str = "You"


class Spent(msgspec.Struct, frozen=True):
    """The tokens and the cost of one member in a session."""

    member: str
    answers: int
    read: int
    written: int
    cost: float | None
    """Dollars; None without a known price."""


class CouncilStore:
    """The open database; an async context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, create=_SCHEMA, version=1)

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._database.__aexit__(None, None, None)

    async def begin(self, config: CouncilConfig, markers: Callable[[Markers | None], Markers], saved: Saved) -> str:
        """Store a new session, with the markers that follow those of the last session; return its id."""
        session = f"council-{secrets.token_hex(4)}"
        values = (session, time.time(), msgspec.json.encode(config).decode())

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                latest = "SELECT rotation_state FROM sessions ORDER BY created DESC, rowid DESC"
                row = connection.execute(latest).fetchone()
                last = msgspec.json.decode(row[0], type=Markers) if row else None
                state = msgspec.json.encode(markers(last)).decode(), msgspec.json.encode(saved).decode()
                connection.execute(
                    "INSERT INTO sessions (id, created, config, rotation_state, state) VALUES (?, ?, ?, ?, ?)",
                    (*values, *state),
                )

        await self._database.do(work)
        return session

    async def resume(self, session: str) -> tuple[CouncilConfig, Markers, Saved]:
        """Return the configuration, markers and state of a session; raises UsageError for an unknown id."""
        row = await self._database.do(
            lambda connection: connection.execute(
                "SELECT config, rotation_state, state FROM sessions WHERE id = ?", (session,)
            ).fetchone()
        )
        if row is None:
            raise UsageError(f"no session of the council is called {session}", hint="streamrelay council list")
        await self._do("UPDATE sessions SET ended = NULL WHERE id = ?", session)
        return (
            msgspec.json.decode(row[0], type=CouncilConfig),
            msgspec.json.decode(row[1], type=Markers),
            msgspec.json.decode(row[2], type=Saved),
        )

    async def save(
        self,
        session: str,
        saved: Saved,
        *,
        taken: Sequence[str] = (),
        notices: Sequence[Entry] = (),
        ended: bool = False,
    ) -> None:
        """Store the state of a session, and in the same transaction what goes with it.

        `taken` are the ids of queued messages that become part of the conversation, at its end; `notices` follow them.
        """
        state, at = msgspec.json.encode(saved).decode(), time.time()

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for message_id in taken:
                    connection.execute(
                        "UPDATE messages SET queued = 0, number = (SELECT max(number) + 1 FROM messages)"
                        " WHERE session = ? AND id = ? AND queued",
                        (session, message_id),
                    )
                for notice in notices:
                    _put(connection, session, notice, at)
                connection.execute(
                    "UPDATE sessions SET state = ?, ended = ? WHERE id = ?", (state, at if ended else None, session)
                )

        await self._database.do(work)

    async def put(self, session: str, entry: Entry, *, queued: bool = False) -> None:
        """Store a message or its new text; it keeps the place of its first version."""

        def work(connection: sqlite3.Connection) -> None:
            _put(connection, session, entry, time.time(), queued=queued)
            if entry.kind == "person":
                title = " ".join(entry.text.split())[:_MAX_TITLE]
                connection.execute("UPDATE sessions SET title = ? WHERE id = ? AND title = ''", (title, session))

        await self._database.do(work)

    async def spend(self, session: str, message: str, usage: Usage, cost: float | None) -> None:
        """Store the tokens and the cost of an answer."""
        await self._do(
            "UPDATE messages SET read = ?, written = ?, cost = ? WHERE session = ? AND id = ?",
            usage.read, usage.written, cost, session, message,
        )  # fmt: skip

    async def entries(self, session: str) -> list[tuple[Entry, bool]]:
        """Return all messages of a session in order, each with whether it is queued."""
        rows = await self._database.do(
            lambda connection: connection.execute(
                "SELECT id, author, kind, text, round, round_kind, partial, queued FROM messages"
                " WHERE session = ? ORDER BY number",
                (session,),
            ).fetchall()
        )
        return [
            (Entry(each, author, kind, text, round_, round_kind, bool(partial)), bool(queued))
            for each, author, kind, text, round_, round_kind, partial, queued in rows
        ]

    async def spent(self, session: str) -> list[Spent]:
        """Return the tokens and the cost of each member."""
        rows = await self._database.do(
            lambda connection: connection.execute(
                "SELECT author, count(*), coalesce(sum(read), 0), coalesce(sum(written), 0), sum(cost) FROM messages"
                " WHERE session = ? AND kind = 'member' GROUP BY author ORDER BY min(number)",
                (session,),
            ).fetchall()
        )
        return [Spent(*row) for row in rows]

    async def sessions(self) -> list[SessionInfo]:
        """Return all sessions, the newest first."""
        rows = await self._database.do(
            lambda connection: connection.execute(
                "SELECT id, created, ended, title, config, (SELECT count(*) FROM messages WHERE session = sessions.id),"
                " (SELECT coalesce(sum(cost), 0) FROM messages WHERE session = sessions.id)"
                " FROM sessions ORDER BY created DESC, rowid DESC"
            ).fetchall()
        )
        return [
            SessionInfo(session, created, ended, title, _names(held), count, cost, held.person)
            for session, created, ended, title, config, count, cost in rows
            for held in [msgspec.json.decode(config, type=CouncilConfig)]
        ]

    async def _do(self, statement: str, *values: object) -> None:
        await self._database.do(lambda connection: connection.execute(statement, values))


def _put(connection: sqlite3.Connection, session: str, entry: Entry, at: float, *, queued: bool = False) -> None:
    connection.execute(
        "INSERT INTO messages (session, id, at, author, kind, text, round, round_kind, partial, queued)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, id) DO UPDATE SET"
        " text = excluded.text, partial = excluded.partial, queued = excluded.queued, round = excluded.round",
        (
            session, entry.id, at, entry.author, entry.kind, entry.text, entry.round, entry.round_kind, entry.partial,
            queued,
        ),
    )  # fmt: skip


def _names(config: CouncilConfig) -> tuple[str, ...]:
    return tuple(member.name for member in config.members)
