import asyncio

import pytest

from streamrelay.control.request_slots import RequestSlots


class Room:
    def __init__(self, size: int) -> None:
        self.size = size
        self.inside: list[int] = []
        self.gate = RequestSlots(lambda: len(self.inside) < self.size)

    async def enter(self, number: int) -> None:
        await self.gate.enter(lambda: self.inside.append(number))

    def leave(self) -> int:
        left = self.inside.pop(0)
        self.gate.admit_next()
        return left


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_first_come_first_served() -> None:
    room = Room(2)
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        for number in range(6):
            tasks.create_task(room.enter(number))
        order = []
        for _ in range(6):
            await settle()
            assert len(room.inside) <= 2
            order.append(room.leave())
    assert order == list(range(6))


async def test_room_made_at_once_lets_several_pass() -> None:
    room = Room(0)
    tasks = [asyncio.create_task(room.enter(number)) for number in range(5)]
    await settle()
    room.size = 5
    room.gate.admit_next()
    async with asyncio.timeout(5):
        await asyncio.gather(*tasks)
    assert room.inside == list(range(5))


@pytest.mark.parametrize("woken_first", [False, True])
async def test_a_cancelled_task_does_not_keep_the_others_out(woken_first: bool) -> None:
    room = Room(1)
    await room.enter(0)
    first, second = (asyncio.create_task(room.enter(number)) for number in (1, 2))
    await settle()
    if woken_first:
        room.leave()
    first.cancel()
    if not woken_first:
        room.leave()
    async with asyncio.timeout(5):
        await second
    assert first.cancelled()
    assert room.inside == [2]


async def test_an_act_that_raises_lets_the_next_pass() -> None:
    gate = RequestSlots(lambda: True)

    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await gate.enter(refuse)
    await gate.enter(lambda: None)
