"""The public objects of the library: a server, its panes and streams, and the messages sent to them.

    async with streamrelay.connect() as server:
        pane = await server.pane("work:0.1")
        message = await pane.send("run the tests")
        print(await message.answer())

`streamrelay.blocking` has the same objects without asyncio.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Union, cast

from streamrelay.agents import AgentProfile
from streamrelay.agents.profile import LaneChoice
from streamrelay.control import Tmux, TransportName
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.delivery.sending import WAIT_TIMEOUT, SentMessage, send
from streamrelay.delta.inputs import WitnessPolicy
from streamrelay.errors import AnswerTimeout, UsageError
from streamrelay.events import DeliveryState, Event, Receipt
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.recorder import LiveRecording
from streamrelay.panes.server import Server as PaneServer
from streamrelay.panes.subscription import MAX_QUEUE, Subscription

if TYPE_CHECKING:
    import libtmux

Target = Union[str, "libtmux.Pane", "libtmux.Window", "libtmux.Session"]
"""A pane: a target as in tmux's `-t` ("work:0.1", "%3"), or an object of libtmux; a window means its active pane."""

_SUBMITTED: frozenset[DeliveryState] = frozenset({"submitted", "turn_started", "answered", "failed", "unconfirmed"})


class Message:
    """A message to a pane, from the moment it is submitted; see `Pane.send`."""

    def __init__(self, message_id: str, pane: str) -> None:
        self.id = message_id
        self.pane = pane
        self.receipts: list[Receipt] = []
        """Its receipts so far, in order."""
        self._sending: asyncio.Task[SentMessage] | None = None
        self._changed = asyncio.Event()

    @property
    def state(self) -> DeliveryState | None:
        """The state of its last receipt: "submitted", "answered", "failed", ...; None before the first.

        print(message.state)
        """
        return self.receipts[-1].state if self.receipts else None

    async def answer(self, timeout: float | None = None) -> str:  # noqa: ASYNC109  # the caller's limit, beside `send`'s
        """Wait for the answer and return its lines; at most `timeout` seconds.

            message = await pane.send("how many tests are there?")
            answer = await message.answer(timeout=60)

        Raises AnswerTimeout at the limit, DeliveryFailed or DeliveryUnconfirmed for a message that got no answer, and
        PaneGone if the pane closes first.
        """
        if self._sending is None:
            raise AnswerTimeout(f"{self.id} was not sent", data={"message_id": self.id, "pane": self.pane})
        try:
            async with asyncio.timeout(timeout):
                sent = await asyncio.shield(self._sending)
        except TimeoutError as error:
            data = {"message_id": self.id, "pane": self.pane, "state": self.state}
            raise AnswerTimeout(f"no answer in {timeout:g} s", data=data) from error
        return "\n".join(sent.answer)

    async def submitted(self) -> None:
        """Wait until the program has the message; raises the errors of `Pane.send` instead.

        await message.submitted()
        """
        while self.state not in _SUBMITTED and self._sending is not None and not self._sending.done():
            self._changed.clear()
            changed = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait({changed, self._sending}, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
        if self._sending is not None and self._sending.done():
            self._sending.result()

    def follow(self, sending: asyncio.Task[SentMessage]) -> None:
        """Attach the task that sends the message."""
        self._sending = sending

    def hear(self, event: Event) -> None:
        """Keep an event of the pane if it is a receipt of this message."""
        if isinstance(event, Receipt) and event.message_id == self.id:
            self.receipts.append(event)
            self._changed.set()


class Stream(Subscription):
    """An async iterator over the events of some panes; made by `Server.watch` and `Pane.watch`.

    async with server.watch("work:0.1") as stream:
        async for event in stream:
            print(stream.pane.id, event)
    """

    def __init__(
        self, server: "Server", infos: Mapping[str, PaneInfo], *, size: int = MAX_QUEUE, live: bool = True
    ) -> None:
        super().__init__(infos, size=size, live=live)
        self._server = server
        self._infos = tuple(infos.values())

    @property
    def pane(self) -> "Pane":
        """The watched pane; raises UsageError for a stream of several panes (see `panes`).

        print(stream.pane.info.address)
        """
        if len(self._infos) != 1:
            raise UsageError(f"this stream has {len(self._infos)} panes", hint="stream.panes has their ids")
        return Pane(self._server, replace(self._infos[0], pane=self.panes[0]))


class Pane:
    """One pane of a server; made by `Server.pane`."""

    def __init__(self, server: "Server", info: PaneInfo) -> None:
        self.server = server
        self.info = info

    @property
    def id(self) -> str:
        """Its id in tmux, such as `%3`.

        print(pane.id)
        """
        return self.info.pane

    @property
    def libtmux(self) -> "libtmux.Pane":
        """The same pane as an object of libtmux, whose commands block the caller.

        pane.libtmux.send_keys("q", enter=False)
        """
        import libtmux

        info = self.info
        return libtmux.Pane(
            server=self.server.libtmux, pane_id=info.pane, window_id=info.window, session_id=info.session
        )

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[Stream]:
        """Subscribe to the events of the pane from now on.

            async with pane.watch() as stream:
                async for event in stream:
                    print(event)

        Raises PaneGone for a pane whose program has ended.
        """
        async with self.server.watch(self.id) as stream:
            yield stream

    async def send(
        self,
        text: str,
        *,
        message_id: str | None = None,
        timeout: float = WAIT_TIMEOUT,  # noqa: ASYNC109  # it bounds the answer, too
        policy: DeliveryPolicy | None = None,
        allow_shell: bool = False,
    ) -> Message:
        """Type `text` into the pane when its program takes messages, and return when it is submitted.

            message = await pane.send("run the tests")

        The message waits while the composer holds a person's draft or a dialog is open. `timeout` limits all of it, the
        answer included, in seconds. A pane gets one message at a time: the next waits for the previous answer. Raises
        ShellRefused for a shell without `allow_shell`, PaneTaken for a pane that a relay, link or daemon types into,
        UsageError for an id that was used for another text, DeliveryFailed, DeliveryUnconfirmed, DeliveryTimeout.
        """
        message = Message(message_id or f"send-{secrets.token_hex(6)}", self.id)
        sending = send(
            self.server, self.info, text, publish=message.hear, message_id=message.id, wait=True, timeout=timeout,
            policy=policy, allow_shell=allow_shell,
        )  # fmt: skip
        message.follow(self.server.keep(asyncio.create_task(sending, name=f"send {message.id}")))
        await message.submitted()
        return message

    async def ask(self, text: str, *, timeout: float = WAIT_TIMEOUT, allow_shell: bool = False) -> str:  # noqa: ASYNC109
        """Send `text` and return the answer; errors are those of `send` and `Message.answer`.

        print(await pane.ask("what is left to do?"))
        """
        message = await self.send(text, timeout=timeout, allow_shell=allow_shell)
        return await message.answer()


class Server(PaneServer):
    """A running tmux server; made by `streamrelay.connect`, an async context manager."""

    def __init__(
        self,
        tmux: Tmux,
        *,
        transport: TransportName = "pipes",
        self_check: float | None = None,
        profiles: Sequence[AgentProfile] = (),
        witness: WitnessPolicy = "prefer",
        lane: LaneChoice = "paste",
        libtmux_server: "libtmux.Server | None" = None,
    ) -> None:
        super().__init__(
            tmux, transport=transport, self_check=self_check, profiles=profiles, witness=witness, lane=lane
        )
        self._libtmux = libtmux_server
        self._sending: set[asyncio.Task[SentMessage]] = set()

    @property
    def libtmux(self) -> "libtmux.Server":
        """The same server as an object of libtmux: the one that `connect` got, if any.

            print(server.libtmux.sessions)

        Raises UsageError for a server on another machine.
        """
        if self._libtmux is None:
            import libtmux

            if not self.is_here:
                raise UsageError(
                    "libtmux reaches servers of this machine only",
                    hint="use the methods of the pane object for a server that is reached by ssh",
                )
            self._libtmux = libtmux.Server(socket_path=self.info.socket_path)
        return self._libtmux

    async def pane(self, target: Target | None = None) -> Pane:
        """Return the pane of a target; without one, the pane this process runs in.

            pane = await server.pane("work:0.1")

        Raises TargetNotFound.
        """
        return Pane(self, await self.find(target))

    async def find(self, target: Target | None = None) -> PaneInfo:
        """Return tmux's description of a target's pane; without a target, of the pane this process runs in.

            info = await server.find("work:0.1")

        A plain name means the session of exactly that name if there is one; tmux looks up every other target. Raises
        TargetNotFound for a target that tmux does not know, UsageError outside tmux without a target.
        """
        return await super().find(None if target is None else self._name(target))

    @asynccontextmanager
    async def watch(self, *targets: Target, queue: int = MAX_QUEUE, live: bool = True) -> AsyncIterator[Stream]:
        """Subscribe to the events of the panes of `targets` from now on; without targets, of this pane.

            async with server.watch("work:0.1") as stream:
                async for event in stream:
                    print(event)

        A session or window means its active pane. At most `queue` events wait for you; more are replaced by a `Gap`.
        Without `live`, there are no `Live` and `Retracted` events, and reading busy agents takes less processor time.
        Raises TargetNotFound, and PaneGone for a pane whose program has ended.
        """
        async with super().watch(*(self._name(target) for target in targets), queue=queue, live=live) as stream:
            yield cast("Stream", stream)

    @asynccontextmanager
    async def record(
        self, target: Target | None, path: Path, *, force: bool = False, queue: int = MAX_QUEUE
    ) -> AsyncIterator[LiveRecording]:
        """Record a pane into a file until the context is left; the replay of the file gives the same events.

            async with server.record("work:0.1", Path("session.jsonl.gz")) as recorded:
                async for event in recorded.stream:
                    print(event)

        The file (`.jsonl.gz` or `.jsonl`) is readable by its owner only; `force` replaces an existing one. The stream
        ends early if the recording does. Raises UsageError for a pane that this server watches already, PaneGone as
        `watch`, and RecordingError for a file that exists or cannot be written.
        """
        async with super().record(
            None if target is None else self._name(target), path, force=force, queue=queue
        ) as recorded:
            yield recorded

    def _subscription(self, infos: Mapping[str, PaneInfo], queue: int, *, live: bool) -> Subscription:
        return Stream(self, infos, size=queue, live=live)

    def _name(self, target: Target) -> str:
        """Return a target as tmux writes it."""
        if isinstance(target, str):
            return target
        from streamrelay.libtmux.objects import target as target_of

        return target_of(target, self.info.socket_path)

    def keep(self, sending: asyncio.Task[SentMessage]) -> asyncio.Task[SentMessage]:
        """Keep a message's task until it is done; it is cancelled when the server is left."""
        self._sending.add(sending)
        sending.add_done_callback(self._sent)
        return sending

    def _sent(self, sending: asyncio.Task[SentMessage]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled():
            # The caller may not wait for the answer; an error without a reader is not a defect.
            sending.exception()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sending in list(self._sending):
            sending.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
        await super().__aexit__(kind, error, trace)
