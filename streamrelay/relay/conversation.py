"""A conversation at work: streams in, deliveries out, until it ends. The same for relays and for links.

A machine decides; this runs it. What is said is heard over one subscription, and each listener has a writer of its
own, so that a slow one delays nobody else. What people decide meanwhile goes to the machine in between, never during,
what it makes of an event: so everything goes out in the order in which it was decided.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import Message, Policy, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.shells import is_shell
from streamrelay.delivery.writer import READ_TIMEOUT, PaneWriter
from streamrelay.errors import PaneGone, ProgramLeft, ShellRefused, StreamrelayError
from streamrelay.events import Event, PaneClosed, PaneOpened, ProgramChanged, RelayDelivered, Text, TurnStarted
from streamrelay.panes.closing import closing_error
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publishing import Publish
from streamrelay.panes.server import Server
from streamrelay.panes.subscription import Subscription
from streamrelay.panes.tasks import until_first
from streamrelay.relay.rules import Close, Deliver, Effect, Notice, Participant, Tell

LATENCIES_KEPT = 10_000
LAST_WORDS_TIMEOUT = 3.0

Decision = Callable[[float], Sequence[Effect]]
"""What a person decides: given the time, what the machine makes of it."""


class Machine(Protocol):
    """What decides: a relay, or a registry of links."""

    @property
    def closed(self) -> bool:
        """Whether nothing is left to be done."""

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # what is told, not how
        """Note whether what is said in a pane is passed on by whole turns."""

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event."""

    def deadline(self) -> float | None:
        """Return when `advance` is due."""

    def advance(self, now: float) -> list[Effect]:
        """Let time pass."""

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """A participant is gone."""


@dataclass(slots=True)
class RelayCounts:
    """What a conversation has done so far."""

    deliveries: int = 0
    characters: int = 0
    echoes: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES_KEPT))
    """Seconds from hearing the last line of a burst to writing its paste command, one for each target."""


@dataclass(frozen=True, slots=True)
class Typing:
    """How the participants are typed to."""

    allow_shell: bool = False
    read_timeout: float = READ_TIMEOUT
    policy: Policy | None = None
    outbox: Outbox | None = None
    """With one, what is said outlives this process until it is delivered."""

    def check(self, infos: Sequence[PaneInfo]) -> None:
        """Raise ShellRefused when a shell takes part and nobody allowed that."""
        for info in infos:
            if is_shell(info.command) and not self.allow_shell:
                raise ShellRefused(
                    f"pane {info.pane} ({info.address}) runs {info.command}, a shell", data={"pane": info.pane}
                )


class Conversation:
    """The panes of a machine's participants, heard and typed to."""

    def __init__(
        self, server: Server, infos: Sequence[PaneInfo], machine: Machine, *, labels: dict[str, str], typing: Typing
    ) -> None:
        """Take the participants' panes, and what people call them, by pane."""
        typing.check(infos)
        self.counts = RelayCounts()
        self.error: StreamrelayError | None = None
        """What ended it, where that was not meant."""
        self.reason = ""
        """Why its last relay was closed."""
        self._server = server
        self._infos = {info.pane: info for info in infos}
        self._machine = machine
        self._labels = labels
        self._typing = typing
        self._writers: dict[str, PaneWriter] = {}
        self._gone = {info.pane: asyncio.Event() for info in infos}
        self._heard_at: dict[str, float] = {}
        self._one_at_a_time = asyncio.Lock()
        self._decisions: asyncio.Queue[Decision] = asyncio.Queue()
        self._ended = asyncio.Event()
        self._publish: Publish = _to_nobody

    def decide(self, decision: Decision) -> None:
        """Have the machine told what a person decides, as soon as it is done with what it is at."""
        self._decisions.put_nowait(decision)

    async def run(self, publish: Publish, opening: Sequence[Effect]) -> None:
        """Hear and deliver until the machine is closed and its last delivery made, or cannot be."""
        self._publish = publish
        async with AsyncExitStack() as entered:
            for pane in self._infos:
                entered.enter_context(only_writer(self._server.info.pid, pane))
            stream = await entered.enter_async_context(self._server.watch(*self._infos))
            for pane in self._infos:
                self._writers[pane] = self._writer(pane)
                await self._writers[pane].recover()
                self._machine.speaks_in_turns(pane, self._is_agent(pane))
            await self._carry_out(opening)
            await until_first(
                self._until_ended(), self._hear(stream), self._obey(), *(self._write(pane) for pane in self._infos)
            )

    def _writer(self, pane: str) -> PaneWriter:
        return PaneWriter(
            self._server,
            self._server.pipeline(pane),
            program=self._infos[pane].command,
            report=self._report,
            policy=self._typing.policy,
            outbox=self._typing.outbox,
            allow_shell=self._typing.allow_shell,
            read_timeout=self._typing.read_timeout,
        )

    async def _until_ended(self) -> None:
        """Wait for the end, and let those who are still there get what was said before it.

        No paste is left without its Enter. Who still works is waited for, unless something broke or a person stops.
        """
        await self._ended.wait()
        patience = None if self.error is None and self.reason != "stopped" else LAST_WORDS_TIMEOUT
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await asyncio.gather(*(self._finish(pane) for pane in self._infos))

    async def _finish(self, pane: str) -> None:
        """Wait until a participant has what it was sent, or is gone."""
        if not self._gone[pane].is_set() and self._server.is_watched(pane):
            await until_first(self._writers[pane].finish(), _set(self._gone[pane]))

    # What comes in

    async def _hear(self, stream: Subscription) -> NoReturn:
        loop = asyncio.get_running_loop()
        while (events := await stream.batch(self._machine.deadline())) is not None:
            async with self._one_at_a_time:
                now = loop.time()
                for event in events:
                    await self._take(event, now)
                await self._carry_out(self._machine.advance(now))
        for pane in self._infos:
            await self._lose(pane, PaneGone(f"{self._labels[pane]} is gone", data={"pane": pane}))
        await _forever()

    async def _take(self, event: Event, now: float) -> None:
        if isinstance(event, Text) and event.origin == "injected":
            self.counts.echoes += 1
        self._publish(event)
        if isinstance(event, TurnStarted):
            self._machine.speaks_in_turns(event.pane, self._is_agent(event.pane))
        end = self._end_of(event)
        effects = self._machine.handle(event, now)
        if end is not None:
            effects += self._gone_for(event.pane, end, now)
        await self._carry_out(effects)

    async def _obey(self) -> NoReturn:
        while True:
            decision = await self._decisions.get()
            async with self._one_at_a_time:
                await self._carry_out(decision(asyncio.get_running_loop().time()))

    async def _write(self, pane: str) -> NoReturn:
        """Write to one participant for as long as it can be written to."""
        try:
            await self._writers[pane].run()
        except StreamrelayError as error:
            async with self._one_at_a_time:
                await self._lose(pane, error)
        await _forever()

    async def _lose(self, pane: str, error: StreamrelayError) -> None:
        await self._carry_out(self._gone_for(pane, error, asyncio.get_running_loop().time()))

    def _gone_for(self, pane: str, error: StreamrelayError, now: float) -> list[Effect]:
        """Go on without a participant, or end; who is lost after the end is still missing for the last delivery."""
        self._gone[pane].set()
        effects = self._machine.leave(pane, error.code, now)
        if self._machine.closed and self.error is None:
            self.error = error
        return effects

    def _is_agent(self, pane: str) -> bool:
        """Tell whether a known agent speaks in a pane: some print their answers line by line, and mean them whole.

        Of one that nobody described the stream says an answer in one go where it keeps a transcript.
        """
        if not self._server.is_watched(pane):
            return False
        profile = self._server.profile(self._server.pipeline(pane).profile)
        return profile is not None and profile.kind == "agent"

    def _end_of(self, event: Event) -> StreamrelayError | None:
        """Return what an event means for a participant: a pane that closed, a program that left the foreground."""
        info = self._infos.get(event.pane)
        if info is None:
            return None
        if isinstance(event, PaneClosed):
            error = closing_error(event)
            return type(error)(f"{self._labels[event.pane]} is gone: {error.message}", data=error.data)
        if isinstance(event, PaneOpened | ProgramChanged) and event.command != info.command:
            return ProgramLeft(
                f"{self._labels[info.pane]} is gone: {info.command} left the foreground of pane {info.pane}, "
                f"{event.command} is there now",
                data={"pane": info.pane, "program": info.command, "now": event.command},
            )
        return None

    # What goes out

    async def _carry_out(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Deliver():
                    await self._deliver(effect)
                case Notice():
                    await self._put(Message(effect.message_id, effect.text), effect.listeners)
                case Tell():
                    self._publish(effect.event)
                case Close():
                    self.reason = effect.reason
                case _:
                    pass
        if self._machine.closed:
            self._ended.set()

    async def _deliver(self, effect: Deliver) -> None:
        self._heard_at[effect.message_id] = effect.heard_at
        while len(self._heard_at) > LATENCIES_KEPT:
            del self._heard_at[next(iter(self._heard_at))]
        self.counts.deliveries += 1
        taken = await self._put(Message(effect.message_id, effect.text, head=effect.head), effect.listeners)
        self.counts.characters += len(effect.text) * taken
        self._publish(
            RelayDelivered(
                relay=effect.relay,
                message_id=effect.message_id,
                speaker=effect.speaker.label,
                listeners=tuple(p.label for p in effect.listeners),
                text=effect.text,
                session=effect.speaker.session_name,
                pane=effect.speaker.pane,
            )
        )

    async def _put(self, message: Message, listeners: Sequence[Participant]) -> int:
        """Hand a message to the writers of its listeners; return how many have taken it up."""
        return sum(await asyncio.gather(*(self._writers[listener.pane].put(message) for listener in listeners)))

    def _report(self, progress: Progress) -> None:
        heard_at = self._heard_at.get(progress.message_id)
        if progress.state == "pasted" and heard_at is not None:
            self.counts.latencies.append(progress.at - heard_at)
        self._publish(progress.receipt)


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _forever() -> NoReturn:
    while True:
        await asyncio.Event().wait()


def _to_nobody(_event: Event) -> None:
    """Stand for the listener until it runs."""
