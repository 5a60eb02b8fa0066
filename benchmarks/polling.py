"""The same work heard by the stream and by polling, in turns: what each costs, how late it is, what it gets wrong.

Many panes, most of them quiet at any moment as those of agents are, print now and then what programs print: single
lines, bursts higher than the screen, progress that is written over, lines longer than the pane is wide, the same line
again. Every line with a time carries the moment of its `write()`. One reader after the other hears all panes, for as
long:

* the stream, as a user of the library has it;
* polling with libtmux: `capture_pane` of every pane once or ten times a second, a line diff against the look before;
* the same over a control client, which starts no process for a look.

*Lost* are lines that never came, *doubled* those that came more often than they were printed, *garbled* what came and
never was a line: rows of a wrapped line, progress in between. Written by the driver itself into the panes' terminals,
so that a hundred panes need no hundred programs that compete for the machine.
"""

import argparse
import heapq
import math
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Self

import msgspec

from benchmarks import inputs, measuring
from benchmarks.measuring import Report, Runs, Sample, Table, progress
from benchmarks.plotting import Panel, bars
from benchmarks.reading import Reading
from benchmarks.stage import Stage

_TIMED = re.compile(r"t=(\d+\.\d{6})$")
_MILLI = 1e3
_STEP = 0.03
"""Seconds between two states of a progress line."""


class Way(msgspec.Struct, frozen=True):
    """A reader and its options."""

    name: str
    module: str
    options: tuple[str, ...] = ()


WAYS = (
    Way("stream", "delta"),
    Way("capture_pane, libtmux, 1 Hz", "polling", ("--interval", "1")),
    Way("capture_pane, libtmux, 10 Hz", "polling", ("--interval", "0.1")),
    Way("capture-pane, control client, 1 Hz", "polling", ("--over", "client", "--interval", "1")),
    Way("capture-pane, control client, 10 Hz", "polling", ("--over", "client", "--interval", "0.1")),
)


class OneRun(msgspec.Struct, frozen=True):
    """What one reader made of the work in one run; processor time in seconds (0 where it is not told)."""

    latencies: tuple[float, ...]
    """Milliseconds, of the timed lines that were read whole."""
    printed: int
    lost: int
    doubled: int
    garbled: int
    gaps: int
    cpu: float
    server_cpu: float

    @property
    def latency(self) -> float:
        """The median latency; infinite if no line was read whole."""
        return statistics.median(self.latencies) if self.latencies else math.inf


class Heard(msgspec.Struct, frozen=True):
    """What one reader made of the work in all runs; lines are sums, processor times and ratios one value a run."""

    way: str
    latency: Sample | None
    """The latency of the timed lines of all runs, in milliseconds; None if none was read whole."""
    runs: Runs | None
    """The same by run."""
    printed: int
    lost: int
    doubled: int
    garbled: int
    gaps: int
    cpu: Sample
    server_cpu: Sample
    later: Sample
    """How many times the median latency of the stream in the same run."""
    dearer: Sample
    """How many times the processor time of the stream in the same run."""

    @classmethod
    def of(cls, way: str, runs: Sequence[OneRun], stream: Sequence[OneRun]) -> Self:
        """Sum up the runs of one reader; each makes a pair with the run of the stream beside it."""
        latencies = [each for run in runs for each in run.latencies]
        pairs = list(zip(runs, stream, strict=True))
        return cls(
            way=way,
            latency=Sample.of(latencies) if latencies else None,
            runs=Runs.of(run.latencies for run in runs) if latencies else None,
            printed=sum(run.printed for run in runs),
            lost=sum(run.lost for run in runs),
            doubled=sum(run.doubled for run in runs),
            garbled=sum(run.garbled for run in runs),
            gaps=sum(run.gaps for run in runs),
            cpu=Sample.of(run.cpu for run in runs),
            server_cpu=Sample.of(run.server_cpu for run in runs),
            later=Sample.of(run.latency / beside.latency for run, beside in pairs),
            dearer=Sample.of(run.cpu / max(beside.cpu, 0.01) for run, beside in pairs),
        )


def script(pane: int) -> Iterator[list[str]]:
    """Yield without end the items a pane prints, each pane at another place of the round.

    An item is a list of writes, the last of which ends a line; `{t}` stands for the time.
    """
    for number in count(1):
        name = f"pane {pane} item {number}"
        match (pane + number) % 6:
            case 2:
                rows = [f"{name} burst {row}" for row in range(inputs.LINES + 20)]
                yield ["\r\n".join([*rows, f"{name} burst ends t={{t}}"]) + "\r\n"]
            case 3:
                states = [f"\r{name} progress {percent} %" for percent in (25, 50, 75)]
                yield [*states, f"\r{name} done at t={{t}}\r\n"]
            case 4:
                yield [f"{name} {'and goes on and on ' * 9}to its end t={{t}}\r\n"]
            case 5:
                yield ["ok\r\n"]
            case _:
                yield [f"{name} says something t={{t}}\r\n"]


class Driver:
    """Writes into the terminals of panes, and knows the lines that makes."""

    def __init__(self, terminals: Sequence[Path]) -> None:
        self.lines: list[list[str]] = [[] for _ in terminals]
        self._descriptors = [os.open(path, os.O_WRONLY | os.O_NOCTTY) for path in terminals]

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def write(self, pane: int, text: str) -> None:
        """Write at once; what ends a line is remembered as it then stands there."""
        text = text.replace("{t}", f"{time.monotonic():.6f}")
        rest = memoryview(text.encode())
        while rest:
            rest = rest[os.write(self._descriptors[pane], rest) :]
        if text.endswith("\n"):
            self.lines[pane] += [line.removeprefix("\r") for line in text.split("\r\n")[:-1]]

    def run(self, seconds: float, interval: float, marker: str) -> None:
        """Let every pane print an item every `interval` seconds, out of step, and the first one the marker at the end.

        Of every pane it would be as much again to hear as ten seconds of work.
        """
        panes = range(len(self._descriptors))
        scripts = [script(pane) for pane in panes]
        began = time.monotonic()
        due = [(began + interval * pane / len(panes), pane, next(scripts[pane])) for pane in panes]
        heapq.heapify(due)
        while due[0][0] < began + seconds:
            at, pane, writes = due[0]
            time.sleep(max(0.0, at - time.monotonic()))
            self.write(pane, writes[0])
            rest = writes[1:]
            heapq.heapreplace(due, (at + (_STEP if rest else interval), pane, rest or next(scripts[pane])))
        for _, pane, writes in due:
            if len(writes) < 4 and writes[-1].startswith("\r"):  # in the middle of its progress
                self.write(pane, writes[-1])
        time.sleep(_STEP)
        self.write(0, f"{marker}-0\r\n")
        self.lines[0].pop()


def judge(printed: Sequence[Sequence[str]], reading: Reading, server_cpu: float) -> OneRun:
    """Compare what was printed with what was heard, pane by pane, as often as it was printed."""
    said = [Counter[str]() for _ in printed]
    first: list[dict[str, float]] = [{} for _ in printed]
    for at, place, texts in reading.seen:
        for text in texts:
            line = text.strip()
            if line:
                said[place][line] += 1
                first[place].setdefault(line, at)
    lost = doubled = garbled = 0
    latencies: list[float] = []
    for lines, heard, when in zip(printed, said, first, strict=True):
        truth = Counter(line.strip() for line in lines)
        lost += sum((truth - heard).values())
        surplus = heard - truth
        doubled += sum(number for line, number in surplus.items() if line in truth)
        garbled += sum(number for line, number in surplus.items() if line not in truth)
        timed = ((line, _TIMED.search(line)) for line in truth if line in when)
        latencies += [(when[line] - float(match[1])) * _MILLI for line, match in timed if match is not None]
    return OneRun(
        latencies=tuple(latencies),
        printed=sum(map(len, printed)),
        lost=lost,
        doubled=doubled,
        garbled=garbled,
        gaps=reading.gaps,
        cpu=reading.cpu,
        server_cpu=server_cpu,
    )


def _processor_time(pid: int) -> float:
    """Return the seconds of processor time a process has used; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _hear(stage: Stage, way: Way, panes: Sequence[str], arguments: argparse.Namespace) -> OneRun:
    driver = Driver([Path(stage.tmux.run("display-message", "-p", "-t", pane, "#{pane_tty}")) for pane in panes])
    try:
        marker = stage.marker()
        with stage.reader(way.module, panes, marker, "--until", "1", *way.options) as reader:
            before = _processor_time(stage.tmux.server_pid)
            driver.run(arguments.seconds, arguments.interval, marker)
            reading = reader.reading()
            used = _processor_time(stage.tmux.server_pid) - before
        return judge(driver.lines, reading, used)
    finally:
        driver.close()


def measure(arguments: argparse.Namespace) -> Report:
    """Let one reader after the other hear the same work, all of them again in each repetition."""
    runs: dict[str, list[OneRun]] = {way.name: [] for way in WAYS}
    with Stage() as stage:
        for number in range(arguments.repetitions):
            for way in WAYS:
                place = f"{number + 1} of {arguments.repetitions}"
                progress(f"polling: {way.name}, {arguments.panes} panes for {arguments.seconds:g} s, {place}")
                # Each reader gets new panes, so that it finds no lines of an earlier run.
                with stage.silent(arguments.panes) as panes:
                    runs[way.name].append(_hear(stage, way, panes, arguments))
        machine = measuring.machine(stage.binary)
    heard = [Heard.of(way.name, runs[way.name], runs[WAYS[0].name]) for way in WAYS]
    return Report("polling", machine, heard, (_table(heard, arguments),), {"polling.svg": _plot(heard)})


def compared(heard: Sequence[Heard]) -> str:
    """Return a sentence on polling once a second with libtmux: medians over the pairs, lowest and highest."""
    poller = heard[1]
    return f"{poller.later.spread(0)} times as late, for {poller.dearer.spread()} times the processor time"


def _table(heard: Sequence[Heard], arguments: argparse.Namespace) -> Table:
    return Table(
        f"{arguments.panes} panes, {arguments.seconds:g} s, {arguments.repetitions} runs of each in turns (libtmux at "
        f"1 Hz: {compared(heard)})",
        ("heard by", "median ms", "p99 ms", "lines", "lost", "doubled", "garbled", "CPU s", "CPU s of tmux"),
        [
            (
                row.way,
                *(("-", "-") if row.runs is None else row.runs.spreads()),
                *map(str, (row.printed, row.lost, row.doubled, row.garbled)),
                row.cpu.spread(2),
                row.server_cpu.spread(2),
            )
            for row in heard
        ],
    )


def _plot(heard: Sequence[Heard]) -> str:
    highest = max(row.cpu.median for row in heard)
    wrong = max(1, *(row.lost + row.doubled + row.garbled for row in heard))
    panels = [
        Panel("median ms", [[row.latency and row.latency.median] for row in heard], _logarithmic),
        Panel("CPU s", [[row.cpu.median] for row in heard], lambda value: 200 * value / highest, digits=2),
        Panel(
            "lines wrong", [[float(row.lost + row.doubled + row.garbled)] for row in heard],
            lambda value: 200 * value / wrong, digits=0,
        ),
    ]  # fmt: skip
    return bars([row.way for row in heard], [("stream and polling, in turns", "#2b6cb0")], panels, labels=230, span=200)


def _logarithmic(value: float) -> float:
    """From 0.1 ms to 10 s."""
    return 40 * max(0.0, measuring.decades(value, 0.1))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--panes", type=int, default=100, help="that print (%(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each reader (%(default)s)")
    parser.add_argument("--interval", type=float, default=10.0, help="seconds between a pane's items (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
