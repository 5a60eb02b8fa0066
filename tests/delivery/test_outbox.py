"""The outbox on disk: what is accepted is committed, ids are taken once, and what is done keeps no text."""

import asyncio
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path

import pytest

from streamrelay.delivery.message import DeliveryPolicy, Message
from streamrelay.delivery.outbox import KEPT, Outbox, next_number, server_key
from streamrelay.errors import StorageError, StreamrelayError, UsageError
from streamrelay.events import DeliveryState

SERVER = server_key("/run/tmux/default", 10, "1700000000")
HERE = {"server": SERVER, "pane": "%1", "program": "cat"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outbox.db"


@pytest.mark.requirement("DLV-07a")
async def test_an_id_that_a_sender_chose_is_for_one_text(path: Path) -> None:
    here = {"server": SERVER, "pane": "%1"}
    async with Outbox(path) as outbox:
        await outbox.claim("m1", "was not sent", **here)
        await outbox.claim("m1", "one", **here)
        entry, _ = await outbox.put(Message("m1", "one"), **HERE)
        outbox.note(entry.number, "answered")
        await outbox.flush()
    async with Outbox(path) as outbox:
        await outbox.claim("m1", "one", **here)
        with pytest.raises(UsageError, match="m1 was used for another text; nothing was sent"):
            await outbox.claim("m1", "two", **here)
        await outbox.claim("m1", "two", **here | {"pane": "%2"})
        await outbox.put(Message("m2", "of an earlier version"), **HERE)
        await outbox.claim("m2", "anything", **here)
        await outbox.forget(before=time.time() + 10)
        await outbox.claim("m1", "two", **here)


@pytest.mark.requirement("DLV-07a")
async def test_a_message_is_there_for_the_next_process_until_its_enter_is_known(path: Path) -> None:
    async with Outbox(path) as outbox:
        entry, is_new = await outbox.put(Message("m1", "日本\n", "head"), removed={"U+001B": 2}, **HERE)
        await outbox.put(Message("m2", "second"), **HERE)
        assert is_new
    async with Outbox(path) as outbox:
        left = await outbox.unfinished(server=SERVER, pane="%1")
        assert [(e.message_id, e.text, e.state) for e in left] == [
            ("m1", "日本\n", "queued"),
            ("m2", "second", "queued"),
        ]
        assert left[0] == entry
        assert left[0].removed == {"U+001B": 2}
        assert left[0].number < left[1].number
        outbox.note(left[0].number, "pasted")
        outbox.note(left[0].number, "submitted")
        await outbox.flush()
        assert [e.message_id for e in await outbox.unfinished(server=SERVER, pane="%1")] == ["m2"]
        assert [(e.state, e.text) for e in await outbox.find("m1")] == [("submitted", "")]


async def test_what_it_is_to_be_delivered_under_is_kept_with_it(path: Path) -> None:
    policy = DeliveryPolicy(needs_human="fail", commands="refuse", patience=2.5)
    async with Outbox(path) as outbox:
        await outbox.put(Message("m1", "x", policy=policy), **HERE)
        await outbox.put(Message("m2", "x"), **HERE)
    async with Outbox(path) as outbox:
        entries = await outbox.unfinished(server=SERVER, pane="%1")
        assert [entry.message.policy for entry in entries] == [policy, None]
        assert all(0 <= entry.age < 3600 for entry in entries)


@pytest.mark.parametrize(
    ("version", "missing"), [(1, ["policy", "sender", "composer"]), (2, ["sender", "composer"]), (3, ["composer"])]
)
async def test_a_file_of_a_version_before_is_taken_over(path: Path, version: int, missing: list[str]) -> None:
    async with Outbox(path) as outbox:
        await outbox.put(Message("m1", "x"), **HERE)
    with closing(sqlite3.connect(path)) as database:
        for column in missing:
            database.execute(f"ALTER TABLE deliveries DROP COLUMN {column}")
        database.execute(f"PRAGMA user_version = {version}")
    async with Outbox(path) as one, Outbox(path) as other:
        await one.put(Message("m2", "x", policy=DeliveryPolicy(needs_human="fail"), sender="s-1"), **HERE)
        entries = await other.unfinished(server=SERVER, pane="%1")
        assert [(entry.policy, entry.sender) for entry in entries] == [
            (None, ""),
            (DeliveryPolicy(needs_human="fail"), "s-1"),
        ]


@pytest.mark.requirement("DLV-07a")
async def test_the_latest_text_in_the_composer_of_a_pane_is_kept_until_it_is_gone(path: Path) -> None:
    async with Outbox(path) as outbox:
        entries = [(await outbox.put(Message(f"m{number}", "x"), **HERE))[0] for number in range(3)]
        for entry in entries[:2]:
            outbox.note_composer(entry.number, f"[Pasted {entry.message_id}]")
            outbox.note(entry.number, "unconfirmed", "not_submitted")
        await outbox.flush()
    async with Outbox(path) as outbox:
        found = await outbox.in_composer(server=SERVER, pane="%1")
        assert found is not None
        assert (found.message_id, found.text, found.composer) == ("m1", "", "[Pasted m1]")
        assert await outbox.in_composer(server=SERVER, pane="%2") is None
        for entry in entries:
            outbox.note_composer(entry.number, "")
        await outbox.flush()
        assert await outbox.in_composer(server=SERVER, pane="%1") is None


async def test_the_latest_messages_of_a_server_are_listed_oldest_first(path: Path) -> None:
    async with Outbox(path) as outbox:
        for number in range(4):
            await outbox.put(Message(f"m{number}", "x"), **HERE)
        await outbox.put(Message("elsewhere", "x"), **HERE | {"server": "another"})
        (third,) = await outbox.find("m3")
        outbox.note(third.number, "submitted")
        await outbox.flush()
        assert [entry.message_id for entry in await outbox.of_server(SERVER)] == ["m0", "m1", "m2", "m3"]
        assert [entry.message_id for entry in await outbox.of_server(SERVER, only_open=True, limit=2)] == ["m1", "m2"]


async def test_an_id_is_taken_once_for_each_pane(path: Path) -> None:
    async with Outbox(path) as outbox:
        first, is_new = await outbox.put(Message("m1", "one"), **HERE)
        again, is_new_again = await outbox.put(Message("m1", "another"), **HERE)
        assert (is_new, is_new_again) == (True, False)
        assert again == first
        _, elsewhere = await outbox.put(Message("m1", "one"), **HERE | {"pane": "%2"})
        assert elsewhere


async def test_two_processes_give_no_number_twice(path: Path) -> None:
    async with Outbox(path) as one, Outbox(path) as other:
        puts = [box.put(Message(f"m{number}", "x"), **HERE) for number in range(20) for box in (one, other)]
        numbers = [entry.number for entry, is_new in await asyncio.gather(*puts) if is_new]
    assert len(set(numbers)) == 20


def test_numbers_rise_also_when_the_outbox_was_deleted() -> None:
    assert next_number(0) > 10**15
    assert next_number(10**18) == 10**18 + 1


async def test_what_went_to_a_server_before_this_one_is_found(path: Path) -> None:
    now = server_key("/run/tmux/default", 11, "1700000001")
    async with Outbox(path) as outbox:
        await outbox.put(Message("m1", "x"), **HERE)
        await outbox.put(Message("m2", "x"), **HERE | {"server": server_key("/run/tmux/default2", 1, "1")})
        await outbox.put(Message("m3", "x"), **HERE | {"server": now})
        assert [e.message_id for e in await outbox.orphans("/run/tmux/default", server=now)] == ["m1"]


async def test_only_the_user_can_read_it(path: Path) -> None:
    async with Outbox(path):
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


async def test_old_receipts_are_forgotten_and_their_room_is_given_back(path: Path) -> None:
    async with Outbox(path) as outbox:
        for number in range(50):
            entry, _ = await outbox.put(Message(f"m{number}", "x" * 10_000), **HERE)
            outbox.note(entry.number, "answered")
        await outbox.flush()
        assert await outbox.forget(before=time.time() - 10) == 0
        assert await outbox.forget(before=time.time() + 10) == 50
    assert path.stat().st_size < 100_000


@pytest.mark.requirement("DLV-07a")
async def test_what_is_not_submitted_is_never_forgotten(path: Path) -> None:
    states: list[DeliveryState] = ["queued", "pasted", "painted", "submitted", "turn_started", "failed", "unconfirmed"]
    async with Outbox(path) as outbox:
        for state in states:
            entry, _ = await outbox.put(Message(state, "x"), **HERE)
            outbox.note(entry.number, state)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE deliveries SET changed = ?", (time.time() - KEPT - 10,))
    async with Outbox(path) as outbox:
        assert [e.message_id for e in await outbox.unfinished(server=SERVER, pane="%1")] == states[:3]
        assert await outbox.counts(SERVER) == dict.fromkeys(states[:3], 1)
        assert await outbox.counts("another server") == {}


@pytest.mark.requirement("DLV-07a")
async def test_what_could_not_be_written_is_written_later_and_said_to_be_missing_until_then(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamrelay.database.LOCK_TIMEOUT", 0.1)
    async with Outbox(path) as outbox:
        first, _ = await outbox.put(Message("m1", "x"), **HERE)
        second, _ = await outbox.put(Message("m2", "x"), **HERE)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            outbox.note(first.number, "pasted")
            outbox.note(first.number, "submitted")
            # Nobody waits for this write.
            await asyncio.sleep(0.5)
            outbox.note(second.number, "failed", "pane_gone")
            with pytest.raises(StorageError):
                await outbox.flush()
        await outbox.flush()
        assert await outbox.unfinished(server=SERVER, pane="%1") == []
        assert [e.state for e in (*await outbox.find("m1"), *await outbox.find("m2"))] == ["submitted", "failed"]


@pytest.mark.requirement("DLV-07a")
async def test_what_is_noted_during_a_write_is_written_without_being_asked_for(path: Path) -> None:
    async with Outbox(path) as outbox:
        entry, _ = await outbox.put(Message("m1", "x"), **HERE)
        outbox.note(entry.number, "turn_started")
        # The write has begun, and not ended: its thread cannot have told this one yet.
        await asyncio.sleep(0)
        outbox.note(entry.number, "answered")
        async with asyncio.timeout(5):
            while (await outbox.find("m1"))[0].state != "answered":
                await asyncio.sleep(0.01)


async def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(StreamrelayError, match="newer"):
        async with Outbox(path):
            pass


async def test_what_is_no_database_is_an_error_with_a_hint(path: Path) -> None:
    path.write_text("this is no database, whatever its name says" * 100)
    with pytest.raises(StreamrelayError, match="not a database") as caught:
        async with Outbox(path):
            pass
    assert caught.value.hint
