"""Latency: how soon a printed line is an event, and how soon an event is typed into a listener.

*Printed to seen.* A program prints a line now and then, each with the moment of its `write()`. A reader in a process
of its own notes when it has the line: the delta stream, and a control client that throws everything away, which is what
tmux can give at best. First nothing else happens (idle), then another pane floods (busy) and the same reader has to
take its bytes, too.

*Heard to pasted.* Two programs answer each other through a relay; the time runs from the last event of what one said
to the writing of the paste command for the other. It contains the rest that closes a burst.
"""

import argparse
import asyncio
import itertools
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

import streamrelay
from benchmarks import inputs, measuring
from benchmarks.measuring import Report, Runs, Sample, Table, progress
from benchmarks.plotting import Panel, bars
from benchmarks.stage import ReaderName, Run, Stage
from streamrelay.events import Event, RelayOpened
from streamrelay.relay.output_units import BURST_REST
from streamrelay.testing.participant import begin

_PRINTED = re.compile(r"tick (\d+) t=(\d+\.\d{6})")
_MILLI = 1e3
_FLOOD = 200_000
"""Bytes the flooding pane prints again and again."""


class Printed(msgspec.Struct, frozen=True):
    """Printed to seen, in milliseconds; `lost` and `repeated` count lines over all runs."""

    reader: str
    transport: str
    beside: str
    """What the other pane does: "idle" or "flood"."""
    latency: Sample
    """The lines of all runs."""
    runs: Runs
    printed: int
    lost: int
    repeated: int


class Pasted(msgspec.Struct, frozen=True):
    """Heard to pasted, in milliseconds."""

    latency: Sample
    """The deliveries of all runs."""
    runs: Runs
    deliveries: int


def _summed_up(reader: str, transport: str, beside: str, number: int, runs: Sequence[Run]) -> Printed:
    latencies: list[list[float]] = []
    lost = repeated = 0
    for run in runs:
        found = [(at, _PRINTED.fullmatch(text)) for at, pane, texts in run.reading.seen if not pane for text in texts]
        ticks = [(at, match) for at, match in found if match is not None]
        different = {match[1] for _, match in ticks}
        lost += number - len(different)
        repeated += len(ticks) - len(different)
        latencies.append([(at - float(match[2])) * _MILLI for at, match in ticks])
    every = Sample.of(itertools.chain.from_iterable(latencies))
    return Printed(reader, transport, beside, every, Runs.of(latencies), number * len(runs), lost, repeated)


def measure_printed(arguments: argparse.Namespace, stage: Stage) -> list[Printed]:
    """Let the readers alternate over the same work."""
    flood = stage.keep(inputs.make("plain", _FLOOD).data)
    kinds: list[tuple[ReaderName, str, str]] = [
        (name, transport, beside)
        for transport in arguments.transports
        for beside in ("idle", "flood")
        for name in ("discard", "delta")
        if beside == "idle" or transport == arguments.transports[0]
    ]
    runs: dict[tuple[ReaderName, str, str], list[Run]] = {kind: [] for kind in kinds}
    with stage.producer() as alone, stage.producer(2) as pair:
        for repetition in range(1, arguments.repetitions + 1):
            for name, transport, beside in kinds:
                progress(f"latency: {name}, {transport}, {beside}, run {repetition} of {arguments.repetitions}")
                options = ("--transport", transport, *(("--keep",) if name == "discard" else ()))
                producer = alone if beside == "idle" else pair
                run = producer.tick(arguments.lines, arguments.interval, name, *options, beside=flood)
                runs[name, transport, beside].append(run)
    return [_summed_up(*kind, arguments.lines, done) for kind, done in runs.items()]


async def _relayed(stage: Stage, suffix: str, deliveries: int, log: Path) -> streamrelay.RelaySession:
    participant = [sys.executable, "-m", "streamrelay.testing.participant", "--stay", "--name"]
    rounds = ["--rounds", str(deliveries)]
    bob = stage.tmux.new_session(f"Bob{suffix}", [*participant, "Bob", *rounds])
    ann = stage.tmux.new_session(f"Ann{suffix}", [*participant, "Ann", *rounds, "--log", str(log)])
    async with streamrelay.connect(socket_path=stage.tmux.socket_path, tmux=stage.binary) as server:
        pairs = [(name, await server.find(pane)) for name, pane in (("Ann", ann), ("Bob", bob))]
        relay = streamrelay.RelaySession(server, pairs, budget=deliveries)

        opened = asyncio.Event()

        def publish(event: Event) -> None:
            if isinstance(event, RelayOpened):
                opened.set()

        async with asyncio.timeout(30 + deliveries), asyncio.TaskGroup() as tasks:
            tasks.create_task(relay.run(publish))
            await opened.wait()
            await asyncio.to_thread(begin, stage.tmux, ann, log)
    if relay.error is not None or relay.counts.deliveries != deliveries:
        raise RuntimeError(f"the relay ended after {relay.counts.deliveries} deliveries: {relay.error}")
    for pane in (ann, bob):
        stage.tmux.run("kill-pane", "-t", pane)
    return relay


def measure_pasted(arguments: argparse.Namespace, stage: Stage) -> Pasted:
    """Let two programs talk to each other, in each run two new ones."""
    runs: list[list[float]] = []
    for number in range(1, arguments.repetitions + 1):
        progress(f"latency: {arguments.deliveries} deliveries through a relay, run {number} of {arguments.repetitions}")
        with tempfile.TemporaryDirectory() as folder:
            relay = asyncio.run(_relayed(stage, f"-{number}", arguments.deliveries, Path(folder) / "said"))
        runs.append([seconds * _MILLI for seconds in relay.counts.latencies])
    every = Sample.of(itertools.chain.from_iterable(runs))
    return Pasted(every, Runs.of(runs), arguments.deliveries * len(runs))


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    with Stage() as stage:
        printed = measure_printed(arguments, stage)
        pasted = measure_pasted(arguments, stage)
        machine = measuring.machine(stage.binary)
    figures = {"printed_to_seen": printed, "heard_to_pasted": pasted}
    tables = (_printed_table(printed), _pasted_table(pasted))
    return Report("latency", machine, figures, tables, {"latency.svg": _plot(printed)})


def _plot(rows: Sequence[Printed]) -> str:
    """Return medians and p99 on a logarithmic scale, 0.01 ms to 1 s."""
    values = [[row.latency.median, row.latency.p99] for row in rows]
    panel = Panel("ms, logarithmic", values, lambda value: 70 * measuring.decades(value, 0.01), digits=2)
    names = [f"{row.reader}, {row.transport}, {row.beside}" for row in rows]
    return bars(names, [("median", "#2b6cb0"), ("p99", "#dd6b20")], [panel], labels=160, span=350)


def _printed_table(rows: Sequence[Printed]) -> Table:
    return Table(
        "Printed to seen, ms; median and p99 of the runs (lowest-highest)",
        ("reader", "transport", "other pane", "median", "p99", "lowest", "highest", "n", "lost", "repeated"),
        [
            (
                row.reader,
                row.transport,
                row.beside,
                *row.runs.spreads(2),
                *(f"{value:.2f}" for value in (row.latency.low, row.latency.high)),
                str(row.latency.n),
                str(row.lost),
                str(row.repeated),
            )
            for row in rows
        ],
    )


def _pasted_table(pasted: Pasted) -> Table:
    latency = pasted.latency
    values = (*pasted.runs.spreads(2), *(f"{value:.2f}" for value in (latency.low, latency.high)))
    return Table(
        "Heard to pasted through a relay, ms; median and p99 of the runs (lowest-highest)",
        ("median", "p99", "lowest", "highest", "n", "of it the burst's rest"),
        [(*values, str(latency.n), f"{BURST_REST * _MILLI:g}")],
    )


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--lines", type=int, default=200, help="lines of one run (%(default)s)")
    parser.add_argument("--interval", type=float, default=0.05, help="seconds between two lines (%(default)s)")
    parser.add_argument("--deliveries", type=int, default=100, help="deliveries of one run of the relay (%(default)s)")
    parser.add_argument("--transports", nargs="+", choices=["pipes", "cc"], default=["pipes", "cc"])
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
