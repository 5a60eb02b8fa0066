"""Real agents behind `streamrelay acp`: Claude Code and Codex in panes, a model on loopback, the SDK's own client.

They are taken from PATH, or from where $STREAMRELAY_CLAUDE and $STREAMRELAY_CODEX say; without them this is skipped.
"""

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.waiting import wait_until_async
from tests.acp.client import RecordingClient, ask, connected, said
from tests.mcp.staging import Household
from tests.mcp.test_mcp_real_agents import AGENTS, Set, program_of, start
from tests.service.conftest import PATIENCE

TEXTS = (
    "Understood. The answer is 42.",
    "One paragraph that is long enough to be wrapped by a terminal of a hundred and twenty columns: "
    + "it goes on and on, " * 12
    + "and ends here.",
    "Two paragraphs.\n\nThe second one.",
    "A list:\n\n- first item\n- second item with `code`\n- third item, **bold** in the middle",
    "## A heading\n\nText under it, with *emphasis*.\n\n1. First measure.\n2. Then cut.",
    "Code:\n\n```python\ndef commit(rows):\n    return [row for row in rows if row.age > 3]\n```\n\nThat is all.",
    "你好,世界!这是一段用来测试宽字符换行的中文文字。\n\nEmoji: 🚀 ✅ — café, naïve.",
    "A table:\n\n| Program | Bytes |\n|---|---|\n| cat | 120 |\n| bash | 340 |\n\nThe last row counts.",
    "Do you want to proceed?\n\n1. Yes\n2. No\n\nThis is only text.",
    "> a quoted line\n\nand what follows it",
)
AFTER = "The command has run."
PERMITTED, FORBIDDEN, CANCELLED = (3, 9, 15), (6,), (12,)
"""Which of the twenty prompts call a tool that a person permits, one that they refuse, and which is cancelled."""
APPROVALS = {"claude": "Yes", "codex": "Yes"}


class Model:
    """Answers prompt N with text N; a prompt with `tool` calls a command that needs a permission; `slow` waits."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.waiting = threading.Event()

    def decide(self, asked: ModelRequest) -> ModelReply:
        number = int(found[1]) if (found := re.search(r"prompt (\d+)", asked.said)) else 0
        if ", slow" in asked.said:
            self.waiting.set()
            self.released.wait(40)
            return ModelReply("Too late.")
        # An agent that answers between two frames shows no sign of work, and its turn ends by silence alone.
        time.sleep(0.4)
        if asked.result:
            return ModelReply(AFTER)
        if ", tool" in asked.said:
            return ModelReply(f"I run one command, number {number}.", call=command(asked, number))
        return ModelReply(TEXTS[number % len(TEXTS)])


def command(asked: ModelRequest, number: int) -> tuple[str, dict[str, object]]:
    words = f"touch made-{number}.txt"
    if "Bash" in asked.tools:
        return "Bash", {"command": words, "description": "Make a file"}
    name = next(tool for tool in asked.tools if tool in {"exec_command", "shell_command", "shell"})
    asks = {"sandbox_permissions": "require_escalated", "justification": "May I make a file?"}
    return name, asks | ({"cmd": words} if name == "exec_command" else {"command": words})


def set_up(name: str, program: str, home: Path, model: str) -> Set:
    how = AGENTS[name].set_up(program, home, model, {"command": "true", "args": []})
    if name == "claude":
        # From 2.1.332 on its mode is "auto" unless another one is asked for, and a command that it judges harmless
        # runs without a permission. Versions before know the mode by this name, and later ones take it for "manual".
        return Set([program, "--permission-mode", "default"], how.variables)
    config = home / ".codex" / "config.toml"
    text = config.read_text().split("[mcp_servers")[0]
    text = text.replace('approval_policy = "never"', 'approval_policy = "on-request"')
    config.write_text(text.replace("danger-full-access", "read-only"))
    return how


@contextmanager
def real_agent(household: Household, name: str, home: Path) -> Iterator[tuple[Model, LoopbackModel]]:
    program = program_of(name)
    (home / "work").mkdir(parents=True)
    decider = Model()
    with LoopbackModel(decider.decide) as model:
        pane = start(household, name, set_up(name, program, home, model.url), home)
        try:
            yield decider, model
        finally:
            decider.released.set()
            household.tmux.run("kill-pane", "-t", pane)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("BRG-01a", "BRG-01b", "BRG-01c", "BRG-01d")
@pytest.mark.parametrize("name", AGENTS)
async def test_the_sdk_client_drives_a_real_agent(household, tmp_path, name):
    with real_agent(household, name, tmp_path / "home") as (decider, model):
        shown = lambda: household.tmux.run("capture-pane", "-p", "-t", household.panes[name])  # noqa: E731
        await wait_until_async(lambda: AGENTS[name].composer in shown(), PATIENCE, "the agent to be ready")
        approve, refuse = APPROVALS[name], "No"
        client = RecordingClient()
        expected = list[str]()
        async with connected(household, client, name) as agent:
            session = (await agent.new_session(cwd="/", mcp_servers=[])).session_id
            for number in range(20):
                client.take()
                if number in CANCELLED:
                    prompting = asyncio.ensure_future(ask(agent, session, f"prompt {number}, slow"))
                    await wait_until_async(decider.waiting.is_set, PATIENCE, "the model to be asked")
                    await agent.cancel(session_id=session)
                    reason = await prompting
                    decider.released.set()
                    assert reason == "cancelled"
                    continue
                tool = number in PERMITTED or number in FORBIDDEN
                client.answers = [refuse if number in FORBIDDEN else approve]
                reason = await ask(agent, session, f"prompt {number}{', tool' if tool else ''}")
                text = said(client.updates)
                assert reason in {"end_turn", "cancelled" if number in FORBIDDEN else "end_turn"}
                if tool:
                    assert len(client.asked) == 1, client.updates
                    client.asked.clear()
                    assert (tmp_path / "home" / "work" / f"made-{number}.txt").exists() == (number in PERMITTED)
                    assert text.startswith(f"I run one command, number {number}.")
                    if number in PERMITTED:
                        assert text == f"I run one command, number {number}.{AFTER}"
                else:
                    assert text == TEXTS[number % len(TEXTS)]
                expected.append(text)
            assert model.errors == []
        reloaded = RecordingClient()
        async with connected(household, reloaded, name) as agent:
            await agent.load_session(cwd="/", session_id=session, mcp_servers=[])
            whole = said(reloaded.updates)
            for text in expected:
                assert text in whole
