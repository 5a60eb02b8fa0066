"""The configured policy for typing holds for all that a service types, unless a sender says otherwise."""

from typing import Any

import pytest

from streamrelay.config.settings import HistoryTable
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.errors import DeliveryFailed
from streamrelay.events import Receipt
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service.api import SendMessage, StartSession
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled


def configure(service: LocalService, typing: DeliveryPolicy) -> None:
    service.configure(policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), typing=typing)


async def until_failed(service: LocalService, beginning: str, reason: str) -> None:
    async def has_failed() -> bool:
        receipts = [one for one in await journaled(service, Receipt) if one.message_id.startswith(beginning)]
        return any((one.state, one.reason) == ("failed", reason) for one in receipts)

    await wait_until_async(has_failed, PATIENCE, f"{beginning} to fail: {reason}")


async def test_a_command_is_refused_unless_its_sender_wants_it_sent(stage: Stage):
    stage.start("Ann")
    async with stage.service() as service:
        configure(service, DeliveryPolicy(commands="refuse"))
        await service.send_message(SendMessage(to="Ann", text="/clear", message_id="refused"))
        await until_failed(service, "refused", "command")
        await service.send_message(SendMessage(to="Ann", text="/wanted", commands="send"))
        await stage.until_heard("Ann", "/wanted")
        configure(service, DeliveryPolicy())
        await service.send_message(SendMessage(to="Ann", text="/usual"))
        await stage.until_heard("Ann", "/usual")
    assert stage.heard("Ann") == ["/wanted", "/usual"]


async def test_what_a_link_passes_on_fails_at_a_dialog_as_configured(stage: Stage):
    stage.start("Ann")
    stage.start("Bob", "--dialog")
    async with stage.service() as service:
        configure(service, DeliveryPolicy(needs_human="fail"))
        link = await service.create_link("Ann", "Bob")
        await service.send_message(SendMessage(to="Bob", text="hello"))
        await wait_until_async(lambda: _asks(service), PATIENCE, "Bob to ask")
        stage.types("Ann", "speak")
        await until_failed(service, link.link_id, "needs_human")
        await service.send_message(SendMessage(to="Bob", text="later", message_id="held", needs_human="hold"))

        async def is_held() -> bool:
            return [(one.state, one.reason) for one in await service.get_delivery("held")] == [
                ("queued", "needs_human")
            ]

        await wait_until_async(is_held, PATIENCE, "the message to wait")


async def test_another_configuration_holds_for_sessions_that_are_observed_already(stage: Stage):
    stage.start("Ann")
    stage.start("Bob", "--dialog")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
        await service.send_message(SendMessage(to="Bob", text="hello"))
        await wait_until_async(lambda: _asks(service), PATIENCE, "Bob to ask")
        configure(service, DeliveryPolicy(needs_human="fail"))
        stage.types("Ann", "speak")
        await until_failed(service, link.link_id, "needs_human")


async def test_what_streamrelay_says_itself_waits_for_a_person_whatever_is_configured(stage: Stage):
    stage.start("Ann")
    stage.start("Bob", "--dialog")
    async with stage.service() as service:
        configure(service, DeliveryPolicy(needs_human="fail"))
        link = await service.create_link("Ann", "Bob", LinkPolicy(budget=1))
        await service.send_message(SendMessage(to="Bob", text="hello"))
        await wait_until_async(lambda: _asks(service), PATIENCE, "Bob to ask")
        stage.types("Ann", "speak")
        await until_failed(service, link.link_id, "needs_human")

        async def waits() -> bool:
            receipts = [one for one in await journaled(service, Receipt) if one.message_id.startswith(link.link_id)]
            return any((one.state, one.reason) == ("queued", "needs_human") for one in receipts)

        await wait_until_async(waits, PATIENCE, "the notice to wait")


async def test_a_session_whose_prompt_is_refused_is_not_left(stage: Stage):
    async with stage.service() as service:
        configure(service, DeliveryPolicy(commands="refuse"))
        request = StartSession(agent="sprite", arguments=[str(stage.folder / "new")], prompt="/clear")
        with pytest.raises(DeliveryFailed, match="command"):
            await service.start_session(request)
        assert {session.title for session in await service.sessions()} == {"keeper"}


@pytest.mark.parametrize(
    ("asked", "own", "kept"),
    [
        ("send", "send", "send"),
        ("refuse", "send", "refuse"),
        ("send", "refuse", "refuse"),
        ("refuse", "refuse", "refuse"),
    ],
)
def test_another_machines_sender_lifts_no_protection(asked: Any, own: Any, kept: str):
    policy = DeliveryPolicy(needs_human="fail", commands=asked, patience=3.0)
    assert policy.kept_to(DeliveryPolicy(commands=own)) == DeliveryPolicy("fail", kept, 3.0)


async def _asks(service: LocalService) -> bool:
    return any(session.title == "Bob" and session.state == "needs_human" for session in await service.sessions())
