"""Latency: how soon a printed line is an event, and how soon an event is typed into a listener.

*Printed to seen.* A program prints a line now and then, each with the moment it was printed, in a pane where nothing
else happens. A reader in a process of its own notes when it has the line: the delta stream, a control client that
throws everything away (what tmux can give at best), and libtmux polling `capture_pane` once a second.

*Heard to pasted.* Two programs answer each other through a relay; the time runs from the last event of what one said
to the writing of the paste command for the other. It contains the rest that closes a burst.
"""

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence

import msgspec

import streamrelay
from benchmarks import measuring
from benchmarks.measuring import Report, Sample, Table, progress
from benchmarks.stage import ReaderName, Run, Stage
from streamrelay.events import Event
from streamrelay.relay.machine import BURST_REST

_PRINTED = re.compile(r"tick (\d+) t=(\d+\.\d{6})")
_MILLI = 1e3


class Printed(msgspec.Struct, frozen=True):
    """Printed to seen, in milliseconds; `lost` and `repeated` count lines over all runs."""

    reader: str
    transport: str
    latency: Sample
    printed: int
    lost: int
    repeated: int


class Pasted(msgspec.Struct, frozen=True):
    """Heard to pasted, in milliseconds."""

    latency: Sample
    deliveries: int


def _summed_up(reader: str, transport: str, number: int, runs: Sequence[Run]) -> Printed:
    latencies: list[float] = []
    lost = repeated = 0
    for run in runs:
        found = [(at, _PRINTED.fullmatch(text)) for at, texts in run.reading.seen for text in texts]
        ticks = [(at, match) for at, match in found if match is not None]
        different = {match[1] for _, match in ticks}
        lost += number - len(different)
        repeated += len(ticks) - len(different)
        latencies += [(at - float(match[2])) * _MILLI for at, match in ticks]
    return Printed(reader, transport, Sample.of(latencies), number * len(runs), lost, repeated)


def measure_printed(arguments: argparse.Namespace, stage: Stage) -> list[Printed]:
    """Let the readers alternate over the same work."""
    kinds: list[tuple[ReaderName, str, tuple[str, ...]]] = []
    for transport in arguments.transports:
        kinds.append(("discard", transport, ("--keep", "--transport", transport)))
        kinds.append(("delta", transport, ("--transport", transport)))
    kinds.append(("polling", "-", ("--interval", str(arguments.poll_interval))))
    runs: dict[tuple[str, str], list[Run]] = {(name, transport): [] for name, transport, _ in kinds}
    with stage.producer() as producer:
        for repetition in range(1, arguments.repetitions + 1):
            for name, transport, options in kinds:
                progress(f"latency: {name} {transport}, run {repetition} of {arguments.repetitions}")
                runs[name, transport].append(producer.tick(arguments.lines, arguments.interval, name, *options))
    return [_summed_up(name, transport, arguments.lines, done) for (name, transport), done in runs.items()]


async def _relayed(stage: Stage, deliveries: int) -> streamrelay.RelaySession:
    participant = [sys.executable, "-m", "streamrelay.testing.participant", "--stay", "--name"]
    rounds = ["--rounds", str(deliveries)]
    bob = stage.tmux.new_session("Bob", [*participant, "Bob", *rounds])
    ann = stage.tmux.new_session("Ann", [*participant, "Ann", *rounds, "--first", "--start-delay", "2"])
    async with streamrelay.connect(socket_path=stage.tmux.socket_path, tmux=stage.binary) as server:
        pairs = [(name, await server.find(pane)) for name, pane in (("Ann", ann), ("Bob", bob))]
        relay = streamrelay.RelaySession(server, pairs, budget=deliveries)

        def publish(event: Event) -> None:
            """Hear of everything, and do nothing about it."""

        async with asyncio.timeout(30 + deliveries):
            await relay.run(publish)
    if relay.error is not None or relay.counts.deliveries != deliveries:
        raise RuntimeError(f"the relay ended after {relay.counts.deliveries} deliveries: {relay.error}")
    return relay


def measure_pasted(arguments: argparse.Namespace, stage: Stage) -> Pasted:
    """Let two programs talk to each other."""
    progress(f"latency: {arguments.deliveries} deliveries through a relay")
    relay = asyncio.run(_relayed(stage, arguments.deliveries))
    return Pasted(Sample.of(seconds * _MILLI for seconds in relay.counts.latencies), relay.counts.deliveries)


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    with Stage() as stage:
        printed = measure_printed(arguments, stage)
        pasted = measure_pasted(arguments, stage)
        machine = measuring.machine(stage.binary)
    figures = {"printed_to_seen": printed, "heard_to_pasted": pasted}
    return Report("latency", machine, figures, (_printed_table(printed), _pasted_table(pasted)))


def _printed_table(rows: Sequence[Printed]) -> Table:
    return Table(
        "Printed to seen, one idle pane, ms",
        ("reader", "transport", "median", "p99", "lowest", "highest", "n", "lost", "repeated"),
        [
            (
                row.reader,
                row.transport,
                *(f"{value:.2f}" for value in (row.latency.median, row.latency.p99, row.latency.low, row.latency.high)),
                str(row.latency.n),
                str(row.lost),
                str(row.repeated),
            )
            for row in rows
        ],
    )


def _pasted_table(pasted: Pasted) -> Table:
    latency = pasted.latency
    values = (f"{value:.2f}" for value in (latency.median, latency.p99, latency.low, latency.high))
    return Table(
        "Heard to pasted through a relay, ms",
        ("median", "p99", "lowest", "highest", "n", "of it the burst's rest"),
        [(*values, str(latency.n), f"{BURST_REST * _MILLI:g}")],
    )


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=3)
    parser.add_argument("--lines", type=int, default=200, help="lines of one run (%(default)s)")
    parser.add_argument("--interval", type=float, default=0.05, help="seconds between two lines (%(default)s)")
    parser.add_argument("--poll-interval", type=float, default=1.0, help="seconds between looks (%(default)s)")
    parser.add_argument("--deliveries", type=int, default=100, help="deliveries of the relay (%(default)s)")
    parser.add_argument("--transports", nargs="+", choices=["pipes", "cc"], default=["pipes", "cc"])
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
