"""Two real daemons under real faults, and what agents and people got in spite of them.

Each daemon is a process with a home, a tmux server and scripted agents of its own; a private Redis is between them. The
agents write down themselves what they got and said, so the judgement does not rest on what a daemon believes.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from streamrelay.errors import StreamrelayError
from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until, wait_until_async
from tests.federation.homes import Home
from tests.service.conftest import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
NUMBERS = {"Sage": 1, "Rex": 2, "Ivy": 3, "Eva": 4}


@pytest.fixture
def homes(private_redis: PrivateRedis, private_tmux: PrivateTmux, tmp_path: Path) -> Iterator[tuple[Home, Home]]:
    with PrivateTmux() as other_tmux, contextlib.ExitStack() as stack:
        made = []
        for node, peer, tmux in (("alpha", "beta", private_tmux), ("beta", "alpha", other_tmux)):
            folder = tmp_path / node[0]
            folder.mkdir()
            home = Home(node, (peer,), tmux, folder, private_redis.url)
            made.append(home)
            tmux.new_session("keeper", ["sleep", "1000"])
            stack.callback(home.end)
            home.begin()
        for home in made:
            wait_until(lambda home=home: not home.problems(), PATIENCE, "the other one to be there")
        yield made[0], made[1]


async def until(holds: Callable[[], Awaitable[Any]], seconds: float, what: str) -> None:
    """Wait for a state that a daemon tells, which may be away meanwhile."""

    async def told() -> bool:
        with contextlib.suppress(StreamrelayError, httpx.HTTPError):
            return bool(await holds())
        return False

    await wait_until_async(told, seconds, what)


class PagePerson:
    """A person on a web page: what the page's script asks for is asked for here, on the page's port."""

    def __init__(self, http: httpx.AsyncClient, gathering: str, number: int) -> None:
        self._http = http
        self._path = f"/v1/gatherings/{gathering.replace('@', '%40')}"
        self._number = number
        self.said: dict[str, str] = {}

    async def look(self) -> dict[str, Any]:
        return (await self._http.get(f"{self._path}/transcript")).raise_for_status().json()["gathering"]

    async def takes_part(self) -> dict[str, Any]:
        """Say something if it is this person's turn; return how the gathering stands."""
        held = await self.look()
        round_ = f"{held['phase']} {held['round']}"
        if held["state"] == "running" and held.get("speaker") == self._number and round_ not in self.said:
            self.said[round_] = f"Eva in {round_}"
            said = {"number": self._number, "text": self.said[round_]}
            (await self._http.post(f"{self._path}/say", json=said)).raise_for_status()
            with contextlib.suppress(httpx.HTTPStatusError):
                # If it fails, their time ends.
                (await self._http.post(f"{self._path}/pass", json={"number": self._number})).raise_for_status()
        return held


@contextlib.asynccontextmanager
async def page_of(home: Home) -> AsyncIterator[httpx.AsyncClient]:
    async with home.client() as client:
        access = await client.open_page()
    headers = {"authorization": f"Bearer {access.token}"}
    async with httpx.AsyncClient(
        base_url=httpx.URL(access.address).join("/"), headers=headers, timeout=PATIENCE, trust_env=False
    ) as http:
        yield http


def contributions(home: Home, name: str) -> list[tuple[str, str]]:
    """What a member of a gathering got of the others, with the speakers."""
    heads = {f"{speaker} ({number}):\n\n": speaker for speaker, number in NUMBERS.items()}
    return [
        (speaker, text.removeprefix(head))
        for text in home.received(name)
        for head, speaker in heads.items()
        if text.startswith(head)
    ]


@pytest.mark.requirement("NET-02d", "NET-03", "GAT-04")
async def test_a_gathering_of_two_machines_and_a_person_outlives_every_fault(
    homes: tuple[Home, Home], private_redis: PrivateRedis
) -> None:
    alpha, beta = homes
    alpha.start("Sage"), beta.start("Rex"), beta.start("Ivy"), alpha.start("Ada")
    asked = StartGathering(
        participants=[
            Invited(name="Sage", number=1, session="Sage"),
            Invited(name="Rex", number=2, session="Rex@beta"),
            Invited(name="Ivy", number=3, session="Ivy@beta"),
            Invited(name="Eva", number=4, is_human=True, session="@beta"),
            Invited(name="Ada", number=9, session="Ada", role="harvester"),
        ],
        structure="2-2-2",
        beats_per_turn=1,
        beat_interval_seconds=1.0,
        harvest_seconds=30.0,
    )
    async with alpha.client() as client:
        held = await client.start_gathering(asked)
    done: list[str] = []

    async def kept() -> Gathering:
        async with alpha.client() as client:
            return await client.gathering(held.gathering)

    async def disturb(now: dict[str, Any]) -> None:
        place = (now["phase"], now["round"])
        if place == ("inhale", 2) and not done:
            done.append("broker")
            private_redis.kill()
            private_redis.start()
        elif place == ("hold", 1) and done == ["broker"]:
            done.append("away")
            beta.freeze()
            await asyncio.sleep(20.0)
            assert (await kept()).state == "paused"
            beta.thaw()
        elif place == ("exhale", 1) and done == ["broker", "away"]:
            done.append("killed")
            alpha.kill()
            alpha.begin()

    async with page_of(beta) as http:
        eva = PagePerson(http, f"{held.gathering}@alpha", 4)

        async def is_over() -> bool:
            now = await eva.takes_part()
            await disturb(now)
            return now["state"] == "closed"

        await until(is_over, 400.0, "the gathering to be over")
        there = (await http.get(f"/v1/gatherings/{held.gathering}%40alpha/transcript")).raise_for_status().json()
    assert done == ["broker", "away", "killed"]
    async with alpha.client() as client:
        here = await client.gathering_transcript(held.gathering)
    assert [entry["text"] for entry in there["entries"]] == [entry.text for entry in here.entries]
    said = [(entry.name, entry.text) for entry in here.entries if entry.kind == "said"]
    assert [text for name, text in said if name == "Eva"] == list(eva.said.values())
    assert len(eva.said) == 6
    assert {name for name, _ in said} == set(NUMBERS)
    for home, name in ((alpha, "Sage"), (beta, "Rex"), (beta, "Ivy"), (alpha, "Ada")):
        expected = [(speaker, text) for speaker, text in said if speaker != name]
        wait_until(partial(lambda h, n, e: contributions(h, n) == e, home, name, expected), PATIENCE, f"{name} to hear")
    print(len(said), "contributions")
