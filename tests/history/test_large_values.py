"""Large values of the journal are there after any end, take no room when they are gone, and none on a full disk."""

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from streamrelay.errors import StorageError
from streamrelay.history import Journal
from streamrelay.history.large_values import MIN_FILE, MIN_SIZE
from tests.process_limits import files_limited_to

LARGE = b"large" * (MIN_SIZE // 4)
MANY = MIN_FILE // len(LARGE) + 1
"""So many of them are a file."""
WRITER = """
import asyncio, sys
from pathlib import Path
from streamrelay.history import Journal
from tests.history.test_large_values import LARGE, MANY, numbered

async def main():
    async with Journal(Path(sys.argv[1])) as journal:
        await journal.kept()
        for number in range(10_000):
            await journal.append([], keep=numbered(number) | dict.fromkeys(numbered(number - 2)))
            print(number, flush=True)

asyncio.run(main())
"""


def numbered(number: int) -> dict[str, bytes]:
    """The values of one step; the text of each tells which one it is."""
    return {f"post/{number:06d}/{place:03d}": b"%06d %03d " % (number, place) + LARGE for place in range(MANY)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def files(path: Path) -> list[Path]:
    return sorted(path.with_suffix(".large").glob("*"))


async def test_many_large_values_are_a_file_for_as_long_as_one_of_them_is_kept(path: Path) -> None:
    values = numbered(1)
    async with Journal(path) as journal:
        await journal.append([], keep={"small": b"{}", **values})
        assert await journal.kept() == dict(sorted({"small": b"{}", **values}.items()))
    (file,) = files(path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert file.stat().st_size == sum(map(len, values.values()))
    *first, last = values
    async with Journal(path) as journal:
        await journal.append([], keep=dict.fromkeys(first))
        assert await journal.kept() == {last: values[last], "small": b"{}"}
        assert files(path) == [file]
        await journal.append([], keep={last: None})
        assert await journal.kept() == {"small": b"{}"}
        assert files(path) == []
        await journal.append([], keep=numbered(2))
        assert await journal.kept() == numbered(2) | {"small": b"{}"}


async def test_a_few_large_values_are_no_file(path: Path) -> None:
    async with Journal(path) as journal:
        await journal.append([], keep={"one": LARGE, "two": LARGE[1:]})
        await journal.append([], keep={"two": None})
        assert await journal.kept() == {"one": LARGE}
    assert files(path) == []


async def test_a_value_takes_the_place_of_one_of_another_size(path: Path) -> None:
    values = numbered(1)
    first, *_ = values
    async with Journal(path) as journal:
        for value in (b"small", LARGE, b"small again"):
            await journal.append([], keep={first: value})
            assert await journal.kept() == {first: value}
        await journal.append([], keep=values)
        assert await journal.kept() == values
        await journal.append([], keep=dict.fromkeys(values, b"small"))
        assert await journal.kept() == dict.fromkeys(values, b"small")
        await journal.append([], keep=dict.fromkeys(values, LARGE))
        await journal.append([], keep=dict.fromkeys(values, LARGE[1:]))
        assert await journal.kept() == dict.fromkeys(values, LARGE[1:])
    assert len(files(path)) == 1


async def test_a_large_value_of_an_earlier_version_is_read_and_deleted(path: Path) -> None:
    async with Journal(path):
        pass
    with closing(sqlite3.connect(path)) as database:
        database.executescript("DROP TABLE large; PRAGMA user_version = 2")
        database.execute("INSERT INTO kept VALUES ('one', ?), ('two', ?)", (LARGE, LARGE))
        database.commit()
    async with Journal(path) as journal:
        assert await journal.kept() == {"one": LARGE, "two": LARGE}
        await journal.append([], keep={"one": None, "two": LARGE[1:]})
        assert await journal.kept() == {"two": LARGE[1:]}


@pytest.mark.requirement("DLV-07a")
async def test_on_a_full_disk_nothing_changes_and_nothing_is_left(path: Path) -> None:
    async with Journal(path) as journal:
        await journal.append([], keep=numbered(1))
        with files_limited_to(MIN_FILE // 2), pytest.raises(StorageError):
            await journal.append([], keep=numbered(2) | dict.fromkeys(numbered(1)))
        assert await journal.kept() == numbered(1)
        assert len(files(path)) == 1
        await journal.append([], keep=numbered(2) | dict.fromkeys(numbered(1)))
        assert await journal.kept() == numbered(2)
        assert len(files(path)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the name of an open file is read from /proc")
async def test_a_file_is_synced_before_it_is_named_and_deleted_when_that_is_synced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, str]] = []
    sync, unlink = os.fsync, Path.unlink

    def fsync(descriptor: int) -> None:
        rows = sqlite3.connect(path).execute("SELECT count(*) FROM large").fetchone()[0]
        done.append(("sync", f"{Path(f'/proc/self/fd/{descriptor}').readlink().name} at {rows}"))
        sync(descriptor)

    def delete(file: Path, missing_ok: bool = False) -> None:
        done.append(("delete", file.name))
        unlink(file, missing_ok)

    async with Journal(path) as journal:
        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(Path, "unlink", delete)
        await journal.append([], keep=numbered(1))
        (file,) = files(path)
        assert done == [("sync", f"{file.name} at 0"), ("sync", "journal.large at 0")]
        done.clear()
        await journal.append([], keep=dict.fromkeys(numbered(1)))
        assert done == [("sync", "journal.db-wal at 0"), ("delete", file.name)]


async def test_a_damaged_file_is_an_error_that_names_it(path: Path) -> None:
    async with Journal(path) as journal:
        await journal.append([], keep=numbered(1))
    (file,) = files(path)
    file.write_bytes(file.read_bytes()[:-1])
    async with Journal(path) as journal:
        with pytest.raises(StorageError, match=file.name):
            await journal.kept()
    file.unlink()
    async with Journal(path) as journal:
        with pytest.raises(StorageError, match=file.name):
            await journal.kept()


@pytest.mark.requirement("DLV-07a")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(10))
async def test_what_was_committed_is_there_after_kill_9_and_nothing_else_is(path: Path, seed: int) -> None:
    chance = random.Random(seed)
    kept: dict[str, bytes] = {}
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            committed = int(writer.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.1))
            writer.send_signal(signal.SIGKILL)
            for line in writer.stdout:
                committed = int(line)
        async with Journal(path) as journal:
            kept = await journal.kept()
            last = int(max(kept).split("/")[1])
            assert last in {committed, committed + 1}
            assert kept == {
                key: value for number in range(max(last - 1, 0), last + 1) for key, value in numbered(number).items()
            }
            assert len(files(path)) == min(last, 1) + 1
            await journal.append([], keep=dict.fromkeys(kept))
            assert files(path) == []
