"""An agent that exits to its shell in the moment of a delivery: nothing is typed into the shell.

What is typed between the moment in which an agent stops reading and the one in which tmux hears that it leaves is in
its terminal, and no line of tmux could have known better. It is taken back from there, for which the time has to do in
which a program ends. For one that is gone at once it may not: then its shell sees a paste that nobody submits.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

import streamrelay
from streamrelay.delivery.commands import DeliveryMark, Seen, enter_line, paste_line, read_refusal
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.writer import PaneWriter
from streamrelay.errors import StreamrelayError
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

SHELL = Path(__file__).with_name("leaving_shell.py")
PATIENCE = 20.0
TEXT = "rm -rf x\nsecond line"
BRACKETED = f"\x1b[200~{TEXT}\x1b[201~"

Manner = Literal["at once", "soon", "free"]


@dataclass(frozen=True)
class Exit:
    """What became of one agent and one message."""

    agent_read: str
    agent_left: int
    shell_read: str
    states: tuple[str, ...]

    @property
    def executes(self) -> bool:
        """Whether a shell that edits its line would run anything of what it read."""
        return any(character in self.shell_read.replace(BRACKETED, "") for character in "\r\n")


class LeavingAgent:
    """A pane whose shell starts one agent after the other; each leaves when it is told to."""

    def __init__(self, tmux: PrivateTmux, server: Server, folder: Path, pane: str) -> None:
        self.tmux, self.server, self.pane = tmux, server, pane
        self.pipeline = server.pipeline(pane)
        self._folder = folder
        self._number = 0

    def lines(self, name: str) -> list:
        path = self._folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    async def ready(self) -> None:
        pipeline = self.pipeline
        await wait_until_async(
            lambda: pipeline.info.command == "agent" and pipeline.pane_state.asks_for_paste, PATIENCE, "no agent"
        )

    def leaves(self, at: float, how: Manner, stalls: float = 0.0) -> None:
        """Have it stop reading at that moment, and leave so many seconds later."""
        self._number += 1
        order = self._folder / "order"
        order.write_text(json.dumps([at, how, stalls]))
        order.rename(self._folder / str(self._number))

    async def deliver(self, seconds: float) -> tuple[str, ...]:
        """Put a message, and give it that time."""
        reports: list[Progress] = []
        writer = PaneWriter(self.server, self.pipeline, program="agent", report=reports.append)
        await writer.put(Message(f"m{self._number}", TEXT))
        with suppress(StreamrelayError, TimeoutError):
            async with asyncio.timeout(seconds):
                await until_first(writer.run(), writer.finish())
        return tuple(f"{report.state} {report.reason}".strip() for report in reports)

    async def outcome(self, states: tuple[str, ...]) -> Exit:
        await wait_until_async(lambda: len(self.lines("typed")) >= self._number, PATIENCE, "it has not left")
        return Exit(*self.lines("read")[self._number - 1], self.lines("typed")[self._number - 1], states)


@asynccontextmanager
async def leaving_agents(tmux: PrivateTmux, folder: Path, count: int = 1) -> AsyncIterator[list[LeavingAgent]]:
    tmux.new_session("keeper", ["sleep", "1000"])
    folders = [folder / str(number) for number in range(count)]
    panes = []
    for number, own in enumerate(folders):
        own.mkdir()
        panes.append(tmux.new_session(f"shell{number}", [sys.executable, str(SHELL), str(own)]))
    async with (
        streamrelay.connect(tmux=tmux.binary, socket_path=tmux.socket_path, profiles=()) as server,
        server.watch(*panes),
    ):
        for own in folders:
            (own / "0").touch()
        yield [LeavingAgent(tmux, server, own, pane) for own, pane in zip(folders, panes, strict=True)]


@pytest.mark.requirement("DLV-05a")
async def test_what_tmux_knows_and_the_stream_does_not_is_compared_in_the_line_itself(
    private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    """The decision was made while the agent still asked; it has said goodbye, and is still there."""
    async with leaving_agents(private_tmux, tmp_path) as (agent,):
        await agent.ready()
        seen = Seen(asks=True, cursor=agent.pipeline.cursor)
        agent.leaves(time.monotonic(), "soon", 0.0)
        await wait_until_async(lambda: "bye" in private_tmux.run("capture-pane", "-p", "-t", agent.pane), PATIENCE)
        for line in (
            paste_line(agent.pane, "b", TEXT, "agent", DeliveryMark(1, "m1"), seen=seen),
            enter_line(agent.pane, "agent", DeliveryMark(1, "m1"), seen=seen),
        ):
            result = await agent.server.command(agent.pane, line)
            refusals = [refusal for block in result.blocks if (refusal := read_refusal(block.lines)) is not None]
            assert [refusal.moved for refusal in refusals] == [True]
        assert (await agent.outcome(())).shell_read == ""


@pytest.mark.requirement("DLV-05a")
@pytest.mark.parametrize("stalls", [0.3, 1.6], ids=["before an Enter is due", "after it would have been"])
async def test_what_an_agent_leaves_unread_gets_no_enter_and_is_taken_back(
    private_tmux: PrivateTmux, tmp_path: Path, stalls: float
) -> None:
    async with leaving_agents(private_tmux, tmp_path) as (agent,):
        await agent.ready()
        agent.leaves(time.monotonic(), "free", stalls)
        await asyncio.sleep(0.05)  # it looks for its order every few milliseconds, and reads no more
        result = await agent.outcome(await agent.deliver(stalls + 1.0))
    assert result == Exit("", len(BRACKETED), "", ("queued", "pasted", "unconfirmed taken_back"))


async def leave_many_times(
    tmux: PrivateTmux, folder: Path, exits: int, manners: Sequence[Manner], *, side_by_side: int
) -> dict[Manner, list[Exit]]:
    """Deliver in the milliseconds around each exit, in several panes at a time."""
    found: dict[Manner, list[Exit]] = {manner: [] for manner in manners}

    async def one(agent: LeavingAgent, chance: random.Random) -> None:
        for _ in range(exits // side_by_side):
            await agent.ready()
            how, moment = chance.choice(manners), time.monotonic() + 0.03
            agent.leaves(moment, how)
            await asyncio.sleep(moment + chance.uniform(-0.012, 0.004) - time.monotonic())
            found[how].append(await agent.outcome(await agent.deliver(0.08)))

    async with leaving_agents(tmux, folder, side_by_side) as agents:
        await asyncio.gather(*(one(agent, random.Random(number)) for number, agent in enumerate(agents)))
    return found


@pytest.mark.requirement("DLV-05a")
async def test_nothing_is_typed_into_the_shell_of_an_agent_that_exits(
    private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    found = await leave_many_times(private_tmux, tmp_path, 24, ["free"], side_by_side=4)
    assert [exit_.shell_read for exit_ in found["free"] if exit_.shell_read] == []
    assert any("pasted" in exit_.states for exit_ in found["free"])
    assert any("pasted" not in exit_.states for exit_ in found["free"])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("DLV-05a")
async def test_nothing_is_typed_into_it_a_thousand_times(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    found = await leave_many_times(private_tmux, tmp_path, 1000, ["soon", "at once"], side_by_side=4)
    shown = {how: [exit_ for exit_ in exits if exit_.shell_read] for how, exits in found.items()}
    assert [exit_.shell_read for exits in shown.values() for exit_ in exits if exit_.executes] == []
    # The 30 ms that ending takes are over now and then before a busy machine lets tmux, or this process, run.
    assert len(shown["soon"]) <= len(found["soon"]) // 100
    assert len(shown["at once"]) <= len(found["at once"]) // 10
    assert sum("unconfirmed taken_back" in exit_.states for exit_ in found["soon"]) > 0
