"""The SDK's example agent takes part as a session: in a relay with a pane, in a 1-1-1 gathering and in a council."""

import os
import shlex
import sys
from pathlib import Path

import pytest

import streamrelay
from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.clients.pane import PaneClient
from streamrelay.sessions.model import StartSession
from streamrelay.sessions.sessions import Sessions
from tests.acp.conftest import AcpCircle
from tests.service.conftest import PATIENCE

EXAMPLE = os.environ.get("STREAMRELAY_ACP_EXAMPLE") or str(Path(__file__).with_name("example_agent.py"))
AGENT = f"acp:{shlex.join([sys.executable, EXAMPLE])}"

pytestmark = pytest.mark.requirement("BRG-02")


async def test_the_example_agent_is_in_a_relay_with_a_pane(stage: AcpCircle, tmp_path: Path) -> None:
    async with stage.service() as service:
        ann = await service.start_session(StartSession(agent=AGENT, title="Ann", cwd=str(tmp_path), patience=PATIENCE))
        assert (ann.agent, ann.state) == ("acp", "idle")
        assert await stage.relayed(service, ann) == "Ann (1):\n\nClient sent:Bob (2):\n\nsaid Bob"


@pytest.mark.slow
async def test_the_example_agent_takes_part_in_a_gathering(stage: AcpCircle, tmp_path: Path) -> None:
    async with stage.service() as service:
        heard = await stage.gathered(service, AGENT, tmp_path)
        assert any("Client sent:" in text for text in heard)


async def test_the_example_agent_is_a_member_of_a_council(stage: AcpCircle, tmp_path: Path) -> None:
    connection = streamrelay.connect(tmux=stage.tmux.binary, socket_path=stage.tmux.socket_path)
    async with connection as server:
        sessions = Sessions(server)
        start = StartSession(agent=AGENT, title="Ann", cwd=str(tmp_path), patience=PATIENCE)
        ann = await sessions.start(start, is_awaited=True)
        async with server.watch(ann.pane):
            await sessions.until_ready(ann, PATIENCE)
        answer = PaneClient(server, ann.pane).stream_response([ChatMessage("user", "what now?")], "You are Ann.")
        text = "".join([part async for part in answer])
        assert text.startswith("Client sent:")
        assert "what now?" in text
