"""Real agents call the tools and converse: Claude Code and Codex in panes, with a model on loopback.

They are taken from PATH, or from where $STREAMRELAY_CLAUDE and $STREAMRELAY_CODEX say; who has none skips this. Each
runs with an empty home, keys that are none, and nothing but loopback to talk to.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from streamrelay.service.api import SendMessage
from streamrelay.testing.loopback_model import Asked, LoopbackModel, Reply
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.staging import TOKENS, Agents, call
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


AGENTS: Mapping[str, tuple[str, Callable[[str, Path, str, Mapping[str, object]], Set]]] = {
    "claude": ("STREAMRELAY_CLAUDE", claude),
    "codex": ("STREAMRELAY_CODEX", codex),
}


def decide(asked: Asked) -> Reply:
    """Call the tool when the person says so, then just speak."""
    if asked.result:
        return Reply("Now I speak.")
    if "[From Bob]" in asked.said:
        return Reply("[checkpoint] I heard you.")
    if not has_tool(asked):
        return Reply("My tools are not there yet.")
    return Reply("I ask Bob.", call=(asked.tool("send_message"), {"to": "Bob", "text": "Shall we?", "direct": True}))


def has_tool(asked: Asked) -> bool:
    return any(tool.endswith("streamrelay__send_message") for tool in asked.tools)


def program_of(name: str) -> str:
    variable = AGENTS[name][0]
    program = os.environ.get(variable) or shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} here; ${variable} says where one is")
    return program


def start(stage: Agents, name: str, program: str, model: str, home: Path, server: Mapping[str, object]) -> str:
    """Start a real agent in a pane, with the token of that pane, and return the pane."""
    (home / "work").mkdir(parents=True)
    words, variables = AGENTS[name][1](program, home, model, server)
    variables = {
        **variables,
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    # Whose token it is to be is known when the pane is there.
    shell = 'cd "$HOME/work"; until [ -s ../token ]; do sleep 0.1; done; STREAMRELAY_TOKEN=$(cat ../token) exec "$@"'
    clean = ["env", "-i", *(f"{key}={value}" for key, value in variables.items()), "sh", "-c", shell, "sh"]
    pane = stage.tmux.new_session(name, [*clean, *words], columns=120, lines=40)
    stage.panes[name] = pane
    (home / "token.new").write_text(TOKENS.issue(pane))
    (home / "token.new").rename(home / "token")
    return pane


@pytest.mark.slow
@pytest.mark.requirement("REL-06a")
@pytest.mark.parametrize(("name", "composer"), [("claude", "❯"), ("codex", "› Ask Codex")])
async def test_a_real_agent_begins_a_conversation_by_one_call_and_just_speaks_then(stage, tmp_path, name, composer):
    program = program_of(name)
    stage.start("Bob", "--answer", "answer of Bob")
    with LoopbackModel(decide) as model:
        async with stage.served() as service:
            server = {"type": "http", "url": stage.address, "headers": {"Authorization": "Bearer ${STREAMRELAY_TOKEN}"}}
            pane = start(stage, name, program, model.url, tmp_path / "home", server)
            shown = lambda: stage.tmux.run("capture-pane", "-p", "-t", pane)  # noqa: E731
            await wait_until_async(lambda: composer in shown(), PATIENCE, f"{name} to be ready")
            # Agents take messages before their servers are connected.
            while not any(map(has_tool, model.asked)):
                before = len(model.asked)
                await service.send_message(SendMessage(to=pane, text="go on"))
                await wait_until_async(lambda: len(model.asked) > before, PATIENCE, "the model to be asked")  # noqa: B023
            # The words of the call; then those of its turn, without another call; then Bob's answer, in its pane.
            await stage.until_told("Bob", "Shall we?")
            await stage.until_told("Bob", "Now I speak.")
            await wait_until_async(
                lambda: any("[From Bob] answer of Bob" in asked.said for asked in model.asked), PATIENCE, "Bob's answer"
            )
            async with stage.client(name) as client:
                closed = await call(client, "close_link")
                assert closed["peer"] == "Bob"
    assert model.errors == []
    assert [asked.result for asked in model.asked if asked.result and "just speak" not in asked.result] == []
