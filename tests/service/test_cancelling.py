"""Messages that wait are listed and cancelled, while the daemon runs, after it was killed, and never once pasted."""

import asyncio
import os
import signal

import pytest

from streamrelay.delivery.lock import only_writer
from streamrelay.errors import CancelTooLate, NotAllowed, PaneTaken, TargetNotFound
from streamrelay.events import Receipt
from streamrelay.service.api import SendMessage
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled


async def until_held(service, message_id: str, reason: str) -> None:
    async def held() -> bool:
        return [(one.state, one.reason) for one in await service.get_delivery(message_id)] == [("queued", reason)]

    await wait_until_async(held, PATIENCE, f"{message_id} to wait: {reason}")


def answer_dialog(stage: Stage, name: str) -> None:
    pid = int(stage.tmux.run("display-message", "-p", "-t", stage.panes[name], "#{pane_pid}"))
    os.kill(pid, signal.SIGUSR2)


@pytest.mark.requirement("DLV-09a")
async def test_a_waiting_message_is_listed_and_cancelled_and_never_typed(stage: Stage):
    ann = stage.start("Ann")
    bob = stage.start("Bob", "--dialog", "--asks", "trust")
    async with stage.service() as service:
        await service.send_message(SendMessage(to="Bob", text="one\ntwo", message_id="m1"))
        await service.send_message(SendMessage(to="Bob", text="hello", message_id="m2", caller=ann))
        await service.send_message(SendMessage(to="Bob", text="last", message_id="m3"))
        await until_held(service, "m1", "needs_human")
        waiting = await service.list_deliveries()
        assert [(one.message_id, one.pane, one.state, one.sender) for one in waiting] == [
            ("m1", bob, "queued", ""), ("m2", bob, "queued", ann), ("m3", bob, "queued", ""),
        ]  # fmt: skip
        assert [one.text for one in waiting] == ["one\ntwo", "[From Ann] hello", "last"]
        assert waiting[0].reason == "needs_human"
        assert 0.0 < waiting[0].queued_at <= waiting[1].queued_at
        assert await service.list_deliveries("Bob") == waiting
        assert await service.list_deliveries("Ann") == []
        with pytest.raises(TargetNotFound):
            await service.list_deliveries("nobody")

        for by in ("", ""):  # a second time is as good as once
            (cancelled,) = await service.cancel_delivery("m1", by)
            assert (cancelled.state, cancelled.reason) == ("failed", "cancelled")
        with pytest.raises(NotAllowed):
            await service.cancel_delivery("m3", ann)
        (own,) = await service.cancel_delivery("m2", "Ann")
        assert own.reason == "cancelled"
        with pytest.raises(TargetNotFound):
            await service.cancel_delivery("unknown")

        answer_dialog(stage, "Bob")
        await stage.until_heard("Bob", "last")
        with pytest.raises(CancelTooLate) as late:
            await service.cancel_delivery("m3")
        assert late.value.data["state"] in {"pasted", "painted", "submitted", "turn_started", "answered"}
        assert await service.list_deliveries() == []
        assert [one.message_id for one in await service.list_deliveries(state="all")] == ["m1", "m2", "m3"]
        told = [event.message_id for event in await journaled(service, Receipt) if event.reason == "cancelled"]
        assert sorted(told) == ["m1", "m2"]
    assert stage.heard("Bob") == ["last"]


@pytest.mark.requirement("DLV-09a")
async def test_what_was_cancelled_stays_so_after_a_restart_and_without_a_writer(stage: Stage):
    """The outbox knows it, whoever writes to the pane next; a pane that another process writes to is its own."""
    bob = stage.start("Bob", "--dialog")
    async with stage.service() as service:
        for message_id in ("m1", "m2", "m3"):
            await service.send_message(SendMessage(to="Bob", text=message_id, message_id=message_id))
        await until_held(service, "m1", "needs_human")
        await service.cancel_delivery("m1")
    async with stage.service() as service:
        assert [one.message_id for one in await service.list_deliveries()] == ["m2", "m3"]
        await service._core.dismiss(bob)
        with only_writer(service._core.server.info, bob, "send"):
            with pytest.raises(PaneTaken, match="cannot cancel m2") as taken:
                await service.cancel_delivery("m2")
            assert taken.value.hint
        (cancelled,) = await service.cancel_delivery("m2")
        assert (cancelled.state, cancelled.reason) == ("failed", "cancelled")
        assert [event.message_id for event in await journaled(service, Receipt) if event.reason == "cancelled"] == [
            "m1", "m2",
        ]  # fmt: skip
    async with stage.service() as service:
        answer_dialog(stage, "Bob")
        await stage.until_heard("Bob", "m3")
    assert stage.heard("Bob") == ["m3"]


@pytest.mark.requirement("DLV-09a")
async def test_whoever_cancels_while_it_is_pasted_is_told_what_came_of_it(stage: Stage):
    """What is cancelled at any moment is either never typed, or the error says that it was."""
    stage.start("Bob")
    async with stage.service() as service:
        cancelled: set[str] = set()
        for number in range(8):
            message_id = f"m{number}"
            sending = asyncio.ensure_future(
                service.send_message(SendMessage(to="Bob", text=message_id, message_id=message_id))
            )
            await wait_until_async(lambda: service.get_delivery(message_id), PATIENCE)  # noqa: B023  # within the loop
            for _ in range(number):
                await asyncio.sleep(0)
            try:
                await service.cancel_delivery(message_id)
                cancelled.add(message_id)
            except CancelTooLate:
                pass
            await sending
        typed = {f"m{number}" for number in range(8)} - cancelled
        await stage.until_heard("Bob", *typed)
        await service.send_message(SendMessage(to="Bob", text="end"))
        await stage.until_heard("Bob", "end")
    assert set(stage.heard("Bob")) == typed | {"end"}
