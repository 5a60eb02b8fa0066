"""The journal on a real file: order for ever, words found again, room given back."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from streamrelay.errors import StorageError
from streamrelay.events import Activity, Event, Live, Origin, PaneOpened, Receipt, RelayDelivered, Text, TurnEnded
from streamrelay.history import Journal
from streamrelay.history.places import Place
from tests.history.conftest import searched

NOW = 1_800_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[Journal]:
    async with Journal(path) as journal:
        yield journal


def said(text: str, *, at: float = NOW, pane: str = "%1", turn: int = 1, origin: Origin = "program") -> list[Event]:
    """The lines of one utterance."""
    return [
        Text(text=line, origin=origin, at=at, host="here", session=f"session of {pane}", pane=pane, turn=turn)
        for line in text.split("\n")
    ]


async def test_a_journal_of_the_first_version_keeps_its_events(path: Path) -> None:
    async with Journal(path) as journal:
        await journal.append(said("one"))
    with closing(sqlite3.connect(path)) as database:
        database.executescript("DROP TABLE kept; PRAGMA user_version = 1")
    async with Journal(path) as journal:
        assert [event.text for event in await journal.since(0) if isinstance(event, Text)] == ["one"]
        await journal.append(said("two"), keep={"links": b"[]"})
        assert await journal.kept() == {"links": b"[]"}


async def test_everything_said_delivered_and_decided_is_there_in_order(journal: Journal) -> None:
    events = [
        PaneOpened(columns=80, lines=24, command="claude", pane="%1"),
        *said("one\ntwo"),
        Live(text="thr", line=3),
        RelayDelivered(relay="r", message_id="m", speaker="Ann (1)", listeners=("Bob (2)",), text="one\ntwo"),
        Receipt(message_id="m", state="submitted"),
        TurnEnded(reason="quiet", certain=False, pane="%1", turn=1),
    ]
    kept = await journal.append(events)
    assert [event.seq for event in kept] == [1, 2, 3, 4, 5, 6]
    assert await journal.since(0) == [event for event in events if not isinstance(event, Live)]
    assert [event.seq for event in await journal.since(4)] == [5, 6]
    assert [event.seq for event in await journal.since(0, limit=2)] == [1, 2]
    assert [event.seq for event in await journal.since(0, place=Place("%1", first=2))] == [2, 3, 6]
    assert [event.seq for event in await journal.since(0, place=Place("%1", end=3))] == [1, 2]
    assert await journal.last_seq() == 6


async def test_nothing_is_no_event(journal: Journal) -> None:
    assert await journal.append([]) == []
    assert await journal.append([Live(text="x", line=1)]) == []
    assert await journal.last_seq() == 0
    assert await journal.since(0) == []
    assert await searched(journal, "anything") == []


async def test_words_are_found_across_the_lines_of_one_utterance(journal: Journal) -> None:
    await journal.append(said("The parser is done.\nIt took three days.", pane="%1"))
    await journal.append(said("The printer took hours.", pane="%2"))
    (found,) = await searched(journal, "parser took")
    assert found.text == "The parser is done.\nIt took three days."
    assert (found.pane, found.session, found.origin, found.at) == ("%1", "session of %1", "program", NOW)
    assert {found.snippet[start:stop] for start, stop in found.matches} == {"parser", "took"}
    assert {found.pane for found in await searched(journal, "TOOK")} == {"%1", "%2"}
    assert await searched(journal, "parser printer") == []
    assert len(await searched(journal, '"took three"')) == 1
    assert await searched(journal, '"three took"') == []


async def test_lines_that_come_one_by_one_are_one_utterance_until_something_ends_it(journal: Journal) -> None:
    for line in ("alpha", "beta"):
        await journal.append(said(line))
    await journal.append(said("of another pane", pane="%2"))
    await journal.append(said("gamma", at=NOW + 1))
    (found,) = await searched(journal, "alpha gamma")
    assert found.text == "alpha\nbeta\ngamma"
    await journal.append([TurnEnded(reason="quiet", certain=False, pane="%1", turn=1)])
    await journal.append(said("delta", at=NOW + 1))
    await journal.append(said("typed here", at=NOW + 1, origin="typed"))
    await journal.append(said("much later", at=NOW + 60, origin="typed"))
    assert await searched(journal, "gamma delta") == []
    assert await searched(journal, "typed later") == []
    assert len(await searched(journal, "delta")) == len(await searched(journal, "later")) == 1


async def test_filters(journal: Journal) -> None:
    for pane, agent, at in (("%1", "claude", NOW), ("%2", "codex", NOW + 100)):
        await journal.append([PaneOpened(columns=80, lines=24, command=agent, pane=pane)])
        await journal.append(said("a word", pane=pane, at=at))
        await journal.append([Activity(text="● Bash(a word)", pane=pane, at=at)])

    async def panes(**filters: object) -> list[str]:
        return sorted({found.pane for found in await searched(journal, "word", **filters)})  # type: ignore[arg-type]

    assert await panes() == ["%1", "%2"]
    assert await panes(agent="codex") == ["%2"]
    assert await panes(agent="nobody") == []
    assert await panes(place=Place("%1")) == ["%1"]
    assert await panes(place=Place("%1", first=4)) == await panes(place=Place("%1", end=2)) == []
    assert await panes(since=NOW + 1) == ["%2"]
    assert await panes(until=NOW + 1) == ["%1"]
    assert {found.origin for found in await searched(journal, "word")} == {"program", "activity"}
    assert len(await searched(journal, "word", limit=3)) == 3
    assert await searched(journal, "word", limit=0) == []


@pytest.mark.parametrize(
    "words", ['"', '""', "*", "a*", "NEAR(", "text:word", "-word", "word OR", "^", "(", "AND", "\0", "';--", "💥", " "]
)
async def test_what_a_person_types_is_never_fts5_s_own_language(journal: Journal, words: str) -> None:
    await journal.append(said("a word near the text: or not"))
    assert len(await searched(journal, words)) <= 1


async def test_accents_case_and_scripts_without_blanks(journal: Journal) -> None:
    await journal.append(said("Ein Gerät für größere Häuser 端末の中で動く", pane="%1"))
    await journal.append(said("another", pane="%2"))
    for words in ("gerat", "GERÄT", "端末", "中で", "häuser 動く"):
        assert [found.pane for found in await searched(journal, words)] == ["%1"], words
    (found,) = await searched(journal, "中で")
    assert [found.snippet[start:stop] for start, stop in found.matches] == ["中で"]


async def test_numbers_grow_over_restarts_and_after_everything_was_forgotten(path: Path) -> None:
    async with Journal(path) as journal:
        await journal.append(said("one\ntwo"))
    async with Journal(path) as journal:
        assert [event.seq for event in await journal.append(said("three"))] == [3]
        assert len(await searched(journal, "one")) == 1
        assert await journal.prune(before=NOW + 1) == 3
        assert await searched(journal, "one") == []
        assert [event.seq for event in await journal.append(said("four"))] == [4]


async def test_what_is_forgotten_gives_its_room_back(journal: Journal, path: Path) -> None:
    for number in range(200):
        await journal.append(said(f"needle{number} " + "hay " * 500, at=NOW + number, turn=number))
    full = await journal.size()
    assert await journal.prune(before=NOW + 50) == 50
    assert await searched(journal, "needle49") == []
    assert len(await searched(journal, "needle50")) == 1
    await journal.prune(most_bytes=full // 2)
    assert len(await searched(journal, "needle199")) == 1
    assert await searched(journal, "needle60") == []
    assert await journal.size() <= full // 2
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    assert await journal.prune(most_bytes=0) > 0
    assert await journal.since(0) == []


_WRITER = """
import asyncio, sys
from pathlib import Path
from streamrelay.events import Text
from streamrelay.history import Journal

async def main():
    async with Journal(Path(sys.argv[1])) as journal:
        for number in range(10**6):
            (event,) = await journal.append([Text(text=f"line{number}", origin="program", pane="%1")])
            print(event.seq, flush=True)

asyncio.run(main())
"""


async def test_what_was_appended_outlives_a_kill(path: Path) -> None:
    seen = 0
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", _WRITER, path], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(30):
                seen = int(await asyncio.to_thread(writer.stdout.readline))
            writer.kill()
            seen = int((writer.stdout.read().splitlines() or [seen])[-1])
        async with Journal(path) as journal:
            last = await journal.last_seq()
            assert seen <= last <= seen + 1
            assert [event.seq for event in await journal.since(0, limit=10**6)] == list(range(1, last + 1))


async def test_it_is_the_user_s_alone_and_says_what_is_wrong_with_a_file(
    journal: Journal, path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        await journal.append(said("a secret"))
        await searched(journal, "secret")
    assert "secret" not in caplog.text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "text").write_text("no database, and rather long for one" * 50)
    newer = tmp_path / "newer.db"
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 99")
    for bad, word in ((tmp_path / "text", "not a database"), (newer, "newer"), (tmp_path, "unable to open")):
        with pytest.raises(StorageError, match=word) as raised:
            async with Journal(bad):
                pass
        assert raised.value.code == "storage"
        assert raised.value.data["path"] == str(bad)


async def test_what_was_refused_is_not_there_and_what_is_said_next_is_whole(journal: Journal, path: Path) -> None:
    """The refused events' numbers are given again: to what another pane says, which is an utterance of its own."""
    await journal.append(said("alpha", pane="%1"))
    await journal.append([PaneOpened(columns=80, lines=24, command="claude", pane="%3")])
    refused = [
        *said("lost", pane="%1"),
        *said("gone", pane="%2"),
        PaneOpened(columns=80, lines=24, command="codex", pane="%3"),
        TurnEnded(reason="quiet", certain=False, pane="%1", turn=1),
    ]
    with pytest.raises(StorageError):
        await journal.append(refused, keep={"key": {}})  # type: ignore[dict-item]  # nothing that SQLite has a type for
    await journal.append(said("beta", pane="%4"))
    await journal.append(said("gamma", pane="%1"))
    await journal.append(said("delta", pane="%3"))
    await journal.append(said("epsilon", pane="%2"))
    assert await searched(journal, "lost") == await searched(journal, "gone") == []
    for word, pane, agent, text in (
        ("alpha", "%1", "", "alpha\ngamma"), ("gamma", "%1", "", "alpha\ngamma"), ("beta", "%4", "", "beta"),
        ("delta", "%3", "claude", "delta"), ("epsilon", "%2", "", "epsilon"),
    ):  # fmt: skip
        assert [(one.pane, one.agent, one.text) for one in await searched(journal, word)] == [(pane, agent, text)]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


async def test_a_full_disk_loses_nothing_that_was_there_and_what_fits_goes_on(journal: Journal) -> None:
    await journal.append(said("alpha"))

    async def most_pages(count: int) -> None:
        await journal._database.do(lambda connection: connection.execute(f"PRAGMA max_page_count = {count}"))

    await most_pages(1)
    with pytest.raises(StorageError, match="full"):
        await journal.append(said("lost " * 10_000, pane="%2") + said("beta"))
    await most_pages(1_000_000)
    await journal.append(said("gamma", pane="%2"))
    await journal.append(said("beta"))
    assert [(one.pane, one.text) for one in await searched(journal, "beta")] == [("%1", "alpha\nbeta")]
    assert [(one.pane, one.text) for one in await searched(journal, "gamma")] == [("%2", "gamma")]
    assert await searched(journal, "lost") == []


async def test_the_newest_output_of_each_session_is_found_and_no_other_servers(journal: Journal) -> None:
    await journal.note_session("old", "%1", title="Ann", server="s0")
    await journal.append(said("of an earlier server"))
    await journal.note_session("ann", "%1", title="Ann", server="s1")
    await journal.note_session("bob", "%2", title="Bob", server="s1")
    await journal.append(said("the only words", pane="%2"))
    for turn in (2, 3, 4):
        await journal.append(said(f"one\n{'x' * 3000}{turn}", turn=turn, at=NOW + turn))
    await journal.append(said("a message to it", turn=5, origin="injected", at=NOW + 5))
    answer_seq = await journal.last_seq() - 1
    latest = await journal.latest(["ann", "bob", "unknown"], limit=3)
    assert [(output.session, output.pane, output.text[-4:], len(output.text)) for output in latest] == [
        ("ann", "%1", "xxx4", 2000),
        ("ann", "%1", "xxx3", 2000),
        ("bob", "%2", "ords", 14),
    ]
    assert (latest[0].at, latest[0].seq) == (NOW + 4, answer_seq)
    # However few are asked for, the last of each session is among them.
    assert [output.session for output in await journal.latest(["bob", "ann"], limit=0)] == ["ann", "bob"]
