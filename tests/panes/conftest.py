"""A connected server, and the collecting of what a stream says in a bounded time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

import pytest

from streamrelay.agents import load_profiles
from streamrelay.control import Tmux
from streamrelay.events import Event, Text
from streamrelay.panes.server import Server
from streamrelay.panes.subscription import Subscription
from streamrelay.testing.tmux import PrivateTmux

if TYPE_CHECKING:
    from tests.conftest import Way

PATIENCE = 20.0


@pytest.fixture
async def server(way: "Way", private_tmux: PrivateTmux) -> AsyncIterator[Server]:
    private_tmux.new_session("keeper", ["cat"])
    tmux = Tmux(private_tmux.binary, socket_path=private_tmux.socket_path, ssh=way.ssh)
    async with Server(tmux, transport=way.transport, profiles=load_profiles()) as server:
        yield server


class Heard:
    """What a subscription said so far."""

    def __init__(self, stream: Subscription) -> None:
        self._stream = stream
        self.events: list[Event] = []

    async def until(self, enough: Callable[["Heard"], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not enough(self):
                events = await self._stream.batch()
                if events is None:
                    raise AssertionError(f"the stream ended with {self.events[-3:]}")
                self.events += events

    async def until_end(self) -> None:
        async with asyncio.timeout(PATIENCE):
            async for event in self._stream:
                self.events.append(event)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def said(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Text) and event.origin == "program"]


@pytest.fixture
def heard() -> type[Heard]:
    return Heard
