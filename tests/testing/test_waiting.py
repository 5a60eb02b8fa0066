import asyncio
from itertools import count

import pytest

from streamrelay.testing.waiting import wait_until, wait_until_async


def test_the_first_true_value_is_returned() -> None:
    steps = iter([0, "", None, "here"])
    assert wait_until(lambda: next(steps)) == "here"


def test_the_failure_says_what_was_awaited_and_what_was_there() -> None:
    with pytest.raises(TimeoutError, match=r"three lines \(waited 0.02 s; last value: \[\]\)"):
        wait_until(list, timeout=0.02, message="three lines")


def test_an_expired_deadline_still_looks_once_more() -> None:
    assert wait_until(lambda: True, timeout=0.0)
    seen = count()
    assert wait_until(lambda: next(seen) > 0, timeout=0.001)


async def test_async_takes_plain_and_coroutine_predicates() -> None:
    ready = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, ready.set)
    assert await wait_until_async(ready.is_set)

    async def answer() -> str:
        await asyncio.sleep(0)
        return "yes"

    assert await wait_until_async(answer) == "yes"


async def test_async_is_bounded_even_when_the_predicate_hangs() -> None:
    with pytest.raises(TimeoutError, match="never"):
        await wait_until_async(asyncio.Event().wait, timeout=0.02, message="never")
    with pytest.raises(TimeoutError, match="last value: 0"):
        await wait_until_async(lambda: 0, timeout=0.02)
