"""The outbox: deliveries on disk, so that an accepted message outlives the process that accepted it.

State changes that arrive while the database is busy share one transaction. `put` returns when the message is committed,
`flush` when all earlier changes are.

The outbox keeps a text while its delivery is open, and its receipt for `KEPT` seconds. Of a text whose sender chose the
id it keeps a digest as long, so that the id cannot be used for another text. A power failure may undo the last commits
(database.py), but then the panes are gone as well.
"""

import asyncio
import functools
import hashlib
import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from streamrelay.database import Database, give_back, transaction
from streamrelay.delivery.commands import DeliveryMark
from streamrelay.delivery.message import FINAL, DeliveryPolicy, Message, other_text
from streamrelay.errors import StorageError
from streamrelay.events import DeliveryState

KEPT = 7 * 86400.0
MAX_LISTED = 1_000
"""Deliveries in one list."""
SCHEMA = 4
OPEN: frozenset[DeliveryState] = frozenset({"queued", "pasted", "painted"})
"""The states of deliveries whose Enter is not known to be sent."""
_OPEN = "state IN ('queued', 'pasted', 'painted')"
_UPGRADES = MappingProxyType(
    {
        1: "ALTER TABLE deliveries ADD COLUMN policy TEXT NOT NULL DEFAULT 'null'",
        2: "ALTER TABLE deliveries ADD COLUMN sender TEXT NOT NULL DEFAULT ''",
        3: "ALTER TABLE deliveries ADD COLUMN composer TEXT NOT NULL DEFAULT ''",
    }
)
_CREATE = """
CREATE TABLE IF NOT EXISTS deliveries (
    number INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    server TEXT NOT NULL,
    pane TEXT NOT NULL,
    program TEXT NOT NULL,
    text TEXT NOT NULL,
    head TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    removed TEXT NOT NULL DEFAULT '{}',
    file TEXT,
    changed REAL NOT NULL,
    policy TEXT NOT NULL DEFAULT 'null',
    sender TEXT NOT NULL DEFAULT '',
    composer TEXT NOT NULL DEFAULT '',
    UNIQUE (server, pane, message_id)
) STRICT;
CREATE INDEX IF NOT EXISTS open_deliveries ON deliveries (server, pane) WHERE text <> '';
CREATE TABLE IF NOT EXISTS claims (
    message_id TEXT NOT NULL,
    server TEXT NOT NULL,
    pane TEXT NOT NULL,
    digest BLOB NOT NULL,
    claimed REAL NOT NULL,
    PRIMARY KEY (server, pane, message_id)
) STRICT, WITHOUT ROWID;
"""


class OutboxEntry(NamedTuple):
    """One stored delivery; `server` holds the server's process and start time, `text` is empty when it is done.

    `composer` is what the composer showed of its text when that was last known to be there, else empty.
    """

    number: int
    message_id: str
    server: str
    pane: str
    program: str
    text: str
    head: str
    state: DeliveryState
    reason: str
    removed: dict[str, int]
    file: str | None
    changed: float
    policy: DeliveryPolicy | None = None
    sender: str = ""
    composer: str = ""

    @property
    def mark(self) -> DeliveryMark:
        """The delivery's mark in its pane."""
        return DeliveryMark(self.number, self.message_id)

    @property
    def message(self) -> Message:
        """The message to deliver."""
        return Message(self.message_id, self.text, self.head, self.policy, self.sender)

    @property
    def is_open(self) -> bool:
        """Whether it may still be submitted."""
        return self.state in OPEN

    @property
    def taken_up(self) -> float:
        """When it was queued (Unix time), by its number."""
        return self.number / 1e6

    @property
    def age(self) -> float:
        """Seconds since it was queued."""
        return max(0.0, time.time() - self.taken_up)


class StateNote(NamedTuple):
    """A new state of a delivery."""

    number: int
    state: DeliveryState
    reason: str
    file: str | None


class ComposerNote(NamedTuple):
    """What the composer shows of a delivery's text; empty when it is gone."""

    number: int
    shown: str


class Outbox:
    """The deliveries of one user; an async context manager."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, create=_CREATE, version=SCHEMA, upgrades=_UPGRADES)
        self._notes: list[StateNote | ComposerNote] = []
        self._writing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._database.__aenter__()
        try:
            await self.forget(before=time.time() - KEPT)
        except BaseException:
            await self._database.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.flush()
        finally:
            await self._database.__aexit__(kind, error, trace)

    async def put(
        self,
        message: Message,
        *,
        server: str,
        pane: str,
        program: str,
        removed: dict[str, int] | None = None,
        above: int = 0,
    ) -> tuple[OutboxEntry, bool]:
        """Store a message; return its entry, and whether it is new. A known id is not stored twice.

        The entry's number is higher than `above` and than all others.
        """
        return await self._database.do(
            lambda connection: _put(connection, message, server, pane, program, removed or {}, above)
        )

    async def claim(self, message_id: str, text: str, *, server: str, pane: str, is_sent: bool = False) -> None:
        """Bind an id that the sender chose to its text, as the sender wrote it; call it before the message is put.

        Raises UsageError if a delivery to that pane has the id for another text. `is_sent` tells that the id was sent
        before, where the outbox has no delivery of it: to a session of another machine.
        """
        key = (server, pane, message_id)
        await self._database.do(lambda connection: _claim(connection, key, _digest(message_id, text), is_sent))

    def note(self, number: int, state: DeliveryState, reason: str = "", file: str | None = None) -> None:
        """Note a new state of a delivery, to be written soon."""
        self._note(StateNote(number, state, reason, file))

    def note_composer(self, number: int, shown: str) -> None:
        """Note what the composer shows of a delivery's text, "" when it is gone; to be written soon."""
        self._note(ComposerNote(number, shown))

    def _note(self, note: StateNote | ComposerNote) -> None:
        self._notes.append(note)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write_notes())
            # There may be no caller to tell; `flush` writes the rest again and raises if it cannot.
            self._writing.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def flush(self) -> None:
        """Return when all noted changes are committed; raises StorageError if that fails, and keeps them for later."""
        while self._notes or (self._writing is not None and not self._writing.done()):
            if self._writing is None or self._writing.done():
                self._writing = asyncio.ensure_future(self._write_notes())
            await asyncio.shield(self._writing)

    async def current(self, entry: OutboxEntry) -> OutboxEntry:
        """Return the current state of a delivery, including all changes noted so far."""
        while True:
            await self.flush()
            found = await self._database.do(lambda connection: _select(connection, "number = ?", (entry.number,)))
            if not self._notes and (self._writing is None or self._writing.done()):
                return found[0] if found else entry

    async def unfinished(self, *, server: str, pane: str) -> list[OutboxEntry]:
        """Return the deliveries to a pane whose Enter is not known to be sent, oldest first."""
        where = f"server = ? AND pane = ? AND {_OPEN}"
        return await self._database.do(lambda connection: _select(connection, where, (server, pane)))

    async def in_composer(self, *, server: str, pane: str) -> OutboxEntry | None:
        """Return the latest delivery to a pane whose text was last seen in the composer; None if there is none."""
        where = "server = ? AND pane = ? AND composer <> ''"
        found = await self._database.do(lambda connection: _select(connection, where, (server, pane)))
        return found[-1] if found else None

    async def orphans(self, socket: str, *, server: str) -> list[OutboxEntry]:
        """Return the open deliveries of earlier servers at this socket, before `server`."""
        where = f"server <> ? AND substr(server, 1, ?) = ? AND {_OPEN}"
        return await self._database.do(
            lambda connection: _select(connection, where, (server, len(socket) + 1, socket + " "))
        )

    async def of_server(self, server: str, *, only_open: bool = False, limit: int = MAX_LISTED) -> list[OutboxEntry]:
        """Return the latest deliveries to the panes of a server, oldest first: all of them, or the open ones."""
        where = f"server = ?{f' AND {_OPEN}' if only_open else ''}"
        newest = f"number IN (SELECT number FROM deliveries WHERE {where} ORDER BY number DESC LIMIT ?)"  # noqa: S608  # from above
        return await self._database.do(lambda connection: _select(connection, newest, (server, limit)))

    async def has(self, message_id: str, *, server: str, pane: str) -> bool:
        """Return whether there is a delivery of that message to that pane."""
        where, key = "server = ? AND pane = ? AND message_id = ?", (server, pane, message_id)
        return bool(await self._database.do(lambda connection: _select(connection, where, key)))

    async def changed_since(self, socket: str, at: float) -> list[OutboxEntry]:
        """Return the deliveries of all servers at this socket that were last changed at a Unix time or later."""
        where = "changed >= ? AND substr(server, 1, ?) = ?"
        return await self._database.do(
            lambda connection: _select(connection, where, (at, len(socket) + 1, socket + " "))
        )

    async def panes(self, *, server: str) -> list[str]:
        """Return the panes of a server that have open deliveries."""
        query = f"SELECT DISTINCT pane FROM deliveries WHERE server = ? AND {_OPEN}"  # noqa: S608  # from above
        rows = await self._database.do(lambda connection: connection.execute(query, (server,)).fetchall())
        return [row[0] for row in rows]

    async def counts(self, server: str) -> dict[DeliveryState, int]:
        """Return the number of deliveries to the panes of a server in each state."""
        query = "SELECT state, count(*) FROM deliveries WHERE server = ? GROUP BY state"
        return dict(await self._database.do(lambda connection: connection.execute(query, (server,)).fetchall()))

    async def find(self, message_id: str) -> list[OutboxEntry]:
        """Return the deliveries of a message, one for each pane of each server, oldest first."""
        return await self._database.do(lambda connection: _select(connection, "message_id = ?", (message_id,)))

    async def forget(self, *, before: float) -> int:
        """Delete deliveries last changed before that Unix time, free their space, and return their number.

        An open delivery stays, however long it waits.
        """
        return await self._database.do(lambda connection: _forget(connection, before))

    async def _write_notes(self) -> None:
        # A change noted meanwhile may be the last for a long time, so no later change would start a write for it.
        while self._notes:
            notes, self._notes = self._notes, []
            try:
                await self._database.do(functools.partial(_write, notes=notes))
            except StorageError:
                # The disk is full, or another process holds a transaction: the next write repeats these changes.
                self._notes = notes + self._notes
                raise


def _put(  # noqa: PLR0917  # as `Outbox.put` has them
    connection: sqlite3.Connection,
    message: Message,
    server: str,
    pane: str,
    program: str,
    removed: dict[str, int],
    above: int,
) -> tuple[OutboxEntry, bool]:
    with transaction(connection):
        known = _select(connection, "server = ? AND pane = ? AND message_id = ?", (server, pane, message.message_id))
        if known:
            return known[0], False
        last = connection.execute("SELECT max(number) FROM deliveries").fetchone()[0] or 0
        entry = OutboxEntry(
            next_number(max(last, above)), message.message_id, server, pane, program, message.text, message.head,
            "queued", "", removed, None, time.time(), message.policy, message.sender,
        )  # fmt: skip
        connection.execute(
            f"INSERT INTO deliveries VALUES ({', '.join('?' * len(entry))})",  # noqa: S608  # places, no text
            entry._replace(removed=_as_text(removed), policy=_as_text(message.policy)),
        )
        return entry, True


def _claim(connection: sqlite3.Connection, key: tuple[str, str, str], digest: bytes, is_sent: bool) -> None:
    of_key = "server = ? AND pane = ? AND message_id = ?"
    with transaction(connection):
        known = connection.execute(f"SELECT digest FROM claims WHERE {of_key}", key).fetchone()  # noqa: S608  # from above
        if is_sent or connection.execute(f"SELECT 1 FROM deliveries WHERE {of_key}", key).fetchone():  # noqa: S608  # from above
            # A delivery without a claim is of an earlier version, or its sender did not choose the id.
            if known is not None and known[0] != digest:
                raise other_text(key[2])
            return
        connection.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", (key[2], *key[:2], digest, time.time())
        )


def _digest(message_id: str, text: str) -> bytes:
    # The id is in it, so that the same text under another id has another digest.
    return hashlib.sha256(f"{message_id}\n{text}".encode(errors="surrogatepass")).digest()


def _write(connection: sqlite3.Connection, notes: Iterable[StateNote | ComposerNote]) -> None:
    with transaction(connection):
        for note in notes:
            match note:
                case StateNote(number, state, reason, file):
                    connection.execute(
                        "UPDATE deliveries SET state = ?, reason = ?, file = coalesce(?, file), changed = ?, "
                        "text = CASE WHEN ? THEN '' ELSE text END WHERE number = ?",
                        (state, reason, file, time.time(), _is_done(state), number),
                    )
                case ComposerNote(number, shown):
                    connection.execute("UPDATE deliveries SET composer = ? WHERE number = ?", (shown, number))


def _select(connection: sqlite3.Connection, where: str, values: Sequence[object]) -> list[OutboxEntry]:
    query = f"SELECT * FROM deliveries WHERE {where} ORDER BY number"  # noqa: S608  # only from above
    return [_entry(row) for row in connection.execute(query, values)]


def _forget(connection: sqlite3.Connection, before: float) -> int:
    query = f"DELETE FROM deliveries WHERE changed < ? AND NOT {_OPEN}"  # noqa: S608  # from above
    gone = connection.execute(query, (before,)).rowcount
    connection.execute(
        "DELETE FROM claims WHERE claimed < ? AND NOT EXISTS (SELECT 1 FROM deliveries AS d "
        "WHERE d.server = claims.server AND d.pane = claims.pane AND d.message_id = claims.message_id)",
        (before,),
    )
    give_back(connection)
    return gone


def next_number(last: int) -> int:
    """Return a number above `last` and above every one given out before, also by an outbox that was deleted since."""
    return max(last + 1, time.time_ns() // 1000)


def server_key(address: str, pid: int, started: str) -> str:
    """Return a key that distinguishes a server from all earlier ones at its socket."""
    return f"{address} {pid} {started}"


def _is_done(state: DeliveryState) -> bool:
    """Return whether the text is no longer needed: a submitted message is never sent again."""
    return state in FINAL or state in {"submitted", "turn_started"}


def _as_text(value: dict[str, int] | DeliveryPolicy | None) -> Any:  # a row holds it as text
    return msgspec.json.encode(value).decode()


def _entry(row: tuple[Any, ...]) -> OutboxEntry:
    entry = OutboxEntry(*row)
    removed, policy = (row[OutboxEntry._fields.index(name)] for name in ("removed", "policy"))
    return entry._replace(
        removed=msgspec.json.decode(removed, type=dict[str, int]),
        policy=msgspec.json.decode(policy, type=DeliveryPolicy | None),
    )
