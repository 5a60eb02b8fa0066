"""A message that an earlier process sent is followed from its own first event, whatever the journal has before."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import pytest

from streamrelay.events import AnyEvent, DeliveryState, Injected, PaneClosed, Receipt, Text, TurnEnded
from streamrelay.service.api import Delivery, SendMessage, SendResult, Status
from streamrelay.service.delivery_following import send_through
from streamrelay.service.interface import Service

MESSAGE, PANE = "council-1-t5", "%1"


class Journaled:
    """A service that has this journal and knows the message; no event follows."""

    def __init__(self, events: Sequence[AnyEvent], state: DeliveryState = "submitted", seq: int = 0) -> None:
        self._events = events
        self._seq = seq or len(events)
        self._delivery = Delivery(message_id=MESSAGE, pane=PANE, state=state, reason="restarted")

    async def status(self) -> Status:
        return cast(Status, type("Now", (), {"seq": self._seq}))

    async def get_delivery(self, _: str) -> list[Delivery]:
        return [self._delivery]

    async def send_message(self, _: SendMessage) -> SendResult:
        return SendResult(message_id=MESSAGE, delivery=self._delivery)

    async def events(self, after: int) -> AsyncIterator[AnyEvent]:
        for event in self._events[after:]:
            yield event


def journal(*events: Any) -> list[AnyEvent]:
    for seq, event in enumerate(events, 1):
        event.seq = seq
    return list(events)


@pytest.mark.requirement("COU-11", "DLV-07a")
async def test_what_an_earlier_server_had_in_a_pane_of_that_id_is_not_of_the_message() -> None:
    events = journal(
        Text(text="of the other server", origin="program", pane=PANE, turn=1),
        PaneClosed(reason="server_lost", pane=PANE),
        Receipt(message_id=MESSAGE, state="queued", pane=PANE),
        Injected(message_id=MESSAGE, state="entering", pane=PANE, turn=1),
        Text(text="the answer", origin="program", pane=PANE, turn=1),
        Receipt(message_id=MESSAGE, state="submitted", reason="restarted", pane=PANE),
        Text(text="of another pane", origin="program", pane="%2", turn=1),
        Text(text="its end", origin="program", pane=PANE, turn=1),
        TurnEnded(reason="signal", certain=True, pane=PANE, turn=1),
        Text(text="later", origin="program", pane=PANE, turn=2),
    )
    published: list[Any] = []
    request = SendMessage(to=PANE, text="a question", message_id=MESSAGE)
    service = cast(Service, Journaled(events))
    sent = await send_through(service, request, publish=published.append, wait=True, from_start=True)
    assert sent.answer == ["the answer", "its end"]
    assert [event.seq for event in published] == [3, 4, 5, 6, 8, 9]


@pytest.mark.requirement("COU-11", "DLV-07a")
@pytest.mark.parametrize("has_forgotten", [False, True])
async def test_an_answer_that_the_outbox_knows_first_is_waited_for_unless_it_is_forgotten(has_forgotten: bool) -> None:
    begun = [
        Receipt(message_id=MESSAGE, state="queued", pane=PANE),
        Injected(message_id=MESSAGE, state="entering", pane=PANE, turn=1),
    ]
    events = journal(
        *([] if has_forgotten else begun),
        Text(text="of another pane", origin="program", pane="%2", turn=1),
        Text(text="the answer", origin="program", pane=PANE, turn=1),
        Receipt(message_id=MESSAGE, state="answered", pane=PANE),
    )
    request = SendMessage(to=PANE, text="a question", message_id=MESSAGE)
    service = cast(Service, Journaled(events, "answered", seq=len(events) - 2))
    sent = await send_through(service, request, publish=lambda _: None, wait=True, from_start=True)
    assert sent.answer == ([] if has_forgotten else ["the answer"])


@pytest.mark.requirement("COU-11", "DLV-07a")
async def test_an_answer_that_is_said_after_its_receipt_is_waited_for() -> None:
    events = journal(
        Injected(message_id=MESSAGE, state="entering", pane=PANE, turn=1),
        Receipt(message_id=MESSAGE, state="answered", reason="signal", pane=PANE),
        Text(text="the answer", origin="program", pane=PANE, turn=1),
        TurnEnded(reason="signal", certain=True, pane=PANE, turn=1),
        Text(text="later", origin="program", pane=PANE, turn=2),
    )
    request = SendMessage(to=PANE, text="a question", message_id=MESSAGE)
    service = cast(Service, Journaled(events, "answered"))
    sent = await send_through(service, request, publish=lambda _: None, wait=True, from_start=True)
    assert sent.answer == ["the answer"]
