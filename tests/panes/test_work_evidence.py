"""Where a pane looks whether its program is at work: behind the unfinished line of an answer, on this machine."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from streamrelay.delta.inputs import AtWork, Input
from streamrelay.panes import live
from streamrelay.panes.connection import PaneConnection
from streamrelay.panes.live import PaneRuntime
from streamrelay.panes.log import Past
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.process_poll import ProcessState
from streamrelay.panes.scheduler import RenderScheduler
from streamrelay.panes.topology import TopologyTracker
from tests.panes.test_resting_behind_floods import BLANK, INFO

pytestmark = pytest.mark.requirement("DEL-04b")


class Machine:
    """A pane of a machine on which every foreground command is at work, and how often the pane looked at it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks = 0
        self.entries: list[Input] = []
        monkeypatch.setattr(live, "shell_works", self._shell_works)
        self.scheduler = RenderScheduler[PaneRuntime](hold=lambda _: None, failed=lambda _: None)
        self.pane = PanePipeline(INFO, rendering=self.scheduler, record_input=self.entries.append)

    def _shell_works(self, _pid: int) -> bool:
        self.looks += 1
        return True

    def answer(self, line: str) -> None:
        """Seed the pane, send it a message, and let its program print a line that is not finished."""
        self.pane.seed(BLANK)
        self.print("$ ")
        self.pane.inject("m1", "make")
        self.pane.submit("m1")
        self.print(f"make\r\n{line}")

    def print(self, text: str) -> None:
        """Let the program print; nothing is rendered yet."""
        self.pane.output(text.encode(), asyncio.get_running_loop().time())

    @property
    def evidence(self) -> int:
        """The number of entries that the pane recorded."""
        return sum(isinstance(entry, AtWork) for entry in self.entries)


@pytest.fixture
async def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


async def test_an_answer_that_pauses_within_a_line_is_examined_as_it_stands_now(machine: Machine) -> None:
    machine.answer("")
    machine.pane.catch_up()
    machine.print("Downloading: ")
    assert machine.pane.see_at_work()
    assert (machine.looks, machine.evidence) == (1, 1)
    machine.print("done\r\n")
    assert not machine.pane.see_at_work()
    assert (machine.looks, machine.evidence) == (1, 1)


async def test_a_program_that_nobody_messaged_is_not_examined(machine: Machine) -> None:
    machine.pane.seed(BLANK)
    machine.print("Downloading: ")
    assert not machine.pane.see_at_work()
    assert (machine.looks, machine.evidence) == (0, 0)
    assert machine.pane.waits


async def test_a_question_that_has_ended_the_turn_by_now_is_not_examined(machine: Machine) -> None:
    machine.answer("Name: ")
    machine.scheduler.read_until = asyncio.get_running_loop().time() + 5.0
    assert not machine.pane.see_at_work()
    assert (machine.looks, machine.evidence) == (0, 0)


STEPS: list[Callable[[PanePipeline], object]] = [
    lambda pane: pane.missed("overrun"),
    lambda pane: pane.moved(INFO),
    lambda pane: pane.close("pane_gone"),
]


@pytest.mark.parametrize("step", STEPS, ids=["recovering", "moved", "closed"])
async def test_a_screen_that_is_not_live_is_not_examined(
    machine: Machine, step: Callable[[PanePipeline], object]
) -> None:
    machine.answer("Downloading: ")
    machine.pane.catch_up()
    step(machine.pane)
    assert not machine.pane.see_at_work()
    assert (machine.looks, machine.evidence) == (0, 0)


async def test_a_stream_that_resumes_is_not_examined(machine: Machine) -> None:
    machine.answer("Downloading: ")
    machine.pane.catch_up()
    machine.pane.discard()
    past = list(machine.entries)
    machine.pane = PanePipeline(INFO, rendering=machine.scheduler, record_input=machine.entries.append)
    await machine.pane.resume(Past(asyncio.get_running_loop().time(), iter(past)))
    assert machine.pane.phase == "resuming"
    assert not machine.pane.see_at_work()
    assert (machine.looks, machine.evidence) == (0, 0)


@pytest.mark.parametrize("is_here", [True, False])
async def test_the_processes_of_another_machine_are_not_examined(machine: Machine, is_here: bool) -> None:
    machine.answer("Downloading: ")
    connection = SimpleNamespace(
        is_here=is_here,
        panes={INFO.pane: SimpleNamespace(pipeline=machine.pane, window=INFO.window)},
        guarded=lambda _pipeline, step: step(),
    )
    tracker = TopologyTracker(cast("PaneConnection", connection))
    cast("Any", tracker)._looked(ProcessState(INFO.pane, dead=False, pid=INFO.pid, command=INFO.command))
    tracker.stop()
    assert (machine.looks, machine.evidence) == ((1, 1) if is_here else (0, 0))
