"""How long the journal remembers, and how large it grows, by configuration."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from streamrelay.config.settings import HistoryTable
from streamrelay.database import MAX_LOG_BYTES
from streamrelay.events import Text
from streamrelay.history import Journal
from streamrelay.history.journal import MAX_UNCHECKED
from streamrelay.history.large_values import MIN_FILE
from streamrelay.history.retention import DAY, MEGABYTE, disk_use, keep_to
from tests.history.conftest import searched

NOW = 1_800_000_000.0
BACKLOG = max(2_000_000, MIN_FILE)


@pytest.fixture
async def journal(tmp_path):
    async with Journal(tmp_path / "journal.db") as journal:
        for day in range(100):
            line = Text(text=f"day {day} " + "words " * 400, origin="program", at=NOW - day * DAY, turn=day)
            await journal.append([line])
        yield journal


@pytest.mark.requirement("HIS-03a")
@pytest.mark.parametrize(("days", "kept"), [(90.5, 91), (1.5, 2), (0.0, 100)])
async def test_what_is_too_old_is_forgotten(journal, days, kept):
    pruned = await keep_to(HistoryTable(keep_days=days, most_megabytes=0), journal, NOW)
    assert pruned.forgotten == 100 - kept
    assert len(await journal.since(0)) == kept
    assert pruned.bytes == await journal.size()


@pytest.mark.requirement("HIS-03a")
async def test_what_is_too_much_is_forgotten_from_the_oldest_on(tmp_path):
    async with Journal(tmp_path / "journal.db") as journal:
        for number in range(200):
            await journal.append([Text(text=f"{number} " + "words " * 800, origin="program", at=NOW, turn=number)])
        assert await journal.size() > 500_000
        pruned = await keep_to(HistoryTable(keep_days=0, most_megabytes=0.5), journal, NOW)
        assert pruned.bytes <= 500_000
        left = [event.seq for event in await journal.since(0)]
        assert left == list(range(201 - len(left), 201))
        assert 10 < len(left) < 200
        assert not await searched(journal, "0")
        assert await searched(journal, "199")


def texts(numbers, size):
    return [Text(text=f"{number} " + "x" * size, origin="program", at=NOW, turn=number) for number in numbers]


@pytest.mark.requirement("HIS-03a")
async def test_a_journal_of_large_texts_stays_within_its_limit_while_it_grows(tmp_path):
    file = tmp_path / "journal.db"
    policy = HistoryTable(keep_days=0, most_megabytes=4)
    async with Journal(file) as journal:
        for number in range(100):
            await journal.append(texts([number], 200_000))
            if journal.check_due.is_set():
                journal.check_due.clear()
                await keep_to(policy, journal, NOW)
            # What is written before the next check is in the event, in the utterance and in the index.
            assert await journal.size() <= 4 * MEGABYTE + 4 * MAX_UNCHECKED
            assert disk_use(file) <= 4 * MEGABYTE + 4 * MAX_UNCHECKED + MAX_LOG_BYTES + MEGABYTE
        left = [event.seq for event in await journal.since(0)]
        assert left == list(range(101 - len(left), 101))
        assert 3 < len(left) < 20
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
            assert connection.execute("PRAGMA freelist_count").fetchone()[0] < 100


async def test_a_check_is_due_when_much_was_written_and_not_before(tmp_path):
    async with Journal(tmp_path / "journal.db") as journal:
        await journal.append(texts([1], MAX_UNCHECKED // 2))
        assert not journal.check_due.is_set()
        await journal.append([], keep={"key": bytes(MAX_UNCHECKED // 2)})
        assert journal.check_due.is_set()
        journal.check_due.clear()
        await journal.append(texts([2], 10))
        assert not journal.check_due.is_set()


@pytest.mark.requirement("HIS-03a")
async def test_large_values_in_files_count_for_the_limit(tmp_path):
    file = tmp_path / "journal.db"
    async with Journal(file) as journal:
        for number in range(30):
            await journal.append(texts([number], 10_000))
        alone = await journal.size()
        assert (await keep_to(HistoryTable(keep_days=0, most_megabytes=2), journal, NOW)).forgotten == 0
        await journal.append([], keep={"backlog": bytes(BACKLOG)})
        assert await journal.size() >= alone + BACKLOG
        assert disk_use(file) >= BACKLOG
        # The value itself stays: it is a state that is needed, however old it is.
        assert (await keep_to(HistoryTable(keep_days=0, most_megabytes=2.5), journal, NOW)).forgotten > 0
        assert await journal.kept() == {"backlog": bytes(BACKLOG)}
        assert await journal.size() <= 2.5 * MEGABYTE
        await journal.append([], keep={"backlog": None})
        assert await journal.size() < alone + MEGABYTE / 10


async def test_others_use_the_journal_while_it_is_pruned(tmp_path):
    async with Journal(tmp_path / "journal.db") as journal:
        for first in range(0, 4_000, 500):
            await journal.append(texts(range(first, first + 500), 1_000))
        full = await journal.size()
        pruning = asyncio.ensure_future(journal.prune(most_bytes=full // 4))
        waited = 0
        while not pruning.done():
            await journal.append(texts([waited], 10))
            waited += 1
        assert await pruning > 2_000
        assert waited > 3
        assert await journal.size() <= full // 4


async def test_a_database_that_cannot_give_pages_back_keeps_what_is_within_its_limit(tmp_path):
    file = tmp_path / "journal.db"
    async with Journal(file) as journal:
        await journal.append(texts(range(500), 1_000))
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM;")
    async with Journal(file) as journal:
        full = await journal.size()
        assert 0 < await journal.prune(most_bytes=full // 2) < 400
        assert await journal.size() == full
