"""Children that end, are signalled and are given up just as they are started: asyncio gets the status of each."""

import asyncio
import logging
import signal

import pytest

from streamrelay.children import ended, send_signal, start_child, uncut

ENDING = ("sh", "-c", "exit 7")


@pytest.mark.parametrize("steps", range(6))
async def test_a_start_that_is_cancelled_leaves_a_child_that_can_be_ended(steps: int) -> None:
    statuses: list[int] = []

    async def work() -> None:
        process = await start_child("sleep", "1000")
        try:
            await process.wait()
        finally:
            send_signal(process, signal.SIGTERM)
            statuses.append(await process.wait())

    working = asyncio.ensure_future(work())
    for _ in range(steps):
        await asyncio.sleep(0)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert statuses == ([-signal.SIGTERM] if steps else [])


async def test_a_start_out_of_time_is_told_as_that_where_it_is_awaited_on() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            process = await start_child("sleep", "1000")
            try:
                await process.wait()
            finally:
                send_signal(process, signal.SIGKILL)
                await process.wait()
    await asyncio.sleep(0)


async def test_each_of_many_cancellations_is_outlived() -> None:
    done = asyncio.Event()

    async def work() -> str:
        said = await uncut(_told(done))
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(0)
        return said

    async def _told(event: asyncio.Event) -> str:
        await event.wait()
        return "all of it"

    working = asyncio.ensure_future(work())
    for _ in range(3):
        await asyncio.sleep(0)
        working.cancel()
    done.set()
    assert await working == "all of it"


@pytest.mark.parametrize("steps", range(4))
async def test_the_end_of_a_child_is_waited_for_though_who_waits_is_cancelled_again_and_again(steps: int) -> None:
    statuses: list[int | None] = []

    async def work() -> None:
        process = await start_child("sleep", "1000")
        send_signal(process, signal.SIGKILL)
        assert await ended(process)
        statuses.append(process.returncode)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(0)

    working = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    while not working.done():
        for _ in range(steps):
            await asyncio.sleep(0)
        working.cancel()
        await asyncio.sleep(0)
    assert statuses == [-signal.SIGKILL]


async def test_a_child_that_stays_is_waited_for_as_long_as_said() -> None:
    process = await start_child("sleep", "1000")
    assert not await ended(process, 0.01)
    send_signal(process, signal.SIGKILL)
    assert await ended(process)


def test_a_child_is_waited_for_though_the_loop_is_at_its_end() -> None:
    statuses: list[int | None] = []

    async def work() -> None:
        process = await start_child("sleep", "1000")
        try:
            await process.wait()
        finally:
            send_signal(process, signal.SIGKILL)
            await ended(process)
            statuses.append(process.returncode)

    async def main() -> None:
        tasks.append(asyncio.ensure_future(work()))
        await asyncio.sleep(0.05)

    tasks: list[asyncio.Future[None]] = []
    asyncio.run(main())
    assert statuses == [-signal.SIGKILL]
    assert tasks[0].cancelled()


async def test_what_it_raises_is_raised() -> None:
    with pytest.raises(FileNotFoundError):
        await start_child("no-such-program-anywhere")


async def test_the_status_of_one_that_ends_as_it_is_signalled_is_its_own(caplog: pytest.LogCaptureFixture) -> None:
    statuses = set()
    with caplog.at_level(logging.WARNING, "asyncio"):
        for turns in range(100):
            process = await start_child(*ENDING)
            for _ in range(turns):
                await asyncio.sleep(0)
            send_signal(process, signal.SIGTERM)
            statuses.add(await process.wait())
    assert statuses <= {7, -signal.SIGTERM}
    assert caplog.records == []
