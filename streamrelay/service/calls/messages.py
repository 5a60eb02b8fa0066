"""The calls that send, list and cancel messages."""

from streamrelay.service import deliveries, sending
from streamrelay.service.api import Delivery, Listed, SendMessage, SendResult
from streamrelay.service.call import call
from streamrelay.service.parts import ServiceParts


@call("POST", "/messages")
async def send_message(parts: ServiceParts, request: SendMessage) -> SendResult:
    """Queue a message: once this returns, the outbox holds it, and its receipts follow as events."""
    return await sending.send(parts.core, request)


@call("GET", "/messages/{message_id}", early=True)
async def get_delivery(parts: ServiceParts, message_id: str) -> list[Delivery]:
    """Return the state of a message, one entry per target; empty for an unknown id."""
    return await sending.last_deliveries(parts.core, message_id)


@call("GET", "/messages", early=True)
async def list_deliveries(parts: ServiceParts, session: str = "", state: Listed = "waiting") -> list[Delivery]:
    """List messages to one session or to all, oldest first: those not submitted yet, or the latest in any state.

    Raises TargetNotFound for an unknown session.
    """
    return await deliveries.listed(parts.core, session, state)


@call("DELETE", "/messages/{message_id}")
async def cancel_delivery(parts: ServiceParts, message_id: str, by: str = "") -> list[Delivery]:
    """Cancel a message wherever it is not pasted yet, for the session `by` or a person; return its state.

    Cancelling twice has no further effect. Raises TargetNotFound for an unknown id, CancelTooLate if the message is
    pasted or finished everywhere, NotAllowed if another session or a person sent it, and PaneTaken if another
    process types into the pane.
    """
    return await deliveries.cancel(parts.core, message_id, by)
