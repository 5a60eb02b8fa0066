"""What screens show that is not final, as it stands: for those who look on."""

import asyncio
from collections.abc import AsyncGenerator

from streamrelay.events import Event, Live, PaneClosed, PaneOpened, Retracted, Text, TurnStarted
from streamrelay.service.live_lines import LiveLines


def live(line: int, text: str, pane: str = "%1") -> Live:
    return Live(line=line, text=text, pane=pane)


async def seen(looking: AsyncGenerator[list[str], None]) -> list[str]:
    return await asyncio.wait_for(anext(looking), 10)


async def test_lines_stand_in_their_order_and_go_when_they_are_final_or_taken_back() -> None:
    provisional = LiveLines()
    for event in (live(7, "seven"), live(5, "five"), live(5, "other", "%2"), live(6, "six"), live(5, "FIVE")):
        provisional.take(event)
    looking = provisional.lines("%1")
    assert await seen(looking) == ["FIVE", "six", "seven"]
    provisional.take(Text(text="FIVE", origin="program", line=5, pane="%1"))
    assert await seen(looking) == ["six", "seven"]
    provisional.take(Retracted(line=7, pane="%1"))
    assert await seen(looking) == ["six"]
    provisional.take(PaneClosed(reason="pane_gone", pane="%1"))
    assert await seen(looking) == []
    assert await seen(provisional.lines("%2")) == ["other"]


async def test_who_looks_slowly_sees_how_it_is_at_last_and_nothing_twice() -> None:
    provisional = LiveLines()
    looking = provisional.lines("%1")
    assert await seen(looking) == []
    for number in range(1000):
        provisional.take(live(1, str(number)))
    assert await seen(looking) == ["999"]
    waiting = asyncio.ensure_future(anext(looking))
    nothing: list[Event] = [
        TurnStarted(pane="%1"), live(1, "x", "%2"), Text(text="y", origin="program", line=9, pane="%1"),
        Retracted(line=9, pane="%1"), PaneOpened(columns=1, lines=1, pane="%3"),
    ]  # fmt: skip
    for event in nothing:
        provisional.take(event)
    await asyncio.sleep(0)
    assert not waiting.done()
    provisional.forget("%1")
    assert await asyncio.wait_for(waiting, 10) == []


async def test_its_end_lets_everybody_go() -> None:
    provisional = LiveLines()
    looking = [provisional.lines(pane) for pane in ("%1", "%2", "%2")]
    for one in looking:
        await seen(one)
    waiting = [asyncio.ensure_future(anext(one, None)) for one in looking]
    await asyncio.sleep(0)
    provisional.close()
    assert await asyncio.wait_for(asyncio.gather(*waiting), 10) == [None] * 3
    assert [one async for one in provisional.lines("%1")] == []


async def test_a_pane_is_viewed_from_the_first_look_of_anybody_to_the_end_of_the_last() -> None:
    provisional = LiveLines()
    one, other = provisional.lines("%1"), provisional.lines("%1")
    assert not provisional.is_viewed("%1")
    await seen(one)
    await seen(other)
    await one.aclose()
    assert provisional.is_viewed("%1")
    assert not provisional.is_viewed("%2")
    await other.aclose()
    assert not provisional.is_viewed("%1")
