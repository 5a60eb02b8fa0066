"""A service that is killed in every phase of a gathering: the circle goes on where it was, and says nothing twice."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamrelay.testing.waiting import wait_until
from tests.service.circles import CircleStage, Model
from tests.service.conftest import PATIENCE, Stage
from tests.service.test_gathering_in_tmux import breath

PROCESS = Path(__file__).with_name("service_process.py")


@contextmanager
def alive(stage: Stage) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service in a process of its own, and kill it."""
    words = [sys.executable, str(PROCESS), stage.tmux.binary, stage.tmux.socket_path, str(stage.folder / "state")]
    with (
        (stage.folder / "errors").open("ab") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors) as service,
    ):
        assert service.stdout is not None
        opened = service.stdout.readline()
        assert opened == b"open\n", (stage.folder / "errors").read_text()
        yield service
        assert service.poll() is None, (stage.folder / "errors").read_text()
        service.kill()


async def survives(stage: Stage, seed: int, deaths: int, listening: str) -> None:
    """Be killed so often in each phase, at a random moment after it began."""
    circle, chance = CircleStage(stage.tmux, stage.folder), random.Random(seed)
    async with circle.service() as service:
        held = await circle.held(
            service,
            circle.invited("Sage", 1),
            circle.invited("Rex", 2),
            circle.invited("Ada", 3, "--works", "0.5", answers=["heard {number}"], role="harvester"),
            listening=listening,
        )

    def heard(words: str) -> Callable[[], bool]:
        return lambda: any(words in got for got in circle.heard("Ada"))

    marks = ["Phase: INHALE", "Phase: HOLD", "Phase: EXHALE", "Phase: CLOSE"]
    for mark in marks:
        for _ in range(deaths):
            with alive(circle) as process:
                wait_until(heard(mark), PATIENCE, mark)
                try:
                    process.wait(chance.uniform(0.0, 1.2))
                except subprocess.TimeoutExpired:
                    continue
    async with circle.service() as service:
        over = await circle.until_over(service, held.gathering)
    model = Model(circle, {1: "Sage", 2: "Rex"}, (3, "Ada"), breath(1), beats=2)
    model.check(digest=listening == "digest")
    assert over.reason == "complete"
    assert over.harvest.startswith("heard ")


@pytest.mark.requirement("GAT-15", "REL-07")
@pytest.mark.timeout(240)
async def test_it_goes_on_whenever_it_is_killed(stage: Stage) -> None:
    await survives(stage, 0, deaths=1, listening="each")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("listening", ["each", "digest"])
@pytest.mark.parametrize("seed", range(1, 4))
async def test_it_goes_on_however_often_it_is_killed(stage: Stage, seed: int, listening: str) -> None:
    await survives(stage, seed, deaths=3, listening=listening)
