"""Restores a service from the state of an earlier one, however that one ended.

The service observes each pane again: it replays the pane's log, asks tmux for the output that the program printed
meanwhile, publishes the receipts that the earlier service could not journal any more, and withdraws the messages that
it may not have withdrawn yet. From then on it types what waits for the pane. Last, it puts messages into the outbox
that may not be there yet. Only then does it decide anything. Sessions that are gone leave their conversations. If the
tmux server is another one, all conversations have ended with the old one, and the service sends nothing again by
itself.

What is decided here is committed with the first step after it, together with what that step makes superfluous of the
earlier state. So a restore that is killed, or fails, is repeated as a whole by the next start.

An error that says nothing about a session, such as a tmux that cannot be run, ends the start and changes nothing: the
next start restores everything. A command that tmux refuses is tried again for about two seconds: while tmux is still
removing the client of a killed service, it may refuse commands for reasons that have nothing to do with the pane.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from streamrelay.delivery.lock import BRIEF_WRITERS, WriterKind, is_held_briefly
from streamrelay.delivery.outbox import OPEN, Outbox, server_key
from streamrelay.errors import (
    CommandFailed,
    CommandTimeout,
    NoServer,
    PaneGone,
    PaneTaken,
    RecordingError,
    ServerLost,
    SshFailed,
    StorageError,
    StreamrelayError,
    TmuxMissing,
)
from streamrelay.events import DeliveryState, Gap, Receipt
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.server import Server
from streamrelay.panes.shells import is_shell
from streamrelay.relay.participants import StreamProgress, TypingOptions
from streamrelay.relay.rules import Effect, PublishEvent
from streamrelay.relay.runner import RelayRunner
from streamrelay.service.machine import ServiceMachine
from streamrelay.service.persistence import (
    OUT,
    PLACE,
    SERVER,
    WITHDRAWN,
    RememberedPane,
    ServiceStore,
    pending,
    remembered,
    withdrawal_key,
    withdrawals,
)

logger = logging.getLogger(__name__)

_NOT_OF_THE_PANE = (CommandTimeout, NoServer, RecordingError, ServerLost, SshFailed, StorageError, TmuxMissing)
"""Errors that do not say that a pane cannot be observed any more."""

_RETRY_DELAYS = (0.1, 0.3, 0.6, 1.0)
"""Seconds before each further attempt to observe a pane that tmux refused."""
SENDER_TIMEOUT = 10.0
"""Seconds for which a restore waits for other processes that send a message each. The process that starts a daemon
waits longer for the daemon (daemon/background.py)."""


@dataclass(slots=True)
class RestoreProgress:
    """How many of the panes that an earlier service observed are read again; the service counts."""

    panes: int = 0
    read: int = 0

    @property
    def left(self) -> int:
        """The number of panes that are not read again yet."""
        return self.panes - self.read


@dataclass(frozen=True, slots=True)
class Restorer:
    """Restores a service from the state of an earlier one."""

    server: Server
    machine: ServiceMachine
    runner: RelayRunner
    kept: ServiceStore
    outbox: Outbox
    writer: WriterKind
    progress: RestoreProgress
    _own: set[tuple[str, str]] = field(default_factory=set)
    """The messages (id and pane) that may not be in the outbox yet."""
    _published: set[tuple[str, str, DeliveryState]] = field(default_factory=set)
    """The receipts that are published by now."""

    async def restore(self, before: Mapping[str, bytes], is_ours: Callable[[str], bool]) -> list[str]:
        """Restore from the kept values; return the failures as text. `is_ours` tells local panes from a peer's."""
        info = self.server.info
        key = server_key(info.address, info.pid, await self.server.started())
        there = {info.pane: info for info in await self.server.panes() if not info.dead}
        await self._close_deliveries(key, there)
        self._own.update((out.message.message_id, out.pane) for out in pending(before).values())
        if before.get(SERVER, key.encode()) != key.encode():
            self._publish(await self._untold())
            await self._begin_anew(before, key)
            return []
        await self.kept.note({SERVER: key.encode()})
        await self._resume_council_turns(key)
        return await self._go_on(before, key, there, is_ours)

    async def _close_deliveries(self, key: str, there: Collection[str]) -> None:
        """Close the open deliveries to panes that are gone, whose options would say how far each came."""
        for pane in await self.outbox.panes(server=key):
            for entry in [] if pane in there else await self.outbox.unfinished(server=key, pane=pane):
                self.outbox.note(entry.number, "unconfirmed", PaneGone.code)
        await self.outbox.flush()

    async def _go_on(
        self, before: Mapping[str, bytes], key: str, there: Mapping[str, PaneInfo], is_ours: Callable[[str], bool]
    ) -> list[str]:
        problems: list[str] = []
        known = remembered(before)
        untold = await self._untold()
        # A state in which the message may still be submitted comes before what `recover` reports of it.
        self._publish([receipt for receipt in untold if receipt.state in OPEN])
        # The panes into which another process types come last, because they have to be waited for.
        in_order = sorted(known, key=lambda pane: is_held_briefly(self.server.info, pane))
        until = asyncio.get_running_loop().time() + SENDER_TIMEOUT
        for read, pane in enumerate(in_order):
            self.progress.read = read
            if pane in there:
                info = replace(there[pane], command=known[pane].program)
                problems += await self._hear_again(info, known[pane], until)
                self._withdraw(pane, withdrawals(before))
            else:
                await self._take_leave(pane, known[pane])
            # The receipts of a pane follow the events that caused them.
            self._publish([receipt for receipt in untold if receipt.pane == pane])
        self._publish(untold)
        for pane in sorted(filter(is_ours, self.machine.panes - set(known))):
            self._leave(pane, "pane_gone")
        for pane in await self.outbox.panes(server=key):
            if pane in there and self.runner.participant(pane) is None and not is_shell(there[pane].command):
                problems += await self._type_again(there[pane])
        for entry, out in pending(before).items():
            if not await self.outbox.has(out.message.message_id, server=key, pane=out.pane):
                await self.runner.put_again(out.message, out.pane)
            self.kept.with_next({entry: None})
        self.kept.with_next({withdrawal_key(message_id, pane): None for message_id, pane in withdrawals(before)})
        # This is a step, so that the values for the next step are committed now.
        self.runner.decide(lambda _: [])
        return problems

    async def _untold(self) -> list[Receipt]:
        return await self.kept.untold(self.server.info.address, self._own)

    def _withdraw(self, pane: str, messages: Iterable[tuple[str, str]]) -> None:
        if (participant := self.runner.participant(pane)) is not None:
            for message_id, where in messages:
                if where == pane:
                    participant.writer.withdraw(message_id)

    async def _resume_council_turns(self, key: str) -> None:
        """Tell the machine how far the messages of councils have come by the outbox."""
        for session, turn in list(self.machine.council_turns.items()):
            state: DeliveryState = "queued" if (turn.message_id, turn.pane) in self._own else "failed"
            for entry in await self.outbox.find(turn.message_id):
                if (entry.server, entry.pane) == (key, turn.pane):
                    state = entry.state
            self.runner.decide(partial(self._resume_council_turn, session, state))

    def _resume_council_turn(self, session: str, state: DeliveryState, _now: float) -> list[Effect]:
        return self.machine.resume_council_turn(session, state)

    async def _hear_again(self, info: PaneInfo, remembered_pane: RememberedPane, until: float) -> list[str]:
        memory = self.kept.recall(info.pane, remembered_pane)
        if not memory.log.size:
            gap = Gap(reason="detached", session=info.session_name, pane=info.pane)
            self.runner.decide(lambda _: [PublishEvent(gap)])
        typing = TypingOptions(allow_shell=remembered_pane.allow_shell, outbox=self.outbox, writer=self.writer)
        try:
            await self._admit(info, typing, memory, until)
        except _NOT_OF_THE_PANE:
            raise
        except StreamrelayError as error:
            self._leave(info.pane, error.code)
            self.kept.forget_with_next(info.pane)
            return [f"pane {info.pane} is no longer observed: {error.message}"]
        return []

    async def _admit(self, info: PaneInfo, typing: TypingOptions, memory: StreamProgress, until: float) -> None:
        """Observe a pane again; raises CommandFailed if tmux also refuses the last attempt.

        A `send` without the daemon that types there now is waited for; raises PaneTaken at `until` (loop time). It may
        have typed messages of the earlier service.
        """
        delays = iter(_RETRY_DELAYS)
        waited = False
        while True:
            try:
                if waited and not is_held_briefly(self.server.info, info.pane):
                    self._publish([receipt for receipt in await self._untold() if receipt.pane == info.pane])
                return await self.runner.admit(info, typing, memory)
            except CommandFailed as error:
                if (delay := next(delays, None)) is None:
                    raise
                logger.info("cannot observe pane %s, next attempt in %s s: %s", info.pane, delay, error.message)
            except PaneTaken as error:
                # A writer without a name may be writing it just now.
                is_brief = error.data["holder"] is None or error.data["holder"] in BRIEF_WRITERS
                if not is_brief or asyncio.get_running_loop().time() >= until:
                    raise
                delay, waited = _RETRY_DELAYS[0], True
            await asyncio.sleep(delay)

    async def _type_again(self, info: PaneInfo) -> list[str]:
        """Deliver the messages that wait for a pane, unless another process types into that pane."""
        memory = await self.kept.remember(info.pane, info.command, allow_shell=False)
        try:
            await self.runner.admit(info, memory=memory)
        except StreamrelayError as error:
            await self.kept.forget(info.pane)
            return [f"cannot type the messages that wait for pane {info.pane}: {error.message}"]
        return []

    async def _take_leave(self, pane: str, remembered_pane: RememberedPane) -> None:
        memory = self.kept.recall(pane, remembered_pane)
        events = await self.server.last_events(memory.log)
        self.runner.recall(pane, events[memory.taken :])
        self._leave(pane, "pane_gone")

    def _publish(self, receipts: Iterable[Receipt]) -> None:
        """Publish those receipts that are not published yet."""
        for receipt in receipts:
            name = (receipt.message_id, receipt.pane, receipt.state)
            if name not in self._published:
                self._published.add(name)
                self.runner.decide(partial(self._published_effects, receipt))

    def _published_effects(self, receipt: Receipt, now: float) -> list[Effect]:
        return [PublishEvent(receipt), *self.machine.handle(receipt, now)]

    def _leave(self, pane: str, reason: str) -> None:
        self.runner.decide(lambda now: self.machine.leave(pane, reason, now))

    async def _begin_anew(self, before: Mapping[str, bytes], key: str) -> None:
        """Close everything of the old tmux server; its undelivered messages end as failed."""
        receipts = [
            Receipt(message_id=out.message.message_id, pane=out.pane, state="failed", reason="server_lost")
            for out in pending(before).values()
            if not await self.outbox.has(out.message.message_id, server=before[SERVER].decode(), pane=out.pane)
        ]
        for lost in await self.outbox.orphans(self.server.info.address, server=key):
            self.outbox.note(lost.number, "unconfirmed", "server_lost")
            receipts.append(
                Receipt(message_id=lost.message_id, pane=lost.pane, state="unconfirmed", reason="server_lost")
            )
        panes = self.machine.panes | set(remembered(before))

        def decide(now: float) -> list[Effect]:
            self.machine.forget_sessions()
            effects = [effect for pane in sorted(panes) for effect in self.machine.leave(pane, "server_lost", now)]
            return [*(effect for effect in effects if isinstance(effect, PublishEvent)), *map(PublishEvent, receipts)]

        self.runner.decide(decide)
        gone = [name for name in before if name.startswith((PLACE, OUT, WITHDRAWN))]
        self.kept.with_next(dict.fromkeys(gone) | {SERVER: key.encode()})
