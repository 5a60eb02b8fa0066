"""A session's ranges in the journal: the pane it had, from one sequence number to another.

A session that has ended is asked for like one that is there. tmux gives a pane's id to others only after it was started
again; so a session is a pane from when it was first heard there until another tmux server, or another session, has it.
Functions of one connection each, for the journal's thread.
"""

import sqlite3
import time
from typing import NamedTuple

CREATE = """
CREATE TABLE IF NOT EXISTS places (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    pane TEXT NOT NULL,
    title TEXT NOT NULL,
    server TEXT NOT NULL,
    first INTEGER NOT NULL,
    seen REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS places_by_pane ON places (pane);
"""
_NEWEST = "SELECT number, session, server FROM places WHERE pane = ? ORDER BY number DESC LIMIT 1"
_FIND = """
SELECT pane, first, (
    SELECT min(next.first) FROM places AS next WHERE next.pane = places.pane AND next.number > places.number
)
FROM places WHERE session = ?1 OR title = ?1 OR pane = ?1
ORDER BY session = ?1 DESC, number DESC LIMIT 1
"""


class Place(NamedTuple):
    """A pane from after one `seq` of the journal to before another one; None for no end."""

    pane: str
    first: int = 0
    end: int | None = None


def note(connection: sqlite3.Connection, session: str, pane: str, *, title: str, server: str, behind: int) -> None:
    """Note that a session is watched from after a `seq` of the journal on, unless it is known."""
    newest = connection.execute(_NEWEST, (pane,)).fetchone()
    if newest is not None and newest[1:] == (session, server):
        connection.execute("UPDATE places SET title = ?, seen = ? WHERE number = ?", (title, time.time(), newest[0]))
    else:
        values = (session, pane, title, server, behind + 1, time.time())
        connection.execute(
            "INSERT INTO places (session, pane, title, server, first, seen) VALUES (?, ?, ?, ?, ?, ?)", values
        )


def find(connection: sqlite3.Connection, name: str) -> Place | None:
    """Return the place of the newest session of that id, title or pane; None if none is known."""
    row = connection.execute(_FIND, (name,)).fetchone()
    return None if row is None else Place(*row)


def forget(connection: sqlite3.Connection) -> None:
    """Forget the sessions of which nothing is journaled any more."""
    connection.execute(
        "DELETE FROM places WHERE EXISTS (SELECT 1 FROM places AS next WHERE next.pane = places.pane "
        "AND next.number > places.number AND next.first <= (SELECT coalesce(min(seq), 0) FROM events))"
    )
