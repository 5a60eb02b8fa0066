"""Cancelling a message before it is pasted. The one writer of its pane decides whether that is still possible.

    queued --cancel--> failed(cancelled)
    pasted, painted, submitted, ... --cancel--> CancelTooLate

In the process that writes to the pane its `PaneWriter` decides (`cancel_through`). A pane without a writer is locked
while the message is cancelled (`cancel_alone`), so that no writer can begin meanwhile. Both note `failed(cancelled)` in
the outbox, where every later writer finds it.
"""

import asyncio

from streamrelay.delivery.commands import QUERY_MARKS
from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.machine import CANCELLED
from streamrelay.delivery.outbox import Outbox, OutboxEntry
from streamrelay.delivery.recovery import DeliveryMarks, fate
from streamrelay.delivery.writer import PaneWriter
from streamrelay.errors import CancelTooLate, PaneGone, PaneTaken, TargetNotFound
from streamrelay.panes.server import Server

DECISION_TIMEOUT = 5.0
"""Seconds for which a writer that is about to paste the message is waited for."""
_LOOK_AGAIN = 0.01


async def cancel_through(writer: PaneWriter, outbox: Outbox, entry: OutboxEntry) -> OutboxEntry:
    """Cancel a message in the pane of a writer of this process; return its entry as it stands then."""
    try:
        async with asyncio.timeout(DECISION_TIMEOUT):
            while True:
                await writer.cancel(entry.message_id)
                entry = await outbox.current(entry)
                if entry.state != "queued":
                    return entry
                # The outbox has it already, and its writer does not: `PaneWriter.put` is about to hand it on.
                await asyncio.sleep(_LOOK_AGAIN)
    except TimeoutError as error:
        raise too_late(entry) from error


async def cancel_alone(server: Server, outbox: Outbox, entry: OutboxEntry) -> OutboxEntry:
    """Cancel a message in a pane that this process does not write to; return its entry as it stands then.

    Raises PaneTaken where another process writes to the pane: that process delivers the message, or has to cancel it.
    """
    try:
        with only_writer(server.info, entry.pane, "cancel"):
            entry = await outbox.current(entry)
            if entry.state == "queued" and fate(entry.mark, await _marks(server, entry.pane)) == "send":
                outbox.note(entry.number, "failed", CANCELLED)
                entry = await outbox.current(entry)
            return entry
    except PaneTaken as error:
        raise PaneTaken(
            f"cannot cancel {entry.message_id}: {error.message}",
            hint=error.hint,
            data=error.data | {"message_id": entry.message_id},
        ) from error


def is_cancelled(entry: OutboxEntry) -> bool:
    """Return whether a message was cancelled, by any process."""
    return entry.state == "failed" and entry.reason == CANCELLED


def too_late(entry: OutboxEntry) -> CancelTooLate:
    """Return the error for a message that cannot be cancelled any more."""
    reason = f" ({entry.reason})" if entry.reason else ""
    why = "is pasted already" if entry.state in {"pasted", "painted"} else f"is already {entry.state}{reason}"
    data = {"message_id": entry.message_id, "pane": entry.pane, "state": entry.state, "reason": entry.reason}
    return CancelTooLate(
        f"cannot cancel {entry.message_id}: it {why} in pane {entry.pane}",
        hint=f"show its state: streamrelay delivery show {entry.message_id}",
        data=data,
    )


async def _marks(server: Server, pane: str) -> DeliveryMarks:
    """Return what a pane remembers of deliveries; nothing for a pane that is gone."""
    try:
        lines = await server.query(("display-message", "-p", "-t", pane, QUERY_MARKS))
    except (TargetNotFound, PaneGone):
        return DeliveryMarks()
    return DeliveryMarks(*lines[-1].split("\t")[1:4])
