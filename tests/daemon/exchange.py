"""All that one daemon does at a time, on a tmux server of its own: a link, a relay, messages, somebody who follows.

What each program really got is in its own log, so what is compared is the truth and nobody's account of it.
"""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Self

from streamrelay.control import Tmux
from streamrelay.daemon.address import address_of
from streamrelay.daemon.client import DaemonClient
from streamrelay.errors import DaemonLost, DaemonMissing
from streamrelay.events import AnyEvent, Event
from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.testing.agent import read_got
from streamrelay.testing.participant import read_log
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 60.0
AGENTS, TALKERS = ("Ann", "Bob", "Cy", "Dee"), ("Una", "Vic", "Wim")
AHEAD = 3
NURSERY = str(Path(__file__).with_name("nursery.py"))
"""Messages to Cy that may be on their way at a time."""


class Life(NamedTuple):
    """A daemon, and how it ended."""

    pid: int
    ended: asyncio.Future[int]


class Nursery:
    """Bears daemons, one at a time; an async context manager. See nursery.py."""

    def __init__(self, tmux: PrivateTmux, log: Path, environment: Mapping[str, str] | None = None) -> None:
        """`environment` is added to that of this process for the daemons."""
        self._environment = os.environ | dict(environment or {})
        self._words = [str(log), "daemon", "-S", tmux.socket_path, "--tmux", tmux.binary]
        self._process: asyncio.subprocess.Process

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            NURSERY,
            *self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()

    async def bear(self) -> Life:
        """Start a daemon."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        into.write(b"\n")
        pid = int(await asyncio.wait_for(out.readline(), PATIENCE))

        async def ended() -> int:
            return int(await out.readline() or -1)

        return Life(pid, asyncio.ensure_future(ended()))


class Exchange:
    """The programs, the requests, and daemons that come and go."""

    def __init__(
        self,
        tmux: PrivateTmux,
        folder: Path,
        *,
        deliveries: int,
        rounds: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.tmux = tmux
        self.folder = folder
        self.address = address_of(Tmux(socket_path=tmux.socket_path))
        self.deliveries, self.rounds = deliveries, rounds
        self._nursery = Nursery(tmux, folder / "daemon.log", environment)
        self.followed: list[AnyEvent] = []
        self.sent = 0
        self.enough = self.all_sent = False

    async def __aenter__(self) -> Self:
        """Start the programs."""
        self.folder.mkdir()
        await self._nursery.__aenter__()
        for name in AGENTS:
            self._start_agent(name, *(["--dialog"] if name == "Dee" else []))
        for name in TALKERS:
            words = [sys.executable, "-m", "streamrelay.testing.participant", "--log", str(self.folder / name)]
            words += ["--name", name, "--stay", "--rounds", str(self.rounds), "--paint-delay", "0.2"]
            words += ["--first"] if name == TALKERS[0] else []
            self.tmux.new_session(name, words, columns=100, lines=40)
        for name in AGENTS:
            log = self.folder / name
            await wait_until_async(lambda: "ready" in {got.kind for got in read_got(log)}, PATIENCE, name)  # noqa: B023

        return self

    async def __aexit__(self, *failed: object) -> None:
        await self._nursery.__aexit__(*failed)

    def _start_agent(self, name: str, *options: str) -> None:
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(self.folder / name), "--works", "0.1"]
        self.tmux.new_session(name, [*words, *options], columns=100, lines=40)

    async def connect(self) -> None:
        """Let a first daemon begin everything."""
        async with self.daemon() as client:
            await self.begin(client)

    async def begin(self, client: DaemonClient) -> None:
        """Link two, relay three, give both something to begin with, and hold a message to Dee.

        Nobody answers what Dee asks.
        """
        await client.create_link("Ann", "Bob", LinkPolicy(budget=self.deliveries))
        await client.create_relay(CreateRelay(participants=[RelayParticipant(session=name) for name in TALKERS]))
        await client.send_message(SendMessage(to="Bob", text="begin", caller="Ann", message_id=self._id("begin")))
        await client.send_message(SendMessage(to=TALKERS[0], text="start", message_id=self._id("start")))
        await client.send_message(SendMessage(to="Dee", text="never", message_id=self._id("held")))

    def _id(self, name: str) -> str:
        return f"{self.folder.name}-{name}"

    # Daemons

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[DaemonClient]:
        """A daemon that is ended as a supervisor ends it."""
        life = await self._nursery.bear()
        try:
            async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
                await self._until_open(life, client)
                yield client
        finally:
            if not life.ended.done():
                os.kill(life.pid, signal.SIGTERM)
            await asyncio.wait_for(life.ended, PATIENCE)
        assert life.ended.result() == 0, self.errors

    async def live_and_die(self, chance: random.Random, *, with_tmux: bool = False) -> None:
        """Have a daemon live, and kill it, at any moment, mostly some time after it has opened; and tmux if so asked.

        Which of the two dies first is left to chance, too.
        """
        life = await self._nursery.bear()
        patience = chance.uniform(0.0, 1.0)
        if chance.random() < 0.7:
            async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
                await self._until_open(life, client)
        await asyncio.wait([life.ended], timeout=patience)
        assert not life.ended.done(), self.errors
        dying = [life.pid, *([self.tmux.server_pid] if with_tmux else [])]
        for pid in chance.sample(dying, len(dying)):
            os.kill(pid, signal.SIGKILL)
        assert await life.ended == -signal.SIGKILL

    async def _until_open(self, life: Life, client: DaemonClient) -> None:
        async def is_open() -> bool:
            assert not life.ended.done(), self.errors
            return await client.is_healthy()

        await wait_until_async(is_open, PATIENCE, "the daemon to open")

    @property
    def errors(self) -> str:
        return (self.folder / "daemon.log").read_text()

    # Who goes on asking whatever becomes of the daemon

    async def send_messages(self) -> None:
        """Send Cy one message after the other, each by its id until somebody has taken it, until it is enough."""
        async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
            while not self.enough:
                number = self.sent + 1
                request = SendMessage(to="Cy", text=f"note {number}", message_id=self._id(f"note-{number}"))
                while self.sent < number:
                    try:
                        delivery = (await client.send_message(request)).delivery
                    except (DaemonLost, DaemonMissing):
                        await asyncio.sleep(0.02)
                        continue
                    if delivery.reason == "pane_gone":
                        # Cy's tmux server has just ended: the message is told to have failed, and is not stored.
                        return
                    self.sent = number
                while not self.enough and len(self.heard("Cy")) < number - AHEAD:
                    await asyncio.sleep(0.02)
        self.all_sent = True

    async def follow(self) -> None:
        """Hear every event, from the first; from where one was left when there is a daemon again."""
        async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
            while True:
                with contextlib.suppress(DaemonLost, DaemonMissing):
                    async for event in client.events(self.followed[-1].seq if self.followed else 0):
                        self.followed.append(event)
                await asyncio.sleep(0.02)

    # What came of it

    def heard(self, agent: str) -> list[str]:
        return [got.text for got in read_got(self.folder / agent) if got.kind == "message"]

    def is_spent(self) -> bool:
        notices = [text for name in ("Ann", "Bob") for text in self.heard(name) if text.startswith("[streamrelay]")]
        return len(notices) == 2

    def is_over(self) -> bool:
        """Whether the relay has gone on for as long as it was to."""
        return any(len(self.records(name, "said")) >= self.rounds for name in TALKERS)

    def is_relayed(self, said: Mapping[str, int]) -> bool:
        """Whether everybody has heard so many words of each of the others."""
        heard = {name: self.records(name, "heard") for name in TALKERS}
        return all(
            sum(sender == speaker for _, sender in heard[listener]) >= said[speaker]
            for speaker in TALKERS
            for listener in TALKERS
            if speaker != listener
        )

    def records(self, name: str, kind: str) -> list[tuple[str, str | None]]:
        return [(record.text, record.sender) for record in read_log(self.folder / name) if record.kind == kind]

    async def check(self) -> None:
        """Let a last daemon bring everything to its end, and compare."""
        self.enough = True
        async with self.daemon() as client:
            await wait_until_async(self.is_spent, PATIENCE, "the link to be spent")
            await wait_until_async(self.is_over, PATIENCE, "the relay to be over")
            await wait_until_async(lambda: self.all_sent, PATIENCE, "the last message to be taken")
            await wait_until_async(lambda: len(self.heard("Cy")) >= self.sent, PATIENCE, "Cy to hear everything")
            relayed = {name: len(self.records(name, "said")) for name in TALKERS}
            await wait_until_async(lambda: self.is_relayed(relayed), PATIENCE, "the relay to be heard")
            (link,) = await client.links()
            assert (link.state, link.deliveries) == ("spent", self.deliveries)
            (relay,) = await client.relays()
            assert [member.gone for member in relay.members] == [False] * len(TALKERS)
            (held,) = await client.get_delivery(self._id("held"))
            assert (held.state, self.heard("Dee")) == ("queued", [])
            journal = await self._journal(client)
            await wait_until_async(lambda: len(self.followed) >= len(journal), PATIENCE, "the follower to hear it")
        heard, sent = self.heard("Cy"), [f"note {number}" for number in range(1, self.sent + 1)]
        assert heard == sent, (
            len(heard),
            len(sent),
            [pair for pair in zip(heard, sent, strict=False) if len({*pair}) > 1][:3],
        )
        self._check_link()
        for speaker in TALKERS:
            spoken = [text for text, _ in self.records(speaker, "said")]
            for listener in TALKERS:
                heard = [text for text, sender in self.records(listener, "heard") if sender == speaker]
                # Who has not said all yet may have been on it when the daemon was ended.
                least = 0 if speaker == listener else relayed[speaker]
                assert heard == (spoken[: len(heard)] if least else []), (speaker, listener, heard, spoken)
                assert len(heard) >= least, (speaker, listener, heard, spoken)
        assert [event.seq for event in journal] == [*range(1, len(journal) + 1)]
        assert self.followed[: len(journal)] == journal

    def _check_link(self) -> None:
        heard = {
            name: [text for text in self.heard(name) if not text.startswith("[streamrelay]")] for name in ("Ann", "Bob")
        }
        said = {name: [f"[From {name}] answer {number}" for number in range(1, self.deliveries + 1)] for name in heard}
        assert heard["Ann"] == said["Bob"][: len(heard["Ann"])]
        assert heard["Bob"] == ["[From Ann] begin", *said["Ann"]][: len(heard["Bob"])]
        assert len(heard["Ann"]) + len(heard["Bob"]) == self.deliveries

    @staticmethod
    async def _journal(client: DaemonClient) -> list[Event]:
        journal: list[Event] = []
        while more := await client.read_since(journal[-1].seq if journal else 0):
            journal += more
        return journal

    async def check_nothing_is_sent_again(self) -> None:
        """Have a daemon on another tmux server, with other programs in panes of the same numbers and names.

        Whatever was accepted has a last word, and nobody here gets any of it.
        """
        after = Exchange(self.tmux, self.folder / "after", deliveries=0, rounds=0)
        async with after, after.daemon() as client:
            assert (await client.links(), await client.relays()) == ([], [])
            numbers = range(1, self.sent + 1)
            for message_id in map(self._id, ("held", *(f"note-{number}" for number in numbers))):
                (delivery,) = await client.get_delivery(message_id)
                assert delivery.state in {"submitted", "turn_started", "answered", "unconfirmed"}, delivery
            (held,) = await client.get_delivery(self._id("held"))
            assert (held.state, held.reason) == ("unconfirmed", "server_lost")
            for name in AGENTS[:-1]:
                await client.send_message(SendMessage(to=name, text="new"))
                await wait_until_async(lambda: after.heard(name), PATIENCE, f"{name} to hear")  # noqa: B023
        assert [after.heard(name) for name in AGENTS] == [["new"], ["new"], ["new"], []]
        assert [after.records(name, "heard") for name in TALKERS] == [[]] * len(TALKERS)
