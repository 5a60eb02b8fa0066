"""Lists and cancels waiting messages, through a service or, if none runs, directly in the outbox."""

from collections.abc import Iterable, Sequence

from msgspec import structs

from streamrelay.delivery.cancel import cancel_alone, cancel_through, is_cancelled, too_late
from streamrelay.delivery.machine import CANCELLED
from streamrelay.delivery.outbox import OPEN, Outbox, OutboxEntry, server_key
from streamrelay.errors import NotAllowed, TargetNotFound, UsageError
from streamrelay.events import Receipt
from streamrelay.panes.server import Server
from streamrelay.relay.rules import PublishEvent
from streamrelay.service import remote_sessions
from streamrelay.service.api import Delivery, Listed
from streamrelay.service.core import Core
from streamrelay.service.sending import delivery_of, last_of
from streamrelay.sessions.sessions import Sessions


async def listed(core: Core, session: str, state: Listed) -> list[Delivery]:
    """List the messages to one session, or to all, of this tmux server and of other machines; see `Service`."""
    there = remote_sessions.split(core, session) if session else None
    pane = str(there) if there is not None else (await core.find(session)).pane if session else ""
    away = [one for one in remote_sessions.all_deliveries(core) if state == "all" or one.state in OPEN]
    return _to(pane, [*away, *await _listed(core.outbox, core.server_key, state)])


async def cancel(core: Core, message_id: str, by: str) -> list[Delivery]:
    """Cancel a message wherever it is not pasted yet; see `Service`."""
    entries = await _entries(core.outbox, core.server_key, message_id)
    if not entries and (away := remote_sessions.deliveries(core, message_id)):
        raise UsageError(
            f"{message_id} went to another machine ({away[0].pane})",
            hint="cancel it on that machine: streamrelay delivery list shows it there",
            data={"message_id": message_id},
        )
    if by:
        session = (await core.find(by)).session
        if any(entry.sender != session for entry in entries):
            raise NotAllowed(
                f"{message_id} was sent by another session or by a person",
                hint=f"ask the person to: streamrelay delivery cancel {message_id}",
                data={"message_id": message_id},
            )
    return _judged(message_id, [await _cancelled(core, entry) if entry.is_open else entry for entry in entries])


class StoredDeliveries:
    """The messages of a tmux server without a daemon, read from the outbox, with the calls of `Service`.

    It types nothing. The next process that delivers to a pane types the pane's queued messages.
    """

    def __init__(self, server: Server, outbox: Outbox) -> None:
        """Take a server and an outbox that are both entered."""
        self._server = server
        self._outbox = outbox

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Return the state of a message, one entry per target."""
        return last_of(await self._outbox.find(message_id), await self._key(), self._server.info.address)

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List the messages that are not submitted yet, or the latest of all, oldest first."""
        pane = (await Sessions(self._server).find(session)).pane if session else ""
        return _to(pane, await _listed(self._outbox, await self._key(), state))

    async def cancel_delivery(self, message_id: str) -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet; raises PaneTaken if another process types there."""
        entries = await _entries(self._outbox, await self._key(), message_id)
        cancelled = [
            await cancel_alone(self._server, self._outbox, entry) if entry.is_open else entry for entry in entries
        ]
        return _judged(message_id, cancelled)

    async def _key(self) -> str:
        info = self._server.info
        return server_key(info.address, info.pid, await self._server.started())


async def _listed(outbox: Outbox, server: str, state: Listed) -> list[Delivery]:
    await outbox.flush()
    entries = await outbox.of_server(server, only_open=state == "waiting")
    return [structs.replace(delivery_of(entry), text=entry.text) for entry in entries]


async def _entries(outbox: Outbox, server: str, message_id: str) -> list[OutboxEntry]:
    await outbox.flush()
    return [entry for entry in await outbox.find(message_id) if entry.server == server]


async def _cancelled(core: Core, entry: OutboxEntry) -> OutboxEntry:
    """Cancel a message in one pane and journal its receipt; return its state afterwards."""
    if (participant := core.runner.participant(entry.pane)) is not None:
        return await cancel_through(participant.writer, core.outbox, entry)
    now = await cancel_alone(core.server, core.outbox, entry)
    if is_cancelled(now):
        receipt = Receipt(message_id=entry.message_id, pane=entry.pane, state="failed", reason=CANCELLED)
        await core.do(lambda _: [PublishEvent(receipt)])
    return now


def _to(pane: str, deliveries: Iterable[Delivery]) -> list[Delivery]:
    return [delivery for delivery in deliveries if not pane or delivery.pane == pane]


def _judged(message_id: str, entries: Sequence[OutboxEntry]) -> list[Delivery]:
    """Return a message's state; raises TargetNotFound for an unknown id, CancelTooLate if nothing was cancelled."""
    if not entries:
        raise TargetNotFound(
            f"no message has the id {message_id!r}",
            hint="`streamrelay delivery list --all` prints those of the last seven days",
            data={"message_id": message_id},
        )
    if not any(map(is_cancelled, entries)):
        raise too_late(entries[0])
    return [delivery_of(entry) for entry in entries]
