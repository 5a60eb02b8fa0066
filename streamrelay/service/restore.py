"""Restores a service from the state of an earlier one, however that one ended.

First the receipts that the earlier service could not journal any more are published. Then the service observes each
pane again: it replays the pane's log, and asks tmux for the output that the program printed meanwhile. Last, it puts
messages into the outbox that may not be there yet, and withdraws those that may not be withdrawn yet. Only then does it
decide anything. Sessions that are gone leave their conversations. If the tmux server is another one, all conversations
have ended with the old one, and the service sends nothing again by itself.

What is decided here is committed with the first step after it, together with what that step makes superfluous of the
earlier state. So a restore that is killed, or fails, is repeated as a whole by the next start.

An error that says nothing about a session, such as a tmux that cannot be run, ends the start and changes nothing: the
next start restores everything. A command that tmux refuses is tried again for about two seconds: while tmux is still
removing the client of a killed service, it may refuse commands for reasons that have nothing to do with the pane.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

from streamrelay.delivery.lock import BRIEF_WRITERS, WriterKind, is_held_briefly
from streamrelay.delivery.message import FINAL
from streamrelay.delivery.outbox import Outbox, server_key
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
from streamrelay.events import Gap, Receipt
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.server import Server
from streamrelay.panes.shells import is_shell
from streamrelay.relay.participants import StreamProgress, TypingOptions
from streamrelay.relay.rules import Effect, PublishEvent
from streamrelay.relay.runner import RelayRunner
from streamrelay.service.machine import CouncilTurn, ServiceMachine
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
SENDER_PATIENCE = 60.0
"""Seconds for which a restore waits for other processes that send a message each."""


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

    async def restore(self, before: Mapping[str, bytes], is_ours: Callable[[str], bool]) -> list[str]:
        """Restore from the kept values; return the failures as text. `is_ours` tells local panes from a peer's."""
        info = self.server.info
        key = server_key(info.address, info.pid, await self.server.started())
        there = {info.pane: info for info in await self.server.panes() if not info.dead}
        await self._close_deliveries(key, there)
        own = {(out.message.message_id, out.pane) for out in pending(before).values()}
        for receipt in await self.kept.untold(info.address, own):
            self._publish(receipt)
        if before.get(SERVER, key.encode()) != key.encode():
            await self._begin_anew(before, key)
            return []
        await self.kept.note({SERVER: key.encode()})
        return await self._go_on(before, key, there, is_ours)

    async def _close_deliveries(self, key: str, there: Collection[str]) -> None:
        """Close the deliveries to panes that are gone: with them went what they knew of the last message."""
        for pane in await self.outbox.panes(server=key):
            for entry in [] if pane in there else await self.outbox.unfinished(server=key, pane=pane):
                self.outbox.note(entry.number, "unconfirmed", PaneGone.code)
        await self.outbox.flush()

    async def _go_on(
        self, before: Mapping[str, bytes], key: str, there: Mapping[str, PaneInfo], is_ours: Callable[[str], bool]
    ) -> list[str]:
        problems: list[str] = []
        known = remembered(before)
        # Last those that have to be waited for.
        held = sorted(known, key=lambda pane: is_held_briefly(self.server.info, pane))
        until = asyncio.get_running_loop().time() + SENDER_PATIENCE
        for read, pane in enumerate(held):
            self.progress.read = read
            if pane in there:
                info = replace(there[pane], command=known[pane].program)
                problems += await self._hear_again(info, known[pane], until)
            else:
                await self._take_leave(pane, known[pane])
        for pane in sorted(filter(is_ours, self.machine.panes - set(known))):
            self._leave(pane, "pane_gone")
        for pane in await self.outbox.panes(server=key):
            if pane in there and self.runner.participant(pane) is None and not is_shell(there[pane].command):
                problems += await self._type_again(there[pane])
        for entry, out in pending(before).items():
            if not await self.outbox.has(out.message.message_id, server=key, pane=out.pane):
                await self.runner.put_again(out.message, out.pane)
            self.kept.with_next({entry: None})
        for message_id, pane in withdrawals(before):
            if (participant := self.runner.participant(pane)) is not None:
                participant.writer.withdraw(message_id)
            self.kept.with_next({withdrawal_key(message_id, pane): None})
        for session, turn in self.machine.council_turns.items():
            if not await self._is_answering(key, turn):
                self.runner.decide(partial(self._end_council_turn, session, turn.message_id))
        self.runner.decide(lambda _: [])  # what is to be committed with the next step waits for no other one
        return problems

    async def _is_answering(self, key: str, turn: CouncilTurn) -> bool:
        """Return whether a message of a council has been accepted for its pane and is not over."""
        entries = await self.outbox.find(turn.message_id)
        return any((one.server, one.pane) == (key, turn.pane) and one.state not in FINAL for one in entries)

    def _end_council_turn(self, session: str, message_id: str, _now: float) -> list[Effect]:
        return self.machine.end_council_turn(session, message_id)

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

        A `send` without the daemon that types there now is waited for; raises PaneTaken at `until` (loop time).
        """
        delays = iter(_RETRY_DELAYS)
        while True:
            try:
                return await self.runner.admit(info, typing, memory)
            except CommandFailed as error:
                if (delay := next(delays, None)) is None:
                    raise
                logger.info("cannot observe pane %s, next attempt in %s s: %s", info.pane, delay, error.message)
            except PaneTaken as error:
                if error.data["holder"] not in BRIEF_WRITERS or asyncio.get_running_loop().time() >= until:
                    raise
                delay = _RETRY_DELAYS[0]
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

    def _publish(self, receipt: Receipt) -> None:
        self.runner.decide(lambda now: [PublishEvent(receipt), *self.machine.handle(receipt, now)])

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
