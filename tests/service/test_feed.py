"""Readers of the feed: none skips, none doubles, a slow one holds up nobody."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from streamrelay.events import Gap, Text
from streamrelay.history.journal import Journal
from streamrelay.service import feed as feeds
from streamrelay.service.feed import Feed


async def say(journal: Journal, feed: Feed, count: int) -> None:
    texts = [Text(text=str(number), origin="program", pane="%1") for number in range(count)]
    feed.publish(await journal.append(texts))


async def read(feed: Feed, after: int | None, until: int) -> list[int]:
    seen: list[int] = []
    async with aclosing(feed.batches(after)) as batches:
        async for batch in batches:
            seen += [event.seq for event in batch]
            if seen[-1] >= until:
                break
    return seen


@pytest.mark.parametrize("after", [0, 3, 19, None])
async def test_a_reader_gets_what_was_and_what_comes(tmp_path: Path, after: int | None) -> None:
    async with Journal(tmp_path / "journal.db") as journal:
        feed = Feed(journal, await journal.last_seq())
        await say(journal, feed, 20)
        reading = asyncio.ensure_future(read(feed, after, 40))
        await asyncio.sleep(0)
        for _ in range(4):
            await say(journal, feed, 5)
        async with asyncio.timeout(10):
            assert await reading == list(range((20 if after is None else after) + 1, 41))
        assert feed.readers == 0


async def test_a_slow_reader_reads_the_journal_and_skips_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "NEWEST_KEPT", 8)
    async with Journal(tmp_path / "journal.db") as journal:
        feed = Feed(journal, 0)
        slow = feed.batches(0)
        await say(journal, feed, 1)
        seen = [event.seq for event in await anext(slow)]
        for _ in range(300):
            await say(journal, feed, 10)
        while seen[-1] < 3001:
            seen += [event.seq for event in await anext(slow)]
        await slow.aclose()
        assert seen == list(range(1, 3002))


async def test_large_texts_are_in_memory_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MAX_KEPT_BYTES", 100_000)
    async with Journal(tmp_path / "journal.db") as journal:
        feed = Feed(journal, 0)
        for _ in range(10):
            feed.publish(await journal.append([Text(text="x" * 30_000, origin="program", pane="%1")]))
        assert [event.seq for event, _ in feed._newest] == [8, 9, 10]
        feed.publish(await journal.append([Text(text="x" * 200_000, origin="program", pane="%1")]))
        assert [event.seq for event, _ in feed._newest] == [11]
        assert await read(feed, 0, 11) == list(range(1, 12))


async def test_what_was_forgotten_is_a_gap_with_its_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "NEWEST_KEPT", 2)
    async with Journal(tmp_path / "journal.db") as journal:
        feed = Feed(journal, 0)
        await say(journal, feed, 10)
        await journal.prune(before=float("inf"))
        await say(journal, feed, 5)
        reader = feed.batches(2)
        gap, *events = await anext(reader)
        await reader.aclose()
        assert isinstance(gap, Gap)
        assert (gap.reason, gap.lost_events, gap.seq) == ("forgotten", 8, 10)
        assert [event.seq for event in events] == [11, 12, 13, 14, 15]


async def test_a_feed_that_is_closed_ends_its_readers_when_they_have_all(tmp_path: Path) -> None:
    async with Journal(tmp_path / "journal.db") as journal:
        feed = Feed(journal, 0)
        reading = asyncio.ensure_future(read(feed, 0, 1000))
        await say(journal, feed, 3)
        feed.close()
        async with asyncio.timeout(10):
            assert await reading == [1, 2, 3]
