"""Over the death of a service no receipt comes twice, and none is missing whose message the journal knows."""

import asyncio
import os
import signal
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import Message
from streamrelay.delivery.outbox import Outbox, OutboxEntry
from streamrelay.events import DeliveryState, Event, Receipt
from streamrelay.history.journal import Journal
from streamrelay.relay.rules import Participant, Withdraw
from streamrelay.relay.steps import Outgoing, RelayStep
from streamrelay.service.api import SendMessage
from streamrelay.service.feed import Feed
from streamrelay.service.local import LocalService
from streamrelay.service.persistence import (
    OUT,
    PendingDelivery,
    ServiceStore,
    untold,
    withdrawal_key,
    withdrawals,
)
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled

SERVER = "/tmp/socket 1 1700000000"


def entry(message_id: str, state: DeliveryState, pane: str = "%1", reason: str = "") -> OutboxEntry:
    return OutboxEntry(1, message_id, SERVER, pane, "cat", "", "", state, reason, {}, None, 0.0)


def receipt(message_id: str, state: DeliveryState, pane: str = "%1", reason: str = "") -> Receipt:
    return Receipt(message_id=message_id, state=state, pane=pane, reason=reason)


@pytest.mark.requirement("DLV-01a")
@pytest.mark.parametrize(
    ("stored", "told", "own", "missing"),
    [
        (entry("m1", "submitted"), [receipt("m1", "queued")], [], [receipt("m1", "submitted")]),
        (entry("m1", "submitted"), [], [("m1", "%1")], [receipt("m1", "submitted")]),
        (entry("m1", "failed", "%2", "gone"), [], [("m1", "%2")], [receipt("m1", "failed", "%2", "gone")]),
        (entry("m1", "submitted"), [receipt("m1", "submitted"), receipt("m1", "answered")], [], []),
        (entry("m1", "submitted"), [receipt("m1", "failed")], [], []),
        # Of another process, whose receipts are not journaled.
        (entry("m1", "submitted"), [], [("m1", "%2"), ("m2", "%1")], []),
        (entry("m1", "submitted"), [receipt("m1", "queued", "%2"), receipt("m2", "queued")], [], []),
    ],
)
def test_what_the_outbox_knows_and_the_journal_does_not_is_missing(
    stored: OutboxEntry, told: list[Receipt], own: list[tuple[str, str]], missing: list[Receipt]
) -> None:
    assert untold([stored], told, own) == missing


class ReadingFeed(Feed):
    """Reads from the file of the outbox what another process would find there when events are published."""

    def __init__(self, journal: Journal, outbox: Path) -> None:
        super().__init__(journal, 0)
        self._outbox = outbox
        self.found: list[str] = []

    def publish(self, events: list[Event]) -> None:
        with sqlite3.connect(self._outbox) as connection:
            self.found += [row[0] for row in connection.execute("SELECT state FROM deliveries")]
        super().publish(events)


@pytest.mark.requirement("DLV-01a", "DLV-07a")
async def test_the_outbox_has_a_state_before_its_receipt_is_committed(tmp_path: Path) -> None:
    path = tmp_path / "outbox.db"
    async with Journal(tmp_path / "journal.db") as journal, Outbox(path) as outbox:
        feed = ReadingFeed(journal, path)
        store = ServiceStore(journal, feed, outbox, tmp_path, dict)
        put, _ = await outbox.put(Message("m1", "hello"), server=SERVER, pane="%1", program="cat")
        busy = asyncio.ensure_future(outbox._database.do(_hold_for_a_moment))
        outbox.note(put.number, "submitted")
        await store.keep(RelayStep(events=[receipt("m1", "submitted")]))
        await busy
    assert feed.found == ["submitted"]


def _hold_for_a_moment(connection: sqlite3.Connection) -> None:
    connection.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 300000")


async def states_of(service: LocalService, message_id: str) -> list[DeliveryState]:
    return [event.state for event in await journaled(service, Receipt) if event.message_id == message_id]


async def until_answered(service: LocalService, message_id: str) -> None:
    async def is_answered() -> bool:
        return "answered" in await states_of(service, message_id)

    await wait_until_async(is_answered, PATIENCE, "the answer")


def forget_receipts(folder: Path, *states: DeliveryState) -> None:
    """Take receipts out of the journal, as if the service had died before it committed them."""
    with sqlite3.connect(folder / "journal.db") as connection:
        for state in states:
            connection.execute("DELETE FROM events WHERE event ->> '$.state' = ?", (state,))


@pytest.mark.requirement("DLV-01a")
@pytest.mark.parametrize("missing", [("answered",), ("turn_started", "answered")])
async def test_a_receipt_that_could_not_be_committed_follows_once(stage: Stage, missing: tuple[DeliveryState, ...]):
    stage.start("Bob")
    async with stage.service() as service:
        await service.send_message(SendMessage(to="Bob", text="hello", message_id="m1"))
        await until_answered(service, "m1")
        whole = await states_of(service, "m1")
    forget_receipts(stage.folder / "state", *missing)
    for _ in range(2):
        async with stage.service() as service:
            await until_answered(service, "m1")
            assert await states_of(service, "m1") == [state for state in whole if state not in missing[:-1]]


@pytest.mark.requirement("DLV-01a")
async def test_a_message_that_is_recovered_and_put_again_has_each_receipt_once(stage: Stage):
    """The step after the paste was not committed: the message is still pending, and the pane's marks know it."""
    pane = stage.start("Bob")
    async with stage.service() as service:
        await service.watch("Bob", True)
        await service.send_message(SendMessage(to="Bob", text="hello", message_id="m1"))
        await until_answered(service, "m1")
        sent = PendingDelivery(Message("m1", "hello"), pane)
        await service._core.journal.append([], keep={f"{OUT}1": msgspec.msgpack.encode(sent)})
        with sqlite3.connect(service._core.outbox._database.path) as connection:
            connection.execute("UPDATE deliveries SET state = 'queued', text = 'hello'")
    forget_receipts(stage.folder / "state", "queued", "pasted", "painted", "submitted", "turn_started", "answered")
    async with stage.service() as service:
        await wait_until_async(lambda: not service._core.runner._inbox, PATIENCE)
        assert await states_of(service, "m1") == ["submitted"]
    assert stage.heard("Bob") == ["hello"]


@pytest.mark.requirement("DLV-01a")
async def test_the_messages_of_a_pane_that_closed_meanwhile_are_closed(stage: Stage):
    stage.start("Bob", "--draft", "a person's")
    async with stage.service() as service:
        await service.watch("Bob", True)
        await service.send_message(SendMessage(to="Bob", text="hello", message_id="m1"))
    stage.tmux.run("kill-session", "-t", "Bob")
    for _ in range(2):
        async with stage.service() as service:
            await wait_until_async(lambda: not service._core.runner._inbox, PATIENCE)
            told = [event for event in await journaled(service, Receipt) if event.message_id == "m1"]
            assert [(one.state, one.reason) for one in told if one.state != "queued"] == [("unconfirmed", "pane_gone")]
            assert await service.list_deliveries() == []


@pytest.mark.requirement("DLV-07a")
async def test_a_message_to_withdraw_is_withdrawn_by_the_next_service(stage: Stage):
    """The step that withdraws it was committed, and the service died before the outbox knew."""
    pane = stage.start("Bob", "--draft", "a person's")
    async with stage.service() as service:
        await service.watch("Bob", True)
        await service.send_message(SendMessage(to="Bob", text="hello", message_id="m1"))
        await service._core.journal.append([], keep={withdrawal_key("m1", pane): b""})
        agent = service._core.runner.participant(pane).info.pid
    # The person clears the draft: from now on the message could be typed.
    os.kill(agent, signal.SIGUSR1)
    await wait_until_async(lambda: "a person's" not in stage.tmux.run("capture-pane", "-p", "-t", pane), PATIENCE)
    async with stage.service() as service:
        await wait_until_async(lambda: not service._core.runner._inbox, PATIENCE)
        (one,) = await service.get_delivery("m1")
        assert (one.state, one.reason) == ("failed", "superseded")
        assert withdrawals(await service._core.journal.kept()) == []
    assert stage.heard("Bob") == []


@pytest.mark.requirement("DLV-07a")
async def test_a_restore_waits_for_a_message_that_another_process_sends(stage: Stage):
    stage.start("Ann")
    pane = stage.start("Bob", "--draft", "a person's")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
        await service.send_message(SendMessage(to="Bob", text="hello", message_id="m1"))
        info, outbox = service._core.server.info, service._core.outbox._database.path
    with only_writer(info, pane, "send"):
        entered = AsyncExitStack()
        entering = asyncio.ensure_future(entered.enter_async_context(stage.service()))
        assert not (await asyncio.wait([entering], timeout=1.0))[0]
        # The other process takes over what waits for the pane.
        async with Outbox(outbox) as theirs:
            (taken_over,) = await theirs.find("m1")
            theirs.note(taken_over.number, "submitted")
    service = await entering
    async with entered:
        assert [again.link_id for again in await service.links()] == [link.link_id]
        assert service._core.runner.participant(pane) is not None
        await wait_until_async(lambda: not service._core.runner._inbox, PATIENCE)
        assert [state for state in await states_of(service, "m1") if state != "queued"] == ["submitted"]


async def kept_by(store: ServiceStore, journal: Journal, step: RelayStep) -> set[str]:
    await store.keep(step)
    store.gone_out(step.outgoing)
    return set(await journal.kept())


@pytest.mark.requirement("DLV-07a")
async def test_values_for_the_next_step_are_committed_with_it(tmp_path: Path) -> None:
    async with Journal(tmp_path / "journal.db") as journal, Outbox(tmp_path / "outbox.db") as outbox:
        store = ServiceStore(journal, Feed(journal, 0), outbox, tmp_path, dict)
        store.with_next({"server": b"new"})
        assert await journal.kept() == {}
        assert await kept_by(store, journal, RelayStep()) == {"server"}
        twice = Outgoing(Message("m1", "hello"), ("%1",))
        withdraw = Withdraw("m2", (Participant("S", "%1", "S", 1, "S"),))
        step = RelayStep(outgoing=[twice, twice], withdrawn=[withdraw])
        assert {key[:4] for key in await kept_by(store, journal, step)} == {"serv", "out/", "with"}
        assert await kept_by(store, journal, RelayStep()) == {"server"}


@pytest.mark.requirement("COU-01b", "DLV-07a")
@pytest.mark.parametrize("is_pending", [False, True])
async def test_a_council_turn_goes_on_while_its_message_may_still_be_typed(stage: Stage, is_pending: bool):
    """The service died with the turn committed, before or after it had committed the message."""
    pane = stage.start("Bob")
    async with stage.service() as service:
        session = (await service._core.find("Bob")).session
        await service.watch("Bob", True)
        await service._core.do(lambda _: service._core.machine.begin_council_turn(session, pane, "turn-1"))
        if is_pending:
            sent = PendingDelivery(Message("turn-1", "hello"), pane)
            await service._core.journal.append([], keep={f"{OUT}1": msgspec.msgpack.encode(sent)})
    async with stage.service() as service:
        turns = service._core.machine.council_turns
        await wait_until_async(lambda: not service._core.runner._inbox, PATIENCE)
        if is_pending:
            assert session in turns
            await stage.until_heard("Bob", "hello")
            await until_answered(service, "turn-1")
        await wait_until_async(lambda: not turns, PATIENCE, "the turn to end")
