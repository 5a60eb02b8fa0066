"""Sends a message through a service and follows its events, as `delivery.sending.send` does without a service."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import cast

from streamrelay.delivery.message import FINAL, NEEDS_PERSON
from streamrelay.delivery.sending import SentMessage, judge, unsubmitted
from streamrelay.errors import AnswerTimeout, DaemonLost, DeliveryTimeout, StreamrelayError
from streamrelay.events import AnyEvent, Injected, Receipt
from streamrelay.panes.publisher import Publish
from streamrelay.service.api import Delivery, SendMessage
from streamrelay.service.interface import Service

_UNSUBMITTED = {"queued", "pasted", "painted"}
_ANSWER_LAG = 10.0
"""Seconds within which the answer itself follows its receipt, where a full disk kept it from the journal."""


async def send_through(
    service: Service,
    request: SendMessage,
    *,
    publish: Publish,
    wait: bool = False,
    timeout: float | None = None,  # noqa: ASYNC109  # of the answer, not of the call
    from_start: bool = False,
) -> SentMessage:
    """Send a message, and return when it is submitted, or with `wait` when it is answered.

    `publish` gets all events of the pane meanwhile, including receipts. Without `wait`, the call also returns when the
    message waits for a person (`NEEDS_PERSON`); its receipt is `queued` then, and the service types it later. `timeout`
    limits the whole call, in seconds. A message that was submitted before is not sent again: the call returns its
    earlier receipt. With `from_start`, `publish` gets all journaled events of the pane for such a message, including
    those of its answer, and the call waits for the rest of the answer.

    Raises DeliveryFailed, DeliveryUnconfirmed, the error for the end of the pane, and errors of the service; DaemonLost
    if the service ends before the outcome is known. At the time limit it raises DeliveryTimeout, and the message stays
    queued, or AnswerTimeout.
    """
    before = (await service.status()).seq
    known = await service.get_delivery(request.message_id) if request.message_id else []
    result = await service.send_message(request)
    pane = result.delivery.pane
    sent = SentMessage(result.message_id, _receipt(result.delivery))
    # A known state may belong to an earlier tmux server with the same pane ids; then this message is sent only now.
    is_over = result.delivery.state not in _UNSUBMITTED
    if known and from_start:
        following = _follow_from_start(service, before, sent, pane, publish)
    elif is_over and any(one.pane == pane and one.state not in _UNSUBMITTED for one in known):
        publish(_receipt(result.delivery))
        judge(sent)
        return sent
    else:
        following = _follow(service, before, sent, pane, publish, wait=wait)
    try:
        async with asyncio.timeout(timeout):
            await following
    except TimeoutError as error:
        raise _timeout_error(sent, pane, timeout or 0.0) from error
    judge(sent)
    return sent


async def _follow(
    service: Service,
    before: int,
    sent: SentMessage,
    pane: str,
    publish: Publish,
    *,
    wait: bool,
) -> None:
    events = cast(AsyncGenerator[AnyEvent], service.events(before))
    async with contextlib.aclosing(events):
        async for event in events:
            if event.pane != pane:
                continue
            publish(event)
            sent.hear(event)
            if not isinstance(event, Receipt) or event.message_id != sent.message_id:
                continue
            sent.receipt = event
            held = event.state == "queued" and event.reason in NEEDS_PERSON
            if event.state in FINAL or (not wait and (held or event.state not in _UNSUBMITTED)):
                return
    raise DaemonLost(f"the service ended before it reported the outcome of {sent.message_id}")


async def _follow_from_start(service: Service, now: int, sent: SentMessage, pane: str, publish: Publish) -> None:
    """Follow a message that an earlier process sent, from its first event; `now` is the last event of the journal.

    The receipts of such a message may end with `submitted`, so the call also ends with the message's turn. It does not
    wait for events that the journal has forgotten. A journal that has the first event of a message has the later ones,
    or will have them in a moment: the outbox knows of an answer first. After a full disk it can have the receipt
    `answered` alone, and the answer itself once the pane has been read again. What the journal has of the pane before
    is not of this message: it may be of an earlier tmux server with the same pane ids.
    """
    is_known = sent.receipt is not None and sent.receipt.state in FINAL
    has_begun = False
    events = cast(AsyncGenerator[AnyEvent], service.events(0))
    try:
        async with contextlib.aclosing(events), asyncio.timeout(None) as limit:
            async for event in events:
                is_own = isinstance(event, Receipt | Injected) and event.message_id == sent.message_id
                has_begun = has_begun or is_own
                if has_begun and event.pane == pane:
                    publish(event)
                    sent.hear(event)
                    if isinstance(event, Receipt) and is_own:
                        sent.receipt = event
                        if event.state == "answered":
                            limit.reschedule(asyncio.get_running_loop().time() + _ANSWER_LAG)
                        elif event.state in FINAL:
                            return
                if sent.is_over or (is_known and not has_begun and event.seq >= now):
                    return
    except TimeoutError:
        if not limit.expired():
            raise
        return
    if sent.is_under_way or not sent.answer:
        raise DaemonLost(f"the service ended before it reported the outcome of {sent.message_id}")


def _timeout_error(sent: SentMessage, pane: str, seconds: float) -> StreamrelayError:
    """Return the error for a message that was not submitted, or not answered, in time."""
    receipt = sent.receipt
    state, reason = (receipt.state, receipt.reason) if receipt is not None else ("queued", "")
    queued = state == "queued"
    data = {"message_id": sent.message_id, "pane": pane, "state": state, "reason": reason, "queued": queued}
    if state not in _UNSUBMITTED:
        return AnswerTimeout(f"no answer in {seconds:g} s", data=data)
    if not queued:
        return unsubmitted(sent.message_id, seconds, data)
    why = f" ({reason})" if reason else ""
    return DeliveryTimeout(
        f"message {sent.message_id} is still queued after {seconds:g} s{why}",
        hint=f"cancel it with: streamrelay delivery cancel {sent.message_id}",
        data=data,
    )


def _receipt(delivery: Delivery) -> Receipt:
    return Receipt(
        message_id=delivery.message_id,
        state=delivery.state,
        reason=delivery.reason,
        removed=dict(delivery.removed),
        file=delivery.file,
        pane=delivery.pane,
    )
