"""What the daemon's socket costs: events to 1, 10, 50 subscribers, one of them slow, against the same in process.

    python -m benchmarks.daemon [--subscribers 1 10 50] [--events 20000] [--repetitions 3] [--json]

Both write every event into a real journal first, in batches as a busy pane gives them, and both end when the last of
the subscribers that keep up has the last event. `process` has the subscribers as tasks beside the journal. `socket` has
them in a process of their own, at a real unix socket, as HTTP clients that look for the ends of events and keep none.
From 10 subscribers on, one does not read: `apart` is the socket's rate with it, by the rate without it.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import msgspec

from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress
from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.app import create_app
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.instance import listening, only_daemon
from streamrelay.daemon.logs import open_log
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.server import HttpServer
from streamrelay.errors import TargetNotFound
from streamrelay.events import AnyEvent, Text
from streamrelay.history.journal import Journal
from streamrelay.service.api import Status
from streamrelay.service.feed import Feed
from streamrelay.service.interface import Service

BAR = 0.5
_BATCH = 100
_LINE = "a line as programs print them, with some words in it and a number at its end: "
_PATIENCE = 600.0
_SLOW_FROM = 10


class Figure(msgspec.Struct, frozen=True):
    """Events a second that each subscriber got, and processor time of the one process that has the journal."""

    subscribers: int
    process: Sample
    socket: Sample
    ratio: float
    apart: float | None
    """The socket's rate with a slow subscriber, by its rate without; None where there was none."""
    process_cpu: float
    """Seconds, for all events."""
    socket_cpu: float


class Journaled:
    """The part of a service that emits events: a journal and its feed."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.feed = Feed(journal, 0)

    async def status(self) -> Status:
        return Status(
            version="",
            pid=0,
            started_at=0.0,
            tmux="",
            seq=self.feed.last,
            paused=False,
            sessions=0,
            watched=0,
            links=0,
            relays=0,
            deliveries={},
            subscribers=self.feed.readers,
        )

    async def live(self, session: str) -> AsyncGenerator[Sequence[str]]:
        """Raise TargetNotFound: no session is watched."""
        raise TargetNotFound(session)

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        return await self.journal.since(seq, limit=limit)

    async def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        async for batch in self.feed.batches(after):
            for event in batch:
                yield event

    async def publish(self, count: int) -> None:
        for start in range(0, count, _BATCH):
            texts = [
                Text(text=f"{_LINE}{number}", origin="program", pane="%1", session="work", line=number)
                for number in range(start, min(start + _BATCH, count))
            ]
            self.feed.publish(await self.journal.append(texts))


async def _in_process(folder: Path, subscribers: int, count: int, *, slow: bool) -> tuple[float, float]:
    async with Journal(folder / "journal.db") as journal:
        service = Journaled(journal)

        async def follow() -> None:
            seen = 0
            async for _ in service.events():
                seen += 1
                if seen == count:
                    return

        async def idle() -> None:
            async for _ in service.events():
                await asyncio.Event().wait()

        sleeper = asyncio.ensure_future(idle()) if slow else None
        following = [asyncio.ensure_future(follow()) for _ in range(subscribers - slow)]
        while service.feed.readers < subscribers:
            await asyncio.sleep(0)
        began, cpu = time.monotonic(), time.process_time()
        await asyncio.gather(service.publish(count), *following)
        took = time.monotonic() - began, time.process_time() - cpu
        if sleeper is not None:
            sleeper.cancel()
            await asyncio.gather(sleeper, return_exceptions=True)
        return took


@asynccontextmanager
async def _served(address: DaemonAddress, service: Journaled) -> AsyncIterator[Broadcast]:
    whole = cast(Service, service)
    broadcast = Broadcast(whole)
    await broadcast.start()
    with only_daemon(address), listening(address) as listener:
        app = create_app(whole, broadcast, log=open_log("warning"), counts=Metrics(), version="", live=service.live)
        server = HttpServer(app, grace=0.1)
        tasks = [asyncio.ensure_future(server.run_on(listener)), asyncio.ensure_future(broadcast.run())]
        try:
            yield broadcast
        finally:
            server.stop()
            tasks[1].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _through_socket(folder: Path, subscribers: int, count: int, *, slow: bool) -> tuple[float, float]:
    address = DaemonAddress("b", "", folder / "d.sock", folder / "d.lock", folder, folder / "d.log")
    async with Journal(folder / "journal.db") as journal:
        service = Journaled(journal)
        async with _served(address, service) as broadcast:
            words = [str(address.socket), str(subscribers - slow), str(int(slow)), str(count)]
            reader = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "benchmarks.daemon_reader",
                *words,
                cwd=measuring.ROOT,
                stdout=asyncio.subprocess.PIPE,
            )
            while broadcast.subscribers < subscribers:
                await asyncio.sleep(0.001)
            began, cpu = time.monotonic(), time.process_time()
            await service.publish(count)
            out, _ = await reader.communicate()
            # The clock is the machine's, not a process's.
            return json.loads(out)["ended"] - began, time.process_time() - cpu


def _run(one: Any, subscribers: int, count: int, *, slow: bool) -> tuple[float, float]:
    async def bounded() -> tuple[float, float]:
        with tempfile.TemporaryDirectory(prefix="streamrelay-") as folder:
            async with asyncio.timeout(_PATIENCE):
                took: tuple[float, float] = await one(Path(folder), subscribers, count, slow=slow)
                return took

    return asyncio.run(bounded())


def figure(subscribers: int, count: int, repetitions: int) -> Figure:
    """Measure both kinds in turns, so that what else the machine does falls on both."""
    slow = subscribers >= _SLOW_FROM
    inside, outside, alone = [], [], []
    for _ in range(repetitions):
        inside.append(_run(_in_process, subscribers, count, slow=slow))
        outside.append(_run(_through_socket, subscribers, count, slow=slow))
        if slow:
            alone.append(_run(_through_socket, subscribers - 1, count, slow=False))
    process, socket = (Sample.of(count / took for took, _ in runs) for runs in (inside, outside))
    apart = (
        statistics.median(took for took, _ in alone) / statistics.median(took for took, _ in outside) if alone else None
    )
    return Figure(
        subscribers,
        process,
        socket,
        ratio=statistics.median(i / o for (i, _), (o, _) in zip(inside, outside, strict=True)),
        apart=apart,
        process_cpu=statistics.median(cpu for _, cpu in inside),
        socket_cpu=statistics.median(cpu for _, cpu in outside),
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Measure, and make the report."""
    figures = []
    for subscribers in arguments.subscribers:
        progress(f"daemon: {subscribers} subscribers")
        figures.append(figure(subscribers, arguments.events, arguments.repetitions))
    return Report("daemon", measuring.machine(), figures, (_table(figures, arguments.events),))


def _table(figures: Sequence[Figure], events: int) -> Table:
    return Table(
        f"The daemon's socket against the same in process, {events:,} journaled events (bar: {BAR:g})",
        [
            "subscribers",
            "in process, events/s",
            "socket, events/s",
            "ratio",
            "with a slow one",
            "CPU s",
            "CPU s, socket",
        ],
        [
            [
                str(one.subscribers),
                one.process.spread(0),
                one.socket.spread(0),
                f"{one.ratio:.2f}",
                "-" if one.apart is None else f"{one.apart:.2f}",
                f"{one.process_cpu:.2f}",
                f"{one.socket_cpu:.2f}",
            ]
            for one in figures
        ],
    )


def options() -> argparse.ArgumentParser:
    """Return the options."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--subscribers", type=int, nargs="+", default=[1, 10, 50], help="(%(default)s)")
    parser.add_argument("--events", type=int, default=20_000, help="(%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(measuring.run(options(), measure))
