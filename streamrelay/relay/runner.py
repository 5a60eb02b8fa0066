"""A conversation at work: events of panes in, deliveries out. The same for a relay, a link, and all of a service.

A machine decides; this runs it, over panes that come and go. Whatever happens is taken up in one order: what panes
say, what people decide, what became of deliveries, who is gone. What follows from some of it is kept first, where there
is a `Keeper`, then published, then typed. Each pane has a writer of its own, so that a slow one delays nobody else.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from streamrelay.delivery.message import Message, Progress
from streamrelay.errors import PaneGone, ProgramLeft, StreamrelayError, UsageError
from streamrelay.events import Event, Gap, PaneClosed, PaneOpened, ProgramChanged, Receipt, Text, TurnStarted
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.log import PaneLog
from streamrelay.panes.publisher import Publish
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first
from streamrelay.relay.participants import ParticipantPane, StreamProgress, TypingOptions
from streamrelay.relay.rules import Effect
from streamrelay.relay.steps import Decision, RelayCounts, RelayEngine, Step, StepStore

LAST_WORDS_TIMEOUT = 3.0
MAX_WAITING = 100_000
"""Events that may wait to be taken up."""


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
    """The panes of a machine's participants, heard and typed to."""

    def __init__(
        self,
        server: Server,
        machine: RelayEngine,
        *,
        typing: TypingOptions,
        labels: Mapping[str, str] | None = None,
        keeper: StepStore | None = None,
        stays: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Take a machine, what people call its panes, and what tells of a pane whether every program there is heard."""
        self.counts = RelayCounts()
        self.error: StreamrelayError | None = None
        """What ended it, where that was not meant."""
        self.reason = ""
        """Why its last relay was closed."""
        self._server = server
        self._machine = machine
        self._labels = labels or {}
        self._typing = typing
        self._keeper = keeper
        self._stays = stays
        self._participants: dict[str, ParticipantPane] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._inbox: deque[_Item] = deque()
        self._waiting = 0
        self._lost = 0
        self._filled = asyncio.Event()
        self._broken: BaseException | None = None
        self._ended = asyncio.Event()
        self._publish: Publish = _to_nobody

    # Who is there

    @property
    def panes(self) -> list[str]:
        """The panes that are heard and typed to."""
        return list(self._participants)

    def participant(self, pane: str) -> ParticipantPane | None:
        """Return a pane that is heard and typed to."""
        return self._participants.get(pane)

    async def admit(
        self, info: PaneInfo, typing: TypingOptions | None = None, memory: StreamProgress | None = None
    ) -> None:
        """Hear a pane and be able to type to it; raises PaneTaken, PaneGone and ShellRefused."""
        if info.pane in self._participants:
            return
        participant = ParticipantPane(
            self._server,
            info,
            typing or self._typing,
            hear=self._hear,
            report=self._report,
            lose=self._lose,
            memory=memory,
        )
        await participant.open()
        self._participants[info.pane] = participant
        self._machine.speaks_in_turns(info.pane, participant.is_agent)
        participant.begin()

    async def renew(self, pane: str, log: PaneLog) -> bool:
        """Have the stream of a pane begin anew in another log; False if it does not rest."""
        participant = self._participants.get(pane)
        return participant is not None and await participant.renew(log, lambda: self._put(_Renewed(pane)))

    def recall(self, pane: str, events: Sequence[Event]) -> None:
        """Take up the last events of a pane that is not there any more."""
        self._put(_Recalled(pane, events))

    async def put_again(self, message: Message, pane: str) -> None:
        """Type what an earlier process had decided to."""
        await self._type(message, pane)

    async def dismiss(self, pane: str) -> None:
        """Let go of a pane."""
        if (participant := self._participants.pop(pane, None)) is not None:
            await participant.close()

    # What is to be done

    def decide(self, decision: Decision) -> None:
        """Have the machine told what a person decides, as soon as it is done with what it is at."""
        self._put(_Decided(decision))

    async def decided(self, decision: Decision) -> None:
        """Do the same, and return when what follows is on its way; raises what the decision does."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._put(_Decided(decision, done))
        await done

    async def run(self, infos: Sequence[PaneInfo], publish: Publish, opening: Sequence[Effect]) -> None:
        """Hear and deliver until the machine is closed and its last delivery made, or cannot be."""
        try:
            for info in infos:
                await self.admit(info)
            self._inbox.appendleft(_Decided(lambda _: opening))
            await until_first(self._until_ended(), self.work(publish))
        finally:
            await self.close()

    async def work(self, publish: Publish) -> NoReturn:
        """Hear and deliver without end."""
        self._publish = publish
        while True:
            await self._until_due()
            if self._broken is not None:
                raise self._broken
            items, self._inbox, self._waiting = self._inbox, deque(), 0
            await self._take_up(items)

    async def close(self) -> None:
        """Let go of all panes."""
        await asyncio.gather(*(participant.close() for participant in self._participants.values()), *self._closing)
        self._participants.clear()

    async def _until_ended(self) -> None:
        """Wait for the end, and let those who are still there get what was said before it.

        No paste is left without its Enter. Who still works is waited for, unless something broke or a person stops.
        """
        await self._ended.wait()
        patience = None if self.error is None and self.reason != "stopped" else LAST_WORDS_TIMEOUT
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await asyncio.gather(*(_finish(participant) for participant in self._participants.values()))

    # What comes in

    def _put(self, item: _Item) -> None:
        self._inbox.append(item)
        self._filled.set()

    def _hear(self, participant: ParticipantPane, events: Sequence[Event]) -> None:
        """Take what a pane says; where nobody keeps up with it, a gap stands for what was lost."""
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
        if isinstance(error, StreamrelayError):
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
        step = Step()
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

    def _take(self, participant: ParticipantPane, event: Event, now: float, step: Step) -> None:
        if isinstance(event, Text) and event.origin == "injected":
            self.counts.echoes += 1
        step.events.append(event)
        if isinstance(event, TurnStarted):
            self._machine.speaks_in_turns(event.pane, participant.is_agent)
        end = self._end_of(participant, event)
        step.follow(self._machine.handle(event, now))
        if end is not None:
            step.follow(self._gone_for(participant, end, now, step))

    def _decide(self, decision: Decision, done: "asyncio.Future[None] | None", now: float, step: Step) -> None:
        try:
            step.follow(decision(now))
        except StreamrelayError as error:
            if done is None:
                raise
            if not done.done():
                done.set_exception(error)

    def _gone_for(self, participant: ParticipantPane, error: StreamrelayError, now: float, step: Step) -> list[Effect]:
        """Go on without a participant, or end; who is lost after the end is still missing for the last delivery."""
        pane = participant.info.pane
        if isinstance(error, ProgramLeft) and self._participants.get(pane) is participant and self._stays(pane):
            if error.data["program"] != participant.info.command:
                return []  # What writes to it tells so later than the stream.
            step.succeeded[pane] = participant.succeed()
            return self._machine.leave(pane, error.code, now)
        participant.gone.set()
        if self._participants.get(pane) is not participant:
            return []
        del self._participants[pane]
        step.gone.append(pane)
        closing = asyncio.ensure_future(participant.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        effects = self._machine.leave(pane, error.code, now)
        if self._machine.closed and self.error is None:
            self.error = error
        return effects

    def _end_of(self, participant: ParticipantPane, event: Event) -> StreamrelayError | None:
        """Return what an event means for a participant: a pane that closed, a program that left the foreground."""
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

    # What goes out

    async def _carry_out(self, step: Step) -> None:
        """Keep, publish and type what follows."""
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
                return await participant.writer.put(message)
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


def _to_nobody(_event: Event) -> None:
    """Stand for the listener until it runs."""
