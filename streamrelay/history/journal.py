"""The journal: every event that is not provisional, in one lasting order, and a search index of the texts.

An event gets its `seq` here, and keeps it: numbers grow over restarts and are never given twice. What is returned by
`append` is committed. Beside the events stand the utterances (utterances.py) with an index of their words.

`live` and `retracted` are not journaled: what they show becomes text, or was never said.

Beside the events stand values that are written in the same transaction (`keep`): how things stand after those events.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from streamrelay.database import Database, give_back, transaction
from streamrelay.events import AnyEvent, Event, Live, Receipt, Retracted, decode, encode
from streamrelay.history import large_values, places
from streamrelay.history.large_values import LargeValues, files_size, is_large
from streamrelay.history.places import Place
from streamrelay.history.query import Query
from streamrelay.history.results import MAX_OUTPUT, FoundText, Output, SearchHistory
from streamrelay.history.utterances import Utterance, Utterances

_VERSION = 4
"""Of 4, messages that are on their way are kept as MessagePack; an earlier version could not read them."""
_CREATE = """
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    event TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_by_time ON events (at);
CREATE TABLE IF NOT EXISTS utterances (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    at REAL NOT NULL,
    until REAL NOT NULL,
    host TEXT NOT NULL,
    session TEXT NOT NULL,
    pane TEXT NOT NULL,
    turn INTEGER NOT NULL,
    agent TEXT NOT NULL,
    origin TEXT NOT NULL,
    message_id TEXT,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS utterances_by_time ON utterances (at);
CREATE INDEX IF NOT EXISTS utterances_by_pane ON utterances (pane, first);
CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    text, content = 'utterances', content_rowid = 'first', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER IF NOT EXISTS said AFTER INSERT ON utterances BEGIN
    INSERT INTO words (rowid, text) VALUES (new.first, new.text);
END;
CREATE TRIGGER IF NOT EXISTS forgotten AFTER DELETE ON utterances BEGIN
    INSERT INTO words (words, rowid, text) VALUES ('delete', old.first, old.text);
END;
CREATE TRIGGER IF NOT EXISTS continued AFTER UPDATE OF text ON utterances BEGIN
    INSERT INTO words (words, rowid, text) VALUES ('delete', old.first, old.text);
    INSERT INTO words (rowid, text) VALUES (new.first, new.text);
END;
"""
_WRITE = """
INSERT INTO utterances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (first) DO UPDATE SET last = excluded.last, until = excluded.until, text = excluded.text
"""
_KEEP = "INSERT INTO kept VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_DISCARD = "DELETE FROM kept WHERE key = ?"
_RECEIPT = '{"event":"receipt",'
MAX_UNCHECKED = 1_000_000
"""Bytes after whose writing the limit of the size is due to be checked."""
_STEP_EVENTS, _STEP_BYTES = 2_000, 500_000
"""Events, and bytes of events, that one transaction deletes at most: 0.1 s of two busy cores, in which others wait."""


class Journal:
    """A journal while it is open; an async context manager. Raises StorageError like a `Database`."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, create=_CREATE + large_values.CREATE + places.CREATE, version=_VERSION)
        self._large = LargeValues(path)
        self._path = path
        self._utterances = Utterances()
        self._unchecked = 0
        self.check_due = asyncio.Event()
        """Set when `MAX_UNCHECKED` bytes were written; the owner clears it and calls `prune`."""
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._entered.enter_async_context(self._database)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._entered.aclose()

    async def append(self, events: Iterable[Event], *, keep: Mapping[str, bytes | None] | None = None) -> list[Event]:
        """Number events and write them down; return those that were. Events without a time get the present one.

        With them, or not at all, the values of `keep` are written, or deleted where they are None.
        """
        kept = [event for event in events if not isinstance(event, Live | Retracted)]
        if kept or keep:
            self._unchecked += await self._database.do(lambda connection: self._append(connection, kept, keep or {}))
            if self._unchecked >= MAX_UNCHECKED:
                self._unchecked = 0
                self.check_due.set()
        return kept

    async def kept(self) -> dict[str, bytes]:
        """Return all values that were kept, in the order of their keys."""
        return await self._database.do(self._kept)

    async def since(self, seq: int, *, limit: int = 1000, place: Place | None = None) -> list[AnyEvent]:
        """Return the events after a `seq`, of one place or of all, oldest first."""
        where = {"seq > ?": seq} | ({} if place is None else _within(place, "seq", "event ->> '$.pane'"))
        query = f"SELECT event FROM events WHERE {' AND '.join(where)} ORDER BY seq LIMIT ?"  # noqa: S608  # only from here
        values = (*where.values(), limit)
        rows = await self._database.do(lambda connection: connection.execute(query, values).fetchall())
        return [decode(row[0]) for row in rows]

    async def receipts(self, since: float) -> list[Receipt]:
        """Return the receipts from a Unix time on, oldest first."""
        # By the beginning of its form (`encode`): to parse all events of a large journal would take seconds.
        query = "SELECT event FROM events WHERE at >= ? AND substr(event, 1, length(?)) = ? ORDER BY seq"
        values = (since, _RECEIPT, _RECEIPT)
        rows = await self._database.do(lambda connection: connection.execute(query, values).fetchall())
        return [event for event in map(decode, (row[0] for row in rows)) if isinstance(event, Receipt)]

    async def last_at(self) -> float:
        """Return the Unix time of the newest event; 0 before the first one."""
        query = "SELECT at FROM events ORDER BY seq DESC LIMIT 1"
        row = await self._database.do(lambda connection: connection.execute(query).fetchone())
        return 0.0 if row is None else float(row[0])

    async def last_seq(self) -> int:
        """Return the number given last; 0 before the first one."""
        return await self._database.do(_last_seq)

    async def size(self) -> int:
        """Return how many bytes it takes: its database, without the write-ahead log, and the files of large values."""
        return await self._database.do(self._size)

    async def search(
        self, query: Query, asked: SearchHistory, *, place: Place | None = None, limit: int = 20
    ) -> list[FoundText]:
        """Return the utterances that a query finds (query.py), as FTS5 ranks them, without snippets.

        Of what is asked, agent and times count here; `place` is the session's.
        """
        where: dict[str, str | float] = {} if place is None else _within(place, "first", "pane")
        if asked.program:
            where["agent = ?"] = asked.program
        if asked.since:
            where["until >= ?"] = asked.since
        if asked.until:
            where["at <= ?"] = asked.until
        found: dict[int, FoundText] = {}
        for part in query.parts():
            for one in await self._database.do(partial(_search, query=part, where=where, limit=limit)):
                found.setdefault(one.first, one)
        return list(found.values())

    async def recent(self, since: float, *, limit: int = 200) -> list[FoundText]:
        """Return the newest utterances that were not over before that Unix time, the newest first."""
        query = f"SELECT {_COLUMNS} FROM utterances WHERE until >= ? ORDER BY first DESC LIMIT ?"  # noqa: S608
        rows = await self._database.do(lambda connection: connection.execute(query, (since, limit)).fetchall())
        return [_found(row) for row in rows]

    async def latest(self, sessions: Sequence[str], *, limit: int = 50) -> list[Output]:
        """Return the newest output of these sessions (ids), newest first: `limit` in all, and the last of each one.

        Messages to them and what a person typed are not output.
        """
        return await self._database.do(lambda connection: _latest(connection, sessions, limit))

    async def note_session(self, session: str, pane: str, *, title: str, server: str) -> None:
        """Note which session a pane of a tmux server is, from now on."""
        await self._database.do(
            lambda connection: places.note(
                connection, session, pane, title=title, server=server, behind=_last_seq(connection)
            )
        )

    async def find_session(self, name: str) -> Place | None:
        """Return the place of the session of that id, title or pane, ended or not; None if none is known."""
        return await self._database.do(lambda connection: places.find(connection, name))

    async def prune(self, *, before: float | None = None, most_bytes: int | None = None) -> int:
        """Delete entries before a Unix time, then the oldest until `size` is at most a number of bytes.

        Returns how many events were forgotten. Their room is given back to the file system. Other work on the journal
        goes on between the steps.
        """
        forgotten = 0
        while gone := await self._database.do(lambda connection: self._forget_some(connection, before, most_bytes)):
            forgotten += gone
        return forgotten

    def _kept(self, connection: sqlite3.Connection) -> dict[str, bytes]:
        values = dict(connection.execute("SELECT key, value FROM kept").fetchall()) | self._large.read(connection)
        return dict(sorted(values.items()))

    def _append(self, connection: sqlite3.Connection, events: Sequence[Event], keep: Mapping[str, bytes | None]) -> int:
        """Write it all down, and return the bytes of what was written."""
        now = time.time()
        rows: list[tuple[int, float, str]] = []
        touched: dict[int, Utterance] = {}
        # What is refused was not said: the next append goes on with what is in the file.
        utterances = self._utterances.copied(event.pane for event in events)
        with self._large.transaction(connection):
            for seq, event in enumerate(events, _last_seq(connection) + 1):
                event.seq = seq
                at = event.at if isinstance(event.at, float) else now
                event.at = at
                rows.append((seq, at, encode(event).decode()))
                utterance = utterances.take(seq, event, at)
                if utterance is not None:
                    touched[utterance.first] = utterance
            connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
            connection.executemany(_WRITE, map(_row, touched.values()))
            small = {key: value for key, value in keep.items() if value is not None and not is_large(value)}
            connection.executemany(_KEEP, small.items())
            connection.executemany(_DISCARD, [(key,) for key in keep.keys() - small.keys()])
            self._large.keep(connection, keep)
        self._utterances = utterances
        return sum(len(row[2]) for row in rows) + sum(len(value) for value in keep.values() if value is not None)

    def _forget_some(self, connection: sqlite3.Connection, before: float | None, most_bytes: int | None) -> int:
        """Forget some of the events that are too old, else some of those that are too much; return how many."""
        gone = 0
        if before is not None:
            too_old = f"seq IN (SELECT seq FROM events WHERE at < ? LIMIT {_STEP_EVENTS})"  # noqa: S608  # only from here
            gone = _forget(connection, too_old, before)
        if not gone and most_bytes is not None and (excess := self._used(connection) - most_bytes) > 0:
            # A text takes twice the bytes of its event: its utterance and the index have it, too.
            gone = _forget(connection, "seq <= ?", _end_of_oldest(connection, min(excess // 2, _STEP_BYTES)))
        return gone

    def _size(self, connection: sqlite3.Connection) -> int:
        return _pages_size(connection, "page_count") + files_size(self._path)

    def _used(self, connection: sqlite3.Connection) -> int:
        """Return the size without free pages: a database that cannot give them back fills them again."""
        return self._size(connection) - _pages_size(connection, "freelist_count")


def _last_seq(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return int(row[0]) if row is not None else 0


def _row(utterance: Utterance) -> tuple[object, ...]:
    said = utterance
    return (
        said.first, said.last, said.at, said.until, said.host, said.session, said.pane, said.turn, said.agent,
        said.origin, said.message_id, said.text,
    )  # fmt: skip


_COLUMNS = "first, last, at, host, session, pane, turn, agent, origin, message_id, utterances.text"


def _search(
    connection: sqlite3.Connection, query: Query, where: Mapping[str, str | float], limit: int
) -> list[FoundText]:
    conditions = dict(where)
    if query.terms:
        conditions["words MATCH ?"] = query.match
    table = "words JOIN utterances ON utterances.first = words.rowid" if query.terms else "utterances"
    pieces = ["instr(utterances.text, ?) > 0"] * len(query.pieces)
    sql = (
        f"SELECT {_COLUMNS} FROM {table} WHERE {' AND '.join([*conditions, *pieces])} "  # noqa: S608
        f"ORDER BY {'rank' if query.terms else 'at DESC'} LIMIT ?"
    )
    values = [*conditions.values(), *query.pieces, limit]
    return [_found(row) for row in connection.execute(sql, values)]


def _latest(connection: sqlite3.Connection, sessions: Sequence[str], limit: int) -> list[Output]:
    last: list[Output] = []
    earlier: list[Output] = []
    for session in sessions:
        place = places.find(connection, session)
        if place is None:
            continue
        where = _within(place, "first", "pane")
        sql = (
            f"SELECT last, at, until, origin, substr(text, -{MAX_OUTPUT}) FROM utterances "  # noqa: S608
            f"WHERE {' AND '.join(where)} AND text <> '' AND origin NOT IN ('injected', 'typed') "
            "ORDER BY first DESC LIMIT ?"
        )
        outputs = [
            Output(seq=seq, at=at, until=until, session=session, pane=place.pane, origin=origin, text=text)
            for seq, at, until, origin, text in connection.execute(sql, (*where.values(), max(limit, 1)))
        ]
        last += outputs[:1]
        earlier += outputs[1:]
    earlier.sort(key=lambda output: output.seq, reverse=True)
    return sorted(last + earlier[: max(limit - len(last), 0)], key=lambda output: output.seq, reverse=True)


def _found(row: tuple[object, ...]) -> FoundText:
    return FoundText(*row, "", ())  # type: ignore[call-arg, arg-type]  # as the columns are declared


def _within(place: Place, number: str, pane: str) -> dict[str, str | float]:
    end = {} if place.end is None else {f"{number} < ?": place.end}
    return {f"{pane} = ?": place.pane, f"{number} >= ?": place.first, **end}


def _end_of_oldest(connection: sqlite3.Connection, size: int) -> int:
    """Return the last `seq` of the oldest events that together have this many bytes; 0 if there is no event."""
    last = 0
    oldest = "SELECT seq, length(event) FROM events ORDER BY seq LIMIT ?"
    for seq, length in connection.execute(oldest, (_STEP_EVENTS,)):
        last, size = seq, size - length
        if size <= 0:
            break
    return last


def _forget(connection: sqlite3.Connection, condition: str, value: float) -> int:
    with transaction(connection):
        gone = connection.execute(f"DELETE FROM events WHERE {condition}", (value,)).rowcount  # noqa: S608
        if not gone:
            return 0
        connection.execute("DELETE FROM utterances WHERE first < (SELECT coalesce(min(seq), 1 << 62) FROM events)")
        places.forget(connection)
    give_back(connection)
    return gone


def _pages_size(connection: sqlite3.Connection, pages: str) -> int:
    count, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in (pages, "page_size"))
    return int(count * size)
