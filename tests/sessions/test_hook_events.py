"""An agent's stop hook, as it reaches a pane that is watched: a vote that ends its turn, with the answer it tells."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import streamrelay
from streamrelay.agents import shipped_profiles
from streamrelay.agents.stop_report import HookReport
from streamrelay.errors import UsageError
from streamrelay.events import AgentStopped, TurnEnded
from streamrelay.panes.server import Server
from streamrelay.sessions.hook_events import hear_hook
from streamrelay.testing.tmux import PrivateTmux

PROFILES = shipped_profiles()
# Answers each line after a while, and says by nothing that it has: only silence would end its turn.
SLOW = "import sys, time\nfor line in sys.stdin:\n    time.sleep(0.7)\n    print('heard', line.strip(), flush=True)"


@pytest.fixture
async def server(private_tmux: PrivateTmux) -> AsyncIterator[Server]:
    private_tmux.new_session("slow", [sys.executable, "-c", SLOW])
    async with streamrelay.connect(
        tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=PROFILES
    ) as server:
        yield server


@pytest.fixture
def transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    file = tmp_path / ".claude" / "projects" / "x" / "1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"type": "assistant", "message": {"content": "**written down**"}}) + "\n")
    return file


@pytest.mark.requirement("AGT-03a")
async def test_the_word_of_a_hook_ends_the_turn_for_certain(server: Server, private_tmux: PrivateTmux) -> None:
    pane = (await server.find("slow")).pane
    report = HookReport(
        agent="claude", pane=pane, payload={"hook_event_name": "Stop", "last_assistant_message": "**x**"}
    )
    ended: list[TurnEnded] = []
    stopped: list[AgentStopped] = []
    async with server.watch("slow") as stream:
        private_tmux.run("send-keys", "-t", pane, "hello", "Enter")
        async for event in stream:
            match event:
                case streamrelay.Text(text="heard hello"):
                    assert await hear_hook(server, report)
                case AgentStopped():
                    stopped.append(event)
                case TurnEnded() if stopped:
                    ended.append(event)
                    break
                case _:
                    pass
    assert (stopped[0].agent, stopped[0].answer) == ("claude", "**x**")
    assert ended[0].certain
    assert [vote.says for vote in ended[0].votes if vote.by == "hook"] == ["idle"]


@pytest.mark.requirement("AGT-03a")
async def test_an_answer_that_is_not_told_is_read_from_the_agents_own_transcript(
    server: Server, transcript: Path, tmp_path: Path
) -> None:
    pane = (await server.find("slow")).pane
    secret = tmp_path / "secret"
    secret.write_bytes(transcript.read_bytes())
    answers = []
    async with server.watch("slow") as stream:
        for file in (transcript, secret, tmp_path / ".claude/projects/x/../../../secret", tmp_path / "nowhere"):
            await hear_hook(server, HookReport(agent="claude", pane=pane, payload={"transcript_path": str(file)}))
            async for event in stream:
                if isinstance(event, AgentStopped):
                    answers.append(event.answer)
                    break
    assert answers == ["**written down**", "", "", ""]


async def test_what_is_no_stop_or_not_watched_is_of_no_use(server: Server) -> None:
    pane = (await server.find("slow")).pane
    report = HookReport(agent="claude", pane=pane, payload={"hook_event_name": "Stop"})
    assert not await hear_hook(server, report)
    async with server.watch("slow"):
        assert await hear_hook(server, report)
        assert not await hear_hook(server, HookReport(agent="claude", pane="%999", payload=report.payload))
        subagent = HookReport(agent="claude", pane=pane, payload={"hook_event_name": "SubagentStop"})
        assert not await hear_hook(server, subagent)
        with pytest.raises(UsageError):
            await hear_hook(server, HookReport(agent="python", pane=pane))


@pytest.mark.requirement("AGT-03a")
async def test_a_conversation_that_is_not_on_the_screen_has_no_vote(server: Server, tmp_path: Path) -> None:
    """Codex tells of the turns in which it makes up titles as well; only what a person sees is written down."""
    pane = (await server.find("slow")).pane
    file = tmp_path / "codex" / "sessions" / "2026" / "11" / "22" / "rollout-2026-11-22T09-02-37-main.jsonl"
    file.parent.mkdir(parents=True)
    file.touch()

    def report(thread: str) -> HookReport:
        payload = {"type": "agent-turn-complete", "thread-id": thread, "last-assistant-message": "x"}
        environment = {"CODEX_HOME": str(tmp_path / "codex")}
        return HookReport(agent="codex", pane=pane, payload=payload, environment=environment)

    async with server.watch("slow"):
        assert await hear_hook(server, report("main"))
        assert not await hear_hook(server, report("title"))
