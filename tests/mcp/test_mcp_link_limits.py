"""What a person decides of a link holds for the tools too: a budget, a pause. Official client, real panes."""

from typing import Any

import pytest
from mcp import Client

from streamrelay.config.settings import HistoryTable, SessionsTable
from streamrelay.events import LinkSpent
from streamrelay.links.link import LinkPolicy
from streamrelay.mcp.server import build_server
from streamrelay.relay.rules import Rules
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
        link = (await service.create_link("Ann", "Bob", LinkPolicy(budget=2))).link_id
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


@pytest.mark.requirement("REL-10c", "OPS-04c")
async def test_an_agent_that_nobody_knows_is_no_person(stage):
    stage.start("Bob")
    strict = {"policy": LinkPolicy(), "rules": Rules(), "retention": HistoryTable()}
    circle = [
        {"name": name, "number": number, "agent": "cat", "role": "harvester" if number == 3 else "speaker"}
        for number, name in enumerate(("A", "B", "C"), 1)
    ]
    async with stage.served() as service:
        nobody = Client(build_server(service, _nobody))
        async with nobody:
            await service.pause(True)
            assert "paused everything" in (await refusal(nobody, "send_message", to="Bob", text="x"))["message"]
            assert "paused" in (await refusal(nobody, "start_session", agent="cat", prompt="x"))["message"]
            assert "paused" in (await refusal(nobody, "start_gathering", participants=circle))["message"]
            await service.pause(False)
            service.configure(**strict, starting=SessionsTable(start="people"))
            assert "only people" in (await refusal(nobody, "start_session", agent="cat"))["message"]
            assert "only people" in (await refusal(nobody, "start_gathering", participants=circle))["message"]
            assert {session.title for session in await service.sessions()} == {"keeper", "Bob"}
            await call(nobody, "send_message", to="Bob", text="delivered all the same")
            await stage.until_told("Bob", "delivered all the same")
    assert stage.heard("Bob") == ["delivered all the same"]


async def _nobody(_: object) -> str:
    return ""
