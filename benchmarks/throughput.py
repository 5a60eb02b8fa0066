"""Throughput: the whole delta stream against a reader that throws everything away, and against polling.

One pane prints a few megabytes as fast as tmux takes them. Time runs from before the first byte until the reader, in a
process of its own, holds the marker printed last. The two readers alternate, and each pair gives one ratio. What the
stream said is compared with what was printed, line by line.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from benchmarks import inputs, measuring
from benchmarks.measuring import Report, Sample, Table, progress
from benchmarks.stage import Producer, Run, Stage

_MEGA = 1e6


class Throughput(msgspec.Struct, frozen=True):
    """One input over one transport; speeds in MB/s of what the program printed, `*_cpu` in seconds per MB."""

    input: str
    transport: str
    bytes: int
    delta: Sample
    discard: Sample
    ratio: Sample
    delta_cpu: Sample
    discard_cpu: Sample
    lines: int | None
    """Lines printed in one run; None where the input has no truth."""
    lost: int
    """Over all runs, as the next two."""
    repeated: int
    gaps: int


class Polling(msgspec.Struct, frozen=True):
    """What somebody who polls has of the same work; `looks` is how often the pane was captured."""

    input: str
    interval: float
    lines: int
    seen_share: Sample
    looks: Sample
    cpu: Sample


def lost_and_repeated(printed: Sequence[str], said: Iterable[str]) -> tuple[int, int]:
    """Compare lines that are all different with what was said of them."""
    times = Counter(said)
    return sum(line not in times for line in printed), sum(number - 1 for number in times.values())


def _measure(producer: Producer, source: inputs.Input, path: Path, transport: str, repetitions: int) -> Throughput:
    delta: list[Run] = []
    discard: list[Run] = []
    for number in range(1, repetitions + 1):
        progress(f"throughput: {source.name} over {transport}, run {number} of {repetitions}")
        discard.append(producer.flood(path, "discard", "--transport", transport))
        delta.append(producer.flood(path, "delta", "--transport", transport))
    size = len(source.data) / _MEGA
    lost = repeated = 0
    for run in delta if source.lines is not None else ():
        missing, twice = lost_and_repeated(source.lines or (), run.reading.texts())
        lost, repeated = lost + missing, repeated + twice
    return Throughput(
        input=source.name,
        transport=transport,
        bytes=len(source.data),
        delta=Sample.of(size / run.seconds for run in delta),
        discard=Sample.of(size / run.seconds for run in discard),
        ratio=Sample.of(ceiling.seconds / run.seconds for run, ceiling in zip(delta, discard, strict=True)),
        delta_cpu=Sample.of(run.reading.cpu / size for run in delta),
        discard_cpu=Sample.of(run.reading.cpu / size for run in discard),
        lines=None if source.lines is None else len(source.lines),
        lost=lost,
        repeated=repeated,
        gaps=sum(run.reading.gaps for run in delta),
    )


def _poll(stage: Stage, source: inputs.Input, path: Path, interval: float, repetitions: int) -> Polling:
    runs: list[Run] = []
    for number in range(1, repetitions + 1):
        progress(f"throughput: polling {source.name}, run {number} of {repetitions}")
        with stage.producer() as producer:
            runs.append(producer.flood(path, "polling", "--interval", str(interval)))
    printed = set(source.lines or ())
    return Polling(
        input=source.name,
        interval=interval,
        lines=len(printed),
        seen_share=Sample.of(len(printed.intersection(run.reading.texts())) / len(printed) for run in runs),
        looks=Sample.of(len(run.reading.seen) for run in runs),
        cpu=Sample.of(run.reading.cpu for run in runs),
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for."""
    throughputs: list[Throughput] = []
    pollings: list[Polling] = []
    with Stage() as stage:
        for name in arguments.inputs:
            source = inputs.make(name, int(arguments.megabytes * _MEGA))
            path = stage.keep(source.data)
            with stage.producer() as producer:
                throughputs += [
                    _measure(producer, source, path, transport, arguments.repetitions)
                    for transport in arguments.transports
                ]
            if source.lines is not None:
                pollings.append(_poll(stage, source, path, arguments.interval, arguments.repetitions))
        machine = measuring.machine(stage.binary)
    figures = {"throughput": throughputs, "polling": pollings}
    return Report(
        "throughput", machine, figures, (_throughput_table(throughputs), _polling_table(pollings, throughputs))
    )


def _throughput_table(measured: Sequence[Throughput]) -> Table:
    return Table(
        "Full delta stream against a discarding reader, one pane: median (lowest-highest)",
        (
            "input",
            "transport",
            "delta MB/s",
            "discard MB/s",
            "ratio",
            "CPU s/MB",
            "lines",
            "lost",
            "repeated",
            "gaps",
            "runs",
        ),
        [
            (
                row.input,
                row.transport,
                row.delta.spread(),
                row.discard.spread(),
                row.ratio.spread(2),
                f"{row.delta_cpu.median:.3f}",
                "-" if row.lines is None else str(row.lines),
                "-" if row.lines is None else str(row.lost),
                "-" if row.lines is None else str(row.repeated),
                str(row.gaps),
                str(row.delta.n),
            )
            for row in measured
        ],
    )


def _polling_table(polled: Sequence[Polling], measured: Sequence[Throughput]) -> Table:
    first = measured[0].transport
    by_stream = {row.input: row.delta_cpu.median * row.bytes / _MEGA for row in measured if row.transport == first}
    return Table(
        "The same work polled with libtmux: capture_pane and diff",
        ("input", "every", "lines", "share seen", "looks", "CPU s, polling", f"CPU s, stream ({first})"),
        [
            (
                row.input,
                f"{row.interval:g} s",
                str(row.lines),
                f"{row.seen_share.median:.2%} ({row.seen_share.low:.2%}-{row.seen_share.high:.2%})",
                f"{row.looks.median:g}",
                f"{row.cpu.median:.3f}",
                f"{by_stream[row.input]:.3f}",
            )
            for row in polled
        ],
    )


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=7)
    parser.add_argument("--megabytes", type=float, default=8.0, help="what is printed in one run (%(default)s)")
    parser.add_argument("--inputs", nargs="+", choices=inputs.NAMES, default=inputs.NAMES, help="default: all")
    parser.add_argument("--transports", nargs="+", choices=["pipes", "cc"], default=["pipes", "cc"])
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between looks when polling (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
