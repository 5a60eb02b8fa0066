"""A real agent that speaks ACP, OpenCode, takes part as a session: in a relay, a gathering and a council.

It is taken from PATH, or from where $STREAMRELAY_OPENCODE says; who has none skips this. It runs with an empty home, a
key that is none, and a model on loopback.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamrelay
from streamrelay.council.clients.contract import ChatMessage
from streamrelay.council.clients.pane import PaneClient
from streamrelay.events import RelayDelivered
from streamrelay.service.api import CreateRelay, Invited, RelayParticipant, SendMessage
from streamrelay.sessions.model import StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.loopback_model import LoopbackModel, ModelReply, ModelRequest
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.acp.test_acp_participants import AcpCircle
from tests.delivery.test_native_lane_live import opencode_words
from tests.service.conftest import journaled

ANSWER = "## A thought\n\nIt is **mine**:\n\n- one `measure`\n- two"
LIVE_PATIENCE = 180.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.requirement("BRG-02")]


def decide(asked: ModelRequest) -> ModelReply:
    """Answer everything with the same Markdown; what asks for a name of the session needs one line."""
    return ModelReply(ANSWER if asked.tools else "A thought")


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[str]:
    """The words that start OpenCode over ACP, as `streamrelay start` takes them."""
    with LoopbackModel(decide) as model:
        yield f"acp:{shlex.join([*opencode_words(tmp_path / 'home', model.url), 'acp'])}"


@pytest.fixture
def stage(private_tmux: PrivateTmux, tmp_path: Path) -> AcpCircle:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    return AcpCircle(private_tmux, tmp_path)


async def test_opencode_is_in_a_relay_with_a_pane(stage: AcpCircle, tmp_path: Path, agent: str) -> None:
    async with stage.service() as service:
        ann = await service.start_session(
            StartSession(agent=agent, title="Ann", cwd=str(tmp_path / "home" / "work"), patience=LIVE_PATIENCE)
        )
        assert (ann.agent, ann.state) == ("acp", "idle")
        bob = stage.start("Bob", "--answer", "said Bob")
        participants = [RelayParticipant(session=ann.session), RelayParticipant(session=bob, name="Bob")]
        relay = await service.create_relay(CreateRelay(participants=participants, budget=2))
        await service.send_message(SendMessage(to=bob, text="begin"))
        await wait_until_async(lambda: len(stage.heard("Bob")) > 1, LIVE_PATIENCE, "Bob to hear OpenCode")
        crossed = [event for event in await journaled(service, RelayDelivered) if event.relay == relay.relay]
        assert [event.speaker for event in crossed] == ["Bob (2)", "Ann (1)"]
        # Word for word, as the model wrote it.
        assert stage.heard("Bob")[1].endswith(ANSWER)


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
