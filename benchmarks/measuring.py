"""Measuring and saying so: samples, tables, options and progress, the same for every benchmark."""

import argparse
import math
import os
import platform
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

import msgspec

ROOT = Path(__file__).resolve().parents[1]
_BAR: ContextVar[str] = ContextVar("_BAR", default="")
_BAR_WIDTH = 24


class Sample(msgspec.Struct, frozen=True):
    """What repeated measuring gave: the median, and how far it spread."""

    median: float
    low: float
    high: float
    p99: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Sum up at least one value; `p99` is the nearest rank, hence the highest value below 100."""
        ordered = sorted(values)
        rank = math.ceil(0.99 * len(ordered)) - 1
        return cls(statistics.median(ordered), ordered[0], ordered[-1], ordered[rank], len(ordered))

    def spread(self, digits: int = 1) -> str:
        """Return "median (low-high)"."""
        return f"{self.median:.{digits}f} ({self.low:.{digits}f}-{self.high:.{digits}f})"


class Runs(msgspec.Struct, frozen=True):
    """The median and the p99 of each run of one measurement, summed up over the runs."""

    median: Sample
    p99: Sample

    @classmethod
    def of(cls, runs: Iterable[Iterable[float]]) -> Self:
        """Sum up at least one run that has values; a run without values does not count."""
        samples = [Sample.of(values) for values in map(list, runs) if values]
        return cls(Sample.of(one.median for one in samples), Sample.of(one.p99 for one in samples))

    def spreads(self, digits: int = 1) -> tuple[str, str]:
        """Return both as "median (lowest-highest)" over the runs."""
        return self.median.spread(digits), self.p99.spread(digits)


class Table(msgspec.Struct, frozen=True):
    """Rows for people; the same figures are in the JSON."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self, *, titled: bool = True) -> str:
        """Return a Markdown table under its title; columns are padded, so that it reads in a terminal too."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        rows = [self.head, ["-" * width for width in widths], *self.rows]
        lines = (
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
        )
        return "\n".join((*((f"**{self.title}**", "") if titled else ()), *lines))


class Report(msgspec.Struct, frozen=True):
    """One benchmark's outcome."""

    benchmark: str
    machine: dict[str, str]
    figures: Any
    tables: tuple[Table, ...]
    plots: dict[str, str] = {}
    """SVG by the name of its file."""
    runs: int | None = None
    """How often each measurement was repeated; None for a part without repetitions."""

    def text(self, *, json: bool) -> str:
        """Return what is printed: JSON without the tables, or the tables."""
        if json:
            figures = {"benchmark": self.benchmark, "machine": self.machine, "figures": self.figures}
            return msgspec.json.format(msgspec.json.encode(figures), indent=2).decode()
        return "\n\n".join(table.markdown() for table in self.tables)


def decades(value: float, lowest: float) -> float:
    """Return how many powers of ten `value` is above `lowest`, for a logarithmic scale."""
    return math.log10(max(value, lowest) / lowest)


def machine(tmux: str | None = None) -> dict[str, str]:
    """Say what was measured on."""
    told = {"python": platform.python_version(), "system": platform.platform(terse=True), "cpus": str(_cpus())}
    if tmux is not None:
        told["tmux"] = subprocess.run([tmux, "-V"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return told


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def progress(words: str) -> None:
    """Say what is being done, on standard error, in one line where that is a terminal; behind the bar of all parts."""
    start, end = ("\r\x1b[K", "") if sys.stderr.isatty() else ("", "\n")
    print(f"{start}{_BAR.get() if words else ''}{words}", end=end, file=sys.stderr, flush=True)


@contextmanager
def progress_of(done: int, parts: int) -> Iterator[None]:
    """Put a bar in front of what is said: so many of the parts are done."""
    filled = _BAR_WIDTH * done // parts
    token = _BAR.set(f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {done + 1}/{parts} ")
    try:
        yield
    finally:
        _BAR.reset(token)


def options(doc: str | None, *, repetitions: int | None = None) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have; none to repeat what gives the same every time."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON instead of tables")
    if repetitions is not None:
        parser.add_argument("--repetitions", type=int, default=repetitions, help="runs of each kind (%(default)s)")
    return parser


def end_when_told() -> None:
    """Let SIGTERM close what is open, as Ctrl-C does: panes that a benchmark has started would print for ever."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def run(parser: argparse.ArgumentParser, measure: Callable[[argparse.Namespace], Report]) -> int:
    """Measure and print; for the end of a benchmark's module."""
    end_when_told()
    arguments = parser.parse_args()
    if getattr(arguments, "repetitions", 1) < 1:
        parser.error("--repetitions must be at least 1")
    report = measure(arguments)
    progress("")
    print(report.text(json=arguments.json))
    return 0
