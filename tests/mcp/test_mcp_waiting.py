"""Agents list the messages that wait, and cancel their own."""

import pytest

from streamrelay.service.api import SendMessage
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.staging import Agents
from tests.service.conftest import PATIENCE


@pytest.mark.requirement("DLV-09a")
async def test_an_agent_lists_what_waits_and_cancels_only_what_it_sent(stage: Agents) -> None:
    stage.start("Ann")
    bob = stage.start("Bob", "--dialog", "--asks", "trust")
    async with stage.served() as service, stage.client("Ann") as ann:
        assert (await ann.call_tool("list_deliveries", {})).content[0].text == "no message waits"
        sent = await ann.call_tool("send_message", {"to": "Bob", "text": "SECRET hello"})
        own = sent.structured_content["message_id"]
        await service.send_message(SendMessage(to="Bob", text="from a person", message_id="m2"))

        async def held() -> bool:
            return {one.reason for one in await service.list_deliveries()} == {"needs_human"}

        await wait_until_async(held, PATIENCE, "both messages to be held")
        listed = await ann.call_tool("list_deliveries", {"session": "Bob"})
        first, second = listed.structured_content["messages"]
        assert (first["message_id"], first["session"], first["reason"], first["yours"]) == (
            own,
            bob,
            "needs_human",
            True,
        )
        assert "attach-session -t =Bob" in first["advice"]
        assert (second["message_id"], "yours" in second) == ("m2", False)
        assert "SECRET" not in listed.content[0].text

        refused = await ann.call_tool("cancel_delivery", {"message_id": "m2"})
        assert refused.is_error
        assert refused.structured_content["error"]["code"] == "not_allowed"
        cancelled = await ann.call_tool("cancel_delivery", {"message_id": own})
        assert cancelled.content[0].text == f"message {own} to {bob}: failed (cancelled)\nIt is not typed."
        assert [one.message_id for one in await service.list_deliveries()] == ["m2"]
