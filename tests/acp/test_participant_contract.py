"""The contract of a participant, whatever it is: each message is got once, each text is journaled once, over any end.

A participant is a terminal agent in a pane, or an agent that speaks ACP. The conversation code knows no difference, so
the same tests hold for both.
"""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamrelay.agents.witnesses.process import foreground_processes
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import running_pid
from streamrelay.delivery.message import FINAL
from streamrelay.events import Receipt, Text
from streamrelay.service.api import SendMessage
from streamrelay.service.interface import Service
from streamrelay.sessions.model import Session, StartSession
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.staging import Household
from tests.service.conftest import PATIENCE

WORKS = 1.5
"""Seconds that each participant takes for an answer."""


class Participant:
    """One kind of participant: how it is started, and what it got, by its own log."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.log = folder / "participant.log"

    @property
    def words(self) -> Sequence[str]:
        """The words that start it."""
        if self.kind == "acp":
            agent = [sys.executable, str(Path(__file__).with_name("scripted_agent.py")), str(self.log), str(WORKS)]
            return [f"acp:{shlex.join(agent)}"]
        options = ["--works", str(WORKS), "--answer", "answer of it"]
        return [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self.log), *options]

    @property
    def got(self) -> list[str]:
        """The messages that it got."""
        if self.kind == "acp":
            return self.log.read_text().splitlines() if self.log.exists() else []
        return [entry.text for entry in read_got(self.log) if entry.kind == "message"]


@pytest.fixture(params=["pane", "acp"])
def participant(request, tmp_path):
    return Participant(request.param, tmp_path)


def start_daemon(household: Household) -> None:
    begin = [*household.command[:3], "daemon", "start", "-q", *household.command[4:]]
    subprocess.run(begin, check=True, env=household.environment(""))


async def state_of(service: Service, message_id: str) -> str:
    found = await service.get_delivery(message_id)
    return found[0].state if found else ""


async def prompted(service: Service, words: Sequence[str], folder: Path) -> Session:
    """Start a participant in a session that is watched, send it two messages, and return the session."""
    agent, *arguments = words
    started = await service.start_session(
        StartSession(agent=agent, arguments=arguments, title="it", cwd=str(folder), patience=PATIENCE)
    )
    await service.watch(started.session, watched=True)
    for number in (1, 2):
        await service.send_message(SendMessage(to=started.session, text=f"text {number}", message_id=f"m{number}"))
    return started


@pytest.mark.slow
@pytest.mark.requirement("BRG-02")
async def test_a_participant_gets_each_message_once_over_a_daemon_that_is_killed(household, participant, tmp_path):
    start_daemon(household)
    async with DaemonClient(household.address.socket) as service:
        session = await prompted(service, participant.words, tmp_path)
        await wait_until_async(lambda: participant.got == ["text 1"], PATIENCE, "the first message to arrive")
        pid = running_pid(household.address)
        os.kill(pid, signal.SIGKILL)
        await wait_until_async(lambda: not is_alive(pid), PATIENCE)
    start_daemon(household)
    async with DaemonClient(household.address.socket) as service:

        async def is_answered() -> bool:
            return await state_of(service, "m2") == "answered"

        await wait_until_async(is_answered, PATIENCE, "the second message to be answered")
        assert participant.got == ["text 1", "text 2"]
        events = await service.read_since(0, session.session)
        answers = [event.text for event in events if isinstance(event, Text) and event.origin == "program"]
        assert answers == ["answer of it", "answer of it"]
        for message_id in ("m1", "m2"):
            states = [event.state for event in events if isinstance(event, Receipt) and event.message_id == message_id]
            # What a message waits for is told anew; each other state is told once.
            told = [state for state in states if state != "queued"]
            assert len(told) == len(set(told))
        assert await state_of(service, "m1") in {"answered", "submitted", "turn_started", "unconfirmed"}


@pytest.mark.slow
@pytest.mark.requirement("BRG-02", "DLV-01a")
async def test_the_message_of_a_participant_that_is_killed_is_unconfirmed(household, participant, tmp_path):
    start_daemon(household)
    async with DaemonClient(household.address.socket) as service:
        session = await prompted(service, participant.words, tmp_path)

        async def has_begun() -> bool:
            return await state_of(service, "m1") == "turn_started"

        await wait_until_async(has_begun, PATIENCE, "the first message's turn")
        first = int(household.tmux.run("display-message", "-p", "-t", session.pane, "#{pane_pid}"))
        os.kill(foreground_processes(first)[-1].pid, signal.SIGKILL)

        async def are_over() -> bool:
            return all([await state_of(service, each) in FINAL for each in ("m1", "m2")])

        await wait_until_async(are_over, PATIENCE, "the end of both messages")
        assert await state_of(service, "m1") == "unconfirmed"
        # A participant that takes messages while it works may have got the second one, too.
        assert await state_of(service, "m2") == "failed" or participant.kind == "pane"
        assert participant.got in (["text 1"], ["text 1", "text 2"])
        assert await state_of(service, "m2") == "unconfirmed" or participant.got == ["text 1"]
