"""A client that writes faster than the daemon answers gets refusals; nothing grows with what it writes."""

import asyncio
from typing import cast

import pytest
from acp import RequestError

from streamrelay.acp.agent import MAX_IN_FLIGHT, TerminalAgent
from streamrelay.acp.conversation import LiveService
from streamrelay.sessions.model import Session


class SlowService:
    """A service whose answers wait for `answers`."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()

    async def sessions(self) -> list[Session]:
        """Return no session, in time."""
        await self.answers.wait()
        return []


async def revived() -> None:
    """Have a daemon that runs."""


async def test_requests_beyond_a_number_in_flight_are_refused_until_others_are_answered() -> None:
    service = SlowService()
    agent = TerminalAgent(cast(LiveService, service), target="%1", revive=revived, version="9")
    waiting = [asyncio.ensure_future(agent.new_session("/")) for _ in range(MAX_IN_FLIGHT)]
    await asyncio.sleep(0)
    with pytest.raises(RequestError, match="256 requests are in flight") as refused:
        await agent.load_session("/", "%1")
    assert refused.value.data["hint"] == "wait for their answers, then send it again"
    service.answers.set()
    for error in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(error, RequestError)
        assert "no session is called" in str(error)
    assert agent.in_flight == 0
    with pytest.raises(RequestError, match="no session is called"):
        await agent.load_session("/", "%1")
