"""Going on where an earlier service ended, however it ended.

Each pane that was heard is heard again by its log, and what its program said meanwhile is asked of tmux; only then is
anything decided or typed. What was on its way to the outbox goes there first. Who is gone is taken leave of. Another
tmux server has none of it: then everything has ended with the old one, and nothing is sent again by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from streamrelay.delivery.lock import WriterKind
from streamrelay.delivery.outbox import Outbox, server_key
from streamrelay.delivery.shells import is_shell
from streamrelay.errors import StreamrelayError
from streamrelay.events import Gap, Receipt
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.server import Server
from streamrelay.relay.conversation import Conversation
from streamrelay.relay.places import Typing
from streamrelay.relay.rules import Effect, Tell
from streamrelay.service.keeping import SERVER, Kept, Remembered, pending, remembered
from streamrelay.service.machine import ServiceMachine


@dataclass(frozen=True, slots=True)
class Restoring:
    """What it takes to go on."""

    server: Server
    machine: ServiceMachine
    conversation: Conversation
    kept: Kept
    outbox: Outbox
    writer: WriterKind

    async def restore(self, before: Mapping[str, bytes], is_ours: Callable[[str], bool]) -> list[str]:
        """Go on with what was kept before; return in words what could not be. `is_ours` tells panes of here."""
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
        for pane, place in known.items():
            if pane in there:
                problems += await self._hear_again(replace(there[pane], command=place.program), place)
            else:
                self._take_leave(pane, place)
        for pane in sorted(filter(is_ours, self.machine.panes - set(known))):
            self._leave(pane, "pane_gone")
        for pane in await self.outbox.panes(server=key):
            if pane in there and self.conversation.place(pane) is None and not is_shell(there[pane].command):
                problems += await self._type_again(there[pane])
        for entry, out in on_their_way.items():
            await self.conversation.put_again(out.message, out.pane)
            await self.kept.note({entry: None})
        return problems

    async def _hear_again(self, info: PaneInfo, place: Remembered) -> list[str]:
        memory = self.kept.recall(info.pane, place)
        if not memory.log.size:
            gap = Gap(reason="detached", session=info.session_name, pane=info.pane)
            self.conversation.decide(lambda _: [Tell(gap)])
        typing = Typing(allow_shell=place.allow_shell, outbox=self.outbox, writer=self.writer)
        try:
            await self.conversation.admit(info, typing, memory)
        except StreamrelayError as error:
            self._leave(info.pane, error.code)
            await self.kept.forget(info.pane)
            return [f"pane {info.pane} is not heard any more: {error.message}"]
        return []

    async def _type_again(self, info: PaneInfo) -> list[str]:
        """Have a pane typed to that something waits for, unless whoever else types into it sees to that."""
        memory = await self.kept.remember(info.pane, info.command, allow_shell=False)
        try:
            await self.conversation.admit(info, memory=memory)
        except StreamrelayError as error:
            await self.kept.forget(info.pane)
            return [f"what waits for pane {info.pane} is not typed from here: {error.message}"]
        return []

    def _take_leave(self, pane: str, place: Remembered) -> None:
        memory = self.kept.recall(pane, place)
        events = self.server.last_events(memory.log)[memory.taken :]
        self.conversation.recall(pane, events)
        self._leave(pane, "pane_gone")

    def _leave(self, pane: str, reason: str) -> None:
        self.conversation.decide(lambda now: self.machine.leave(pane, reason, now))

    async def _begin_anew(self, before: Mapping[str, bytes], key: str) -> None:
        """Close what the old server had; who was to get something will not, as far as anybody can tell."""
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
            return [*(effect for effect in effects if isinstance(effect, Tell)), *map(Tell, receipts)]

        self.conversation.decide(decide)
        gone = [key for key in before if key.startswith(("place/", "out/"))]
        await self.kept.note(dict.fromkeys(gone))
