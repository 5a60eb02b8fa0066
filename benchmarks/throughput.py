"""Throughput: the whole delta stream against a reader that throws everything away; one pane, 4 and 64 at once.

The panes print a few megabytes as fast as tmux takes them, all the same. Time runs from before the first byte until the
reader, in a process of its own, holds the marker that each prints last. The two readers alternate, and each pair gives
one ratio. What the stream said is compared with what was printed, line by line.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from benchmarks import inputs, measuring
from benchmarks.measuring import Report, Sample, Table, progress
from benchmarks.plotting import Panel, bars
from benchmarks.stage import Producer, Run, Stage

_MEGA = 1e6


class Throughput(msgspec.Struct, frozen=True):
    """One input over one transport; speeds in MB/s of what the program printed, `*_cpu` in seconds per MB."""

    input: str
    transport: str
    panes: int
    bytes: int
    """Printed in one run, by all panes."""
    delta: Sample
    discard: Sample
    ratio: Sample
    delta_cpu: Sample
    discard_cpu: Sample
    lines: int | None
    """Lines printed in one run, by all panes; None where the input has no truth."""
    lost: int
    """Over all runs, as the next two."""
    repeated: int
    gaps: int
    differing: int
    """Panes, over all runs, whose text has another hash than what was printed there, in order."""


def digest(lines: Iterable[str]) -> str:
    """Return the SHA-256 of lines in their order."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def differing(printed: Sequence[str], seen: Iterable[tuple[float, int, list[str]]], panes: int = 1) -> int:
    """Count the panes whose text is not, to the byte and in order, what each of them printed."""
    said: list[list[str]] = [[] for _ in range(panes)]
    for _, pane, texts in seen:
        said[pane] += texts
    truth = digest(printed)
    return sum(digest(texts) != truth for texts in said)


def lost_and_repeated(printed: Sequence[str], said: Iterable[str], panes: int = 1) -> tuple[int, int]:
    """Compare lines that are all different, and printed by each of `panes`, with what was said of them."""
    times = Counter(said)
    lost = sum(max(0, panes - times[line]) for line in printed)
    return lost, sum(max(0, number - panes) for number in times.values())


def _measure(
    producer: Producer, source: inputs.Input, path: Path, transport: str, *, panes: int, repetitions: int
) -> Throughput:
    delta: list[Run] = []
    discard: list[Run] = []
    for number in range(1, repetitions + 1):
        where = f"{panes} panes, {transport}" if panes > 1 else transport
        progress(f"throughput: {source.name}, {where}, run {number} of {repetitions}")
        discard.append(producer.flood(path, "discard", "--transport", transport))
        delta.append(producer.flood(path, "delta", "--transport", transport))
    size = panes * len(source.data) / _MEGA
    lost = repeated = unlike = 0
    for run in delta if source.lines is not None else ():
        missing, twice = lost_and_repeated(source.lines or (), run.reading.texts(), panes)
        lost, repeated = lost + missing, repeated + twice
        unlike += differing(source.lines or (), run.reading.seen, panes)
    return Throughput(
        input=source.name,
        transport=transport,
        panes=panes,
        bytes=panes * len(source.data),
        delta=Sample.of(size / run.seconds for run in delta),
        discard=Sample.of(size / run.seconds for run in discard),
        ratio=Sample.of(ceiling.seconds / run.seconds for run, ceiling in zip(delta, discard, strict=True)),
        delta_cpu=Sample.of(run.reading.cpu / size for run in delta),
        discard_cpu=Sample.of(run.reading.cpu / size for run in discard),
        lines=None if source.lines is None else panes * len(source.lines),
        lost=lost,
        repeated=repeated,
        gaps=sum(run.reading.gaps for run in delta),
        differing=unlike,
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    measured: list[Throughput] = []
    with Stage() as stage:
        for panes in arguments.panes:
            with stage.producer(panes) as producer:
                for name in arguments.inputs:
                    # As much in all as one pane prints.
                    source = inputs.make(name, int(arguments.megabytes * _MEGA / panes))
                    path = stage.keep(source.data)
                    measured += [
                        _measure(producer, source, path, way, panes=panes, repetitions=arguments.repetitions)
                        for way in (arguments.transports if panes == 1 else arguments.transports[:1])
                    ]
        machine = measuring.machine(stage.binary)
    tables = (_table(measured),)
    return Report("throughput", machine, {"throughput": measured}, tables, {"throughput.svg": _plot(measured)})


def _plot(measured: Sequence[Throughput]) -> str:
    rows = [row for row in measured if row.transport == measured[0].transport]
    names = [f"{row.input}, {row.panes} pane{'s' * (row.panes > 1)}" for row in rows]
    highest = max(row.discard.median for row in rows)
    speeds = Panel(
        "MB/s", [[row.discard.median, row.delta.median] for row in rows], lambda value: 300 * value / highest
    )
    series = [("discarding reader", "#999999"), ("full delta stream", "#2b6cb0")]
    return bars(names, series, [speeds], labels=150, span=300)


def _table(measured: Sequence[Throughput]) -> Table:
    return Table(
        "Full delta stream against a discarding reader: median (lowest-highest)",
        (
            "input",
            "panes",
            "transport",
            "delta MB/s",
            "discard MB/s",
            "ratio",
            "CPU s/MB",
            "lines",
            "lost",
            "repeated",
            "panes that differ",
            "gaps",
            "runs",
        ),
        [
            (
                row.input,
                str(row.panes),
                row.transport,
                row.delta.spread(),
                row.discard.spread(),
                row.ratio.spread(2),
                f"{row.delta_cpu.median:.3f}",
                "-" if row.lines is None else str(row.lines),
                "-" if row.lines is None else str(row.lost),
                "-" if row.lines is None else str(row.repeated),
                "-" if row.lines is None else str(row.differing),
                str(row.gaps),
                str(row.delta.n),
            )
            for row in measured
        ],
    )


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=7)
    parser.add_argument("--megabytes", type=float, default=8.0, help="what is printed in one run, by all (%(default)s)")
    parser.add_argument("--inputs", nargs="+", choices=inputs.NAMES, default=inputs.NAMES, help="default: all")
    parser.add_argument("--transports", nargs="+", choices=["pipes", "cc"], default=["pipes", "cc"])
    parser.add_argument("--panes", nargs="+", type=int, default=[1, 4, 64], help="that print at once (default: 1 4 64)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
