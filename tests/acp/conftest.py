"""A stage on which agents that speak ACP meet terminal agents."""

from pathlib import Path

import pytest

from streamrelay.events import RelayDelivered
from streamrelay.service.api import CreateRelay, Invited, RelayParticipant, SendMessage
from streamrelay.service.local import LocalService
from streamrelay.sessions.model import Session
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.conftest import household
from tests.mcp.staging import Agents
from tests.service.circles import CircleStage
from tests.service.conftest import PATIENCE, journaled

__all__ = ["household"]


class AcpCircle(CircleStage, Agents):
    """A circle on the service that ACP agents are started by."""

    async def relayed(self, service: LocalService, ann: Session, patience: float = PATIENCE) -> str:
        """Relay a session, Ann, and an agent in a pane, Bob, to each other; return the message of Ann to Bob."""
        bob = self.start("Bob", "--answer", "said Bob")
        participants = [RelayParticipant(session=ann.session), RelayParticipant(session=bob, name="Bob")]
        relay = await service.create_relay(CreateRelay(participants=participants, budget=2))
        await service.send_message(SendMessage(to=bob, text="begin"))
        await wait_until_async(lambda: len(self.heard("Bob")) > 1, patience, "Bob to hear Ann")
        crossed = [event for event in await journaled(service, RelayDelivered) if event.relay == relay.relay]
        assert [event.speaker for event in crossed] == ["Bob (2)", "Ann (1)"]
        return self.heard("Bob")[1]

    async def gathered(self, service: LocalService, agent: str, folder: Path, patience: float = PATIENCE) -> list[str]:
        """Hold a gathering of an ACP agent, Ann, and two agents in panes; return what Bob, the other speaker, heard."""
        bob = self.start("Bob", "--answer", "said Bob")
        harvester = self.start("Eve", "--answer", "todos: none")
        held = await self.held(
            service,
            Invited(name="Ann", number=1, agent=agent, cwd=str(folder)),
            Invited(name="Bob", number=2, session=bob),
            Invited(name="Eve", number=3, role="harvester", session=harvester),
            end_sessions=True,
        )
        over = await self.until_over(service, held.gathering, patience)
        ann = next(member for member in over.participants if member.name == "Ann")
        assert ann.contributions >= 3
        assert ann.gone == ""
        return self.heard("Bob")


@pytest.fixture
def stage(private_tmux: PrivateTmux, tmp_path: Path) -> AcpCircle:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    return AcpCircle(private_tmux, tmp_path)
