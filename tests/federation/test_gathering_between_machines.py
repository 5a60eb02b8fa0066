"""A gathering whose speakers and harvester are on two machines: every contribution is heard once by all others."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from streamrelay.errors import NotAllowed, PieceNotHeld, UsageError
from streamrelay.events import GatheringClosed, GatheringPaused
from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machine, Machines, until_connected
from tests.service.conftest import PATIENCE, journaled

NAMES = {"Sage": 1, "Rex": 2, "Ivy": 3}


async def opened(alpha: LocalService, machines: Machines, *, away: Sequence[str] = ("Rex",)) -> Gathering:
    """Start a gathering: Sage on this machine, the other speakers and the harvester on the other one."""
    machines.alpha.start("Sage")
    for name in (*away, "Ada"):
        machines.beta.start(name)
    asked = StartGathering(
        participants=[
            Invited(name="Sage", number=1, session="Sage"),
            *(Invited(name=name, number=NAMES[name], session=f"{name}@beta") for name in away),
            Invited(name="Ada", number=9, session="Ada@beta", role="harvester"),
        ],
        structure="1-1-1",
        beats_per_turn=1,
        beat_interval_seconds=0.3,
        last_words_seconds=8.0,
        harvest_seconds=20.0,
    )
    return await alpha.start_gathering(asked)


async def until_over(alpha: LocalService, gathering: str) -> Gathering:
    async def over() -> bool:
        return (await alpha.gathering(gathering)).closed_at is not None

    await wait_until_async(over, 2 * PATIENCE, "the gathering to be over")
    return await alpha.gathering(gathering)


async def check(alpha: LocalService, machines: Machines, gathering: str) -> int:
    """Hold what each member got against the transcript; return how many contributions there were."""
    transcript = await alpha.gathering_transcript(gathering)
    said = [(entry.name, entry.text) for entry in transcript.entries if entry.kind == "said"]
    members = [member.name for member in (await alpha.gathering(gathering)).participants]
    for name in members:
        machine: Machine = machines.alpha if name == "Sage" else machines.beta
        expected = [f"{speaker} ({NAMES[speaker]}):\n\n{text}" for speaker, text in said if speaker != name]
        await wait_until_async(partial(has_heard, machine, name, expected), PATIENCE, f"{name} to hear all")
    return len(said)


def has_heard(machine: Machine, name: str, expected: list[str]) -> bool:
    return heard(machine, name) == expected


def heard(machine: Machine, name: str) -> list[str]:
    heads = tuple(f"{speaker} ({number}):\n\n" for speaker, number in NAMES.items())
    return [text.rstrip("\n") for text in machine.heard(name) if text.startswith(heads)]


@pytest.mark.requirement("NET-02d")
@pytest.mark.timeout(180)
async def test_all_hear_each_contribution_once_through_a_restart_of_the_broker(machines: Machines) -> None:
    async with machines.services() as (alpha, beta):
        held = await opened(alpha, machines, away=("Rex", "Ivy"))

        async def begun() -> bool:
            return (await alpha.gathering(held.gathering)).speaker == 2

        await wait_until_async(begun, PATIENCE, "the piece to be on the other machine")
        taken = {session.in_relay for session in await beta.sessions() if session.title in {"Rex", "Ivy", "Ada"}}
        assert taken == {f"{held.gathering}@alpha"}
        machines.redis.kill()
        machines.redis.start()
        over = await until_over(alpha, held.gathering)
        assert over.harvest
        assert await check(alpha, machines, held.gathering) >= 9


async def until_piece_is_away(keeper: LocalService, gathering: str) -> None:
    """Wait until the second speaker, who is on the other machine, holds the piece."""

    async def is_away() -> bool:
        return (await keeper.gathering(gathering)).speaker == 2

    await wait_until_async(is_away, PATIENCE, "the piece to be on the other machine")


@pytest.mark.requirement("NET-02d", "NET-03")
@pytest.mark.timeout(180)
async def test_a_gathering_waits_while_a_machine_is_away_and_goes_on(machines: Machines) -> None:
    async with machines.alpha.as_node() as alpha:
        await until_connected(alpha)
        async with machines.beta.as_node() as beta:
            await until_connected(beta)
            await until_connected(alpha)
            held = await opened(alpha, machines)
            await until_piece_is_away(alpha, held.gathering)

        async def waits() -> bool:
            told = f"{held.gathering} waits until beta is back"
            return told in (await alpha.status()).problems and (await alpha.gathering(held.gathering)).state == "paused"

        await wait_until_async(waits, PATIENCE, "the gathering to wait")
        async with machines.beta.as_node() as beta:
            await until_connected(beta)
            await until_over(alpha, held.gathering)
            assert [event.paused for event in await journaled(alpha, GatheringPaused)] == [True, False]
            assert await check(alpha, machines, held.gathering) >= 3


@pytest.mark.requirement("NET-02d", "NET-03")
@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_gathering_goes_on_when_the_machine_that_keeps_it_is_back(machines: Machines) -> None:
    async with machines.beta.as_node() as beta:
        async with machines.alpha.as_node() as alpha:
            await until_connected(beta)
            await until_connected(alpha)
            held = await opened(alpha, machines)
            await until_piece_is_away(alpha, held.gathering)

        async def waits() -> bool:
            return f"{held.gathering}@alpha waits until alpha is back" in (await beta.status()).problems

        await wait_until_async(waits, PATIENCE, "the other machine to say so")
        async with machines.alpha.as_node() as alpha:
            await until_connected(alpha)
            await until_over(alpha, held.gathering)
            assert await check(alpha, machines, held.gathering) >= 3


class Person:
    """A person on the page of a machine, who says one thing whenever they hold the piece, and passes it."""

    def __init__(self, service: LocalService, gathering: str, number: int) -> None:
        self.service = service
        self.gathering = gathering
        self.number = number
        self.said: dict[tuple[str, int], str] = {}

    async def takes_part(self) -> bool:
        """Do what there is to do; True when the gathering is over."""
        held = await self.service.gathering(self.gathering)
        round_ = (held.phase, held.round)
        if held.state == "running" and held.speaker == self.number and round_ not in self.said:
            self.said[round_] = f"Eva in {held.phase} {held.round}"
            await self.service.say_in_gathering(self.gathering, self.number, self.said[round_])
            await self.service.pass_piece(self.gathering, self.number)
        return held.state == "closed"


@pytest.mark.requirement("NET-02d", "GAT-04")
@pytest.mark.timeout(180)
async def test_a_person_takes_part_on_the_page_of_another_machine(machines: Machines) -> None:
    machines.beta.start("Rex"), machines.alpha.start("Ada")
    asked = StartGathering(
        participants=[
            Invited(name="Rex", number=2, session="Rex@beta"),
            Invited(name="Eva", number=3, is_human=True, session="@beta"),
            Invited(name="Ada", number=9, session="Ada", role="harvester"),
        ],
        structure="1-1-1",
        beats_per_turn=1,
        beat_interval_seconds=0.2,
        harvest_seconds=20.0,
    )
    async with machines.services() as (alpha, beta):
        held = await alpha.start_gathering(asked)
        name = f"{held.gathering}@alpha"
        assert [member.node for member in held.participants] == ["", "beta", ""]

        async def is_shown() -> bool:
            return [one.gathering for one in await beta.gatherings()] == [name]

        await wait_until_async(is_shown, PATIENCE, "the gathering to be shown on beta")
        seen = await beta.gathering(name)
        assert [member.node for member in seen.participants] == ["", "", ""]
        sessions = {session.title: session.session for session in await beta.sessions()}
        assert [member.session for member in seen.participants][:2] == [sessions["Rex"], ""]
        with pytest.raises(PieceNotHeld):
            await beta.say_in_gathering(name, 3, "too early")
        with pytest.raises(UsageError, match="no person on this machine"):
            await beta.say_in_gathering(name, 2, "in the name of another")
        with pytest.raises(PieceNotHeld):
            await beta.pass_piece(name, number=3)
        with pytest.raises(NotAllowed):
            await beta.pass_piece(name, number=9)
        assert (await beta.pass_piece(name, session="Rex")).speaker in {2, 3}
        eva = Person(beta, name, 3)
        await wait_until_async(eva.takes_part, 2 * PATIENCE, "the gathering to be over")
        there, here = await beta.gathering_transcript(name), await alpha.gathering_transcript(held.gathering)
        assert there.entries == here.entries
        assert [entry.text for entry in here.entries if entry.name == "Eva" and entry.kind == "said"] == list(
            eva.said.values()
        )
        await machines.beta.until_heard("Rex", *(f"Eva (3):\n\n{text}" for text in eva.said.values()))

        async def is_told() -> bool:
            return [event.gathering for event in await journaled(beta, GatheringClosed)] == [name]

        await wait_until_async(is_told, PATIENCE, "the end to be published on beta")


@pytest.mark.requirement("NET-02d", "GAT-04")
@pytest.mark.timeout(180)
async def test_agents_are_started_on_another_machine_where_that_allows_it(machines: Machines, tmp_path: Path) -> None:
    asked = StartGathering(
        participants=[
            Invited(name="Sage", number=1, session="Sage"),
            Invited(name="Rex", number=2, agent="sprite@beta", arguments=(str(tmp_path / "Rex"),)),
            Invited(name="Ada", number=9, session="Ada@beta", role="harvester"),
        ],
        structure="1-1-1",
        beats_per_turn=1,
        beat_interval_seconds=0.3,
        harvest_seconds=20.0,
        end_sessions=True,
    )
    machines.alpha.start("Sage"), machines.beta.start("Ada")
    async with machines.alpha.as_node() as alpha:
        async with machines.beta.as_node() as beta:
            await until_connected(alpha)
            await until_connected(beta)
            with pytest.raises(NotAllowed, match="node alpha may not start"):
                await alpha.start_gathering(asked)
        async with machines.beta.as_node(may_start=("alpha",)) as beta:
            await until_connected(beta)
            held = await alpha.start_gathering(asked)
            (rex,) = [session for session in await beta.sessions() if session.title == "Rex"]
            over = await until_over(alpha, held.gathering)
            assert [member.contributions > 0 for member in over.participants if member.name == "Rex"] == [True]

            async def ended() -> bool:
                return rex.session not in {session.session for session in await beta.sessions()}

            await wait_until_async(ended, PATIENCE, "the session to be ended")
