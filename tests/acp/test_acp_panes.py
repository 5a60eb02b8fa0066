"""`streamrelay acp` over stdio: the SDK's own client, a daemon, and scripted agents in panes of a private tmux."""

import asyncio
import os
import signal

import pytest
from acp import RequestError

from streamrelay.testing.agent import INTERRUPTED, read_got
from streamrelay.testing.waiting import wait_until_async
from tests.acp.client import RecordingClient, ask, connected, heard, said
from tests.service.conftest import PATIENCE


@pytest.mark.requirement("BRG-01a", "BRG-01b")
async def test_a_client_prompts_a_pane_and_a_second_client_reads_the_same_conversation(household):
    household.start("Bob", "--answer", "first line\n\nthird line of {number}")
    one, two = RecordingClient(), RecordingClient()
    async with connected(household, one, "Bob") as agent, connected(household, two, "Bob") as other:
        with pytest.raises(RequestError, match="has not opened the session"):
            await ask(agent, "s-0", "hello")
        session = (await agent.new_session(cwd="/", mcp_servers=[])).session_id
        assert (await other.new_session(cwd="/", mcp_servers=[])).session_id == session
        assert await ask(agent, session, "how are\nyou?") == "end_turn"
        assert said(one.take()) == "first line\n\nthird line of 1"
        await wait_until_async(lambda: "third line of 1" in said(two.updates), PATIENCE)
        seen = two.take()
        assert (heard(seen), said(seen)) == ("how are\nyou?", "first line\n\nthird line of 1")
        assert await ask(other, session, "again") == "end_turn"
        assert said(two.take()) == "first line\n\nthird line of 2"
        # A client that comes later reads all of it.
        three = RecordingClient()
        async with connected(household, three, "Bob") as late:
            await late.load_session(cwd="/", session_id=session, mcp_servers=[])
            kinds = [type(update).__name__ for update in three.updates]
            assert kinds.index("UserMessageChunk") < kinds.index("AgentMessageChunk")
            assert said(three.updates) == "first line\n\nthird line of 1first line\n\nthird line of 2"
            assert await ask(late, session, "once more") == "end_turn"
            with pytest.raises(RequestError, match="no session is called 'Nemo'") as error:
                await late.load_session(cwd="/", session_id="Nemo", mcp_servers=[])
            assert error.value.data["code"] == "target_not_found"
    assert household.heard("Bob") == ["how are\nyou?", "again", "once more"]


@pytest.mark.requirement("BRG-01c")
async def test_a_permission_is_asked_of_the_person_and_only_their_choice_is_pressed(household):
    household.start("Bob", "--asks-during-work", "--answer", "done {number}")
    pid = int(household.tmux.run("display-message", "-p", "-t", household.panes["Bob"], "#{pane_pid}"))
    keys = lambda: [got.text for got in read_got(household.folder / "Bob") if got.kind == "key"]  # noqa: E731
    client = RecordingClient(answers=["Yes"])
    async with connected(household, client, "Bob") as agent:
        session = (await agent.new_session(cwd="/", mcp_servers=[])).session_id
        os.kill(pid, signal.SIGUSR1)
        assert await ask(agent, session, "work") == "end_turn"
        assert said(client.take()) == "done 1"
        (options,) = client.asked
        assert [(option.name, option.kind) for option in options] == [("Yes", "allow_once"), ("No", "reject_once")]
        assert keys() == ["1"]
        # Without an answer nothing is pressed; the person answers in the terminal.
        os.kill(pid, signal.SIGUSR1)
        prompting = asyncio.ensure_future(ask(agent, session, "more"))
        await wait_until_async(lambda: len(client.asked) == 2, PATIENCE)
        assert keys() == ["1"]
        household.tmux.run("send-keys", "-t", household.panes["Bob"], "2")
        assert await prompting == "end_turn"
        assert keys() == ["1", "2"]


@pytest.mark.requirement("BRG-01d")
async def test_a_cancel_interrupts_a_turn_and_takes_back_what_is_not_typed(household):
    household.start("Bob", "--works", "30")
    client = RecordingClient()
    async with connected(household, client, "Bob") as agent:
        session = (await agent.new_session(cwd="/", mcp_servers=[])).session_id
        prompting = asyncio.ensure_future(ask(agent, session, "work"))
        await wait_until_async(lambda: household.heard("Bob") == ["work"], PATIENCE)
        await agent.cancel(session_id=session)
        assert await prompting == "cancelled"
        await wait_until_async(lambda: said(client.updates) == INTERRUPTED, PATIENCE)


async def test_a_prompt_is_answered_though_its_session_is_opened_again_meanwhile(household):
    household.start("Bob", "--works", "1", "--answer", "answer {number}")
    client = RecordingClient()
    async with connected(household, client, "Bob") as agent:
        session = (await agent.new_session(cwd="/", mcp_servers=[])).session_id
        prompting = asyncio.ensure_future(ask(agent, session, "work"))
        await wait_until_async(lambda: household.heard("Bob") == ["work"], PATIENCE)
        # Many at once: each takes the place of the one before, and the last alone follows the pane.
        again = [agent.load_session(cwd="/", session_id=session, mcp_servers=[]) for _ in range(3)]
        again += [agent.new_session(cwd="/", mcp_servers=[]) for _ in range(3)]
        await asyncio.gather(*again)
        assert await asyncio.wait_for(prompting, PATIENCE) == "end_turn"
        client.take()
        assert await ask(agent, session, "once more") == "end_turn"
        assert said(client.take()) == "answer 2"
