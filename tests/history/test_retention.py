"""How long the journal remembers, by configuration."""

import pytest

from streamrelay.config.settings import HistoryTable
from streamrelay.events import Text
from streamrelay.history import Journal
from streamrelay.history.retention import DAY, keep_to
from tests.history.conftest import searched

NOW = 1_800_000_000.0


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
