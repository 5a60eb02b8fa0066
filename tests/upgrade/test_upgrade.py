"""A daemon of today opens what earlier versions wrote, loses nothing of it, and goes on with it."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from streamrelay.control import Tmux
from streamrelay.council.store import CouncilStore
from streamrelay.daemon import background
from streamrelay.daemon.address import address_of
from streamrelay.daemon.client import DaemonClient
from streamrelay.delivery.outbox import OPEN, Outbox
from streamrelay.errors import StorageError
from streamrelay.events import Text, encode
from streamrelay.history.journal import Journal
from streamrelay.history.query import parse_query
from streamrelay.history.results import SearchHistory
from streamrelay.service.council_api import OpenCouncil
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.upgrade import stored
from tests.web.conftest import PATIENCE, Household, prepare

STATES = Path(__file__).parent / "states"
STORES: Mapping[str, Callable[[Path], AbstractAsyncContextManager[object]]] = {
    "outbox.db": Outbox, "journal.db": Journal, "council.db": CouncilStore,
}  # fmt: skip
NAMES = sorted(made.parent.name for made in STATES.glob("*/made.json"))


class Upgraded:
    """The agents of an earlier version on a tmux server of today, and its state folder."""

    def __init__(self, tmux: PrivateTmux, folder: Path, name: str) -> None:
        self.name = name
        self.made: Mapping[str, Any] = json.loads((STATES / name / "made.json").read_text())
        self.house = Household(tmux, folder)
        for agent, pane in self.made["panes"].items():
            assert self.house.start(agent) == pane
        pid, started = tmux.run("display-message", "-p", "#{pid} #{start_time}").split()
        self.home = self.house.address.log.parent
        files = stored.read(STATES / name / "state")
        self.files = files
        address = self.house.address
        stored.write(files, self.home, {
            "@SOCKET@": address.tmux, "@NAME@": address.name, "@PID@": pid, "@STARTED@": started,
            "@HOST@": os.uname().nodename, "@FOLDER@": str(tmux.directory),
        })  # fmt: skip
        with self.opened("outbox.db") as outbox:
            # Receipts are kept for seven days, and these are older by now.
            outbox.execute("UPDATE deliveries SET changed = changed + ?", (time.time() - self.made["at"],))
            outbox.commit()

    def opened(self, name: str) -> "closing[sqlite3.Connection]":
        """Open a database beside the daemon."""
        places = [self.home / name, self.house.address.state / name]
        return closing(sqlite3.connect(next(path for path in places if path.exists())))

    def rows(self, name: str, query: str) -> list[tuple[Any, ...]]:
        with self.opened(name) as database:
            return database.execute(query).fetchall()

    def kept(self, prefix: str) -> dict[str, Any]:
        """Return the values of the journal whose keys begin so."""
        rows = self.rows("journal.db", "SELECT key, value FROM kept")
        return {key: json.loads(value) for key, value in rows if key.startswith(prefix)}

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[DaemonClient]:
        """Run the daemon of today."""
        await self.house.begin()
        try:
            async with self.house.client() as client:
                yield client
        finally:
            self.house.kill()


@pytest.fixture
def earlier(
    request: pytest.FixtureRequest, private_tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Upgraded]:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    for name, value in prepare(private_tmux.directory).items():
        monkeypatch.setenv(name, value)
    upgraded = Upgraded(private_tmux, tmp_path, request.param)
    config = private_tmux.directory / "config_home" / "streamrelay"
    (config / "agents.d" / "sprite.toml").write_text(upgraded.made["profile"])
    (config / "config.toml").write_text("[history]\nkeep_days = 0\n")
    try:
        yield upgraded
    finally:
        upgraded.house.kill()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("earlier", NAMES, indirect=True)
async def test_the_state_of_an_earlier_version_is_opened_and_nothing_is_lost(earlier: Upgraded) -> None:
    events = [json.loads(row[0]) for row in earlier.rows("journal.db", "SELECT event FROM events ORDER BY seq")]
    said = earlier.rows("journal.db", "SELECT first, pane, text FROM utterances ORDER BY first")
    receipts = earlier.rows("outbox.db", "SELECT message_id, pane, state, reason FROM deliveries ORDER BY number")
    key = (earlier.home / "mcp.key").read_bytes()
    async with earlier.daemon() as client:
        assert not (await client.status()).problems
        journal = await client.read_since(0)
        for event, before in zip(journal, events, strict=False):
            now = json.loads(encode(event))
            assert {field: now[field] for field in before} == before
        assert len(journal) >= len(events) > 50
        assert (
            earlier.rows("journal.db", "SELECT first, pane, text FROM utterances ORDER BY first")[: len(said)] == said
        )
        assert (await client.search_history(SearchHistory(words="harbour"))).found

        (link,) = await client.links()
        assert [party.title for party in link.parties] == ["Ann", "Bob"]
        (relay,) = await client.relays()
        assert [member.pane for member in relay.members] == [earlier.made["panes"][name] for name in ("Cid", "Dan")]
        assert relay.paused
        assert relay.deliveries

        for message, pane, state, reason in receipts:
            (now,) = [one for one in await client.get_delivery(message) if one.pane == pane]
            assert state in OPEN or (now.state, now.reason) == (state, reason)
        await earlier.house.until_heard("Gus", "this one waits over the upgrade")
        assert earlier.house.heard("Gus") == ["this one waits over the upgrade"]
        assert (earlier.home / "mcp.key").read_bytes() == key


@pytest.mark.sampled(2)
@pytest.mark.parametrize("earlier", NAMES, indirect=True)
async def test_conversations_of_an_earlier_version_go_on(earlier: Upgraded) -> None:
    async with earlier.daemon() as client:
        (link,) = await client.links()
        deliveries = link.relay.state.deliveries
        await client.pause(False, of=link.link_id)
        earlier.house.types("Ann", "are you there?")
        await wait_until_async(lambda: earlier.house.heard("Bob"), PATIENCE, "Bob to hear Ann over the link")
        (link,) = await client.links()
        assert link.relay.state.deliveries > deliveries

        for gathering in await client.gatherings():
            assert gathering.state == "paused"
            assert [member.name for member in gathering.participants] == ["Eve", "Fay", "Hal"]
            before = await client.gathering_transcript(gathering.gathering)
            assert any("answer" in entry.text for entry in before.entries)
            assert (await client.pause_gathering(gathering.gathering, False)).state == "running"
        for council in await client.councils():
            assert council.messages == 2
            opened = await client.open_council(OpenCouncil(resume=council.council))
            transcript = await client.council_transcript(opened.council)
            assert [entry.text for entry in transcript.entries] == ["What do you say?", "I say yes."]
        has = (len(await client.gatherings()), len(await client.councils()))
    assert has == {"daemon": (0, 0), "gatherings": (1, 0), "waiting": (1, 0), "council": (1, 1)}[earlier.name]


@pytest.mark.parametrize("earlier", ["council"], indirect=True)
async def test_what_an_earlier_version_wrote_of_another_tmux_server_stays_readable(earlier: Upgraded) -> None:
    with earlier.opened("journal.db") as journal:
        journal.execute("UPDATE kept SET value = CAST('/tmp/other 1 1' AS BLOB) WHERE key = 'server'")
        journal.commit()
    events = len(earlier.rows("journal.db", "SELECT seq FROM events"))
    async with earlier.daemon() as client:
        assert (await client.links(), await client.relays()) == ([], [])
        assert len(await client.read_since(0)) > events
        assert (await client.search_history(SearchHistory(words="harbour"))).found
        (gathering,) = await client.gatherings()
        resumed = await client.pause_gathering(gathering.gathering, False)
        assert {member.gone for member in resumed.participants} == {"server_lost"}, resumed
        assert resumed.state == "closed", resumed
        assert len(await client.councils()) == 1


@pytest.mark.parametrize("name", ["outbox.db", "journal.db", "council.db"])
@pytest.mark.parametrize("was_killed", [False, True], ids=["ended", "killed"])
async def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(
    name: str, was_killed: bool, tmp_path: Path
) -> None:
    path = tmp_path / name
    code = "c.execute('PRAGMA user_version = 99'); " + ("os._exit(0)" if was_killed else "c.close()")
    make = f"import os, sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('PRAGMA journal_mode = WAL'); {code}"
    subprocess.run([sys.executable, "-c", make], check=True)
    before = _bytes(tmp_path)
    with pytest.raises(
        StorageError, match=r"a newer version of streamrelay wrote it \(schema 99, known are those up to"
    ):
        await STORES[name](path).__aenter__()
    assert _bytes(tmp_path) == before


@pytest.mark.parametrize("name", ["outbox.db", "journal.db"])
async def test_a_daemon_that_finds_a_file_of_a_newer_version_says_what_to_do(
    private_tmux: PrivateTmux, daemon_folders: Path, name: str
) -> None:
    address = address_of(Tmux(socket_path=private_tmux.socket_path))
    private_tmux.new_session("keeper", ["sleep", "1000"])
    path = (address.state if name == "journal.db" else address.log.parent) / name
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript("CREATE TABLE t (a); PRAGMA user_version = 99;")
    before = path.read_bytes(), path.stat().st_mtime_ns
    command = [sys.executable, "-m", "streamrelay_cli", "daemon"]
    options = ["-S", private_tmux.socket_path]
    for words in ([*command, *options], [*command, "start", *options]):
        ended = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE)
        assert ended.returncode == StorageError.exit_code, ended.stderr
        assert f"error: {path}: a newer version of streamrelay wrote it" in ended.stderr
        assert "hint: install the version of streamrelay that wrote it, or a newer one" in ended.stderr
    with pytest.raises(StorageError, match="a newer version of streamrelay wrote it") as raised:
        await background.start(address, [*command, *options])
    assert raised.value.data["path"] == str(path)
    assert raised.value.data["schema"] == 99
    assert raised.value.hint == "install the version of streamrelay that wrote it, or a newer one"
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def _bytes(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the files but for the index of the log, which every reader of a database writes (sqlite.org/wal.html)."""
    files = [path for path in folder.iterdir() if not path.name.endswith("-shm")]
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


async def test_a_journal_of_the_first_schema_is_searched_and_written_on(tmp_path: Path) -> None:
    stored.write(stored.read(STATES / "journal-1" / "state"), tmp_path, {})
    async with Journal(tmp_path / "journal.db") as journal:
        before = await journal.since(0)
        assert [event.text for event in before if isinstance(event, Text)] == ["a word of the first journal"]
        await journal.append([Text(pane="%1", text="a word of today", turn=1, origin="program")])
        (first, second) = await journal.since(0)
        assert (first, second.seq) == (before[0], before[0].seq + 1)
        await journal.append([], keep={"key": b"{}"})
        assert await journal.kept() == {"key": b"{}"}
        found = await journal.search(parse_query("word"), SearchHistory(words="word"))
    assert sorted(one.text for one in found) == ["a word of the first journal", "a word of today"]
