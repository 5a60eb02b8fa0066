"""What could leave a message behind, or end the service for it: time, an id, a pane that somebody else types into."""

import asyncio
import os
import sqlite3
from contextlib import closing

import pytest

import streamrelay
from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import Message
from streamrelay.delivery.outbox import Outbox, server_key
from streamrelay.delivery.state import state_folder
from streamrelay.errors import StorageError, UsageError
from streamrelay.events import Event, Receipt
from streamrelay.service import core
from streamrelay.service.api import SendMessage
from streamrelay.service.delivery_following import send_through
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage

SWEEP, QUIET = 0.1, 0.3


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "SWEEP_EVERY", SWEEP)
    monkeypatch.setattr(core, "UNANSWERED", QUIET)


async def until_let_go(service: LocalService, pane: str) -> None:
    await wait_until_async(lambda: pane not in service._core.runner.panes, PATIENCE, f"{pane} to be let go of")


async def test_half_of_a_cut_emoji_is_refused_and_ends_nothing(stage: Stage) -> None:
    bob = stage.start("Bob")
    async with stage.service() as service:
        with pytest.raises(UsageError, match=r"U\+D83D is not a character"):
            await service.send_message(SendMessage(to=bob, text="cut \ud83d"))
        await service.send_message(SendMessage(to=bob, text="whole \U0001f600"))
        await stage.until_heard("Bob", "whole \U0001f600")


@pytest.mark.usefixtures("swept")
async def test_a_message_that_waits_for_a_person_waits_for_as_long_as_it_takes(stage: Stage) -> None:
    bob = stage.start("Bob", "--draft", "a person's")
    async with stage.service() as service:
        await service.send_message(SendMessage(to="Bob", text="important", message_id="m1"))
        await asyncio.sleep(QUIET + 5 * SWEEP)
        assert [(one.state, one.reason) for one in await service.get_delivery("m1")] == [("queued", "draft")]
        stage.tmux.run("send-keys", "-t", bob, "Enter")
        await stage.until_heard("Bob", "important")
        await until_let_go(service, bob)


@pytest.mark.usefixtures("swept")
async def test_who_came_back_and_is_not_needed_is_let_go(stage: Stage) -> None:
    bob = stage.start("Bob")
    async with stage.service() as service:
        core.UNANSWERED = PATIENCE
        await service.send_message(SendMessage(to="Bob", text="a", message_id="m1"))
        await stage.until_heard("Bob", "a")
        core.UNANSWERED = QUIET
    async with stage.service() as service:
        assert bob in service._core.runner.panes
        await until_let_go(service, bob)
        await wait_until_async(
            lambda: not service._core._last_receipts, PATIENCE, "the time of its receipt to be forgotten"
        )
        assert not service._core._admitting


@pytest.mark.usefixtures("swept")
async def test_a_disk_that_refuses_once_keeps_no_other_pane_from_being_let_go(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = stage.start("Ann"), stage.start("Bob")
    async with stage.service() as service:
        forget, refused = service._core._kept.forget, []

        async def full_once(pane: str) -> None:
            if not refused:
                refused.append(pane)
                raise StorageError("the disk is full")
            await forget(pane)

        monkeypatch.setattr(service._core._kept, "forget", full_once)
        for name in ("Ann", "Bob"):
            await service.send_message(SendMessage(to=name, text="a"))
            await stage.until_heard(name, "a")
        for pane in (ann, bob):
            await until_let_go(service, pane)
        assert (await service.status()).problems == (f"cannot stop observing pane {refused[0]}: the disk is full",)


async def test_the_longest_id_of_a_message_ends_nothing_when_its_sender_is_told_of_the_answer(stage: Stage) -> None:
    ann = stage.start("Ann")
    stage.start("Bob", "--answer", "done")
    async with stage.service() as service:
        await service.send_message(SendMessage(to="Bob", text="hello", caller=ann, message_id="x" * 128))
        await wait_until_async(lambda: any("Bob" in heard for heard in stage.heard("Ann")), PATIENCE, "Ann to be told")
        assert not service.broken.done()


async def test_a_message_with_an_id_that_none_can_have_fails_alone(stage: Stage) -> None:
    bob = stage.start("Bob")
    async with stage.service() as service:
        await service.send_message(SendMessage(to="Bob", text="first"))
        await stage.until_heard("Bob", "first")
        await service._core.runner.put_again(Message("x" * 200, "never"), bob)
        await service.send_message(SendMessage(to="Bob", text="second"))
        await stage.until_heard("Bob", "second")
        assert stage.heard("Bob") == ["first", "second"]


async def test_the_service_starts_while_another_process_types_into_a_pane(stage: Stage) -> None:
    bob = stage.start("Bob")
    async with stage.service():
        pass
    async with streamrelay.connect(tmux=stage.tmux.binary, socket_path=stage.tmux.socket_path) as server:
        key = server_key(server.info.address, server.info.pid, await server.started())
        info = await server.find(bob)
        async with Outbox(stage.folder / "state" / "outbox.db") as outbox:
            await outbox.put(Message("m1", "hello"), server=key, pane=bob, program=info.command)
        with only_writer(server.info, bob, "send"):
            async with stage.service() as service:
                (problem,) = (await service.status()).problems
                assert problem.startswith(
                    f"cannot type the messages that wait for pane {bob}: `streamrelay send` (pid "
                )
    async with stage.service():
        await stage.until_heard("Bob", "hello")


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize("is_before", [True, False], ids=["the one before", "another"])
async def test_an_id_that_another_server_had_is_a_new_one_here(stage: Stage, is_before: bool) -> None:
    ann, bob = (stage.start(name) for name in ("Ann", "Bob"))
    socket = stage.tmux.socket_path if is_before else "/tmp/tmux"
    async with Outbox(stage.folder / "outbox.db") as outbox:
        entry, _ = await outbox.put(Message("m1", "x"), server=server_key(socket, 1, "1"), pane=bob, program="x")
        outbox.note(entry.number, "answered")
    published: list[Event] = []
    async with stage.service(outbox=stage.folder / "outbox.db") as service:
        assert [one.state for one in await service.get_delivery("m1")] == (["answered"] if is_before else [])
        request = SendMessage(to="Bob", text="hello", message_id="m1", caller=ann)
        await send_through(service, request, publish=published.append)
        await wait_until_async(lambda: stage.heard("Bob"), PATIENCE, "Bob to hear")
        (delivery,) = await service.get_delivery("m1")
        assert delivery.state not in {"queued", "failed"}
    told = [event.state for event in published if isinstance(event, Receipt)]
    assert told[:2] == ["queued", "pasted"]


async def test_a_service_that_runs_for_weeks_forgets_receipts_and_texts_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "FORGET_EVERY", 0.1)
    file = state_folder("spool") / "old.txt"
    file.write_text("a long text")
    os.utime(file, (1, 1))
    path = stage.folder / "outbox.db"
    async with stage.service(outbox=path) as service, Outbox(path) as outbox:
        for message_id, state in (("over", "answered"), ("open", "queued")):
            entry, _ = await outbox.put(Message(message_id, "x"), server="s", pane="%1", program="x")
            outbox.note(entry.number, state)
        await outbox.flush()
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE deliveries SET changed = 1")
        async with asyncio.timeout(PATIENCE):
            while await outbox.find("over"):
                await asyncio.sleep(0.05)
        await wait_until_async(lambda: not file.exists(), PATIENCE, "the text to be gone")
        assert [entry.state for entry in await outbox.find("open")] == ["queued"]
        assert (await service.status()).problems == ()
