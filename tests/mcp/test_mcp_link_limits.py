"""What a person decides of a link holds for the tools too: a budget, a pause. Official client, real panes."""

from typing import Any

import pytest
from mcp import Client

from streamrelay.events import LinkSpent
from streamrelay.links.link import Policy
from streamrelay.service.api import SendMessage
from tests.mcp.staging import call


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    error: dict[str, Any] = result.structured_content["error"]
    assert error["code"] == "not_allowed"
    assert error["hint"]
    return error


@pytest.mark.requirement("LNK-03", "OPS-04a")
async def test_messages_by_the_tool_spend_the_budget_and_are_refused_when_it_is_spent(stage):
    stage.start("Ann", "--answer", "[checkpoint] quiet")
    stage.start("Bob", "--answer", "[checkpoint] quiet")
    async with stage.served() as service, stage.client("Ann") as ann, stage.client("Bob") as bob:
        link = (await service.create_link("Ann", "Bob", Policy(budget=2))).link_id
        first = await call(ann, "send_message", to="Bob", text="First", direct=True)
        assert (first["link"], first["remaining"]) == (link, 1)
        last = await call(bob, "send_message", to="Ann", text="Second", message_id="second")
        assert "last delivery" in last["next"]
        again = await call(bob, "send_message", to="Ann", text="Second", message_id="second")
        assert again["message_id"] == "second"
        for name in ("Ann", "Bob"):
            await stage.until_told(name, "is spent after 2 deliveries")
        assert [event.deliveries for event in await service.read_since(0) if isinstance(event, LinkSpent)] == [2]

        error = await refusal(ann, "send_message", to="Bob", text="Third", direct=True)
        assert "spent after 2 deliveries" in error["message"]
        assert link in error["hint"]
        await refusal(bob, "send_message", to="Ann", text="Third")
        await call(ann, "close_link")
        assert (
            "closed when its budget was spent"
            in (await refusal(ann, "send_message", to="Bob", text="Shall we begin anew?", direct=True))["message"]
        )
        # A person says what they like, whatever is spent.
        await service.send_message(SendMessage(to="Bob", text="From a person"))
        await stage.until_told("Bob", "From a person")
    assert [text for text in stage.heard("Bob") if "[streamrelay]" not in text] == ["[From Ann] First", "From a person"]
    assert [text for text in stage.heard("Ann") if "[streamrelay]" not in text] == ["[From Bob] Second"]


@pytest.mark.requirement("REL-10c", "OPS-04a")
async def test_a_pause_holds_what_is_said_and_refuses_what_is_sent(stage):
    stage.start("Ann", "--answer", "[checkpoint] quiet")
    stage.start("Bob", "--answer", "[checkpoint] quiet")
    async with stage.served() as service, stage.client("Ann") as ann:
        link = (await service.create_link("Ann", "Bob")).link_id
        await service.pause(True, link)
        error = await refusal(ann, "send_message", to="Bob", text="Into the pause", direct=True)
        assert "paused by a person" in error["message"]
        assert "paused by a person" in (await refusal(ann, "close_link", last_words="Bye"))["message"]
        await service.pause(False, link)
        await service.pause(True)
        assert "paused everything" in (await refusal(ann, "send_message", to="Bob", text="Into another"))["message"]
        await service.pause(False)
        await call(ann, "send_message", to="Bob", text="Behind it")
        await stage.until_told("Bob", "[From Ann] Behind it")
        assert (await service.links())[0].deliveries == 1
    assert stage.heard("Bob") == ["[From Ann] Behind it"]
