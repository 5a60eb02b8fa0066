"""Every benchmark in one go, as one Markdown page: what docs/benchmarks.md explains, with the figures of this machine.

    python -m benchmarks.report [--full] [--output FILE]

Without `--full` everything is small: minutes become one or two, and the spread shows it.
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import fidelity, latency, measuring, scale, screen, throughput
from benchmarks.measuring import Report

_QUICK = {
    "throughput": "--repetitions 3 --megabytes 4",
    "latency": "--repetitions 1 --lines 100 --deliveries 30",
    "scale": "--repetitions 1 --idle 1 100 --chattering 20 --seconds 3",
    "screen": "--repetitions 3 --megabytes 2 --pyte-megabytes 0.05",
    "fidelity": "--only cat bash python claude codex/short ink",
}


def measure(*, full: bool) -> list[Report]:
    """Run every benchmark with its own defaults, or with small ones."""
    modules = {"throughput": throughput, "latency": latency, "scale": scale, "screen": screen, "fidelity": fidelity}
    return [
        module.measure(module.options().parse_args([] if full else _QUICK[name].split()))
        for name, module in modules.items()
    ]


def markdown(reports: Sequence[Report], *, full: bool) -> str:
    """Return the page."""
    machine = {name: value for report in reports for name, value in report.machine.items()}
    told = ", ".join(f"{name} {value}" for name, value in machine.items())
    head = f"# Benchmarks, {'full' if full else 'quick'} run of {datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n\n{told}"
    return "\n\n".join((head, *(f"## {report.benchmark}\n\n{report.text(json=False)}" for report in reports))) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the repetitions and sizes the benchmarks have by default")
    parser.add_argument("--output", type=Path, help="write the page here instead of to standard output")
    given = parser.parse_args()
    page = markdown(measure(full=given.full), full=given.full)
    measuring.progress("")
    if given.output is None:
        sys.stdout.write(page)
    else:
        given.output.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
