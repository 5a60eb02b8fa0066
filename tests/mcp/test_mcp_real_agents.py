"""Real agents call the tools and converse: Claude Code and Codex in panes, with a model on loopback.

They are taken from PATH, or from where $STREAMRELAY_CLAUDE and $STREAMRELAY_CODEX say; who has none skips this. Each
runs with an empty home, keys that are none, and nothing but loopback to talk to.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from streamrelay.daemon.client import DaemonClient
from streamrelay.service.api import SendMessage
from streamrelay.service.interface import Service
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.staging import TOKENS, Talking
from tests.service.conftest import PATIENCE

KEY = "no-key-0123456789abcdefghij"


class Set(NamedTuple):
    """How an agent is started: its words, its variables."""

    words: Sequence[str]
    variables: Mapping[str, str]


def claude(program: str, home: Path, model: str, server: Mapping[str, object]) -> Set:
    work = str(home / "work")
    settings = {
        "hasCompletedOnboarding": True, "numStartups": 5, "autoUpdates": False, "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {work: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }  # fmt: skip
    (home / ".claude.json").write_text(json.dumps(settings))
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"streamrelay": server}}))
    words = [program, "--mcp-config", str(home / "mcp.json"), "--allowedTools", "mcp__streamrelay"]
    quiet = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
    variables = dict.fromkeys((*quiet, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1")
    return Set(words, {**variables, "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": KEY})


def codex(program: str, home: Path, model: str, server: Mapping[str, object]) -> Set:
    if "url" in server:
        ours = f'url = "{server["url"]}"\nbearer_token_env_var = "STREAMRELAY_TOKEN"'
    else:
        ours = f"command = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}"
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f"""
model = "loopback"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.loopback]
name = "loopback"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "NO_KEY"
[projects."{home / "work"}"]
trust_level = "trusted"
[analytics]
enabled = false
[mcp_servers.streamrelay]
{ours}
""")
    return Set([program, "--no-daemon"], {"NO_KEY": KEY})


class Agent(NamedTuple):
    """A real agent: where it is said to be, how it is set up, what its composer looks like."""

    variable: str
    set_up: Callable[[str, Path, str, Mapping[str, object]], Set]
    composer: str


AGENTS = {
    "claude": Agent("STREAMRELAY_CLAUDE", claude, "❯"),
    "codex": Agent("STREAMRELAY_CODEX", codex, "› Ask Codex"),
}


def decide(asked: ModelRequest) -> ModelReply:
    """Call the tool when the person says so, then just speak."""
    if asked.result:
        return ModelReply("Now I speak.")
    if "[From Bob]" in asked.said:
        return ModelReply("[checkpoint] I heard you.")
    if not has_tool(asked):
        return ModelReply("My tools are not there yet.")
    return ModelReply(
        "I ask Bob.", call=(asked.tool("send_message"), {"to": "Bob", "text": "Shall we?", "direct": True})
    )


def has_tool(asked: ModelRequest) -> bool:
    return any(tool.endswith("streamrelay__send_message") for tool in asked.tools)


def program_of(name: str) -> str:
    variable = AGENTS[name].variable
    program = os.environ.get(variable) or shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} here; ${variable} says where one is")
    return program


def start(stage: Talking, name: str, how: Set, home: Path, token: Callable[[str], str] = str) -> str:
    """Start a real agent in a pane, with a token for that pane, and return the pane."""
    variables = {
        **how.variables,
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    # Whose token it is to be is known when the pane is there; of its environment tmux's part alone stays.
    shell = 'cd "$HOME/work"; until [ -s ../token ]; do sleep 0.1; done; STREAMRELAY_TOKEN=$(cat ../token) exec "$@"'
    words = [f"{key}={value}" for key, value in variables.items()]
    clean = ["sh", "-c", 'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$@"', "sh", *words, "sh", "-c", shell, "sh"]
    pane = stage.tmux.new_session(name, [*clean, *how.words], columns=120, lines=40)
    stage.panes[name] = pane
    (home / "token.new").write_text(token(pane))
    (home / "token.new").rename(home / "token")
    return pane


async def converse(stage: Talking, service: Service, pane: str, composer: str, model: LoopbackModel) -> None:
    """Have the agent in a pane begin a conversation with Bob, and see what each of them hears."""
    shown = lambda: stage.tmux.run("capture-pane", "-p", "-t", pane)  # noqa: E731
    await wait_until_async(lambda: composer in shown(), PATIENCE, "the agent to be ready")
    # Agents take messages before their servers are connected. One at a time: they answer several in one turn.
    while not any(map(has_tool, model.asked)):
        sent = (await service.send_message(SendMessage(to=pane, text="go on"))).message_id
        answered = lambda: is_answered(service, sent)  # noqa: B023, E731
        await wait_until_async(answered, PATIENCE, "the agent to answer")
    # The words of the call; then those of its turn, without another call; then Bob's answer, in its pane.
    await stage.until_told("Bob", "Shall we?")
    await stage.until_told("Bob", "Now I speak.")
    await wait_until_async(
        lambda: any("[From Bob] answer of Bob" in asked.said for asked in model.asked), PATIENCE, "Bob's answer"
    )
    (link,) = await service.links()
    assert {party.pane for party in link.parties} == {pane, stage.panes["Bob"]}
    assert "streamrelay" not in stage.tmux.run("capture-pane", "-p", "-t", stage.panes["Bob"]), "a call is no word"
    assert model.errors == []
    assert [asked.result for asked in model.asked if asked.result and "just speak" not in asked.result] == []


async def is_answered(service: Service, message_id: str) -> bool:
    return any(delivery.state == "answered" for delivery in await service.get_delivery(message_id))


@pytest.mark.slow
@pytest.mark.requirement("OPS-04a", "REL-06a")
@pytest.mark.parametrize("name", AGENTS)
async def test_a_real_agent_begins_a_conversation_by_one_call_over_http(stage, tmp_path, name):
    program, home = program_of(name), tmp_path / "home"
    (home / "work").mkdir(parents=True)
    stage.start("Bob", "--answer", "answer of Bob")
    with LoopbackModel(decide) as model:
        async with stage.served() as service:
            server = {"type": "http", "url": stage.address, "headers": {"Authorization": "Bearer ${STREAMRELAY_TOKEN}"}}
            pane = start(stage, name, AGENTS[name].set_up(program, home, model.url, server), home, TOKENS.issue)
            await converse(stage, service, pane, AGENTS[name].composer, model)


@pytest.mark.slow
@pytest.mark.requirement("OPS-04a", "OPS-04c", "REL-06a")
@pytest.mark.parametrize("name", AGENTS)
async def test_a_real_agent_begins_a_conversation_with_a_server_it_starts_itself(household, tmp_path, name):
    program, home = program_of(name), tmp_path / "home"
    (home / "work").mkdir(parents=True)
    household.start("Bob", "--answer", "answer of Bob")
    begin = [*household.command[:3], "daemon", "start", "-q", *household.command[4:]]
    subprocess.run(begin, check=True, env=household.environment(""))
    with LoopbackModel(decide) as model:
        async with DaemonClient(household.address.socket) as service:
            server = {"command": household.command[0], "args": household.command[1:]}
            how = AGENTS[name].set_up(program, home, model.url, server)
            pane = start(household, name, Set(how.words, {**how.variables, **household.variables}), home)
            await converse(household, service, pane, AGENTS[name].composer, model)
