"""Run the faults of one seed against a live daemon, then let an independent checker judge what the agents wrote.

The system is that of `tests.daemon.exchange`: a private tmux server, agents with screens like those of real ones, a
link, a relay, a user who sends messages, an agent behind a dialog, and a subscriber to all events.
"""

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamrelay.daemon.client import DaemonClient
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.daemon.exchange import PATIENCE, TALKERS, Exchange, Life
from tests.faults.histories import Record, Said, link_history, notes_history, relay_history
from tests.faults.schedule import FAULTS, Fault
from tests.history_checker import Verdict, check

LINKED = ("Ann", "Bob")
SETTLE = 20.0
"""Seconds to wait for each thing that is still due; the checker names what is missing."""
DISK_BYTES = 64 << 20
MAY_END_DAEMON = frozenset({"limit_descriptors", "fill_disk"})
"""Faults after which the daemon may exit by itself; a supervisor starts it again."""


class FaultyExchange(Exchange):
    """An exchange whose daemon suffers faults of every kind."""

    def __init__(self, tmux: PrivateTmux, folder: Path, state: Path, *, faults: int) -> None:
        super().__init__(tmux, folder, deliveries=faults + 4, rounds=2 * faults + 4)
        self._disk = state
        self._life: Life | None = None
        self.exits: Counter[str] = Counter()
        """How often the daemon exited by itself, by the fault before."""

    def _start_agent(self, name: str, *options: str) -> None:
        wipes = ["--wipes-history"] if name == LINKED[0] else []
        super()._start_agent(name, *options, *wipes, "--answer", f"{name} says {{number}}")

    async def suffer(self, faults: Sequence[Fault]) -> None:
        """Let every fault strike, one after the other; the last daemon is killed."""
        try:
            may_exit = frozenset({"kill", "kill_early", "delete_socket"})
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

    async def _living(self) -> Life:
        """Return the daemon that runs; start one if none does."""
        if self._life is None or self._life.ended.done():
            self._life = await self._nursery.bear()
            async with DaemonClient(self.address.socket, timeout=PATIENCE) as client:
                await self._until_open(self._life, client)
        return self._life

    async def _strike(self, fault: Fault, life: Life) -> None:
        match fault.kind:
            case "kill":
                await self._kill(life)
            case "kill_early":
                await self._kill(life)
                self._life = early = await self._nursery.bear()
                await asyncio.wait([early.ended], timeout=fault.lasts)
                await self._kill(early)
            case "pause":
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
                with descriptor_limit(life):
                    await asyncio.wait([life.ended], timeout=fault.lasts)
            case "fill_disk":
                with full_disk(self._disk):
                    await asyncio.wait([life.ended], timeout=fault.lasts)
            case "drop_control_client":
                for client in self.tmux.run("list-clients", "-F", "#{client_name}").split()[:1]:
                    self.tmux.run("detach-client", "-t", client)

    @staticmethod
    async def _kill(life: Life) -> None:
        if not life.ended.done():
            os.kill(life.pid, signal.SIGKILL)
        await life.ended

    async def settle(self) -> Verdict:
        """Let a last daemon bring everything to its end; judge what the agents wrote themselves."""
        self.enough = True
        async with self.daemon():
            with contextlib.suppress(TimeoutError):  # the checker says what is missing, and to whom
                await wait_until_async(self.is_spent, SETTLE, "the link to be spent")
                await wait_until_async(self.is_over, SETTLE, "the relay to be over")
                await wait_until_async(lambda: self.all_sent, SETTLE, "the last message to be taken")
                await wait_until_async(lambda: len(self.heard("Cy")) >= self.sent, SETTLE, "Cy to hear everything")
            due = {name: len(self.records(name, "said")) for name in TALKERS}
            with contextlib.suppress(TimeoutError):
                await wait_until_async(lambda: self.is_relayed(due), SETTLE, "the relay to be heard")
        return check(self.histories(due))

    def histories(self, due: dict[str, int]) -> list[list[Record]]:
        """Return the history of each channel, from the logs of the agents."""
        said = [Said("Ann", "begin", 0.0)]
        for name in LINKED:
            entries = read_got(self.folder / name)
            said += [Said(name, entry.text, entry.at) for entry in entries if entry.kind == "said"]
        talkers = {name: [text for text, _ in self.records(name, "said")] for name in TALKERS}
        heard = {
            name: [(sender or "", text) for text, sender in self.records(name, "heard") if sender] for name in TALKERS
        }
        return [
            link_history(said, {name: self.heard(name) for name in LINKED}, self.deliveries),
            relay_history(talkers, heard, due),
            notes_history("Cy", [f"note {number}" for number in range(1, self.sent + 1)], self.heard("Cy")),
            notes_history("Dee", [], self.heard("Dee")),
        ]


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


async def run_campaign(tmux: PrivateTmux, folder: Path, state: Path, faults: Sequence[Fault]) -> Verdict:
    """Run one schedule and return the verdict; `state` is where the daemon keeps its database."""
    async with FaultyExchange(tmux, folder, state, faults=len(faults)) as exchange:
        await exchange.connect()
        tasks = [asyncio.ensure_future(duty()) for duty in (exchange.send_messages, exchange.follow)]
        try:
            await exchange.suffer(faults)
            return await exchange.settle()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
