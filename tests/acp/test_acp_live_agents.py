"""OpenCode and Gemini CLI, real agents that speak ACP, take part as sessions: in a relay, a gathering and a council.

The tests run `opencode` and `gemini` from PATH, or from where `$STREAMRELAY_OPENCODE` and `$STREAMRELAY_GEMINI` say,
and skip an agent that is not there. Each has an empty home, an invalid key, and a model on loopback.
"""

import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamrelay
from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.clients.pane import PaneClient
from streamrelay.sessions.model import StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from tests.acp.conftest import AcpCircle
from tests.delivery.test_native_lane_live import environment_command, opencode_command

ANSWER = "## A thought\n\nIt is **mine**:\n\n- one `measure`\n- two"
LIVE_PATIENCE = 180.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.requirement("BRG-02")]


def decide(asked: ModelRequest) -> ModelReply:
    """Answer everything with the same Markdown; a request for the session's name, which has no tools, gets one line."""
    return ModelReply(ANSWER if asked.tools else "A thought")


def gemini_command(home: Path, model: str) -> list[str]:
    """Set up Gemini CLI in a home of its own, and return the command that starts it there."""
    program = os.environ.get("STREAMRELAY_GEMINI") or shutil.which("gemini")
    if program is None:
        pytest.skip("no gemini here; $STREAMRELAY_GEMINI says where one is")
    (home / "work").mkdir(parents=True)
    (home / ".gemini").mkdir()
    configured = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }  # fmt: skip
    (home / ".gemini" / "settings.json").write_text(json.dumps(configured))
    variables = {
        "GEMINI_API_KEY": "no-key", "GOOGLE_GEMINI_BASE_URL": model, "NO_UPDATE_NOTIFIER": "1",
        "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "tmux-256color", "LANG": "C.UTF-8",
    }  # fmt: skip
    return [*environment_command(home, variables), program, "-m", "gemini-2.5-pro"]


COMMANDS = {"opencode": (opencode_command, "acp"), "gemini": (gemini_command, "--acp")}


@pytest.fixture(params=COMMANDS)
def agent(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The words that start a real agent over ACP, as `streamrelay start` takes them."""
    command, over_acp = COMMANDS[request.param]
    with LoopbackModel(decide) as model:
        yield f"acp:{shlex.join([*command(tmp_path / 'home', model.url), over_acp])}"


async def test_a_real_agent_is_in_a_relay_with_a_pane(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    async with stage.service() as service:
        ann = await service.start_session(
            StartSession(agent=agent, title="Ann", cwd=str(tmp_path / "home" / "work"), patience=LIVE_PATIENCE)
        )
        assert (ann.agent, ann.state) == ("acp", "idle")
        # Bob receives the exact text of the model.
        assert (await stage.relayed(service, ann, LIVE_PATIENCE)).endswith(ANSWER)


async def test_a_real_agent_takes_part_in_a_gathering(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    async with stage.service() as service:
        heard = await stage.gathered(service, agent, tmp_path / "home" / "work", LIVE_PATIENCE)
        assert any(ANSWER in text for text in heard)


async def test_a_real_agent_is_a_member_of_a_council(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    connection = streamrelay.connect(tmux=stage.tmux.binary, socket_path=stage.tmux.socket_path)
    async with connection as server:
        sessions = Sessions(server)
        start = StartSession(agent=agent, title="Ann", cwd=str(tmp_path / "home" / "work"), patience=LIVE_PATIENCE)
        ann = await sessions.start(start, is_awaited=True)
        async with server.watch(ann.pane):
            await sessions.until_ready(ann, LIVE_PATIENCE)
        answer = PaneClient(server, ann.pane).stream_response([ChatMessage("user", "what now?")], "You are Ann.")
        assert "".join([part async for part in answer]) == ANSWER
