"""No key goes into a dialog, of whatever kind, at whatever moment it comes up.

The line that types compares where the cursor stands, so a dialog that tmux has painted and nobody has looked at yet
gets nothing either. One that a program paints in the very moment in which tmux writes cannot be known of: neither tmux
nor anybody else has seen it, or the program puts it up with the text unread in its terminal. What is eaten so is rare,
comes within `UNSEEN` of the question, and costs at most the one message whose text it was. One whose Enter it was is
left in the composer at worst, where its person finds it.
"""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delivery.machine import CONFIRM
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.writer import PaneWriter
from streamrelay.panes.server import Server
from streamrelay.testing.agent import QUESTIONS, read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 30.0
UNSEEN = 0.25
"""Seconds, on a machine that is busy, until what a program paints has been seen by tmux and by the stream."""
STANDS = 0.5
"""Seconds that a question stands at least: longer than it takes to be recognised."""


class Asking:
    """A scripted agent that is asked to do things by a peer, and asks its person in between."""

    def __init__(self, tmux: PrivateTmux, log: Path, name: str, *options: str) -> None:
        self._tmux = tmux
        self._log = log
        self.options = options
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.05", *options]
        self.pane = tmux.new_session(name, words, columns=90, lines=30)
        self._pid = int(tmux.run("display-message", "-p", "-t", self.pane, "#{pane_pid}"))
        self.reports: list[Progress] = []

    def of(self, kind: str) -> list[str]:
        return [got.text for got in read_got(self._log) if got.kind == kind]

    def eaten_unseen(self) -> list[str]:
        """What a question got that had come up only just before."""
        eaten: list[str] = []
        asked = float("-inf")
        for got in read_got(self._log):
            if got.kind == "dialog":
                asked = got.at
            elif got.kind == "key" and got.at - asked < UNSEEN:
                eaten.append(got.text)
        return eaten

    def expected(self, messages: int) -> list[str]:
        """Every message but those whose text was eaten by a question that nobody could have seen."""
        eaten = "".join(self.eaten_unseen())
        return [text for text in map("message {}".format, range(messages)) if f"\x1b[200~{text}\x1b[201~" not in eaten]

    async def ready(self) -> None:
        await wait_until_async(lambda: self.of("ready"), PATIENCE)

    async def deliver(self, server: Server, *, messages: int, questions: int, chance: random.Random) -> None:
        """Deliver without a pause, and have a question put up at random moments."""
        writer = PaneWriter(
            server,
            server.pipeline(self.pane),
            program=server.pipeline(self.pane).info.command,
            report=self.reports.append,
        )
        running = asyncio.ensure_future(writer.run())
        asking = asyncio.ensure_future(self._ask(questions, chance))
        try:
            for number in range(messages):
                await writer.put(Message(f"m{number}", f"message {number}"))
                await asyncio.sleep(chance.uniform(0.0, 0.3))
            async with asyncio.timeout(PATIENCE + 4.0 * questions):
                await asking
                await self._submit_what_was_left(server, writer)
                await writer.finish()
                await wait_until_async(lambda: len(self.of("message")) >= len(self.expected(messages)), PATIENCE)
        except TimeoutError as error:
            told = [(report.message_id, report.state, report.reason) for report in self.reports[-12:]]
            pane_state = server.pipeline(self.pane).pane_state
            raise AssertionError(f"{self.options}: {read_got(self._log)[-6:]}, {told}, {pane_state}") from error
        finally:
            for task in (running, asking):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(running, asking)

    async def _submit_what_was_left(self, server: Server, writer: PaneWriter) -> None:
        """Press the Enter that a question has eaten, unless the writer has done it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * CONFIRM):
                await writer.finish()
        if "\r" in self.eaten_unseen() and server.pipeline(self.pane).pane_state.composer.typed.startswith("message"):
            self._tmux.run("send-keys", "-t", self.pane, "Enter")

    async def _ask(self, questions: int, chance: random.Random) -> None:
        for number in range(1, questions + 1):
            await asyncio.sleep(chance.uniform(0.0, 0.6))
            os.kill(self._pid, signal.SIGUSR1)
            await wait_until_async(lambda number=number: len(self.of("dialog")) >= number, PATIENCE)
            await asyncio.sleep(STANDS + chance.uniform(0.0, 0.3))
            os.kill(self._pid, signal.SIGUSR2)
            await asyncio.sleep(0.05)


async def ask_at_random_moments(tmux: PrivateTmux, folder: Path, *, questions: int, seed: int) -> list[Asking]:
    tmux.new_session("keeper", ["sleep", "1000"])
    agents = [
        Asking(tmux, folder / f"got{number}", f"agent{number}", "--asks", kind, *ways)
        for number, (kind, ways) in enumerate(
            zip(QUESTIONS, ((), ("--witness", "furniture"), ("--alternate",)) * 2, strict=True)
        )
    ]
    for agent in agents:
        await agent.ready()
    async with (
        streamrelay.connect(tmux=tmux.binary, socket_path=tmux.socket_path, profiles=()) as server,
        server.watch(*(agent.pane for agent in agents)),
    ):
        await asyncio.gather(
            *(
                agent.deliver(server, messages=questions, questions=questions, chance=random.Random(seed + number))
                for number, agent in enumerate(agents)
            )
        )
    return agents


def judge(agents: list[Asking], questions: int) -> None:
    for agent in agents:
        assert agent.of("key") == agent.eaten_unseen()
        assert agent.of("message") == agent.expected(questions)
        assert len(agent.of("dialog")) == questions
    assert sum(len(agent.eaten_unseen()) for agent in agents) <= 1 + len(agents) * questions / 20
    assert any(report.reason == "needs_human" for agent in agents for report in agent.reports)


@pytest.mark.requirement("DLV-04")
async def test_no_key_goes_into_a_dialog_of_any_kind(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    judge(await ask_at_random_moments(private_tmux, tmp_path, questions=3, seed=1), 3)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("DLV-04")
async def test_the_same_hundreds_of_times(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    judge(await ask_at_random_moments(private_tmux, tmp_path, questions=50, seed=100), 50)
