"""The life of a pane as docs/architecture.md draws it: each transition, and in which phase output counts."""

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from streamrelay.delta.inputs import Ended, Input, Missed, Output
from streamrelay.panes.live import PanePhase, PaneRuntime
from streamrelay.panes.log import Past
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.scheduler import RenderScheduler
from tests.panes.test_resting_behind_floods import BLANK, INFO

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"
STATE = b"3 0 80 5 0 1 1 0 1 0 0 4 0 0 1  "
REPLY = [[], [b"abc"], [b"abc"], [], [STATE], [b"abc"], [b"abc"], [b"2000 0 "]]
"""tmux's reply to a query for missing output: the alternate screen holds one row."""


class Life:
    """A pane whose queries the test answers, and the entries of its stream."""

    def __init__(self) -> None:
        self.entries: list[Input] = []
        scheduler = RenderScheduler[PaneRuntime](hold=lambda _: None, failed=lambda _: None)
        self.pane = PanePipeline(INFO, rendering=scheduler, record_input=self.entries.append)

    def start(self) -> None:
        self.pane.seed(BLANK)

    async def resume(self) -> None:
        await self.pane.resume(Past(0.0, iter(())))

    def ask(self) -> None:
        self.pane.question()

    def answer(self) -> None:
        self.ask()
        assert self.pane.answer(REPLY)

    def move(self) -> None:
        self.pane.moved(replace(self.pane.info, window="@9"))

    def counts_output(self) -> bool:
        """Whether bytes of the pane become an entry now."""
        before = len(self.entries)
        self.pane.output(b"x", 0.0)
        self.pane.catch_up()
        return any(isinstance(entry, Output) for entry in self.entries[before:])


STEPS: list[tuple[str, list[Callable[[Life], object]], PanePhase, bool]] = [
    ("new", [], "connecting", False),
    ("a move before the first screen", [Life.move], "connecting", False),
    ("seed", [Life.start], "live", True),
    ("resume", [Life.resume], "resuming", False),
    ("resume, answer", [Life.resume, Life.answer], "live", True),
    ("missed", [Life.start, lambda life: life.pane.missed("overrun")], "recovering", False),
    ("paused", [Life.start, lambda life: life.pane.paused()], "recovering", False),
    ("disconnected", [Life.start, lambda life: life.pane.disconnected()], "recovering", False),
    ("recovering, answer", [Life.start, lambda life: life.pane.paused(), Life.answer], "live", True),
    ("moved", [Life.start, Life.move], "moved", True),
    ("moved, disconnected", [Life.start, Life.move, lambda life: life.pane.disconnected()], "moved", True),
    ("moved, answer", [Life.start, Life.move, Life.answer], "live", True),
    ("closed", [Life.start, lambda life: life.pane.close("pane_gone")], "closed", False),
    ("closed while moved", [Life.start, Life.move, lambda life: life.pane.close("pane_gone")], "closed", False),
    ("closed before the first screen", [lambda life: life.pane.close("pane_gone")], "closed", False),
    ("finalized without output", [Life.start, lambda life: life.pane.finalize(None)], "closed", False),
]


@pytest.mark.parametrize(("steps", "phase", "counts"), [case[1:] for case in STEPS], ids=[case[0] for case in STEPS])
async def test_a_step_leads_to_its_phase(steps: list[Callable[[Life], object]], phase: PanePhase, counts: bool) -> None:
    life = Life()
    for step in steps:
        if inspect.isawaitable(done := step(life)):
            await done
    assert life.pane.phase == phase
    assert life.counts_output() == counts
    life.pane.close("pane_gone")
    assert life.pane.phase == "closed"
    assert not life.counts_output()


async def test_a_pane_that_closes_while_it_recovers_reports_what_is_missing() -> None:
    life = Life()
    life.start()
    life.pane.paused()
    life.pane.close("pane_gone")
    assert [type(entry) for entry in life.entries[-2:]] == [Missed, Ended]


def test_the_page_names_every_phase() -> None:
    page = ARCHITECTURE.read_text()
    section = page[page.index("## A pane's life") : page.index("Each thing has one owner")]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [*get_args(PanePhase)]
    diagram = "\n".join(line for line in section.splitlines() if line.startswith("    "))
    assert all(phase in diagram for phase in get_args(PanePhase))


def test_every_owner_exists() -> None:
    page = ARCHITECTURE.read_text()
    table = page[page.index("Each thing has one owner") : page.index("## Recovery after a crash")]
    owners = re.findall(r"`(\w+)\.([A-Z]\w+)`", table)
    assert len(owners) > 10
    folder = Path(__file__).parents[2] / "streamrelay"
    for module, name in owners:
        (source,) = [
            folder / part / f"{module}.py" for part in ("panes", "delta") if (folder / part / f"{module}.py").exists()
        ]
        assert re.search(rf"^class {name}\b", source.read_text(), re.MULTILINE), (module, name)
