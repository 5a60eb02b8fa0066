"""One SQLite file of the user's, and the one thread in which all work on it is done.

    async with Database(path, create=SCHEMA_SQL, version=1) as database:
        rows = await database.do(lambda connection: connection.execute("SELECT ...").fetchall())

The event loop never waits for a disk, and no two pieces of work overlap. The file is in WAL mode: a commit survives the
death of the process, not a loss of power (`synchronous=NORMAL`). It is the user's alone (0600).

Deleted values are overwritten only where that costs no further write (`secure_delete=FAST`). Debian's SQLite overwrites
all of them, which writes each large value a second time.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

from streamrelay.errors import StorageError, UsageError

LOCK_TIMEOUT = 10.0
"""Seconds for which another process's transaction is waited for."""
CHECKPOINT_PAGES = 4_000
"""Pages of the write-ahead log (4 KB each) after which a commit moves them into the file, which syncs both.

At SQLite's 1,000, large values spend most of a commit on that: of 256 KB, the mean is 3.9 ms, at 4,000 it is 2.4 ms.
"""

MAX_LOG_BYTES = 4_096 * CHECKPOINT_PAGES
"""Size to which the write-ahead log shrinks again; a large transaction would leave it at its own size for ever."""

CACHE_KIBIBYTES = 8_000
"""Memory for pages of the file, at most. At SQLite's 2,000, a transaction with large values writes its pages early and
reads them again to delete them: of 256 KB, one costs 1.1 ms of CPU, at 8,000 it costs 0.65 ms.
"""

_MAGIC, _VERSION_AT = b"SQLite format 3\0", 60
"""How the file of a database begins, and where its header has the user's version (sqlite.org/fileformat.html 1.3)."""

Result = TypeVar("Result")


class Database:
    """A database while it is open; an async context manager.

    `create` is SQL that makes what is missing, `version` the number of that schema, `upgrades` the statement that makes
    the next version of one by its number; a version that only adds tables needs none. Entering raises StorageError for
    a file that is no database, cannot be written, or is of a newer version.
    """

    def __init__(
        self, path: Path, *, create: str, version: int, upgrades: Mapping[int, str] = MappingProxyType({})
    ) -> None:
        self.path = path
        self._create = create
        self._version = version
        self._upgrades = upgrades
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=path.stem)
        self._connection: sqlite3.Connection | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._in_thread(self._open)
        except BaseException:
            self._thread.shutdown()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._in_thread(self._close)
        finally:
            self._thread.shutdown()

    async def do(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run work on the database, after all earlier work; raises StorageError for an error of SQLite."""
        return await self._in_thread(lambda: work(self._open_connection))

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"{self.path}: {error}", data={"path": str(self.path)}) from error

    @property
    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise UsageError(f"{self.path} is not open", hint="use it in `async with`")
        return self._connection

    def _open(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._refuse_newer(_stored_version(self.path))
        self.path.touch(mode=0o600)
        connection = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
        try:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            self._refuse_newer(found)
            if found == 0:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = FAST")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIBIBYTES}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {MAX_LOG_BYTES}")
            if 0 < found < self._version:
                self._upgrade(connection)
            connection.executescript(self._create)
            connection.execute(f"PRAGMA user_version = {self._version}")
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _refuse_newer(self, found: int) -> None:
        if found > self._version:
            raise StorageError(
                f"{self.path}: a newer version of streamrelay wrote it (schema {found}, known are those up to "
                f"{self._version})",
                hint="install the version of streamrelay that wrote it, or a newer one",
                data={"path": str(self.path), "schema": found, "known": self._version},
            )

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        with transaction(connection):
            # Another process may have opened it first at the same moment.
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            for version in range(found, self._version):
                if version in self._upgrades:
                    connection.execute(self._upgrades[version])
            connection.execute(f"PRAGMA user_version = {self._version}")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _stored_version(path: Path) -> int:
    """Return the version of a file without changing it, 0 for one that cannot be read or is no database.

    Opening a database writes: SQLite moves what a killed process left in the write-ahead log into the file. A file that
    is refused must stay as the other version left it. Its header holds the version unless that log does.
    """
    with suppress(OSError):
        if path.with_name(f"{path.name}-wal").stat().st_size:
            read_only = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(read_only, uri=True, timeout=LOCK_TIMEOUT)) as database:
                return int(database.execute("PRAGMA user_version").fetchone()[0])
    with suppress(OSError), path.open("rb") as file:
        header = file.read(_VERSION_AT + 4)
        return int.from_bytes(header[_VERSION_AT:], "big") if header.startswith(_MAGIC) else 0
    return 0


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Do all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        # After some errors, for example on a full disk, SQLite has rolled back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def give_back(connection: sqlite3.Connection) -> None:
    """Return the space of deleted entries to the file system."""
    # Run to its end by a script alone: `execute` frees one page and stops.
    connection.executescript("PRAGMA incremental_vacuum")
    # The file shrinks when the log is moved into it. PASSIVE waits for no reader in another process.
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
