"""The library without asyncio: the same server and streams, for plain loops.

    with streamrelay.blocking.connect() as server:
        print(server.pane("work:0.1").ask("what did you change?"))

One event loop runs in a thread of its own; everything here only waits for it.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from streamrelay.agents import AgentProfile
from streamrelay.agents.profile import LaneChoice
from streamrelay.control import TransportName
from streamrelay.delivery.sending import WAIT_TIMEOUT
from streamrelay.delta.inputs import WitnessPolicy
from streamrelay.events import DeliveryState, Event
from streamrelay.library import Message, Pane, Server, Stream, Target
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.subscription import Subscription
from streamrelay.threads import LoopThread

if TYPE_CHECKING:
    import libtmux

__all__ = ["BlockingMessage", "BlockingPane", "BlockingServer", "BlockingStream", "connect"]


class BlockingStream:
    """An iterator over the events of some panes; ends when the last of them has closed."""

    def __init__(self, loop: LoopThread, server: "BlockingServer", subscription: Subscription) -> None:
        self._loop = loop
        self._server = server
        self._subscription = subscription
        self._waiting: list[Event] = []

    @property
    def panes(self) -> tuple[str, ...]:
        """The ids of the watched panes.

        print(stream.panes)
        """
        return self._subscription.panes

    @property
    def pane(self) -> "BlockingPane":
        """The watched pane; raises UsageError for a stream of several panes.

        print(stream.pane.id)
        """
        return BlockingPane(self._loop, cast("Stream", self._subscription).pane, self._server)

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

    def __init__(self, loop: LoopThread, message: Message) -> None:
        self._loop = loop
        self._message = message
        self.id, self.pane = message.id, message.pane

    @property
    def state(self) -> DeliveryState | None:
        """The state of its last receipt; None before the first.

        print(message.state)
        """
        return self._message.state

    def answer(self, timeout: float | None = None) -> str:
        """Wait for the answer and return its lines; at most `timeout` seconds.

        print(message.answer(timeout=60))
        """
        return self._loop.wait(self._message.answer(timeout))


class BlockingPane:
    """One pane; as `streamrelay.Pane`."""

    def __init__(self, loop: LoopThread, pane: Pane, server: "BlockingServer") -> None:
        self._loop = loop
        self._pane = pane
        self.server, self.info, self.id = server, pane.info, pane.id

    @property
    def libtmux(self) -> "libtmux.Pane":
        """The same pane as an object of libtmux.

        pane.libtmux.send_keys("q", enter=False)
        """
        return self._pane.libtmux

    @contextmanager
    def watch(self) -> Iterator[BlockingStream]:
        """Subscribe to the events of the pane from now on.

        with pane.watch() as stream:
            for event in stream:
                print(event)
        """
        with self.server.watch(self.id) as stream:
            yield stream

    def send(self, text: str, *, timeout: float = WAIT_TIMEOUT, allow_shell: bool = False) -> BlockingMessage:
        """Type `text` into the pane, and return when it is submitted; as `Pane.send`.

        message = pane.send("run the tests")
        """
        sent = self._loop.wait(self._pane.send(text, timeout=timeout, allow_shell=allow_shell))
        return BlockingMessage(self._loop, sent)

    def ask(self, text: str, *, timeout: float = WAIT_TIMEOUT, allow_shell: bool = False) -> str:
        """Send `text` and return the answer; as `Pane.ask`.

        print(pane.ask("what is left to do?"))
        """
        return self._loop.wait(self._pane.ask(text, timeout=timeout, allow_shell=allow_shell))


class BlockingServer:
    """A running tmux server."""

    def __init__(self, loop: LoopThread, server: Server) -> None:
        self._loop = loop
        self._server = server

    def panes(self) -> list[PaneInfo]:
        """List the panes of the server.

        print([info.address for info in server.panes()])
        """
        return self._loop.wait(self._server.panes())

    def panes_in(self, sessions: Collection[str]) -> list[PaneInfo]:
        """List the panes of sessions, which are given by id; as `Server.panes_in`.

        print(server.panes_in({"$0"}))
        """
        return self._loop.wait(self._server.panes_in(sessions))

    def pane(self, target: Target | None = None) -> BlockingPane:
        """Return the pane of a target, to watch it and to send to it.

        pane = server.pane("work:0.1")
        """
        return BlockingPane(self._loop, self._loop.wait(self._server.pane(target)), self)

    def find(self, target: Target | None = None) -> PaneInfo:
        """Return tmux's description of a target's pane.

        print(server.find("work:0.1").command)
        """
        return self._loop.wait(self._server.find(target))

    @contextmanager
    def watch(self, *targets: Target, live: bool = True) -> Iterator[BlockingStream]:
        """Subscribe to the events of the panes of `targets` from now on; without `live`, to no text that is not final.

        with server.watch("work:0.1") as stream:
            for event in stream:
                print(event)
        """
        watching = self._server.watch(*targets, live=live)
        subscription = self._loop.wait(watching.__aenter__())
        try:
            yield BlockingStream(self._loop, self, subscription)
        finally:
            self._loop.wait(watching.__aexit__(None, None, None))

    @contextmanager
    def record(self, target: Target | None, path: Path, *, force: bool = False) -> Iterator[BlockingStream]:
        """Record a pane into a file until the context is left; as `Server.record`.

        with server.record("work:0.1", Path("session.jsonl.gz")) as stream:
            for event in stream:
                print(event)
        """
        recording = self._server.record(target, path, force=force)
        recorded = self._loop.wait(recording.__aenter__())
        try:
            yield BlockingStream(self._loop, self, recorded.stream)
        finally:
            self._loop.wait(recording.__aexit__(None, None, None))


@contextmanager
def connect(
    server: "libtmux.Server | None" = None,
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
    lane: LaneChoice = "paste",
) -> Iterator[BlockingServer]:
    """Connect to a running tmux server; the arguments and errors are those of `streamrelay.connect`.

    with streamrelay.blocking.connect(socket_name="work") as server:
        print(server.panes())
    """
    import streamrelay

    loop = LoopThread("streamrelay")
    try:
        connected = streamrelay.connect(
            server,
            socket_name=socket_name,
            socket_path=socket_path,
            tmux=tmux,
            host=host,
            ssh=ssh,
            transport=transport,
            self_check=self_check,
            profiles=profiles,
            witness=witness,
            lane=lane,
        )
        loop.wait(connected.__aenter__())
        try:
            yield BlockingServer(loop, connected)
        finally:
            loop.wait(connected.__aexit__(None, None, None))
    finally:
        loop.close()
