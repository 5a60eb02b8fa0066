"""The contract of every participant: over a kill, each message arrives once and each text is journaled once.

A participant is a terminal agent in a pane, an agent that speaks ACP, or a session of another machine. The same
conversation code serves all of them, so they pass the same tests.
"""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

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
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until_async
from tests.federation import brokers
from tests.federation.homes import Home, daemons
from tests.mcp.staging import Household
from tests.service.conftest import PATIENCE

WORKS = 1.5
"""Seconds that each participant takes for an answer."""


class Deployment(Protocol):
    """The machine of a participant, and the daemon that sends it messages."""

    @property
    def tmux(self) -> PrivateTmux:
        """The tmux server of the participant."""

    def begin(self) -> None:
        """Start the daemons."""

    async def kill(self) -> None:
        """End the daemons as `kill -9` does."""

    def there(self) -> DaemonClient:
        """A client of the participant's own daemon."""

    def here(self) -> DaemonClient:
        """A client of the sender's daemon."""

    def address(self, session: Session) -> str:
        """What the sender calls the participant."""


class SameMachine:
    """One daemon for both."""

    def __init__(self, household: Household) -> None:
        self._household = household

    @property
    def tmux(self) -> PrivateTmux:
        return self._household.tmux

    def begin(self) -> None:
        command = self._household.command
        begin = [*command[:3], "daemon", "start", "-q", *command[4:]]
        subprocess.run(begin, check=True, env=self._household.environment(""))

    async def kill(self) -> None:
        pid = running_pid(self._household.address)
        os.kill(pid, signal.SIGKILL)
        await wait_until_async(lambda: not is_alive(pid), PATIENCE)

    def there(self) -> DaemonClient:
        return DaemonClient(self._household.address.socket)

    here = there

    def address(self, session: Session) -> str:
        return session.session


class OtherMachine:
    """The participant is on beta, and alpha sends."""

    def __init__(self, alpha: Home, beta: Home) -> None:
        self._alpha, self._beta = alpha, beta

    @property
    def tmux(self) -> PrivateTmux:
        return self._beta.tmux

    def begin(self) -> None:
        for home in (self._alpha, self._beta):
            home.begin()

    async def kill(self) -> None:
        for home in (self._alpha, self._beta):
            home.kill()

    def there(self) -> DaemonClient:
        return self._beta.client()

    def here(self) -> DaemonClient:
        return self._alpha.client()

    def address(self, session: Session) -> str:
        return f"{session.title}@{self._beta.node}"


class Participant:
    """One kind of participant: where and how it starts, and the messages that it received by its own log."""

    def __init__(self, kind: str, folder: Path, deployment: Deployment) -> None:
        self.kind = kind
        self.deployment = deployment
        self.folder = folder
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

    async def prompted(self) -> Session:
        """Start it in a session that is watched, send it two messages, and return the session."""
        agent, *arguments = self.words
        async with self.deployment.there() as service:
            started = await service.start_session(
                StartSession(agent=agent, arguments=arguments, title="it", cwd=str(self.folder), patience=PATIENCE)
            )
            await service.watch(started.session, watched=True)
        async with self.deployment.here() as service:
            address = self.deployment.address(started)
            for number in (1, 2):
                await service.send_message(SendMessage(to=address, text=f"text {number}", message_id=f"m{number}"))
        return started


@pytest.fixture(params=["pane", "acp", "remote"])
def participant(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Participant]:
    if request.param != "remote":
        household = request.getfixturevalue("household")
        yield Participant(request.param, tmp_path, SameMachine(household))
        return
    if not brokers.installed():
        pytest.skip("no broker is installed here that two machines could use")
    with PrivateRedis() as redis, daemons(tmp_path, redis) as (alpha, beta):
        yield Participant(request.param, tmp_path, OtherMachine(alpha, beta))


async def state_of(service: Service, message_id: str) -> str:
    found = await service.get_delivery(message_id)
    return found[0].state if found else ""


@pytest.mark.slow
@pytest.mark.requirement("BRG-02")
async def test_a_participant_gets_each_message_once_over_a_daemon_that_is_killed(participant):
    deployment = participant.deployment
    deployment.begin()
    session = await participant.prompted()
    await wait_until_async(lambda: participant.got == ["text 1"], PATIENCE, "the first message to arrive")
    await deployment.kill()
    deployment.begin()
    async with deployment.here() as service, deployment.there() as its_own:

        async def is_answered() -> bool:
            return await state_of(service, "m2") == "answered"

        await wait_until_async(is_answered, PATIENCE, "the second message to be answered")
        assert participant.got == ["text 1", "text 2"]
        events = await its_own.read_since(0, session.session)
        answers = [event.text for event in events if isinstance(event, Text) and event.origin == "program"]
        assert answers == ["answer of it", "answer of it"]
        receipts = [event for event in await service.read_since(0) if isinstance(event, Receipt)]
        for message_id in ("m1", "m2"):
            # A queued message gets a new receipt when its reason changes; every other state has one receipt.
            states = [event.state for event in receipts if event.message_id == message_id and event.state != "queued"]
            assert states
            assert len(states) == len(set(states))
        assert await state_of(service, "m1") in {"answered", "submitted", "turn_started", "unconfirmed"}


@pytest.mark.slow
@pytest.mark.requirement("BRG-02", "DLV-01a")
async def test_the_message_of_a_participant_that_is_killed_is_unconfirmed(participant):
    deployment = participant.deployment
    deployment.begin()
    session = await participant.prompted()
    async with deployment.here() as service:

        async def has_begun() -> bool:
            return await state_of(service, "m1") == "turn_started"

        await wait_until_async(has_begun, PATIENCE, "the first message's turn")
        first = int(deployment.tmux.run("display-message", "-p", "-t", session.pane, "#{pane_pid}"))
        os.kill(foreground_processes(first)[-1].pid, signal.SIGKILL)

        async def are_over() -> bool:
            return all([await state_of(service, each) in FINAL for each in ("m1", "m2")])

        await wait_until_async(are_over, PATIENCE, "the end of both messages")
        assert await state_of(service, "m1") == "unconfirmed"
        # A participant that takes messages while it works may have received the second one, too.
        assert await state_of(service, "m2") == "failed" or participant.kind != "acp"
        assert participant.got in (["text 1"], ["text 1", "text 2"])
        assert await state_of(service, "m2") == "unconfirmed" or participant.got == ["text 1"]
