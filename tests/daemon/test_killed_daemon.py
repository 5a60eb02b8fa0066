"""A daemon that is killed at random moments of a busy exchange loses nothing and says nothing twice.

Everything is as people run it: the command, its socket, its journal; several daemons at once share one outbox.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux
from tests.daemon.exchange import Exchange


@asynccontextmanager
async def busy_exchange(tmux: PrivateTmux, folder: Path, deaths: int) -> AsyncIterator[Exchange]:
    """One that goes on for longer than so many deaths take, with somebody who sends and somebody who follows."""
    async with Exchange(tmux, folder, deliveries=deaths + 4, rounds=2 * deaths + 4) as exchange:
        await exchange.connect()
        tasks = [asyncio.ensure_future(duty()) for duty in (exchange.send_messages, exchange.follow)]
        try:
            yield exchange
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert not [one for one in ended if isinstance(one, Exception)]


async def survives(tmux: PrivateTmux, folder: Path, seed: int, deaths: int) -> None:
    chance = random.Random(seed)
    busy = 0
    async with busy_exchange(tmux, folder, deaths) as exchange:
        for _ in range(deaths):
            busy += not (exchange.is_spent() and exchange.is_over())
            await exchange.live_and_die(chance)
        await exchange.check()
    assert busy > deaths // 2, "the exchange was over before it was disturbed"


async def dies_with_tmux(tmux: PrivateTmux, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with busy_exchange(tmux, folder, 8) as exchange:
        await exchange.live_and_die(chance)
        await exchange.live_and_die(chance, with_tmux=True)
    await exchange.check_nothing_is_sent_again()


@pytest.mark.requirement("DLV-07a", "REL-07", "OPS-03")
async def test_nothing_is_lost_or_said_twice_whenever_it_is_killed(
    private_tmux: PrivateTmux, daemon_folders: Path
) -> None:
    await survives(private_tmux, daemon_folders / "one", seed=1, deaths=4)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_not_when_it_is_killed_two_hundred_times(daemon_folders: Path) -> None:
    with ExitStack() as stack:
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                tmux = stack.enter_context(PrivateTmux())
                group.create_task(survives(tmux, daemon_folders / f"exchange-{number}", seed=100 + number, deaths=50))


@pytest.mark.requirement("DLV-07b")
async def test_when_tmux_dies_too_nothing_is_sent_again(private_tmux: PrivateTmux, daemon_folders: Path) -> None:
    await dies_with_tmux(private_tmux, daemon_folders / "one", seed=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_nothing_is_sent_again_at_eight_such_moments(daemon_folders: Path) -> None:
    for number in range(0, 8, 4):
        with ExitStack() as stack:
            async with asyncio.TaskGroup() as group:
                for seed in range(number, number + 4):
                    tmux = stack.enter_context(PrivateTmux())
                    group.create_task(dies_with_tmux(tmux, daemon_folders / f"exchange-{seed}", seed))
