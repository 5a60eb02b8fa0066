"""Run the faults of one seed against a live daemon, then let an independent checker judge what the agents wrote.

The system is that of `tests.daemon.exchange`: a private tmux server, agents with screens like those of real ones, a
link, a relay, a user who sends messages, an agent behind a dialog, and a subscriber to all events. Beside them there
are a gathering of two speakers and a harvester, and a council of two agents and a person, who resumes it when its
daemon is gone. Where a schedule restarts the broker, a second machine with a daemon and an agent of its own takes part.
Where it moves the clock, the daemons have a time of day of their own.

The end of a tmux server ends all of it. A schedule with such a fault therefore runs on several servers, one after the
other, with one state of the daemon. What was on its way when a server ended need not arrive, but it has a final state,
and nobody on the next server gets any of it.
"""

import asyncio
import contextlib
import itertools
import os
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from streamrelay.council.config import parse_config
from streamrelay.daemon.client import DaemonClient
from streamrelay.errors import CommandFailed, DaemonLost, DaemonMissing, StreamrelayError, TargetNotFound, UsageError
from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import CouncilTranscript, Invited, OpenCouncil, SendMessage, StartGathering
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.daemon.clocks import NOTICED, OwnClock
from tests.daemon.exchange import PATIENCE, TALKERS, Exchange, Life
from tests.faults.histories import (
    NOTICE,
    Record,
    Said,
    council_history,
    gathering_history,
    link_history,
    notes_history,
    relay_history,
)
from tests.faults.schedule import FAULTS, Fault
from tests.history_checker import Verdict, check
from tests.service.circles import HARVEST

if TYPE_CHECKING:
    from tests.faults.far import FarNode

LINKED = ("Ann", "Bob")
SPEAKERS, HARVESTER = ("Gil", "Hua"), "Ivy"
COUNCIL, PERSON = ("Kit", "Lou"), "You"
HOST, GUEST, FAR = "Eve", "Fay", "beta"
"""An agent here, the agent on the other machine that it is linked with, and the name of that machine."""
HOUR = 3600
SETTLE = 20.0
"""Seconds to wait for each thing that is still due; the checker names what is missing."""
LAST_WORDS = 60.0
"""Seconds for the last answer of a tenure, more than a daemon is away: what comes later is not due."""
DISK_BYTES = 64 << 20
MAY_END_DAEMON = frozenset({"limit_descriptors", "fill_disk"})
"""Faults after which the daemon may exit by itself; a supervisor starts it again."""


FINAL_STATES = frozenset({"submitted", "turn_started", "answered", "failed", "unconfirmed"})


class FaultyExchange(Exchange):
    """An exchange with a gathering, whose daemon suffers faults of every kind but the end of tmux."""

    def __init__(
        self,
        tmux: PrivateTmux,
        folder: Path,
        state: Path,
        *,
        faults: int,
        gathers: bool,
        clock: OwnClock | None = None,
        far: "FarNode | None" = None,
        former: "FaultyExchange | None" = None,
    ) -> None:
        """Take the exchange on the tmux server before; its verdict is asked for when the daemon runs again.

        Without `gathers` there is no gathering. The daemons have the time of day of `clock`. An agent has a link with
        one on the `far` node.
        """
        environment = None if clock is None else clock.environment
        super().__init__(tmux, folder, deliveries=faults + 4, rounds=2 * faults + 4, environment=environment)
        self._clock = clock
        self._far = far
        self._guest = f"{GUEST}-{folder.name}"
        self.verdict = Verdict()
        self._former = former
        self._members = (*SPEAKERS, HARVESTER) if gathers else ()
        self._council = ""
        self._council_members = COUNCIL if gathers else ()
        self._trying = ""
        """What the council's person entered last; nobody may have accepted it."""
        self._entered: list[str] = []
        """What the council's person entered, and found in the session or saw accepted."""
        self._transcript: list[tuple[str, str]] = []
        self._disk = state
        self._life: Life | None = None
        self._gathering = ""
        self.exits: Counter[str] = Counter()
        """How often the daemon exited by itself, by the fault before."""

    def _start_agent(self, name: str, *options: str) -> None:
        wipes = ["--wipes-history"] if name == LINKED[0] else []
        super()._start_agent(name, *options, *wipes, "--answer", f"{name} says {{number}}")

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        for name in (*self._members, *self._council_members):
            self._start_agent(name)
        for name in (*self._members, *self._council_members):
            await wait_until_async(lambda: read_got(self.folder / name), PATIENCE, name)  # noqa: B023
        if self._far is not None:
            self._start_agent(HOST)
            self._far.start(self._guest)
        return self

    async def begin(self, client: DaemonClient) -> None:
        if self._former is not None:
            await self._former.judge_ended(client)
        await super().begin(client)
        if self._far is not None:
            await self._link_far(client)
        if not self._members:
            return
        members_of_council = "".join(
            f'[[member]]\nname = "{name}"\nvendor = "pane"\nmodel = "{name}"\n' for name in self._council_members
        )
        config = parse_config(members_of_council, "council.toml")
        self._council = (await client.open_council(OpenCouncil(config=config))).council
        members = [Invited(name=name, number=number, session=name) for number, name in enumerate(SPEAKERS, 1)]
        members.append(Invited(name=HARVESTER, number=3, session=HARVESTER, role="harvester"))
        request = StartGathering(
            participants=members,
            structure="1-1-1",
            beats_per_turn=1,
            beat_interval_seconds=0.5,
            last_words_seconds=LAST_WORDS,
        )
        self._gathering = (await client.start_gathering(request)).gathering

    async def _link_far(self, client: DaemonClient) -> None:
        """Link an agent of each machine once the machines know each other, and send the first message."""
        guest = f"{self._guest}@{FAR}"

        async def is_linked() -> bool:
            with contextlib.suppress(StreamrelayError):
                await client.create_link(HOST, guest, LinkPolicy(budget=self.deliveries))
                return True
            return False

        await wait_until_async(is_linked, PATIENCE, f"{HOST} and {guest} to be linked")
        await client.send_message(
            SendMessage(to=guest, text="begin far", caller=HOST, message_id=self._id("begin-far"))
        )

    async def converse(self) -> None:
        """Say one thing after the other in the council, each when all have answered, until it is enough."""
        async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
            while self._council_members and not self.enough:
                with contextlib.suppress(DaemonLost, DaemonMissing, TargetNotFound, UsageError):
                    await self._say_in_council(client)
                await asyncio.sleep(0.02)

    async def _say_in_council(self, client: DaemonClient) -> None:
        """Resume the session if it is not open, and enter the next message when the members have answered the last.

        A member that a fault kept from answering is asked again.
        """
        session = await self._in_council(client)
        if session.council.question:
            await client.enter_council(self._council, "/yes")
        said = {entry.text for entry in session.entries if entry.kind == "person"}
        text = f"topic {len(self._entered) + 1} of {self.folder.name}"
        if text not in said:
            if not await client.rest_council(self._council, SETTLE):
                return
            self._trying = text
            await client.enter_council(self._council, text)
        self._entered.append(text)

    async def _in_council(self, client: DaemonClient) -> CouncilTranscript:
        await client.open_council(OpenCouncil(resume=self._council))
        return await client.council_transcript(self._council)

    async def _end_council(self, client: DaemonClient) -> None:
        """Let the members answer what was entered, and read all of it."""
        if not self._council_members:
            return

        async def has_answered() -> bool:
            session = await self._in_council(client)
            if session.council.question:
                await client.enter_council(self._council, "/yes")
            return await client.rest_council(self._council, SETTLE) and not session.council.question

        with contextlib.suppress(TimeoutError):
            await wait_until_async(has_answered, PATIENCE, "the council to rest")
        entries = (await client.council_transcript(self._council)).entries
        self._transcript = [(entry.author, entry.text) for entry in entries if entry.kind != "notice"]

    def heard_far(self) -> dict[str, list[str]]:
        """Return what each agent of the link between the machines received; empty without the second machine."""
        if self._far is None:
            return {}
        there = [got.text for got in read_got(self._far.log(self._guest)) if got.kind == "message"]
        return {HOST: self.heard(HOST), self._guest: there}

    def _is_far_spent(self) -> bool:
        heard = self.heard_far().values()
        return not heard or sum(not text.startswith(NOTICE) for told in heard for text in told) >= self.deliveries

    async def suffer(self, faults: Sequence[Fault]) -> None:
        """Let every fault strike, one after the other; the last daemon is killed."""
        try:
            may_exit = frozenset({"kill", "kill_early", "delete_socket", "restart_tmux"})
            for fault in faults:
                life = await self._living()
                await asyncio.wait([life.ended], timeout=fault.calm)
                await self._strike(fault, life)
                if life.ended.done():
                    self.exits[fault.kind] += fault.kind in MAY_END_DAEMON
                    assert fault.kind in may_exit | MAY_END_DAEMON, (fault, self.errors[-3000:])
                elif fault.kind in MAY_END_DAEMON:
                    may_exit |= set(FAULTS)  # the daemon may exit a moment later, during the next fault
        finally:
            if self._life is not None:
                await self._kill(self._life)
            if self._clock is not None:
                # Machines whose clocks differ by an hour exchange nothing until one clock is set right.
                self._clock.move(0)

    async def _living(self) -> Life:
        """Return the daemon that runs; start one if none does."""
        if self._life is None or self._life.ended.done():
            self._life = await self._nursery.bear()
            async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
                await self._until_open(self._life, client)
        return self._life

    async def _strike(self, fault: Fault, life: Life) -> None:
        """Let a fault strike a daemon, which a full disk may have ended a moment ago, before this process noticed."""
        match fault.kind:
            case "kill":
                await self._kill(life)
            case "kill_early":
                await self._kill(life)
                self._life = early = await self._nursery.bear()
                await asyncio.wait([early.ended], timeout=fault.lasts)
                await self._kill(early)
            case "pause":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(life.pid, signal.SIGSTOP)
                    try:
                        await asyncio.sleep(fault.lasts)
                    finally:
                        os.kill(life.pid, signal.SIGCONT)
            case "delete_socket":
                self.address.socket.unlink(missing_ok=True)
                await asyncio.wait([life.ended], timeout=fault.lasts)
                # No client reaches this daemon any more: a supervisor replaces it.
                await self._kill(life)
                self._life = None
            case "resize":
                name = LINKED[fault.columns % len(LINKED)]
                self.tmux.run("resize-window", "-t", name, "-x", str(fault.columns), "-y", str(fault.lines))
            case "limit_descriptors":
                with contextlib.suppress(ProcessLookupError), descriptor_limit(life):
                    await asyncio.wait([life.ended], timeout=fault.lasts)
            case "fill_disk":
                with full_disk(self._disk):
                    await asyncio.wait([life.ended], timeout=fault.lasts)
            case "drop_control_client":
                for client in self.tmux.run("list-clients", "-F", "#{client_name}").split()[:1]:
                    with contextlib.suppress(CommandFailed):  # one that only visits sessions leaves by itself
                        self.tmux.run("detach-client", "-t", client)
            case "jump_clock":
                if self._clock is not None:
                    self._clock.move(HOUR if fault.columns % 2 else -HOUR)
                    await asyncio.wait([life.ended], timeout=NOTICED + fault.lasts)
            case "restart_broker":
                if self._far is not None:
                    await self._far.restart_broker(fault.lasts)
            case "restart_tmux":
                os.kill(self.tmux.server_pid, signal.SIGKILL)
                await asyncio.wait_for(asyncio.shield(life.ended), PATIENCE)

    @staticmethod
    async def _kill(life: Life) -> None:
        if not life.ended.done():
            with contextlib.suppress(ProcessLookupError):
                os.kill(life.pid, signal.SIGKILL)
        await life.ended

    async def settle(self) -> None:
        """Let a last daemon bring everything to its end; judge what the agents wrote themselves."""
        self.enough = True
        async with self.daemon() as client:
            await self._end_council(client)
            with contextlib.suppress(TimeoutError):  # the checker says what is missing, and to whom
                await wait_until_async(self.is_spent, SETTLE, "the link to be spent")
                await wait_until_async(self._is_far_spent, SETTLE, "the link between machines to be spent")
                await wait_until_async(self.is_over, SETTLE, "the relay to be over")
                await wait_until_async(lambda: self.all_sent, SETTLE, "the last message to be taken")
                await wait_until_async(lambda: len(self.heard("Cy")) >= self.sent, SETTLE, "Cy to hear everything")
            due = {name: len(self.records(name, "said")) for name in TALKERS}
            with contextlib.suppress(TimeoutError):
                await wait_until_async(lambda: self.is_relayed(due), SETTLE, "the relay to be heard")
            with contextlib.suppress(TimeoutError):
                await wait_until_async(self._is_harvested, LAST_WORDS + PATIENCE, "the harvester to get its task")
                await wait_until_async(lambda: self._is_over(client), PATIENCE, "the gathering to be over")
        self.verdict = check(self.histories(due))

    async def _is_over(self, client: DaemonClient) -> bool:
        return not self._members or (await client.gathering(self._gathering)).closed_at is not None

    def _is_harvested(self) -> bool:
        """Return whether the harvester got its task, by its own log; only the end of the gathering needs the daemon."""
        return not self._members or any(HARVEST.match(message) for message, _ in self.exchanges(HARVESTER))

    async def judge_ended(self, client: DaemonClient) -> None:
        """Judge what the agents wrote before their tmux server ended: nothing is due any more."""
        for name in ("begin", "start", "held", *(f"note-{number}" for number in range(1, self.sent + 1))):
            deliveries = await client.get_delivery(self._id(name))
            assert [delivery.state in FINAL_STATES for delivery in deliveries] == [True], (name, deliveries)
        assert await self._is_over(client)
        self.verdict = check(self.histories(None))

    def histories(self, due: Mapping[str, int] | None) -> list[list[Record]]:
        """Return the history of each channel, from the logs of the agents.

        Of the relay, so many texts of each are `due`; None if nothing is, in no channel.
        """
        said = [Said("Ann", "begin", 0.0)]
        for name in LINKED:
            entries = read_got(self.folder / name)
            said += [Said(name, entry.text, entry.at) for entry in entries if entry.kind == "said"]
        talkers = {name: [text for text, _ in self.records(name, "said")] for name in TALKERS}
        heard = {
            name: [(sender or "", text) for text, sender in self.records(name, "heard") if sender] for name in TALKERS
        }
        is_due = due is not None
        notes = [f"note {number}" for number in range(1, self.sent + 2)]
        return [
            link_history(said, {name: self.heard(name) for name in LINKED}, self.deliveries if is_due else 0),
            relay_history(talkers, heard, due or dict.fromkeys(TALKERS, 0)),
            notes_history("Cy", notes, self.heard("Cy"), self.sent if is_due else 0),
            notes_history("Dee", [], self.heard("Dee"), 0),
            gathering_history(
                {name: self.exchanges(name) for name in self._members},
                [name for name in SPEAKERS if self._members],
                is_over=is_due,
            ),
            council_history(
                PERSON,
                self._entered,
                self._transcript,
                {name: self.exchanges(name) for name in self._council_members},
                is_over=is_due,
                unconfirmed=[self._trying] if self._trying not in (*self._entered, "") else [],
            ),
            *self._far_history(is_due=is_due),
        ]

    def _far_history(self, *, is_due: bool) -> list[list[Record]]:
        heard = self.heard_far()
        if self._far is None:
            return []
        said = [Said(HOST, "begin far", 0.0)]
        for name, log in ((HOST, self.folder / HOST), (self._guest, self._far.log(self._guest))):
            said += [Said(name, entry.text, entry.at) for entry in read_got(log) if entry.kind == "said"]
        return [link_history(said, heard, self.deliveries if is_due else 0, "far")]

    def exchanges(self, name: str) -> list[tuple[str, str]]:
        """Return what an agent was told, each with what it answered; empty if it has not yet."""
        answers = [got.text for got in read_got(self.folder / name) if got.kind == "said"]
        return list(itertools.zip_longest(self.heard(name), answers, fillvalue=""))


@contextlib.contextmanager
def descriptor_limit(life: Life) -> Iterator[None]:
    """Let the daemon open no further descriptor inside the context."""
    soft, hard = resource.prlimit(life.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(life.pid, resource.RLIMIT_NOFILE, (len(list(Path(f"/proc/{life.pid}/fd").iterdir())), hard))
    try:
        yield
    finally:
        if not life.ended.done():
            resource.prlimit(life.pid, resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Fill the file system of a folder inside the context, if it is a small one of its own."""
    ballast = folder / "ballast"
    if os.path.ismount(folder):
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
    try:
        yield
    finally:
        ballast.unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a small tmpfs on a new folder where root may; an ordinary folder elsewhere."""
    folder.mkdir(mode=0o700)
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=700", "none", str(folder)]
    is_mounted = os.geteuid() == 0 and subprocess.run(words, capture_output=True, check=False).returncode == 0
    try:
        yield folder
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def run_campaign(
    tmux: PrivateTmux, folder: Path, state: Path, faults: Sequence[Fault], *, gathers: bool = True
) -> Verdict:
    """Run one schedule and return the verdict; `state` is where the daemon keeps its database."""
    folder.mkdir()
    kinds = {fault.kind for fault in faults}
    exchanges: list[FaultyExchange] = []
    with contextlib.ExitStack() as stack:
        clock = OwnClock.where_possible(folder / "clock") if "jump_clock" in kinds else None
        far = None
        if "restart_broker" in kinds:
            # Importing it takes as long as importing a daemon, and most schedules have one machine.
            from tests.faults.far import far_node

            far = stack.enter_context(far_node(folder.parent))
        for number, part in enumerate(on_each_server(faults)):
            exchange = FaultyExchange(
                tmux,
                folder / f"server-{number}",
                state,
                faults=len(part),
                gathers=gathers,
                clock=clock,
                far=far,
                former=exchanges[-1] if exchanges else None,
            )
            exchanges.append(exchange)
            await play(exchange, part)
    verdicts = [exchange.verdict for exchange in exchanges]
    return Verdict(
        sum(one.said for one in verdicts),
        sum(one.heard for one in verdicts),
        [finding for one in verdicts for finding in one.findings],
    )


async def play(exchange: FaultyExchange, part: Sequence[Fault]) -> None:
    """Run an exchange through faults, and settle it unless they end its tmux server."""
    async with exchange:
        await exchange.connect()
        tasks = [asyncio.ensure_future(duty()) for duty in (exchange.send_messages, exchange.follow, exchange.converse)]
        try:
            await exchange.suffer(part)
            if not ends_tmux(part):
                await exchange.settle()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def on_each_server(faults: Sequence[Fault]) -> list[list[Fault]]:
    """Divide a schedule behind each end of a tmux server; nothing happens on the last one if it ends with that."""
    parts: list[list[Fault]] = [[]]
    for fault in faults:
        parts[-1].append(fault)
        if fault.kind == "restart_tmux":
            parts.append([])
    return parts


def ends_tmux(part: Sequence[Fault]) -> bool:
    """Tell whether the tmux server ends with the last of such faults."""
    return bool(part) and part[-1].kind == "restart_tmux"
