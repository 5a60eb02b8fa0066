"""The benchmarks in one go, and the report: what docs/benchmarks.md explains, with the figures of this machine.

    streamrelay bench [PART...] [--quick] [--output FOLDER]
    python -m benchmarks.report [PART...] [--quick] [--output FOLDER] [--document docs/benchmarks.md]

The report is written from the run itself: `report.md` with its plots beside it (SVG), and `report.json` with every
figure. `--quick` uses small sizes, so the spread is wide, and measures only `BRIEF` unless parts are named.
`--document` renews the part of a file between `<!-- bench: ... -->` and `<!-- end of bench -->`: the figures with which
docs/benchmarks.md begins.
"""

import argparse
import importlib
import importlib.util
import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from benchmarks import measuring
from benchmarks.latency import Pasted, Printed
from benchmarks.measuring import Report, Table
from benchmarks.polling import Heard, compared
from benchmarks.throughput import Throughput


class Part(Protocol):
    """A module with a benchmark: its options, and the measuring with them."""

    def options(self) -> argparse.ArgumentParser: ...
    def measure(self, arguments: argparse.Namespace, /) -> Report: ...


QUICK = {
    "throughput": "--repetitions 1 --transports pipes --panes 1 --megabytes 2",
    "latency": "--repetitions 1 --lines 60 --deliveries 20 --transports pipes",
    "relaying": "--repetitions 1 --listeners 1 20 --lines 5",
    "gathering": "--repetitions 1 --gatherings 1 --beats 2 --interval 0.8",
    "daemon": "--repetitions 1 --events 2000 --subscribers 1 10",
    "polling": "--repetitions 1 --panes 20 --seconds 6 --interval 0.8",
    "agents": "--repetitions 1 --agents 6 --seconds 4",
    "scale": "--repetitions 1 --idle 1 100 --chattering 20 --seconds 3",
    "memory": "--seconds 12",
    "soak": "--seconds 15",
    "screen": "--repetitions 3 --megabytes 2 --pyte-megabytes 0.05",
    "terminals": "--repetitions 2 --megabytes 1 --pyte-megabytes 0.05",
    "screen_memory": "--repetitions 1 --rows 1000",
    "fidelity": "--only cat bash python claude codex/short ink",
    "council": "--repetitions 1 --seconds 4",
    "federation": "--repetitions 1 --sizes 100",
    "libtmux_commands": "--repetitions 3",
    "prompt": "--repetitions 3",
    "agents_replay": "--agents 5 --seconds 2",
    "scaling": "--nodes 10 100",
    "server_deaths": "--rounds 1",
}
"""Every part, in the order of the report, with its options for `--quick`."""
PARTS = tuple(name for name in QUICK if importlib.util.find_spec(f"benchmarks.{name}"))
BRIEF = ("throughput", "latency", "relaying")
"""The parts that `--quick` measures if none is named."""
_BLOCK = re.compile(r"(<!-- bench: [^\n]*-->\n).*?(<!-- end of bench -->)", re.DOTALL)
_WORDS = {"plain": "plain log lines", "sgr": "coloured log lines", "cjk+emoji": "CJK and emoji", "tui": "repaints"}


def chosen(named: Collection[str], *, quick: bool) -> list[str]:
    """Return the parts to measure, in the order of the report: the named ones, else the brief ones or all."""
    wanted = named or (BRIEF if quick else PARTS)
    return [name for name in PARTS if name in wanted]


def measure(names: Sequence[str], *, quick: bool) -> dict[str, Report]:
    """Run the parts one after the other, each with its own defaults or with small ones."""
    reports: dict[str, Report] = {}
    for number, name in enumerate(names):
        with measuring.progress_of(number, len(names)):
            part: Part = importlib.import_module(f"benchmarks.{name}")
            options = part.options().parse_args(shlex.split(QUICK[name]) if quick else [])
            reports[name] = part.measure(options)
    return reports


def markdown(reports: Mapping[str, Report], *, quick: bool) -> str:
    """Return the page, its plots as links to files beside it."""
    machine = {name: value for report in reports.values() for name, value in report.machine.items()}
    told = ", ".join(f"{name} {value}" for name, value in machine.items())
    kind = "quick" if quick else "full"
    parts = [f"# Benchmarks, {kind} run of {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", told]
    for name, report in reports.items():
        plots = [f"![{name}]({file})" for file in report.plots]
        parts += [f"## {name}", *(table.markdown() for table in report.tables), *plots]
    return "\n\n".join(parts) + "\n"


def write(folder: Path, page: str, reports: Mapping[str, Report]) -> None:
    """Write the page, its plots and all figures."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(page, encoding="utf-8")
    for report in reports.values():
        for file, plot in report.plots.items():
            (folder / file).write_text(plot, encoding="utf-8")
    every = ",\n".join(report.text(json=True) for report in reports.values())
    (folder / "report.json").write_text(f"[{every}]\n", encoding="utf-8")


def summary(reports: Mapping[str, Report]) -> str:
    """Return the tables of docs/benchmarks.md, of the parts that were run."""
    parts = [_machine(reports)]
    if "throughput" in reports:
        parts.append(_throughput(reports["throughput"].figures["throughput"]).markdown(titled=False))
    if "latency" in reports:
        figures = reports["latency"].figures
        parts += [_latency(figures["printed_to_seen"]).markdown(titled=False), _pasted(figures["heard_to_pasted"])]
    if "polling" in reports:
        parts += [_polling(reports["polling"].figures).markdown(titled=False), _compared(reports["polling"].figures)]
    if "scale" in reports:
        parts += [table.markdown() for table in reports["scale"].tables]
    return "\n\n".join(parts)


def _machine(reports: Mapping[str, Report]) -> str:
    told = {name: value for report in reports.values() for name, value in report.machine.items()}
    tmux = f", tmux {told['tmux']}" if "tmux" in told else ""
    return (
        f"{told['cpus']} cores ({told['system']}){tmux}, Python {told['python']}; medians, lowest and highest in "
        "brackets.\nThe ceiling is a reader that attaches the same way and throws everything away."
    )


def _throughput(rows: Sequence[Throughput]) -> Table:
    first = rows[0].transport
    return Table(
        "Throughput",
        ("what is printed", "panes", "full stream, MB/s", "discarding reader, MB/s", "ratio", "lost", "repeated"),
        [
            (
                _WORDS[row.input], str(row.panes), row.delta.spread(), row.discard.spread(), row.ratio.spread(2),
                *(("-", "-") if row.lines is None else (str(row.lost), str(row.repeated))),
            )
            for row in rows if row.transport == first
        ],
    )  # fmt: skip


def _latency(rows: Sequence[Printed]) -> Table:
    first = rows[0].transport
    names = {"discard": "discarding reader", "delta": "the stream"}
    return Table(
        "Latency",
        ("`write()` in the pane -> event, ms", "median", "p99"),
        [
            (
                f"{names[row.reader]}, {'another pane floods' if row.beside == 'flood' else 'nothing else happens'}",
                row.latency.spread(2),
                f"{row.latency.p99:.2f}",
            )
            for row in rows
            if row.transport == first
        ],
    )


def _pasted(pasted: Pasted) -> str:
    latency = pasted.latency
    return f"Through a relay, from the last line heard to the paste: {latency.spread()} ms (p99 {latency.p99:.1f})."


def _polling(rows: Sequence[Heard]) -> Table:
    return Table(
        "Polling",
        ("heard by", "median ms", "p99 ms", "of lines", "lost", "doubled", "garbled", "CPU s"),
        [
            (
                row.way,
                *(("-", "-") if row.latency is None else (f"{row.latency.median:.1f}", f"{row.latency.p99:.0f}")),
                *map(str, (row.printed, row.lost, row.doubled, row.garbled)),
                row.cpu.spread(2),
            )
            for row in rows
        ],
    )


def _compared(rows: Sequence[Heard]) -> str:
    return f"Polling once a second with libtmux is {compared(rows)}."


def renewed(document: str, block: str) -> str:
    """Return a document whose generated part is `block`; raises ValueError where it has no such part."""
    replaced, times = _BLOCK.subn(lambda marks: f"{marks[1]}\n{block}\n\n{marks[2]}", document)
    if times != 1:
        raise ValueError("the document has no part between <!-- bench: ... --> and <!-- end of bench -->")
    return replaced


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help=f"small sizes; without PART only {', '.join(BRIEF)}")
    parser.add_argument("--output", type=Path, help="write report.md, its plots and report.json into this folder")
    parser.add_argument("--document", type=Path, help="renew the generated part of this file")
    given = parser.parse_args()
    measuring.end_when_told()
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    document = given.document and given.document.read_text(encoding="utf-8")
    if document is not None:
        renewed(document, "")  # an unsuitable document fails before the measurements, not after an hour
    reports = measure(chosen(given.parts, quick=given.quick), quick=given.quick)
    measuring.progress("")
    page = markdown(reports, quick=given.quick)
    if given.output is not None:
        write(given.output, page, reports)
    if document is not None:
        given.document.write_text(renewed(document, summary(reports)), encoding="utf-8")
    sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
