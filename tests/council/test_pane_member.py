"""A terminal agent in a real pane as a member: alone with a scripted one, and in a council of three vendors."""

import asyncio
import json
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
import stamina

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.council import coordinator
from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.council.clients.making import make_client
from streamrelay.council.clients.pane import PaneClient
from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.config import parse_config
from streamrelay.council.events import AnswerBegan, AnswerGrew, MessageShown
from streamrelay.council.members import Markers, Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore
from streamrelay.delivery.lock import only_writer
from streamrelay.errors import PaneTaken
from streamrelay.panes.server import Server
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.council.test_session import PATIENCE, THREE, Onlooker, stored
from tests.council.vendors import Vendors

PANE = '[[member]]\nname = "Sprite"\nvendor = "pane"\nmodel = "sprite"\n'
ECHO = '[[member]]\nname = "Echo"\nvendor = "scripted"\nscript = ["I heard: {last}"]\n'


async def start_agent(tmux: PrivateTmux, log: Path, *options: str) -> Server:
    """Start a scripted agent in the session `sprite`, wait until it reads, and return its server, to be entered."""
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.1", *options]
    tmux.new_session("sprite", words, columns=100, lines=40)
    await wait_until_async(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    profile = parse_profile("sprite", PROFILE, source="sprite.toml")
    return streamrelay.connect(tmux=tmux.binary, socket_path=tmux.socket_path, profiles=(profile,))


@pytest.mark.requirement("COU-01b")
async def test_an_agent_in_a_pane_answers_and_is_told_only_what_is_new(
    private_tmux: PrivateTmux, store: CouncilStore, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    answers = tmp_path / "answers"
    answers.write_text(json.dumps(["A first answer.", "A second answer."]))
    connection = await start_agent(private_tmux, log, "--answers", str(answers))
    async with connection as server:

        def clients(member: Member, model: str) -> AIClient:
            return (
                PaneClient(server, model, timeout=PATIENCE)
                if member.vendor == "pane"
                else ScriptedClient(member.script, pause=0.0)
            )

        async with await CouncilSession.begin(store, parse_config(PANE + ECHO, "c"), clients) as session:
            on = Onlooker(session)
            await asyncio.sleep(0)
            session.say("What do you say?")
            await on.until(lambda on: on.rests(1))
            session.say("And now?")
            await on.until(lambda on: on.rests(2))
            assert not session.status.unhealthy
        taken = PaneClient(server, "sprite", taken_timeout=0.0)
        with only_writer(server.info, (await server.find("sprite")).pane, "daemon"):
            with pytest.raises(PaneTaken, match="daemon"):
                await taken.health_check()
            with pytest.raises(PaneTaken, match="daemon"):
                await anext(aiter(taken.stream_response([ChatMessage("user", "Hello")], "")))
        assert await taken.health_check()
    assert await stored(store, session.id) == [
        "You: What do you say?",
        "Sprite: A first answer.",
        "Echo: I heard: [Sprite]: A first answer.",
        "You: And now?",
        "Sprite: A second answer.",
        "Echo: I heard: [Sprite]: A second answer.",
    ]
    first, second = [got.text for got in read_got(log) if got.kind == "message"]
    assert first.startswith("You are Sprite, a member of a council")
    assert first.endswith("[You]: What do you say?")
    assert second == "[Echo]: I heard: [Sprite]: A first answer.\n\n[You]: And now?"


@pytest.fixture
def quick_retries() -> Iterator[None]:
    """Make the attempts without the seconds between them."""
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.requirement("COU-01b", "COU-02a", "COU-04", "COU-05", "COU-07")
async def test_three_models_and_an_agent_with_faults_fallbacks_and_a_queued_message(
    private_tmux: PrivateTmux,
    vendors: Vendors,
    store: CouncilStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY"):
        monkeypatch.setenv(name, "sk-secret-key")
    log = tmp_path / "log"
    connection = await start_agent(private_tmux, log)
    config = parse_config(PANE + THREE.format(url=vendors.url), "council.toml")
    drafters: list[str] = []
    for _ in range(10):
        begun = await CouncilSession.begin(store, config, lambda member, _: ScriptedClient(member.script))
        drafters.append((await store.resume(begun.id))[1].drafter)
    assert drafters == (["Sprite", "Claude", "Gemini", "Grok"] * 3)[:10]
    clock = [0.0]
    vendors.faults["gemini-x"] = deque(["429", "429"])
    vendors.faults["grok-x"] = deque(["cut"])
    vendors.faults["claude-x"] = deque(["slow"])
    vendors.pause = 0.05
    async with connection as server:

        def clients(member: Member, model: str) -> AIClient:
            return make_client(member, model, server)

        async with await CouncilSession.begin(store, config, clients, now=lambda: clock[0]) as session:
            assert session.status.markers == Markers("Gemini", "Claude")
            on = Onlooker(session)
            await asyncio.sleep(0)
            session.say("What shall we build?")
            await on.until(lambda on: any(isinstance(each, AnswerGrew) for each in on.seen))
            session.say("Keep it small.")
            await on.until(lambda on: on.rests(1))
            assert vendors.requests == {"google:gemini-x": 3, "openai:grok-x": 2, "anthropic:claude-x": 1}
            slow = next(each.id for each in on.seen if isinstance(each, AnswerBegan) and each.member == "Claude")
            grown = [each.piece for each in on.seen if isinstance(each, AnswerGrew) and each.id == slow]
            assert "".join(grown) == "I am claude-x."
            vendors.faults["gemini-x"] = deque(["500", "500"])
            vendors.faults["grok-x"] = deque(["malformed"])
            vendors.faults["claude-x"] = deque(["401"] * 4)
            session.say("And now?")
            await on.until(lambda on: on.rests(2))
            assert session.status.question == "⚠️ Claude unavailable. Fallback to claude-mini? (/yes | /no)"
            clock[0] = 30.0
            session.submit(coordinator.Pass())
            await on.until(lambda on: "💭 Still deciding?" in on.notices)
            clock[0] = 60.0
            session.submit(coordinator.Pass())
            await on.until(lambda on: session.status.disabled == ("Claude",))
            vendors.faults.clear()
            session.submit(coordinator.Retry("Claude"))
            await on.until(lambda on: "✨ Claude rejoined the Council!" in on.notices)
    assert capsys.readouterr().out == ""
    # Two answers take Gemini three tries each, and Grok two; Claude had one answer, two refusals, and one answer more.
    assert vendors.requests == {"google:gemini-x": 6, "openai:grok-x": 4, "anthropic:claude-x": 4}
    assert [each.entry.text for each in on.seen if isinstance(each, MessageShown) and each.queued] == ["Keep it small."]
    assert await stored(store, session.id) == [
        "You: What shall we build?",
        "Gemini: I am gemini-x.",
        "You: Keep it small.",
        "Grok: I am gr",
        "Sprite: answer 1",
        "Claude: I am claude-x.",
        "Grok: I am grok-x.",
        "You: And now?",
        "Gemini: I am gemini-x.",
        "Grok: I am gr",
        "Sprite: answer 2",
        "Grok: I am grok-x.",
        "Claude: I am claude-x.",
    ]
    messages = [got.text for got in read_got(log) if got.kind == "message"]
    assert len(messages) == 2
    assert messages[0].endswith("[Gemini]: I am gemini-x.\n\n[You]: Keep it small.\n\n[Grok]: I am gr")
    assert messages[1].endswith("[You]: And now?\n\n[Gemini]: I am gemini-x.\n\n[Grok]: I am gr")
