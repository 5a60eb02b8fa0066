"""Gatherings of scripted agents in real tmux: who heard what, by their own account."""

import json
from typing import Any

import pytest

from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import read_got
from tests.service.conftest import PATIENCE, Stage


class Circle(Stage):
    """Scripted agents that are started for a gathering."""

    def invited(self, name: str, number: int, answers: list[str] | None = None, *options: str, **said: Any) -> Invited:
        script = self.folder / f"{name}.json"
        script.write_text(json.dumps(answers or [f"words {{number}} of {name}"]))
        arguments = (str(self.folder / name), "--answers", str(script), *options)
        return Invited(name=name, number=number, agent="sprite", arguments=arguments, **said)

    def said(self, name: str) -> list[str]:
        return [got.text for got in read_got(self.folder / name) if got.kind == "said"]

    async def until_closed(self, service: LocalService, gathering: str, patience: float = PATIENCE) -> Gathering:
        async def closed() -> bool:
            return (await service.gathering(gathering)).closed_at is not None

        await until(closed, patience)
        return await service.gathering(gathering)


async def until(holds: Any, patience: float) -> None:
    import asyncio

    async with asyncio.timeout(patience):
        while not await holds():
            await asyncio.sleep(0.02)


@pytest.fixture
def circle(stage: Stage) -> Circle:
    return Circle(stage.tmux, stage.folder)


async def test_a_short_gathering_from_the_seed_to_the_harvest(circle: Circle) -> None:
    async with circle.service() as service:
        held = await service.start_gathering(
            StartGathering(
                rhythm="daily",
                structure="1-1-1",
                beats_per_turn=2,
                beat_interval_seconds=0.8,
                last_words_seconds=2.0,
                opening_question="What matters today?",
                participants=[
                    circle.invited("Sage", 1),
                    circle.invited("Rex", 2),
                    circle.invited("Ada", 3, role="harvester"),
                ],
            )
        )
        assert [member.started_here for member in held.participants] == [True] * 3
        over = await circle.until_closed(service, held.gathering)
        told = await service.gathering_transcript(held.gathering)
    print(told.markdown)
    for name in ("Sage", "Rex", "Ada"):
        print(name, *circle.heard(name), sep="\n----\n")
    assert over.state == "closed"
