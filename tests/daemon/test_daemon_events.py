"""The stream of events: in order, from any place, for any number of readers of any speed."""

import asyncio
import contextlib

import httpx
import pytest

from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.sse import FrameReader, frame
from streamrelay.errors import DaemonLost
from streamrelay.events import AnyEvent, Gap, Receipt, Text, decode
from streamrelay.testing.waiting import wait_until_async
from tests.daemon.conftest import PATIENCE, MemoryService, Served, serving


async def read(client: DaemonClient, count: int, after: int | None = None) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    async with asyncio.timeout(PATIENCE), contextlib.aclosing(client.events(after)) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == count:
                break
    return events


def texts(events: list[AnyEvent]) -> list[str]:
    return [event.text if isinstance(event, Text) else type(event).__name__ for event in events]


async def test_events_come_as_they_are_journaled(served: Served) -> None:
    await served.service.publish("before")
    async with served.client() as client, asyncio.TaskGroup() as group:
        reading = group.create_task(read(client, 3))
        await wait_until_async(lambda: served.broadcast.subscribers == 1)
        await served.service.publish("one", "two\n\r\0 \u2028 ü 😀")
        await served.service.publish("three")
    assert reading.result() == served.service.journal[1:]
    await wait_until_async(lambda: served.broadcast.subscribers == 0, message="the reader to be let go")


@pytest.mark.parametrize("after", [0, 1, 4, 5])
async def test_a_reader_goes_on_behind_any_place(served: Served, after: int) -> None:
    await served.service.publish("1", "2", "3", "4", "5")
    async with served.client() as client, asyncio.TaskGroup() as group:
        reading = group.create_task(read(client, 6 - after, after))
        await wait_until_async(lambda: served.broadcast.subscribers == 1)
        await served.service.publish("6")
    assert texts(reading.result()) == [str(number) for number in range(after + 1, 7)]


@pytest.mark.parametrize("query", ["", "?after=1"])
async def test_a_browser_goes_on_where_it_was(served: Served, query: str) -> None:
    await served.service.publish("1", "2", "3")
    transport = httpx.AsyncHTTPTransport(uds=str(served.address.socket))
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        client.stream("GET", f"/v1/events{query}", headers={"Last-Event-ID": "2"}) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        frames = FrameReader()
        async with asyncio.timeout(PATIENCE):
            async for data in response.aiter_raw():
                if got := frames.feed(data):
                    break
    assert [(one.id, decode(one.data)) for one in got] == [("3", served.service.journal[2])]


async def test_what_is_no_longer_kept_at_hand_comes_out_of_the_journal(
    address: DaemonAddress, memory: MemoryService
) -> None:
    async with serving(address, memory, most_events=10) as served, served.client() as client:
        await memory.publish(*map(str, range(1, 1201)))
        await wait_until_async(lambda: served.broadcast.last == 1200)
        assert texts(await read(client, 1200, 0)) == [str(number) for number in range(1, 1201)]


async def test_what_the_journal_has_forgotten_is_a_gap_that_counts(
    address: DaemonAddress, memory: MemoryService
) -> None:
    async with serving(address, memory, most_events=10) as served, served.client() as client:
        await memory.publish(*map(str, range(1, 101)))
        await wait_until_async(lambda: served.broadcast.last == 100)
        memory.forget(60)
        first, *rest = await read(client, 41, 5)
        assert isinstance(first, Gap)
        assert (first.reason, first.lost_events, first.seq) == ("forgotten", 55, 60)
        assert texts(rest) == [str(number) for number in range(61, 101)]
        memory.forget(40)
        assert [event.lost_events for event in await read(client, 1, 20) if isinstance(event, Gap)] == [
            served.broadcast._begins - 20
        ]


async def test_all_readers_are_given_the_same_bytes(memory: MemoryService) -> None:
    broadcast = Broadcast(memory)
    await broadcast.start()
    feeding = asyncio.ensure_future(broadcast.run())
    readers = [broadcast.subscribe() for _ in range(3)]
    waiting = [asyncio.ensure_future(anext(reader)) for reader in readers]
    await asyncio.sleep(0)
    await memory.publish("one", "two")
    written = [await one for one in waiting]
    assert written[0] == b"".join(map(frame, memory.journal))
    assert all(one is written[0] for one in written)
    for reader in readers:
        await reader.aclose()
    feeding.cancel()
    await asyncio.gather(feeding, return_exceptions=True)
    assert broadcast.subscribers == 0


async def test_a_write_is_bounded_whatever_waits(memory: MemoryService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamrelay.daemon.broadcast.MAX_WRITTEN", 5000)
    broadcast = Broadcast(memory, most_bytes=200_000)
    await broadcast.start()
    feeding = asyncio.ensure_future(broadcast.run())
    reader = broadcast.subscribe(0)
    await memory.publish(*["x" * 1000] * 100, "y" * 20_000)
    await wait_until_async(lambda: broadcast.last == 101)
    frames = FrameReader()
    events: list[AnyEvent] = []
    sizes: list[int] = []
    while len(events) < 101:
        data = await anext(reader)
        sizes.append(len(data))
        events += [decode(one.data) for one in frames.feed(data)]
    assert events == memory.journal
    assert max(sizes[:-1]) <= 5000 < sizes[-1]
    await reader.aclose()
    feeding.cancel()
    await asyncio.gather(feeding, return_exceptions=True)


@pytest.mark.requirement("ENG-11a")
async def test_a_reader_that_stops_reading_holds_nobody_up_and_loses_nothing(
    address: DaemonAddress, memory: MemoryService
) -> None:
    count, size = 2000, 2000
    async with serving(address, memory, most_events=200) as served, served.client() as fast:
        reader, writer = await asyncio.open_unix_connection(str(address.socket), limit=2**10)
        writer.write(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await wait_until_async(lambda: served.broadcast.subscribers == 1)
        reading = asyncio.ensure_future(read(fast, count, 0))
        for start in range(0, count, 100):
            await memory.publish(*(f"{number} {'x' * size}" for number in range(start, start + 100)))
        assert len(await reading) == count
        assert len(served.broadcast._frames) <= 200
        held = sum(_waiting(connection) for connection in served.server.server_state.connections)
        assert held <= 2 * 1_300_000, "one page of the journal, and not what it has not read"
        got = b""
        async with asyncio.timeout(PATIENCE):
            while f'"{count - 1} xx'.encode() not in got:
                got += await reader.read(2**16)
        assert got.count(b"\ndata: ") == count
        assert served.broadcast.lost == 0
        writer.close()
        await writer.wait_closed()


def _waiting(connection: object) -> int:
    transport = connection.transport  # type: ignore[attr-defined]
    size: int = transport.get_write_buffer_size()
    return size


async def test_streams_end_with_the_daemon(served: Served) -> None:
    async with served.client() as client:
        reading = asyncio.ensure_future(read(client, 100, 0))
        await wait_until_async(lambda: served.broadcast.subscribers == 1)
        await served.service.publish("last")
        await wait_until_async(lambda: served.broadcast.last == 1)
        served.broadcast.end()
        served.server.stop()
        assert texts(await reading) == ["last"]


async def test_a_connection_that_breaks_is_no_end(address: DaemonAddress, memory: MemoryService) -> None:
    async with serving(address, memory, grace=0.01) as served, served.client() as client:
        reading = asyncio.ensure_future(read(client, 100, 0))
        await wait_until_async(lambda: served.broadcast.subscribers == 1)
        served.server.stop()
        with pytest.raises(DaemonLost):
            await reading


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_frames_are_read_however_they_are_cut(step: int, end: bytes) -> None:
    events = [Text(text="a\nb\r\u2028: ü", origin="program", seq=7), Receipt(message_id="m", state="failed", seq=8)]
    data = b": a comment\nretry: 5\n" + b"".join(map(frame, events)) + b"id\ndata:x\ndata: y\n\n\n" + b"data: cut"
    data = data.replace(b"\n", end)
    reader = FrameReader()
    frames = [one for start in range(0, len(data), step) for one in reader.feed(data[start : start + step])]
    assert [one.id for one in frames] == ["7", "8", ""]
    assert [decode(one.data) for one in frames[:2]] == events
    assert frames[2].data == b"x\ny"
