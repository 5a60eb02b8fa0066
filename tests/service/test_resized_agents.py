"""Agents whose terminals are resized in the middle of their turns hear each other's answers all the same, and once."""

import random

import pytest

from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import SendMessage
from streamrelay.testing.waiting import wait_until, wait_until_async
from tests.service.conftest import PATIENCE, Stage

BUDGET = 6


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("how", [(), ("--wipes-history",), ("--alternate",)], ids=["2J", "3J", "alternate"])
async def test_a_link_delivers_answers_and_no_spinner_while_terminals_are_resized(
    stage: Stage, how: tuple[str, ...]
) -> None:
    for name in ("Ann", "Bob"):
        stage.start(name, *how, "--answer", f"{name} says {{number}}")
    chance = random.Random(7)
    async with stage.service() as service:
        await service.create_link("Ann", "Bob", LinkPolicy(budget=BUDGET))
        await service.send_message(SendMessage(to="Bob", text="begin", caller="Ann", direct=True))
        heard = 0
        while heard < BUDGET:
            wanted = heard + 1
            await wait_until_async(lambda: len(stage.heard("Ann")) + len(stage.heard("Bob")) >= wanted, PATIENCE)  # noqa: B023
            heard = len(stage.heard("Ann")) + len(stage.heard("Bob"))
            for name in ("Ann", "Bob"):
                size = ("-x", str(chance.randint(60, 160)), "-y", str(chance.randint(20, 60)))
                stage.tmux.run("resize-window", "-t", name, *size)
        await wait_until_async(lambda: stage.heard("Ann")[3:] and stage.heard("Bob")[3:], PATIENCE, "the notices")
    said = {name: [f"[From {name}] {name} says {number}" for number in (1, 2, 3)] for name in ("Ann", "Bob")}
    assert [text for text in stage.heard("Bob") if "[streamrelay]" not in text] == [
        "[From Ann] begin",
        *said["Ann"][:2],
    ]
    assert [text for text in stage.heard("Ann") if "[streamrelay]" not in text] == said["Bob"]


@pytest.mark.parametrize("how", [(), ("--alternate",)], ids=["main", "alternate"])
def test_the_scripted_agent_follows_the_size_of_its_terminal(stage: Stage, how: tuple[str, ...]) -> None:
    pane = stage.start("Ann", *how)
    for columns in (63, 140):
        stage.tmux.run("resize-window", "-t", "Ann", "-x", str(columns), "-y", "30")
        rule = "─" * columns
        wait_until(
            lambda: stage.tmux.run("capture-pane", "-p", "-t", pane).splitlines().count(rule) == 2,  # noqa: B023
            PATIENCE,
            "two rules as wide as the terminal",
        )
