"""A relay at work: streams in, deliveries out, until it ends.

The machine decides; this runs it. What the participants say is heard over one subscription, and each listener has a
writer of its own, so that a slow one delays nobody else.
"""

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import Message, Policy, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.shells import is_shell
from streamrelay.delivery.writer import READ_TIMEOUT, PaneWriter
from streamrelay.errors import ProgramLeft, ShellRefused, StreamrelayError, UsageError
from streamrelay.events import (
    Event,
    PaneClosed,
    PaneOpened,
    ProgramChanged,
    RelayClosed,
    RelayDelivered,
    RelayOpened,
    Text,
    TurnStarted,
)
from streamrelay.panes.closing import closing_error
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publishing import Publish, Publisher
from streamrelay.panes.server import Server
from streamrelay.panes.subscription import Subscription
from streamrelay.panes.tasks import until_first
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.rules import Deliver, Effect, Participant, Rules

LATENCIES_KEPT = 10_000
LAST_WORDS_TIMEOUT = 3.0


@dataclass(slots=True)
class RelayCounts:
    """What a relay has done so far."""

    deliveries: int = 0
    characters: int = 0
    echoes: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES_KEPT))
    """Seconds from hearing the last line of a burst to writing its paste command, one for each target."""


class RelaySession:
    """One relay between panes of one server."""

    def __init__(
        self,
        server: Server,
        participants: Sequence[tuple[str | None, PaneInfo]],
        *,
        allow_shell: bool = False,
        budget: int = 0,
        read_timeout: float = READ_TIMEOUT,
        policy: Policy | None = None,
        outbox: Outbox | None = None,
    ) -> None:
        """Take `(name, pane)` pairs; a pane without a name is known by its session's, numbers follow the order.

        `budget` is the number of deliveries after which the relay ends, 0 for none. With an `outbox` what is said
        outlives this process until it is delivered. Raises ShellRefused when a shell takes part and nobody allowed
        that, UsageError when names or panes are not different.
        """
        for _, info in participants:
            if is_shell(info.command) and not allow_shell:
                raise ShellRefused(
                    f"pane {info.pane} ({info.address}) runs {info.command}, a shell", data={"pane": info.pane}
                )
        self.relay_id = f"relay-{secrets.token_hex(4)}"
        self.counts = RelayCounts()
        self.error: StreamrelayError | None = None
        """What ended the relay, where that was not meant."""
        self._server = server
        self._infos = {info.pane: info for _, info in participants}
        self._machine = RelayMachine(self.relay_id, _named(participants), Rules(budget=budget))
        self._labels = {participant.pane: participant.label for participant in self._machine.participants}
        self._allow_shell = allow_shell
        self._read_timeout = read_timeout
        self._policy = policy
        self._outbox = outbox
        self._writers: dict[str, PaneWriter] = {}
        self._heard_at: dict[str, float] = {}
        self._publish: Publish = _to_nobody

    async def run(self, publish: Publish) -> RelayClosed:
        """Relay until the relay ends; every event of the relay goes to `publish`. Returns how it ended."""
        self._publish = Publisher(publish)
        reason = "budget_spent"
        async with AsyncExitStack() as entered:
            for pane in self._infos:
                entered.enter_context(only_writer(self._server.info.pid, pane))
            stream = await entered.enter_async_context(self._server.watch(*self._infos))
            for pane, info in self._infos.items():
                self._writers[pane] = PaneWriter(
                    self._server,
                    self._server.pipeline(pane),
                    program=info.command,
                    report=self._report,
                    policy=self._policy,
                    outbox=self._outbox,
                    allow_shell=self._allow_shell,
                    read_timeout=self._read_timeout,
                )
                await self._writers[pane].recover()
            self._publish(
                RelayOpened(relay=self.relay_id, participants=tuple(p.label for p in self._machine.participants))
            )
            try:
                await until_first(self._hear(stream), *(writer.run() for writer in self._writers.values()))
            except StreamrelayError as error:
                self.error, reason = error, error.code
        closed = RelayClosed(relay=self.relay_id, reason=reason, deliveries=self._machine.deliveries)
        self._publish(closed)
        return closed

    async def _hear(self, stream: Subscription) -> None:
        """Hear until the budget is spent and the last delivery is made; raises whatever else ends the relay."""
        loop = asyncio.get_running_loop()
        while not self._machine.closed:
            events = await stream.batch(self._machine.deadline())
            now = loop.time()
            end: StreamrelayError | None = None
            for event in events or ():
                if isinstance(event, Text) and event.origin == "injected":
                    self.counts.echoes += 1
                self._publish(event)
                if isinstance(event, TurnStarted):
                    self._machine.speaks_in_turns(event.pane, self._is_agent(event.pane))
                await self._carry_out(self._machine.handle(event, now))
                end = end or self._end_of(event)
            await self._carry_out(self._machine.advance(now))
            if end is not None:
                await self._finish_last_words()
                raise end
        await asyncio.gather(*(writer.finish() for writer in self._writers.values()))

    async def _finish_last_words(self) -> None:
        """Let those who are still there get what was said before the end, and no paste be left without its Enter."""
        remaining = [writer for pane, writer in self._writers.items() if self._server.is_watched(pane)]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_TIMEOUT):
                await asyncio.gather(*(writer.finish() for writer in remaining))

    def _is_agent(self, pane: str) -> bool:
        """Tell whether a known agent speaks in a pane, so that its turns are passed on whole."""
        if not self._server.is_watched(pane):
            return False
        profile = self._server.profile(self._server.pipeline(pane).profile)
        return profile is not None and profile.kind == "agent"

    async def _carry_out(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Deliver):
                await self._deliver(effect)

    async def _deliver(self, effect: Deliver) -> None:
        self._heard_at[effect.message_id] = effect.heard_at
        while len(self._heard_at) > LATENCIES_KEPT:
            del self._heard_at[next(iter(self._heard_at))]
        self.counts.deliveries += 1
        message = Message(effect.message_id, effect.text, head=f"{effect.speaker.label}:")
        puts = [self._writers[listener.pane].put(message) for listener in effect.listeners]
        self.counts.characters += len(effect.text) * sum(await asyncio.gather(*puts))
        self._publish(
            RelayDelivered(
                relay=self.relay_id,
                message_id=effect.message_id,
                speaker=effect.speaker.label,
                listeners=tuple(p.label for p in effect.listeners),
                text=effect.text,
                session=effect.speaker.session_name,
                pane=effect.speaker.pane,
            )
        )

    def _report(self, progress: Progress) -> None:
        heard_at = self._heard_at.get(progress.message_id)
        if progress.state == "pasted" and heard_at is not None:
            self.counts.latencies.append(progress.at - heard_at)
        self._publish(progress.receipt)

    def _end_of(self, event: Event) -> StreamrelayError | None:
        """Return what an event means for the relay: a pane that closed, a program that left the foreground."""
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


def _named(participants: Sequence[tuple[str | None, PaneInfo]]) -> list[Participant]:
    names = [name or info.session_name for name, info in participants]
    for name in names:
        if not name.strip() or len(name) > 64 or any(character < " " or character in "()" for character in name):
            raise UsageError(
                f"{name!r} is no name for a participant", hint="a name has no parentheses and no control characters"
            )
    return [
        Participant(
            info.session, info.pane, name if names.count(name) == 1 else info.address, number, info.session_name
        )
        for number, (name, (_, info)) in enumerate(zip(names, participants, strict=True), 1)
    ]


def _to_nobody(_event: Event) -> None:
    """Stand for the listener until the relay runs."""
