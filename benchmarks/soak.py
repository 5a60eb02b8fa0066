"""What grows in a daemon that works for long: memory, descriptors, threads, tasks, and the journal for each event.

A private tmux server and a real daemon under a load that real use spreads over a day: two linked agents answer each
other without a pause, a third gets messages, sessions are started and ended, gatherings are held one after the other,
and followers come and go. Once a second the daemon's process and the tmux server's are sampled, from outside. What
counts is the last third of the time against the second: it must not grow. The journal grows with its events (nothing
is old enough to be pruned), so its size is divided by them. Linux only.

    python -m benchmarks.soak                      # ten minutes
    python -m benchmarks.soak --seconds 28800      # eight hours
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec

from benchmarks import measuring
from benchmarks.measuring import ROOT, Report, Table, progress
from benchmarks.plotting import lines
from streamrelay.control import Tmux
from streamrelay.daemon.address import DaemonAddress, address_of
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import running_pid
from streamrelay.errors import StreamrelayError
from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import Invited, SendMessage, StartGathering
from streamrelay.sessions.model import StartSession
from streamrelay.testing.agent import PROFILE
from streamrelay.testing.tmux import PrivateTmux, resident
from streamrelay.testing.waiting import wait_until

LINKED, READER, CIRCLE = ("Ann", "Bob"), "Cid", ("Sage", "Rex", "Ada")
AGENT = (sys.executable, "-m", "streamrelay.testing.agent", "--works", "0.2", "--log")
_TASKS = re.compile(r"^streamrelay_tasks (\S+)$", re.MULTILINE)
_SEQ = re.compile(r"^streamrelay_seq_total (\S+)$", re.MULTILINE)
_STARTING = 60.0
_MEGA = 1 << 20


class Sampled(msgspec.Struct, frozen=True):
    """The state at one moment: bytes and counts."""

    seconds: float
    memory: int
    descriptors: int
    threads: int
    tasks: int
    events: int
    stored: int
    """Bytes in the folder of the daemon's state."""
    server_memory: int
    server_descriptors: int


class Figure(msgspec.Struct, frozen=True):
    """One quantity: its highest value in each third of the time."""

    name: str
    thirds: tuple[float, float, float]

    @property
    def growth(self) -> float:
        """How many times the highest value of the second third the last third has."""
        return self.thirds[2] / self.thirds[1] if self.thirds[1] else 1.0


class Done(msgspec.Struct):
    """How much work there was."""

    messages: int = 0
    sessions: int = 0
    gatherings: int = 0
    followers: int = 0
    errors: int = 0


class Stage(NamedTuple):
    """The tmux server, the folder and the address of the daemon of a run."""

    tmux: PrivateTmux
    folder: Path
    address: DaemonAddress


@contextlib.contextmanager
def staged() -> Iterator[Stage]:
    """Start a tmux server with agents, and a daemon with folders of its own."""
    with PrivateTmux() as tmux, tempfile.TemporaryDirectory(prefix="streamrelay-") as folder:
        home = Path(folder)
        variables = {f"XDG_{name}": str(home / name) for name in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME")}
        (home / "RUNTIME_DIR").mkdir(mode=0o700)
        profiles = home / "CONFIG_HOME" / "streamrelay" / "agents.d"
        profiles.mkdir(parents=True)
        (profiles / "sprite.toml").write_text(PROFILE)
        former = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        daemon = (sys.executable, "-m", "streamrelay_cli", "daemon")
        server = ("-S", tmux.socket_path, "--tmux", tmux.binary)
        try:
            for name in (*LINKED, READER, *CIRCLE):
                tmux.new_session(name, [*AGENT, str(home / name)], columns=100, lines=40)
            subprocess.run([*daemon, "start", "-q", *server], check=True, cwd=ROOT)
            try:
                yield Stage(tmux, home, address_of(Tmux(tmux.binary, socket_path=tmux.socket_path)))
            finally:
                subprocess.run([*daemon, "stop", "-q", *server], check=False, cwd=ROOT)
        finally:
            for name, value in former.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


async def work(stage: Stage, seconds: float, done: Done) -> list[Sampled]:
    """Load the daemon for so long, and return the samples."""
    async with DaemonClient(stage.address.socket) as client:
        await client.create_link(*LINKED, LinkPolicy(budget=0, hops=0, acknowledgements=0))
        await client.send_message(SendMessage(to=LINKED[0], text="Begin."))
        loads = [
            asyncio.ensure_future(_repeat(load, stage, client, done))
            for load in (_send, _start_and_end, _gather, _follow)
        ]
        try:
            return await _sample(stage, seconds)
        finally:
            for load in loads:
                load.cancel()
            await asyncio.gather(*loads, return_exceptions=True)


async def _repeat(
    load: Callable[[Stage, DaemonClient, Done, int], Awaitable[None]], stage: Stage, client: DaemonClient, done: Done
) -> None:
    for number in itertools.count(1):
        try:
            await load(stage, client, done, number)
        except StreamrelayError as error:
            done.errors += 1
            print(f"{load.__name__.strip('_')}: {error}", file=sys.stderr)
            await asyncio.sleep(1.0)


async def _send(_: Stage, client: DaemonClient, done: Done, number: int) -> None:
    await client.send_message(SendMessage(to=READER, text=f"message {number}"))
    done.messages += 1
    await asyncio.sleep(1.0)


async def _start_and_end(stage: Stage, client: DaemonClient, done: Done, number: int) -> None:
    agent, *words = (*AGENT, str(stage.folder / "passing"))
    request = StartSession(agent=agent, arguments=words, title=f"passing {number}", cwd=str(stage.folder))
    session = await client.start_session(request)
    done.sessions += 1
    await asyncio.sleep(2.0)
    await client.end_session(session.session)


async def _gather(_: Stage, client: DaemonClient, done: Done, number: int) -> None:
    members = [
        Invited(name=name, number=place, session=name, role="harvester" if name == CIRCLE[-1] else "speaker")
        for place, name in enumerate(CIRCLE, 1)
    ]
    request = StartGathering(
        participants=members, structure="1-1-1", beats_per_turn=1, beat_interval_seconds=1.0, last_words_seconds=2.0
    )
    held = await client.start_gathering(request)
    while (await client.gathering(held.gathering)).closed_at is None:
        await asyncio.sleep(1.0)
    done.gatherings += 1


async def _follow(_: Stage, client: DaemonClient, done: Done, number: int) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(3.0):
            async for _event in client.events(after=0):
                pass
    done.followers += 1


async def _sample(stage: Stage, seconds: float) -> list[Sampled]:
    pid = running_pid(stage.address)
    assert pid is not None, "the daemon has ended"
    began, samples = time.monotonic(), list[Sampled]()
    transport = httpx.AsyncHTTPTransport(uds=str(stage.address.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=_STARTING) as http:
        while (passed := time.monotonic() - began) < seconds:
            page = (await http.get("/metrics")).text
            samples.append(
                Sampled(
                    passed, resident(pid), _descriptors(pid), _threads(pid), int(_number(_TASKS, page)),
                    int(_number(_SEQ, page)), _stored(stage.address.state), resident(stage.tmux.server_pid),
                    _descriptors(stage.tmux.server_pid),
                )
            )  # fmt: skip
            if len(samples) % 15 == 1:
                last = samples[-1]
                progress(f"soak: {passed:.0f} of {seconds:g} s, {last.events} events, {last.memory / _MEGA:.0f} MB")
            await asyncio.sleep(1.0)
    return samples


def _number(pattern: re.Pattern[str], page: str) -> float:
    found = pattern.search(page)
    assert found is not None, f"{pattern.pattern} is not among the metrics"
    return float(found[1])


def _descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def _threads(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())


def _stored(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # SQLite's own files come and go
            total += path.stat().st_size if path.is_file() else 0
    return total


def figures(samples: Sequence[Sampled]) -> list[Figure]:
    """Return what counts, by thirds of the time."""
    third = max(len(samples) // 3, 1)
    parts = [samples[:third], samples[third : 2 * third], samples[2 * third :]]
    quantities: dict[str, Callable[[Sampled], float]] = {
        "daemon, MB": lambda one: one.memory / _MEGA,
        "daemon, descriptors": lambda one: one.descriptors,
        "daemon, threads": lambda one: one.threads,
        "daemon, tasks": lambda one: one.tasks,
        "state, bytes an event": lambda one: one.stored / max(one.events, 1),
        "tmux server, MB": lambda one: one.server_memory / _MEGA,
        "tmux server, descriptors": lambda one: one.server_descriptors,
    }
    return [
        Figure(name, (max(map(read, parts[0])), max(map(read, parts[1])), max(map(read, parts[2]))))
        for name, read in quantities.items()
    ]


def plot(samples: Sequence[Sampled]) -> str:
    """Return memory, descriptors and tasks over time as SVG, each as a share of its highest value."""
    series = [
        ("daemon, MB", "#2b6cb0", [one.memory / _MEGA for one in samples]),
        ("daemon, descriptors", "#2f855a", [one.descriptors for one in samples]),
        ("daemon, tasks", "#dd6b20", [one.tasks for one in samples]),
        ("tmux server, MB", "#805ad5", [one.server_memory / _MEGA for one in samples]),
    ]
    return lines([one.seconds for one in samples], series, across_name="seconds")


def measure(arguments: argparse.Namespace) -> Report:
    """Load a daemon and sample it."""
    done = Done()
    with staged() as stage:
        wait_until(lambda: running_pid(stage.address), _STARTING, "the daemon to run")
        samples = asyncio.run(work(stage, arguments.seconds, done))
        machine = measuring.machine(stage.tmux.binary)
    found = figures(samples)
    events = samples[-1].events - samples[0].events
    title = (
        f"Soak: {samples[-1].seconds:.0f} s, {events} events, {done.messages} messages, {done.sessions} sessions, "
        f"{done.gatherings} gatherings, {done.followers} followers, {done.errors} errors"
    )
    rows = [(one.name, *(f"{round(value, 1):g}" for value in one.thirds), f"{one.growth:.2f}") for one in found]
    head = ("highest in each third", "first", "second", "last", "last / second")
    everything = {"done": done, "events": events, "figures": found}
    return Report("soak", machine, everything, (Table(title, head, rows),), {"soak.svg": plot(samples)})


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long it works (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
