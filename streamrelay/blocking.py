"""The library without asyncio: the same server and streams, for plain loops.

    with streamrelay.blocking.connect() as server:
        with server.watch("work:0.1") as stream:
            for event in stream:
                ...

One event loop runs in a thread of its own; everything here only waits for it.
"""

import asyncio
import threading
from collections.abc import Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from streamrelay.agents import AgentProfile
from streamrelay.control import TransportName
from streamrelay.delivery.sending import WAIT_TIMEOUT
from streamrelay.delta.inputs import WitnessPolicy
from streamrelay.events import DeliveryState, Event
from streamrelay.library import Message, Pane, Server
from streamrelay.loops import new_event_loop
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.subscription import Subscription

Result = TypeVar("Result")

__all__ = ["BlockingMessage", "BlockingPane", "BlockingServer", "BlockingStream", "connect"]


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=new_event_loop)
        self._loop = self._runner.get_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="streamrelay", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, Result], timeout: float | None = None) -> Result:
        """Run `work` in the loop and wait for it; whatever interrupts the waiting cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._runner.close()


class BlockingStream:
    """An iterator over the events of some panes; ends when the last of them has closed."""

    def __init__(self, loop: _Loop, subscription: Subscription) -> None:
        self._loop = loop
        self._subscription = subscription
        self._waiting: list[Event] = []

    @property
    def panes(self) -> tuple[str, ...]:
        """The panes watched."""
        return self._subscription.panes

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        if not self._waiting:
            events = self._loop.wait(self._subscription.batch())
            if events is None:
                raise StopIteration
            self._waiting = events[::-1]
        return self._waiting.pop()


class BlockingMessage:
    """A message to a pane; as `streamrelay.Message`."""

    def __init__(self, loop: _Loop, message: Message) -> None:
        self._loop = loop
        self._message = message
        self.id, self.pane = message.id, message.pane

    @property
    def state(self) -> DeliveryState | None:
        """The state of its last receipt; None before the first."""
        return self._message.state

    def answer(self, timeout: float | None = None) -> str:
        """Wait for the answer and return its lines; at most `timeout` seconds."""
        return self._loop.wait(self._message.answer(timeout))


class BlockingPane:
    """One pane; as `streamrelay.Pane`."""

    def __init__(self, loop: _Loop, pane: Pane, server: "BlockingServer") -> None:
        self._loop = loop
        self._pane = pane
        self.server, self.info, self.id = server, pane.info, pane.id

    @contextmanager
    def watch(self) -> Iterator[BlockingStream]:
        """Subscribe to what its program says, from here on."""
        with self.server.watch(self.id) as stream:
            yield stream

    def send(self, text: str, *, timeout: float = WAIT_TIMEOUT, allow_shell: bool = False) -> BlockingMessage:
        """Type `text` into the pane, and return when it is submitted; as `Pane.send`."""
        sent = self._loop.wait(self._pane.send(text, timeout=timeout, allow_shell=allow_shell))
        return BlockingMessage(self._loop, sent)

    def ask(self, text: str, *, timeout: float = WAIT_TIMEOUT, allow_shell: bool = False) -> str:
        """Send `text` and return the answer; as `Pane.ask`."""
        return self._loop.wait(self._pane.ask(text, timeout=timeout, allow_shell=allow_shell))


class BlockingServer:
    """A running tmux server."""

    def __init__(self, loop: _Loop, server: Server) -> None:
        self._loop = loop
        self._server = server

    def panes(self) -> list[PaneInfo]:
        """List the panes of the server."""
        return self._loop.wait(self._server.panes())

    def panes_in(self, sessions: Collection[str]) -> list[PaneInfo]:
        """List the panes of sessions, which are given by id; as `Server.panes_in`."""
        return self._loop.wait(self._server.panes_in(sessions))

    def pane(self, target: str | None = None) -> BlockingPane:
        """Return the pane of a target as tmux writes it, to watch it and to send to it."""
        return BlockingPane(self._loop, self._loop.wait(self._server.pane(target)), self)

    def find(self, target: str | None = None) -> PaneInfo:
        """Return the pane of a target as tmux writes it."""
        return self._loop.wait(self._server.find(target))

    @contextmanager
    def watch(self, *targets: str) -> Iterator[BlockingStream]:
        """Subscribe to what the programs in `targets` say, from here on."""
        watching = self._server.watch(*targets)
        subscription = self._loop.wait(watching.__aenter__())
        try:
            yield BlockingStream(self._loop, subscription)
        finally:
            self._loop.wait(watching.__aexit__(None, None, None))

    @contextmanager
    def record(self, target: str | None, path: Path, *, force: bool = False) -> Iterator[BlockingStream]:
        """Record a pane into a file for as long as this is entered; as `Server.record`."""
        recording = self._server.record(target, path, force=force)
        recorded = self._loop.wait(recording.__aenter__())
        try:
            yield BlockingStream(self._loop, recorded.stream)
        finally:
            self._loop.wait(recording.__aexit__(None, None, None))


@contextmanager
def connect(
    *,
    socket_name: str | None = None,
    socket_path: str | None = None,
    tmux: str | None = None,
    host: str | None = None,
    ssh: str = "ssh",
    transport: TransportName = "pipes",
    self_check: float | None = None,
    profiles: Sequence[AgentProfile] | None = None,
    witness: WitnessPolicy = "prefer",
) -> Iterator[BlockingServer]:
    """Connect to a running tmux server; the arguments and errors are those of `streamrelay.connect`."""
    import streamrelay

    loop = _Loop()
    try:
        server = streamrelay.connect(
            socket_name=socket_name,
            socket_path=socket_path,
            tmux=tmux,
            host=host,
            ssh=ssh,
            transport=transport,
            self_check=self_check,
            profiles=profiles,
            witness=witness,
        )
        loop.wait(server.__aenter__())
        try:
            yield BlockingServer(loop, server)
        finally:
            loop.wait(server.__aexit__(None, None, None))
    finally:
        loop.close()
