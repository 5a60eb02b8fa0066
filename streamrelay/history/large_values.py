"""Large values of a database: in a table of their own, and many together in a file beside it.

The table of small values has no rowid. There SQLite reads the large values that it passes on the way to a key, so they
have a table with one. It also writes each of them twice, and reads it again to delete it. For many together that costs
more than to sync a file: where the large values of one transaction have `MIN_FILE` bytes together, they are a file. It
is on the disk before the transaction that names it is committed, and is deleted when it is on the disk too that none of
its values is kept any more. So a committed value is there after any end of the process, and after a loss of power if
its transaction is. A file that no transaction names, because a process ended in between, is deleted by the next one.

There is one writer. It makes all calls in the thread of the database. The files are the user's alone.
"""

import contextlib
import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from streamrelay.database import transaction
from streamrelay.errors import StorageError

MIN_SIZE = 32 << 10
"""Bytes from which a value is large."""
MIN_FILE = 1 << 19
"""Bytes from which the large values of one transaction are a file: what SQLite writes in the time of a sync, about."""
CREATE = """
CREATE TABLE IF NOT EXISTS large (
    key TEXT NOT NULL UNIQUE, value BLOB NOT NULL, file INTEGER NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL
) STRICT;
"""
_KEEP = """
INSERT INTO large VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, file = excluded.file, start = excluded.start, size = excluded.size
"""
_DISCARD = "DELETE FROM large WHERE key = ?"
_IN_TABLE = 0
"""Stands for the number of a file where a value is in the table."""


def is_large(value: bytes | None) -> bool:
    """Tell whether a value belongs here."""
    return value is not None and len(value) >= MIN_SIZE


def folder_of(database: Path) -> Path:
    """Return the folder of the files of a database's large values; it need not exist."""
    return database.with_suffix(".large")


def files_size(database: Path) -> int:
    """Return how many bytes the files of a database's large values take."""
    size = 0
    for path in folder_of(database).glob("*"):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


class LargeValues:
    """The large values of one database."""

    def __init__(self, database: Path) -> None:
        """Their files are in a folder beside that of the database; it is made when it is needed."""
        self._folder = folder_of(database)
        self._log = database.with_name(f"{database.name}-wal")
        self._files: dict[str, int] | None = None
        """The number of the file of each key, as committed; None until it is read."""
        self._held: Counter[int] = Counter()
        """How many values each file holds."""
        self._last = 0
        """The number of the newest file."""
        self._written = _IN_TABLE
        """The file of the present transaction."""
        self._moved: dict[str, int | None] = {}
        """The keys that the present transaction changes, with the number of their new file."""

    @contextlib.contextmanager
    def transaction(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Do all of it or nothing, files included."""
        self._moved, self._written = {}, _IN_TABLE
        try:
            with transaction(connection):
                yield
        except BaseException:
            if self._written != _IN_TABLE:
                self._path(self._written).unlink(missing_ok=True)
            raise
        self._delete({number for key, to in self._moved.items() if (number := self._settle(key, to))})

    def keep(self, connection: sqlite3.Connection, values: Mapping[str, bytes | None]) -> None:
        """Keep the large ones of some values instead of what their keys had, and nothing for the others' keys.

        It belongs into a `transaction`, once. Raises OSError where the disk takes no more.
        """
        files = self._known(connection)
        large = {key: value for key, value in values.items() if value is not None and is_large(value)}
        gone = [key for key in values if key in files and key not in large]
        connection.executemany(_DISCARD, [(key,) for key in gone])
        in_file = sum(map(len, large.values())) >= MIN_FILE
        if in_file:
            self._last += 1
            self._written = self._last
            self._write(large.values())
        start = 0
        for key, value in large.items():
            connection.execute(_KEEP, (key, b"" if in_file else value, self._written, start, len(value)))
            start += len(value)
        self._moved = dict.fromkeys(gone) | dict.fromkeys(large, self._written)

    def read(self, connection: sqlite3.Connection) -> dict[str, bytes]:
        """Return all of them, and delete what an end of the writer left; raises StorageError for a damaged file."""
        values: dict[str, bytes] = {}
        for key, value, number, start, size in connection.execute("SELECT * FROM large").fetchall():
            if number == _IN_TABLE:
                values[key] = value
                continue
            path = self._path(number)
            with path.open("rb") as file:
                file.seek(start)
                values[key] = file.read(size)
            if len(values[key]) != size:
                raise StorageError(f"{path} is damaged: it ends too early", data={"path": str(path)})
        known = set(self._known(connection).values())
        self._delete({int(path.name) for path in self._paths()} - known)
        return values

    def _known(self, connection: sqlite3.Connection) -> dict[str, int]:
        if self._files is None:
            self._files = dict(connection.execute("SELECT key, file FROM large").fetchall())
            self._held = Counter(self._files.values())
            self._last = max((*self._held, *(int(path.name) for path in self._paths())), default=0)
        return self._files

    def _settle(self, key: str, number: int | None) -> int:
        """Note where the value of a key is now; return the file that has no values any more, 0 for none."""
        assert self._files is not None  # noqa: S101  # `keep` has read them
        before = self._files.pop(key, _IN_TABLE)
        if number is not None:
            self._files[key] = number
            self._held[number] += 1
        if before == _IN_TABLE:
            return _IN_TABLE
        self._held[before] -= 1
        return _IN_TABLE if self._held[before] else before

    def _delete(self, numbers: Collection[int]) -> None:
        """Delete files that no committed transaction names; those that cannot be deleted now are at the next start."""
        for number in numbers:
            self._held.pop(number, None)
        with contextlib.suppress(OSError):
            if numbers and self._log.exists():
                # A loss of power must not undo what ended their use.
                _sync(self._log)
            for number in numbers:
                self._path(number).unlink()

    def _write(self, values: Collection[bytes]) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self._path(self._written), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(values)
            file.flush()
            os.fsync(file.fileno())
        # The name of the file is on the disk when its folder is.
        _sync(self._folder)

    def _paths(self) -> list[Path]:
        return [path for path in self._folder.glob("*") if path.name.isdigit()]

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:020d}"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
