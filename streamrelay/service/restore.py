"""Restores a service from the state of an earlier one, however that one ended.

First the messages that may not be in the outbox go there. Then the service observes each pane again: it replays the
pane's log, and asks tmux for the output that the program printed meanwhile. Only then does it decide or type anything.
Sessions that are gone leave their conversations. If the tmux server is another one, all conversations have ended with
the old one, and the service sends nothing again by itself.

An error that says nothing about a session, such as a tmux that cannot be run, ends the start and changes nothing: the
next start restores everything. A command that tmux refuses is tried again for about two seconds: while tmux is still
removing the client of a killed service, it may refuse commands for reasons that have nothing to do with the pane.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from streamrelay.delivery.lock import WriterKind
from streamrelay.delivery.outbox import Outbox, server_key
from streamrelay.errors import (
    CommandFailed,
    CommandTimeout,
    NoServer,
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
from streamrelay.service.machine import ServiceMachine
from streamrelay.service.persistence import SERVER, RememberedPane, ServiceStore, pending, remembered

logger = logging.getLogger(__name__)

_NOT_OF_THE_PANE = (CommandTimeout, NoServer, RecordingError, ServerLost, SshFailed, StorageError, TmuxMissing)
"""Errors that do not say that a pane cannot be observed any more."""

_RETRY_DELAYS = (0.1, 0.3, 0.6, 1.0)
"""Seconds before each further attempt to observe a pane that tmux refused."""


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
        if before.get(SERVER, key.encode()) != key.encode():
            await self._begin_anew(before, key)
        await self.kept.note({SERVER: key.encode()})
        if before.get(SERVER) == key.encode():
            return await self._go_on(before, key, is_ours)
        return []

    async def _go_on(self, before: Mapping[str, bytes], key: str, is_ours: Callable[[str], bool]) -> list[str]:
        problems: list[str] = []
        there = {info.pane: info for info in await self.server.panes() if not info.dead}
        known, on_their_way = remembered(before), pending(before)
        for read, (pane, remembered_pane) in enumerate(known.items()):
            self.progress.read = read
            if pane in there:
                problems += await self._hear_again(
                    replace(there[pane], command=remembered_pane.program), remembered_pane
                )
            else:
                await self._take_leave(pane, remembered_pane)
        for pane in sorted(filter(is_ours, self.machine.panes - set(known))):
            self._leave(pane, "pane_gone")
        for pane in await self.outbox.panes(server=key):
            if pane in there and self.runner.participant(pane) is None and not is_shell(there[pane].command):
                problems += await self._type_again(there[pane])
        for entry, out in on_their_way.items():
            await self.runner.put_again(out.message, out.pane)
            await self.kept.note({entry: None})
        return problems

    async def _hear_again(self, info: PaneInfo, remembered_pane: RememberedPane) -> list[str]:
        memory = self.kept.recall(info.pane, remembered_pane)
        if not memory.log.size:
            gap = Gap(reason="detached", session=info.session_name, pane=info.pane)
            self.runner.decide(lambda _: [PublishEvent(gap)])
        typing = TypingOptions(allow_shell=remembered_pane.allow_shell, outbox=self.outbox, writer=self.writer)
        try:
            await self._admit(info, typing, memory)
        except _NOT_OF_THE_PANE:
            raise
        except StreamrelayError as error:
            self._leave(info.pane, error.code)
            await self.kept.forget(info.pane)
            return [f"pane {info.pane} is no longer observed: {error.message}"]
        return []

    async def _admit(self, info: PaneInfo, typing: TypingOptions, memory: StreamProgress) -> None:
        """Observe a pane again; raises CommandFailed if tmux also refuses the last attempt."""
        for delay in _RETRY_DELAYS:
            try:
                await self.runner.admit(info, typing, memory)
            except CommandFailed as error:
                logger.info("cannot observe pane %s, next attempt in %s s: %s", info.pane, delay, error.message)
                await asyncio.sleep(delay)
            else:
                return
        await self.runner.admit(info, typing, memory)

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

    def _leave(self, pane: str, reason: str) -> None:
        self.runner.decide(lambda now: self.machine.leave(pane, reason, now))

    async def _begin_anew(self, before: Mapping[str, bytes], key: str) -> None:
        """Close everything of the old tmux server; its undelivered messages end as failed."""
        receipts = [
            Receipt(message_id=out.message.message_id, pane=out.pane, state="failed", reason="server_lost")
            for out in pending(before).values()
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
        gone = [key for key in before if key.startswith(("place/", "out/"))]
        await self.kept.note(dict.fromkeys(gone))
