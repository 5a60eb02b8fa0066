"""The runner of a relay, a link or a whole service: it feeds pane events to an engine and makes the deliveries.

The engine decides; the runner does the I/O over panes that come and go. It handles all inputs in one order: pane
events, user decisions, receipts and departures. It first stores the effects of a step (if there is a `StepStore`),
then publishes the events, then types the messages. Each pane has its own writer, so a slow pane delays no other.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from streamrelay.delivery.message import DeliveryPolicy, Message, Progress
from streamrelay.errors import PaneGone, ProgramLeft, StorageError, StreamrelayError, UsageError
from streamrelay.events import Event, Gap, PaneClosed, PaneOpened, ProgramChanged, Receipt, Text, TurnStarted
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.log import PaneLog
from streamrelay.panes.publisher import Publish
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first
from streamrelay.relay.participants import ParticipantPane, StreamProgress, TypingOptions
from streamrelay.relay.rules import Effect
from streamrelay.relay.steps import Decision, RelayCounts, RelayEngine, RelayStep, StepStore

LAST_WORDS_TIMEOUT = 3.0
MAX_WAITING = 100_000
"""Events that may wait in the inbox."""


@dataclass(frozen=True, slots=True)
class _Heard:
    participant: ParticipantPane
    events: Sequence[Event]
    heard: int


@dataclass(frozen=True, slots=True)
class _Renewed:
    pane: str


@dataclass(frozen=True, slots=True)
class _Recalled:
    pane: str
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class _Decided:
    decision: Decision
    done: "asyncio.Future[None] | None" = None


@dataclass(frozen=True, slots=True)
class _Lost:
    participant: ParticipantPane
    error: StreamrelayError


_Item = _Heard | _Renewed | _Recalled | _Decided | _Lost | Receipt


class RelayRunner:
    """Listens to the panes of an engine's participants and types into them."""

    def __init__(
        self,
        server: Server,
        machine: RelayEngine,
        *,
        typing: TypingOptions,
        labels: Mapping[str, str] | None = None,
        keeper: StepStore | None = None,
        policy: Callable[[], DeliveryPolicy | None] = lambda: None,
        stays: Callable[[str], bool] = lambda _: False,
        shows: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Take an engine and its panes' labels.

        `policy` returns the policy of messages that have none; None for that of `typing`.
        `stays(pane)` tells whether a pane outlives a change of program, `shows(pane)` whether live text of it is shown
        to people now.
        """
        self.counts = RelayCounts()
        self.error: StreamrelayError | None = None
        """The error that ended the run; None after a normal end."""
        self.reason = ""
        """Why the last relay closed."""
        self._server = server
        self._machine = machine
        self._labels = labels or {}
        self._typing = typing
        self._keeper = keeper
        self._policy = policy
        self._stays = stays
        self._shows = shows
        self._participants: dict[str, ParticipantPane] = {}
        self._closing: dict[str, asyncio.Future[None]] = {}
        """The participants that are being closed, by pane: each holds its pane until then."""
        self._inbox: deque[_Item] = deque()
        self._waiting = 0
        self._lost = 0
        self._filled = asyncio.Event()
        self._broken: BaseException | None = None
        self._ended = asyncio.Event()
        self._publish: Publish = _discard

    # Panes

    @property
    def panes(self) -> list[str]:
        """The panes that the runner listens to and types into."""
        return list(self._participants)

    def participant(self, pane: str) -> ParticipantPane | None:
        """Return the participant in a pane; None if the runner does not know the pane."""
        return self._participants.get(pane)

    async def admit(
        self, info: PaneInfo, typing: TypingOptions | None = None, memory: StreamProgress | None = None
    ) -> None:
        """Start listening to a pane and typing into it; raises PaneTaken, PaneGone and ShellRefused."""
        if info.pane in self._participants:
            return
        if (closing := self._closing.get(info.pane)) is not None:
            await asyncio.wait([closing])
        participant = ParticipantPane(
            self._server,
            info,
            typing or self._typing,
            hear=self._hear,
            report=self._report,
            lose=self._lose,
            memory=memory,
            shows=self._shows,
        )
        await participant.open()
        self._participants[info.pane] = participant
        self._machine.speaks_in_turns(info.pane, participant.is_agent)
        participant.begin()

    async def renew(self, pane: str, log: PaneLog) -> bool:
        """Restart a pane's stream in another log; return False if the pane is not idle."""
        participant = self._participants.get(pane)
        return participant is not None and await participant.renew(log, lambda: self._put(_Renewed(pane)))

    def recall(self, pane: str, events: Sequence[Event]) -> None:
        """Handle the last events of a pane that no longer exists."""
        self._put(_Recalled(pane, events))

    async def put_again(self, message: Message, pane: str) -> None:
        """Type a message that an earlier process had decided to deliver."""
        await self._type(message, pane)

    async def dismiss(self, pane: str) -> None:
        """Stop listening to a pane and typing into it."""
        if (participant := self._participants.pop(pane, None)) is not None:
            await participant.close()

    # Decisions and the main loop

    def decide(self, decision: Decision) -> None:
        """Queue a user's decision for the engine."""
        self._put(_Decided(decision))

    async def decided(self, decision: Decision) -> None:
        """Queue a decision and return when its effects are carried out; raises what the decision raises."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._put(_Decided(decision, done))
        await done

    async def run(self, infos: Sequence[PaneInfo], publish: Publish, opening: Sequence[Effect]) -> None:
        """Run until the engine is closed and its last delivery is made or has failed."""
        try:
            for info in infos:
                await self.admit(info)
            self._inbox.appendleft(_Decided(lambda _: opening))
            await until_first(self._until_ended(), self.work(publish))
        finally:
            await self.close()

    async def work(self, publish: Publish) -> NoReturn:
        """Run without end."""
        self._publish = publish
        while True:
            await self._until_due()
            if self._broken is not None:
                raise self._broken
            items, self._inbox, self._waiting = self._inbox, deque(), 0
            await self._take_up(items)

    async def close(self) -> None:
        """Close all panes."""
        await asyncio.gather(
            *(participant.close() for participant in self._participants.values()), *self._closing.values()
        )
        self._participants.clear()

    async def _until_ended(self) -> None:
        """Wait for the end, then for the deliveries that were decided before it.

        No paste is left without its Enter. Only an error or a user's stop limits the wait for busy participants.
        """
        await self._ended.wait()
        patience = None if self.error is None and self.reason != "stopped" else LAST_WORDS_TIMEOUT
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await asyncio.gather(*(_finish(participant) for participant in self._participants.values()))

    # Input

    def _put(self, item: _Item) -> None:
        self._inbox.append(item)
        self._filled.set()

    def _hear(self, participant: ParticipantPane, events: Sequence[Event]) -> None:
        """Queue a pane's events; if the inbox is full, drop them and report a gap."""
        if self._waiting + len(events) > MAX_WAITING and not isinstance(events[-1], PaneClosed):
            self._lost += len(events)
            return
        if self._lost:
            events, self._lost = [Gap(reason="slow_subscriber", lost_events=self._lost), *events], 0
        self._waiting += len(events)
        self._put(_Heard(participant, events, participant.heard))

    def _report(self, progress: Progress) -> None:
        if progress.state == "pasted":
            self.counts.pasted(progress.message_id, progress.at)
        self._put(progress.receipt)

    def _lose(self, participant: ParticipantPane, error: BaseException) -> None:
        if isinstance(error, StreamrelayError) and not isinstance(error, StorageError):
            self._put(_Lost(participant, error))
        else:
            self._broken = error
            self._filled.set()

    async def _until_due(self) -> None:
        loop = asyncio.get_running_loop()
        due = self._machine.deadline()
        timer = loop.call_at(due, self._filled.set) if due is not None else None
        try:
            if not self._inbox and self._broken is None:
                self._filled.clear()
                await self._filled.wait()
        finally:
            if timer is not None:
                timer.cancel()

    async def _take_up(self, items: Iterable[_Item]) -> None:
        now = asyncio.get_running_loop().time()
        step = RelayStep()
        waiting: list[asyncio.Future[None]] = []
        for item in items:
            match item:
                case _Heard(participant=participant, events=events, heard=heard):
                    step.heard[participant.info.pane] = heard
                    for event in events:
                        self._take(participant, event, now, step)
                case _Renewed(pane=pane):
                    step.heard[pane] = 0
                    step.renewed.add(pane)
                case _Recalled(pane=pane, events=events):
                    step.events += events
                    step.gone.append(pane)
                    for event in events:
                        step.follow(self._machine.handle(event, now))
                case _Decided(decision=decision, done=done):
                    self._decide(decision, done, now, step)
                    if done is not None:
                        waiting.append(done)
                case _Lost(participant=participant, error=error):
                    step.follow(self._gone_for(participant, error, now, step))
                case Receipt():
                    step.events.append(item)
                    step.follow(self._machine.handle(item, now))
        step.follow(self._machine.advance(now))
        await self._carry_out(step)
        for done in waiting:
            if not done.done():
                done.set_result(None)
        if self._machine.closed:
            self._ended.set()

    def _take(self, participant: ParticipantPane, event: Event, now: float, step: RelayStep) -> None:
        if isinstance(event, Text) and event.origin == "injected":
            self.counts.echoes += 1
        step.events.append(event)
        if isinstance(event, TurnStarted):
            self._machine.speaks_in_turns(event.pane, participant.is_agent)
        end = self._end_of(participant, event)
        step.follow(self._machine.handle(event, now))
        if end is not None:
            step.follow(self._gone_for(participant, end, now, step))

    def _decide(self, decision: Decision, done: "asyncio.Future[None] | None", now: float, step: RelayStep) -> None:
        try:
            step.follow(decision(now))
        except StreamrelayError as error:
            if done is None:
                raise
            if not done.done():
                done.set_exception(error)

    def _gone_for(
        self, participant: ParticipantPane, error: StreamrelayError, now: float, step: RelayStep
    ) -> list[Effect]:
        """Remove a participant, which may end the relay; after the end, only mark it as gone for the last delivery."""
        pane = participant.info.pane
        if isinstance(error, ProgramLeft) and self._participants.get(pane) is participant and self._stays(pane):
            if error.data["program"] != participant.info.command:
                return []  # The writer reports the change later than the stream.
            step.succeeded[pane] = participant.succeed()
            return self._machine.leave(pane, error.code, now)
        participant.gone.set()
        if self._participants.get(pane) is not participant:
            return []
        del self._participants[pane]
        step.gone.append(pane)
        self._closing[pane] = closing = asyncio.ensure_future(participant.close())
        closing.add_done_callback(lambda _: self._closing.pop(pane))
        effects = self._machine.leave(pane, error.code, now)
        if self._machine.closed and self.error is None:
            self.error = error
        return effects

    def _end_of(self, participant: ParticipantPane, event: Event) -> StreamrelayError | None:
        """Return the error for a participant whose pane closed or whose program left the foreground; None otherwise."""
        info = participant.info
        label = self._labels.get(info.pane, info.pane)
        if isinstance(event, PaneClosed):
            error = self._server.closing_error(event)
            return type(error)(f"{label} is gone: {error.message}", hint=error.hint, data=error.data)
        if isinstance(event, PaneOpened | ProgramChanged) and event.command != info.command:
            return ProgramLeft(
                f"{label} is gone: {info.command} left the foreground of pane {info.pane}, "
                f"{event.command} is there now",
                data={"pane": info.pane, "program": info.command, "now": event.command},
            )
        return None

    # Output

    async def _carry_out(self, step: RelayStep) -> None:
        """Store, publish and type the effects of a step."""
        if self._keeper is not None:
            await self._keeper.keep(step)
        for event in step.events:
            self._publish(event)
        self.reason = step.closed or self.reason
        for pane in step.succeeded:
            if (succeeding := self._participants.get(pane)) is not None:
                await succeeding.write_anew()
        for withdrawn in step.withdrawn:
            for listener in withdrawn.listeners:
                if (participant := self._participants.get(listener.pane)) is not None:
                    participant.writer.withdraw(withdrawn.message_id)
        for outgoing in step.outgoing:
            self.counts.delivering(outgoing)
            taken = await asyncio.gather(*(self._type(outgoing.message, pane) for pane in outgoing.panes))
            if outgoing.heard_at is not None:
                self.counts.characters += len(outgoing.message.text) * sum(taken)
        if self._keeper is not None and step.outgoing:
            self._keeper.gone_out(step.outgoing)

    async def _type(self, message: Message, pane: str) -> bool:
        """Hand a message to the writer of a pane; return whether it has taken it up."""
        participant = self._participants.get(pane)
        reason = PaneGone.code
        if participant is not None:
            try:
                return await participant.writer.put(replace(message, policy=message.policy or self._policy()))
            except UsageError as error:
                # An id that a delivery cannot have: what follows of one message ends nothing for the others.
                reason = error.code
        self._put(Receipt(message_id=message.message_id, pane=pane, state="failed", reason=reason))
        return False


async def _finish(participant: ParticipantPane) -> None:
    """Wait until a participant has what it was sent, or is gone."""
    if not participant.gone.is_set():
        await until_first(participant.writer.finish(), _set(participant.gone))


async def _set(event: asyncio.Event) -> None:
    await event.wait()


def _discard(_event: Event) -> None:
    """Stand for the listener until it runs."""
