"""What is to be delivered, on disk: nothing that was accepted is lost with the process that accepted it.

One SQLite file of the user's, in WAL mode. All work on it is done in one thread, so that the event loop never waits for
a disk; what is noted while that thread is busy goes into one transaction. `put` returns when the message is committed,
`flush` when everything noted before is.

A text is kept for as long as its delivery is open; the receipt is kept for `KEPT` seconds. A commit survives the death
of the process, not a loss of power (`synchronous=NORMAL`): then the panes are gone as well.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import msgspec

from streamrelay.delivery.commands import Mark
from streamrelay.delivery.message import FINAL, Message
from streamrelay.errors import StreamrelayError
from streamrelay.events import DeliveryState

KEPT = 7 * 86400.0
SCHEMA = 1
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
    UNIQUE (server, pane, message_id)
) STRICT;
CREATE INDEX IF NOT EXISTS open_deliveries ON deliveries (server, pane) WHERE text <> '';
"""

Result = TypeVar("Result")


class Entry(NamedTuple):
    """One delivery as it stands on disk; `server` is the server's process and start, `text` empty when it is done."""

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

    @property
    def mark(self) -> Mark:
        """What it is known by in its pane."""
        return Mark(self.number, self.message_id)

    @property
    def message(self) -> Message:
        """What is to be delivered."""
        return Message(self.message_id, self.text, self.head)


class Note(NamedTuple):
    """A delivery stands so now."""

    number: int
    state: DeliveryState
    reason: str
    file: str | None


class Outbox:
    """The deliveries of one user; an async context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="outbox")
        self._database: sqlite3.Connection | None = None
        self._notes: list[Note] = []
        self._writing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._do(self._open)
        except BaseException:
            self._thread.shutdown()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.flush()
        finally:
            await self._do(self._close)
            self._thread.shutdown()

    async def put(
        self, message: Message, *, server: str, pane: str, program: str, removed: dict[str, int] | None = None
    ) -> tuple[Entry, bool]:
        """Take a message up and return its entry, and whether it is new: an id that is known is not taken twice."""
        return await self._do(lambda: self._put(message, server, pane, program, removed or {}))

    def note(self, number: int, state: DeliveryState, reason: str = "", file: str | None = None) -> None:
        """Note how a delivery stands; it is written soon."""
        self._notes.append(Note(number, state, reason, file))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write_notes())

    async def flush(self) -> None:
        """Return when everything that was noted is committed."""
        while self._notes or (self._writing is not None and not self._writing.done()):
            if self._writing is None or self._writing.done():
                self._writing = asyncio.ensure_future(self._write_notes())
            await asyncio.shield(self._writing)

    async def unfinished(self, *, server: str, pane: str) -> list[Entry]:
        """Return the deliveries to a pane whose Enter is not known to be sent, oldest first."""
        where = "server = ? AND pane = ? AND state IN ('queued', 'pasted', 'painted')"
        return await self._do(lambda: self._select(where, (server, pane)))

    async def orphans(self, socket: str, *, server: str) -> list[Entry]:
        """Return the deliveries, open like those, of servers that had this socket before `server` had it."""
        where = "server <> ? AND substr(server, 1, ?) = ? AND state IN ('queued', 'pasted', 'painted')"
        return await self._do(lambda: self._select(where, (server, len(socket) + 1, socket + " ")))

    async def find(self, message_id: str) -> list[Entry]:
        """Return the deliveries of a message, one for each pane."""
        return await self._do(lambda: self._select("message_id = ?", (message_id,)))

    async def forget(self, *, before: float) -> int:
        """Delete what was last changed before that Unix time, give its room back, and return how many those were."""
        return await self._do(lambda: self._forget(before))

    # In the thread

    async def _do(self, work: Callable[[], Result]) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except sqlite3.Error as error:
            raise StreamrelayError(f"{self._path}: {error}", hint="move the file away to begin a new one") from error

    async def _write_notes(self) -> None:
        notes, self._notes = self._notes, []
        await self._do(lambda: self._write(notes))

    @property
    def _open_database(self) -> sqlite3.Connection:
        if self._database is None:
            raise StreamrelayError("the outbox is not open", hint="use it in `async with`")
        return self._database

    def _open(self) -> None:
        self._path.touch(mode=0o600)
        database = sqlite3.connect(self._path, timeout=10.0, isolation_level=None, check_same_thread=False)
        try:
            found = database.execute("PRAGMA user_version").fetchone()[0]
            if found > SCHEMA:
                raise StreamrelayError(f"{self._path} is of a newer streamrelay", hint="update streamrelay")
            if found == 0:
                database.execute("PRAGMA auto_vacuum = INCREMENTAL")
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(_CREATE)
            database.execute(f"PRAGMA user_version = {SCHEMA}")
        except BaseException:
            database.close()
            raise
        self._database = database
        self._forget(time.time() - KEPT)

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _put(
        self, message: Message, server: str, pane: str, program: str, removed: dict[str, int]
    ) -> tuple[Entry, bool]:
        database = self._open_database
        database.execute("BEGIN IMMEDIATE")
        try:
            known = self._select("server = ? AND pane = ? AND message_id = ?", (server, pane, message.message_id))
            if known:
                return known[0], False
            last = database.execute("SELECT max(number) FROM deliveries").fetchone()[0] or 0
            entry = Entry(
                next_number(last), message.message_id, server, pane, program, message.text, message.head,
                "queued", "", removed, None, time.time(),
            )  # fmt: skip
            database.execute(
                f"INSERT INTO deliveries VALUES ({', '.join('?' * len(entry))})",  # noqa: S608  # places, no text
                entry._replace(removed=_as_text(removed)),
            )
            return entry, True
        finally:
            database.execute("COMMIT")

    def _write(self, notes: Iterable[Note]) -> None:
        database = self._open_database
        database.execute("BEGIN IMMEDIATE")
        try:
            database.executemany(
                "UPDATE deliveries SET state = ?, reason = ?, file = coalesce(?, file), changed = ?, "
                "text = CASE WHEN ? THEN '' ELSE text END WHERE number = ?",
                [(n.state, n.reason, n.file, time.time(), _is_done(n.state), n.number) for n in notes],
            )
        finally:
            database.execute("COMMIT")

    def _select(self, where: str, values: Sequence[object]) -> list[Entry]:
        query = f"SELECT * FROM deliveries WHERE {where} ORDER BY number"  # noqa: S608  # only from above
        return [_entry(row) for row in self._open_database.execute(query, values)]

    def _forget(self, before: float) -> int:
        database = self._open_database
        gone = database.execute("DELETE FROM deliveries WHERE changed < ?", (before,)).rowcount
        # Run to its end by a script alone: `execute` frees one page and stops.
        database.executescript("PRAGMA incremental_vacuum;")
        return gone


def next_number(last: int) -> int:
    """Return a number above `last` and above every one given out before, also by an outbox that was deleted since."""
    return max(last + 1, time.time_ns() // 1000)


def server_key(socket_path: str, pid: int, started: str) -> str:
    """Return what tells one server from every other that had its socket."""
    return f"{socket_path} {pid} {started}"


def _is_done(state: DeliveryState) -> bool:
    """Tell whether the text is not needed any more: what is submitted is never sent again."""
    return state in FINAL or state in {"submitted", "turn_started"}


def _as_text(removed: dict[str, int]) -> Any:  # a row holds it as text
    return msgspec.json.encode(removed).decode()


def _entry(row: tuple[Any, ...]) -> Entry:
    entry = Entry(*row)
    return entry._replace(removed=msgspec.json.decode(row[Entry._fields.index("removed")], type=dict[str, int]))
