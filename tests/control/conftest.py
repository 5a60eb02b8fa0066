from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streamrelay.control import ControlClient, ControlEvent, PaneOutput, Tmux, TransportName
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

if TYPE_CHECKING:
    from tests.conftest import Way


class Heard:
    """Keeps what a client hands on: events in order, and the bytes of each pane."""

    def __init__(self) -> None:
        self.events: list[ControlEvent] = []
        self._output: dict[str, bytearray] = {}

    def __call__(self, events: Sequence[ControlEvent], read_at: float) -> None:
        self.events.extend(events)
        for event in events:
            if isinstance(event, PaneOutput):
                self._output.setdefault(event.pane, bytearray()).extend(event.data)

    def output(self, pane: str) -> bytearray:
        return self._output.get(pane, bytearray())

    async def until(self, pane: str, marker: bytes) -> None:
        await wait_until_async(lambda: marker in self.output(pane), 20, f"{marker!r} never came")


Connect = Callable[..., ControlClient]


@pytest.fixture
def transport(way: "Way") -> TransportName:
    return way.transport


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def tmux(private_tmux: PrivateTmux) -> Tmux:
    return Tmux(private_tmux.binary, socket_path=private_tmux.socket_path)


@pytest.fixture
def connect(tmux: Tmux, way: "Way", heard: Heard) -> Connect:
    """Make a client of the private server, in each way in turn."""
    reached = replace(tmux, ssh=way.ssh)

    def make(target: str = "$0", handler: Heard | None = None, **options: object) -> ControlClient:
        return ControlClient(reached, target, handler or heard, transport=way.transport, **options)  # type: ignore[arg-type]

    return make
