"""What goes wrong with a member of a gathering does not stop the circle."""

import os
import signal
import sys

import pytest

from streamrelay.events import NeedsHuman, Receipt, RelayWithheld
from streamrelay.service.api import Gathering, Invited
from streamrelay.service.local import LocalService
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.waiting import wait_until, wait_until_async
from tests.service.circles import LAST, PIECE, CircleStage
from tests.service.conftest import PATIENCE, Stage, journaled

QUICK = {"beats_per_turn": 1, "beat_interval_seconds": 0.2, "last_words_seconds": 1.0}


@pytest.fixture
def circle(stage: Stage) -> CircleStage:
    return CircleStage(stage.tmux, stage.folder)


def pid_of(circle: CircleStage, pane: str) -> int:
    return int(circle.tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}"))


async def held_with(circle: CircleStage, service: LocalService, troubled: Invited, **said: object) -> Gathering:
    """Start a gathering of two speakers, of whom the second is in trouble."""
    return await circle.held(
        service,
        circle.invited("Sage", 1),
        troubled,
        circle.invited("Ada", 3, role="harvester"),
        **(QUICK | said),
    )


def heard_of(circle: CircleStage, listener: str, speaker: str) -> int:
    return sum(got.startswith(f"{speaker} (") and ":\n\n" in got for got in circle.heard(listener))


@pytest.mark.requirement("GAT-16a")
async def test_a_speaker_who_dies_in_his_tenure_is_not_waited_for(circle: CircleStage) -> None:
    async with circle.service() as service:
        held = await held_with(circle, service, circle.invited("Rex", 2, "--works", "100"))
        rex = held.participants[1]
        await wait_until_async(lambda: any(PIECE.match(got) for got in circle.heard("Rex")), PATIENCE, "the piece")
        pid = pid_of(circle, rex.pane)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), PATIENCE)
        over = await circle.until_over(service, held.gathering)
    assert over.reason == "complete"
    assert over.participants[1].gone
    assert heard_of(circle, "Ada", "Rex") == 0
    assert heard_of(circle, "Ada", "Sage") == 6, "twice in each round"
    assert over.harvest


@pytest.mark.slow
@pytest.mark.requirement("GAT-16a")
async def test_one_who_never_answers_is_passed_by(circle: CircleStage) -> None:
    async with circle.service() as service:
        held = await held_with(circle, service, circle.invited("Rex", 2, "--works", "100"))
        over = await circle.until_over(service, held.gathering)
    assert over.reason == "complete"
    assert [heard_of(circle, "Ada", name) for name in ("Sage", "Rex")] == [6, 0]
    assert sum(PIECE.match(got) is not None for got in circle.heard("Rex")) == 3


@pytest.mark.requirement("GAT-16a", "GAT-11b")
async def test_a_dialog_is_not_typed_into_and_the_circle_goes_on(circle: CircleStage) -> None:
    async with circle.service() as service:
        rex = circle.invited("Rex", 2, "--dialog")
        held = await held_with(circle, service, rex, reach_seconds=0.5)
        over = await circle.until_over(service, held.gathering)
        pane = held.participants[1].pane
        asked = [event for event in await journaled(service, NeedsHuman) if event.pane == pane]
        receipts = [event for event in await journaled(service, Receipt) if event.pane == pane]
    assert over.reason == "complete"
    assert asked, "a person is told"
    assert circle.heard("Rex") == []
    assert {event.reason for event in receipts if event.state == "failed"} == {"superseded"}, (
        "what is late is withdrawn"
    )
    assert [heard_of(circle, "Ada", name) for name in ("Sage", "Rex")] == [6, 0]


@pytest.mark.requirement("GAT-16a")
async def test_of_a_flood_the_circle_hears_so_much_and_no_more(circle: CircleStage, tmp_path) -> None:
    script = tmp_path / "flood.py"
    script.write_text(
        "import sys, threading\n"
        "def flood():\n"
        "    for number in range(1500):\n"
        "        print('flood', number, 'x' * 60, flush=True)\n"
        "for line in sys.stdin:\n"
        "    if 'passes the piece on' in line:\n"
        "        threading.Thread(target=flood, daemon=True).start()\n"
    )
    async with circle.service() as service:
        flood = Invited(name="Rex", number=2, agent=sys.executable, arguments=(str(script),))
        held = await held_with(circle, service, flood)
        over = await circle.until_over(service, held.gathering, PATIENCE * 2)
        withheld = [event for event in await journaled(service, RelayWithheld) if event.reason == "too_much"]
    assert over.reason == "complete"
    assert withheld
    heard = [got for got in circle.heard("Ada") if got.startswith("Rex (2):")]
    assert 0 < sum(map(len, heard)) < 4 * 65_536
    assert heard_of(circle, "Ada", "Sage") == 6


@pytest.mark.requirement("GAT-16a", "GAT-13b")
async def test_a_harvester_who_is_late_is_waited_for_no_longer_than_was_said(circle: CircleStage) -> None:
    async with circle.service() as service:
        held = await circle.held(
            service,
            circle.invited("Sage", 1),
            circle.invited("Rex", 2, answers=["I pass."]),
            circle.invited("Ada", 3, "--works", "100", role="harvester"),
            **QUICK,
            harvest_seconds=1.0,
        )
        over = await circle.until_over(service, held.gathering)
    assert over.state == "closed"
    assert over.harvest == ""
    assert LAST in circle.heard("Sage")
