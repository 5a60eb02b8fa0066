"""Agents that speak ACP as sessions: started, prompted, asked, cancelled, in a relay with a pane, killed."""

import shlex
import sys
from pathlib import Path

import pytest

import streamrelay
from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.clients.pane import PaneClient
from streamrelay.events import Receipt, Text
from streamrelay.service.api import SendMessage
from streamrelay.service.local import LocalService
from streamrelay.sessions.model import Session, StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, journaled

AGENT = f"acp:{shlex.join([sys.executable, str(Path(__file__).with_name('scripted_agent.py'))])}"


async def started(service: LocalService, title: str, folder: Path) -> Session:
    return await service.start_session(StartSession(agent=AGENT, title=title, cwd=str(folder), patience=PATIENCE))


async def asked(service: LocalService, session: Session, text: str, message_id: str) -> str:
    """Send a message, wait until it is answered or has failed, and return the text of its turn."""
    before = (await service.status()).seq
    await service.send_message(SendMessage(to=session.session, text=text, message_id=message_id))
    await until_state(service, message_id, "answered")
    said = [event for event in await service.read_since(before, session.session) if isinstance(event, Text)]
    return "\n".join(event.text for event in said if event.origin == "program")


async def until_state(service: LocalService, message_id: str, *states: str) -> None:
    async def is_there() -> bool:
        return any(delivery.state in states for delivery in await service.get_delivery(message_id))

    await wait_until_async(is_there, PATIENCE, f"{message_id} to be {states}")


@pytest.mark.requirement("BRG-02")
async def test_an_acp_agent_is_a_session_that_is_prompted_asked_cancelled_and_relayed(stage, tmp_path):
    async with stage.service() as service:
        ann = await started(service, "Ann", tmp_path)
        assert (ann.agent, ann.state, ann.started_here) == ("acp", "idle", True)
        text = await asked(service, ann, "one\ntwo  three", "m1")
        assert text == "I heard:\n\n* one\n* two  three\n**That** is all."
        # A permission is a dialog for a person, and leaves nothing behind.
        await service.send_message(SendMessage(to=ann.session, text="permit", message_id="m2"))
        await wait_until_async(lambda: service.dialogs(ann.session), PATIENCE, "the dialog")
        (dialog,) = await service.dialogs(ann.session)
        assert (dialog.kind, dialog.choices) == ("permission", ["Allow once", "Reject"])
        await service.answer_dialog(ann.session, dialog.dialog, 0)
        await until_state(service, "m2", "answered")
        said = [event.text for event in await journaled(service, Text) if event.origin == "program"]
        assert said[-5:] == ["I heard:", "", "Permission: yes", "* permit", "**That** is all."]
        await service.send_message(SendMessage(to=ann.session, text="slow", message_id="m3"))
        await until_state(service, "m3", "turn_started")
        assert await service.interrupt(ann.session) == ["C-c"]
        await until_state(service, "m3", "answered")
        # In a relay with a pane, each of the two hears the other's whole turns.
        message = await stage.relayed(service, ann)
        assert "Bob (2):" in message
        assert message.endswith("**That** is all.")


@pytest.mark.requirement("BRG-02")
async def test_two_permissions_at_once_are_two_dialogs_one_after_the_other(stage, tmp_path):
    async with stage.service() as service:
        ann = await started(service, "Ann", tmp_path)
        await service.send_message(SendMessage(to=ann.session, text="permit twice", message_id="m1"))
        for choice in (1, 0):
            await wait_until_async(lambda: service.dialogs(ann.session), PATIENCE, "the dialog")
            (dialog,) = await service.dialogs(ann.session)
            await service.answer_dialog(ann.session, dialog.dialog, choice)
        await until_state(service, "m1", "answered")
        said = [event.text for event in await journaled(service, Text) if event.origin == "program"]
        assert "Permission: no, yes" in said


@pytest.mark.requirement("BRG-02")
async def test_a_person_leaves_an_agent_that_does_not_end_by_itself(stage, tmp_path):
    async with stage.service() as service:
        ann = await started(service, "Ann", tmp_path)
        await service.send_message(SendMessage(to=ann.session, text="stay", message_id="m1"))
        await until_state(service, "m1", "answered")
        stage.tmux.run("send-keys", "-t", ann.pane, "C-d")
        listed = lambda: stage.tmux.run("list-panes", "-a", "-F", "#{pane_id}").split()  # noqa: E731
        await wait_until_async(lambda: ann.pane not in listed(), PATIENCE, "the pane to close")


@pytest.mark.requirement("BRG-02")
async def test_the_message_of_an_agent_that_dies_in_its_turn_is_unconfirmed(stage, tmp_path):
    async with stage.service() as service:
        ann = await started(service, "Ann", tmp_path)
        await service.send_message(SendMessage(to=ann.session, text="die", message_id="m1"))
        await until_state(service, "m1", "unconfirmed")
        states = [event.state for event in await journaled(service, Receipt) if event.message_id == "m1"]
        assert states.count("submitted") == 1
        assert "answered" not in states
        texts = [event.text for event in await journaled(service, Text) if event.origin == "program"]
        assert "I heard:" in texts
        assert texts[-1].endswith("ended with status 3")


@pytest.mark.slow
@pytest.mark.requirement("BRG-02")
async def test_an_acp_agent_takes_part_in_a_gathering(stage, tmp_path):
    async with stage.service() as service:
        heard = await stage.gathered(service, AGENT, tmp_path, 90)
        assert any("A thought of mine." in text for text in heard)


@pytest.mark.requirement("BRG-02")
async def test_an_acp_agent_is_a_member_of_a_council(stage, tmp_path):
    connection = streamrelay.connect(tmux=stage.tmux.binary, socket_path=stage.tmux.socket_path)
    async with connection as server:
        sessions = Sessions(server)
        ann = await sessions.start(StartSession(agent=AGENT, title="Ann", cwd=str(tmp_path)), is_awaited=True)
        async with server.watch(ann.pane):
            await sessions.until_ready(ann)
        client = PaneClient(server, ann.pane)
        answer = client.stream_response([ChatMessage("user", "what now?")], "You are Ann.")
        text = "".join([part async for part in answer])
        assert text == "I heard:\n\n* You are Ann.\n* \n* what now?\n**That** is all.".replace("* \n", "*\n")
