"""A message through a service, followed by the service's events: what `delivery.sending.send` does without one."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import cast

from streamrelay.delivery.message import FINAL
from streamrelay.delivery.sending import Sent, judge
from streamrelay.errors import AnswerTimeout, DaemonLost
from streamrelay.events import AnyEvent, Receipt
from streamrelay.panes.publishing import Publish
from streamrelay.service.api import Delivery, SendMessage, Service

_UNDER_WAY = {"queued", "pasted", "painted"}


async def send_through(
    service: Service,
    request: SendMessage,
    *,
    publish: Publish,
    wait: bool = False,
    timeout: float | None = None,  # noqa: ASYNC109  # of the answer, not of the call
) -> Sent:
    """Have a message delivered, and return when it is submitted, or with `wait` when it is answered.

    What its pane says meanwhile, receipts among it, goes to `publish`. `timeout` bounds the waiting for the answer, in
    seconds. A message that was submitted before is not sent again: its receipt is what it was.

    Raises DeliveryFailed, DeliveryUnconfirmed, AnswerTimeout, what the end of its pane means, and what the service
    raises; DaemonLost where the service ends before it is known.
    """
    before = (await service.status()).seq
    known = await service.get_delivery(request.message_id) if request.message_id else []
    result = await service.send_message(request)
    pane = result.delivery.pane
    sent = Sent(result.message_id, _receipt(result.delivery))
    # What is known may be of a server before this one, whose panes had the same ids: then it is under way only now.
    is_over = result.delivery.state not in _UNDER_WAY
    if is_over and any(one.pane == pane and one.state not in _UNDER_WAY for one in known):
        publish(_receipt(result.delivery))
    else:
        try:
            async with asyncio.timeout(None) as patience:
                await _follow(service, before, sent, pane, publish, wait=wait, timeout=timeout, patience=patience)
        except TimeoutError as error:
            raise AnswerTimeout(f"no answer in {timeout:g} s") from error
    judge(sent)
    return sent


async def _follow(
    service: Service,
    before: int,
    sent: Sent,
    pane: str,
    publish: Publish,
    *,
    wait: bool,
    timeout: float | None,  # noqa: ASYNC109
    patience: asyncio.Timeout,
) -> None:
    sent.receipt = None
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
            if event.state in FINAL or (not wait and event.state not in _UNDER_WAY):
                return
            if event.state == "submitted" and timeout is not None:
                patience.reschedule(asyncio.get_running_loop().time() + timeout)
    raise DaemonLost(f"the service ended before it was known what became of {sent.message_id}")


def _receipt(delivery: Delivery) -> Receipt:
    return Receipt(
        message_id=delivery.message_id,
        state=delivery.state,
        reason=delivery.reason,
        removed=dict(delivery.removed),
        file=delivery.file,
        pane=delivery.pane,
    )
