"""A queue of events that is bounded, in which printed lines travel together."""

import asyncio

from streamrelay.batch import Batch, Lines
from streamrelay.events import Event, Gap, Live, PaneClosed, Retracted, Text
from streamrelay.panes.subscription import Subscription


def flood(count: int, *, line: int = 1) -> Batch:
    texts = [f"line {number}" for number in range(line, line + count)]
    return Batch([Lines(texts=texts, line=line, t=0.25, session="s", pane="%1", turn=0)])


def described(events: Batch | list[Event]) -> list[str | int | None]:
    return [event.text if isinstance(event, Text) else getattr(event, "lost_events", None) for event in events]


async def test_lines_are_numbered_one_by_one_however_they_are_taken() -> None:
    stream = Subscription(["%1"])
    stream.align("%1", asyncio.get_running_loop().time() + 1.0)
    stream.publish(flood(3) + Batch([Gap(reason="paused", pane="%1", t=0.5)]))
    stream.publish(flood(4, line=4))
    first, second = await anext(stream), await anext(stream)
    rest = await stream.batch()
    assert rest is not None
    events = [first, second, *rest]
    assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert described(events) == ["line 1", "line 2", "line 3", None, *(f"line {number}" for number in range(4, 8))]
    assert len({event.t for event in events if isinstance(event, Text)}) == 1
    assert 1.0 <= events[0].t - 0.25 < 1.1


async def test_of_lines_that_do_not_fit_the_first_are_kept_and_the_others_counted() -> None:
    stream = Subscription(["%1"], size=10)
    stream.publish(flood(4))
    stream.publish(flood(9, line=5))
    stream.publish(flood(2, line=14))
    kept = await stream.batch()
    assert kept is not None
    assert described(kept) == [f"line {number}" for number in range(1, 11)]
    stream.publish(flood(2, line=16))
    behind = await stream.batch()
    assert behind is not None
    assert described(behind) == [5, "line 16", "line 17"]
    assert [event.seq for event in behind] == [11, 12, 13]


async def test_events_taken_one_by_one_make_room() -> None:
    stream = Subscription(["%1"], size=3)
    stream.publish(flood(3))
    assert described([await anext(stream)]) == ["line 1"]
    stream.publish(flood(2, line=4))
    stream.publish(Batch([PaneClosed(reason="pane_gone", pane="%1")]))
    left = [event async for event in stream]
    assert described(left) == ["line 2", "line 3", "line 4", 1, None]
    assert isinstance(left[-1], PaneClosed)


async def test_texts_are_taken_without_events() -> None:
    stream = Subscription(["%1"])
    stream.publish(flood(3))
    stream.publish(flood(2, line=4))
    batch = await stream.batch()
    assert batch is not None
    assert batch.texts() == [f"line {number}" for number in range(1, 6)]
    assert all(isinstance(part, Lines) for part in batch.parts)
    assert [event.seq for event in batch] == [1, 2, 3, 4, 5]


async def test_events_taken_one_by_one_come_before_a_batch_and_are_numbered_once() -> None:
    stream = Subscription(["%1"], size=6)
    stream.publish(flood(3))
    stream.publish(flood(2, line=4))
    first = await anext(stream)
    stream.publish(flood(3, line=6))
    rest = await stream.batch()
    assert rest is not None
    assert described([first, *rest]) == [f"line {number}" for number in range(1, 8)]
    assert [event.seq for event in (first, *rest)] == [1, 2, 3, 4, 5, 6, 7]
    assert described([await anext(stream)]) == [1]


async def test_what_was_taken_apart_is_forgotten_with_the_rest_when_a_subscription_ends() -> None:
    stream = Subscription(["%1"])
    stream.publish(flood(3))
    await anext(stream)
    stream.close()
    assert [event async for event in stream] == []


async def test_without_live_text_its_events_are_left_out_and_not_numbered() -> None:
    stream = Subscription(["%1"], live=False)
    stream.publish(Batch([Live(text="on", line=1), Text("one", "program", line=1), Retracted(line=2)]))
    stream.publish(Batch([PaneClosed(reason="pane_gone", pane="%1")]))
    events = [event async for event in stream]
    assert [(event.seq, type(event)) for event in events] == [(1, Text), (2, PaneClosed)]
