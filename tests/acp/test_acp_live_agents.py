"""OpenCode, a real agent that speaks ACP, takes part as a session: in a relay, a gathering and a council.

The tests run `opencode` from PATH or `$STREAMRELAY_OPENCODE`, and are skipped without it. It has an empty home, an
invalid key, and a model on loopback.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamrelay
from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.clients.pane import PaneClient
from streamrelay.service.api import Invited
from streamrelay.sessions.model import StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from tests.acp.conftest import AcpCircle
from tests.delivery.test_native_lane_live import opencode_command

ANSWER = "## A thought\n\nIt is **mine**:\n\n- one `measure`\n- two"
LIVE_PATIENCE = 180.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.requirement("BRG-02")]


def decide(asked: ModelRequest) -> ModelReply:
    """Answer everything with the same Markdown; a request for the session's name, which has no tools, gets one line."""
    return ModelReply(ANSWER if asked.tools else "A thought")


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[str]:
    """The words that start OpenCode over ACP, as `streamrelay start` takes them."""
    with LoopbackModel(decide) as model:
        yield f"acp:{shlex.join([*opencode_command(tmp_path / 'home', model.url), 'acp'])}"


async def test_opencode_is_in_a_relay_with_a_pane(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    async with stage.service() as service:
        ann = await service.start_session(
            StartSession(agent=agent, title="Ann", cwd=str(tmp_path / "home" / "work"), patience=LIVE_PATIENCE)
        )
        assert (ann.agent, ann.state) == ("acp", "idle")
        # Bob receives the exact text of the model.
        assert (await stage.relayed(service, ann, LIVE_PATIENCE)).endswith(ANSWER)


async def test_opencode_takes_part_in_a_gathering(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    async with stage.service() as service:
        bob = stage.start("Bob", "--answer", "said Bob")
        harvester = stage.start("Eve", "--answer", "todos: none")
        held = await stage.held(
            service,
            Invited(name="Ann", number=1, agent=agent, cwd=str(tmp_path / "home" / "work")),
            Invited(name="Bob", number=2, session=bob),
            Invited(name="Eve", number=3, role="harvester", session=harvester),
            end_sessions=True,
        )
        over = await stage.until_over(service, held.gathering, LIVE_PATIENCE)
        ann = next(member for member in over.participants if member.name == "Ann")
        assert ann.contributions >= 3
        assert ann.gone == ""
        assert any(ANSWER in text for text in stage.heard("Bob"))


async def test_opencode_is_a_member_of_a_council(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    connection = streamrelay.connect(tmux=stage.tmux.binary, socket_path=stage.tmux.socket_path)
    async with connection as server:
        sessions = Sessions(server)
        start = StartSession(agent=agent, title="Ann", cwd=str(tmp_path / "home" / "work"), patience=LIVE_PATIENCE)
        ann = await sessions.start(start, is_awaited=True)
        async with server.watch(ann.pane):
            await sessions.until_ready(ann, LIVE_PATIENCE)
        answer = PaneClient(server, ann.pane).stream_response([ChatMessage("user", "what now?")], "You are Ann.")
        assert "".join([part async for part in answer]) == ANSWER
