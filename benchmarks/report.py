"""The benchmarks in one go, and the report: what docs/benchmarks.md explains, with the figures of this machine.

    streamrelay bench [PART...] [--quick] [--output FOLDER]
    python -m benchmarks.report [PART...] [--quick] [--output FOLDER] [--document docs/benchmarks.md]

The report is written from the run itself, after each part: `report.md` with its plots beside it (SVG), and
`report.json` with every figure. `--quick` uses small sizes, so the spread is wide, and measures only `BRIEF` unless
parts are named.
`--document` renews the blocks of the measured parts in a file such as docs/benchmarks.md and leaves all others as they
are. A block of a part begins with the line `<!-- bench: PART -->`, or `<!-- bench: PART, tmux 3.8 -->` for the figures
of that version, and ends with `<!-- end of bench -->`.
"""

import argparse
import importlib
import importlib.util
import re
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

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
_BLOCK = re.compile(
    r"^(?P<begin><!-- bench: (?P<part>\w+)(?:, tmux (?P<tmux>\S+))? -->\n).*?^(?P<end><!-- end of bench -->)$",
    re.DOTALL | re.MULTILINE,
)
_WORDS = {"plain": "plain log lines", "sgr": "coloured log lines", "cjk+emoji": "CJK and emoji", "tui": "repaints"}


def chosen(named: Collection[str], *, quick: bool) -> list[str]:
    """Return the parts to measure, in the order of the report: the named ones, else the brief ones or all."""
    wanted = named or (BRIEF if quick else PARTS)
    return [name for name in PARTS if name in wanted]


def measure(names: Sequence[str], *, quick: bool) -> Iterator[tuple[str, Report]]:
    """Run the parts one after the other, each with its own defaults or with small ones, and yield each report."""
    for number, name in enumerate(names):
        with measuring.progress_of(number, len(names)):
            part: Part = importlib.import_module(f"benchmarks.{name}")
            options = part.options().parse_args(shlex.split(QUICK[name]) if quick else [])
            runs = getattr(options, "repetitions", None)
            yield name, msgspec.structs.replace(part.measure(options), runs=runs)


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


class Block(NamedTuple):
    """A place in a document for the figures of a part; `tmux` is "" for those of any version."""

    part: str
    tmux: str


def blocks_of(document: str) -> list[Block]:
    """Return the blocks of a document, in their order."""
    return [Block(mark["part"], mark["tmux"] or "") for mark in _BLOCK.finditer(document)]


def check_document(document: str, named: Collection[str], parts: Collection[str]) -> None:
    """Raise ValueError if a document has no block for a named part, or none for any part that is to be measured."""
    there = {block.part for block in blocks_of(document)}
    if missing := [name for name in named if name not in there]:
        raise ValueError(f"the document has no block <!-- bench: {missing[0]} --> ... <!-- end of bench -->")
    if not there & set(parts):
        raise ValueError("the document has no block <!-- bench: PART --> ... <!-- end of bench --> of these parts")


def renewed(document: str, reports: Mapping[str, Report]) -> str:
    """Return a document with the figures of these reports in the blocks of their parts; the rest stays as it is.

    A block for a version of tmux takes figures of that version only. Such figures go to no other block of the part.
    """
    blocks = blocks_of(document)

    def replacement(mark: re.Match[str]) -> str:
        block = Block(mark["part"], mark["tmux"] or "")
        if (report := reports.get(block.part)) is None:
            return mark[0]
        measured = report.machine.get("tmux", "")
        own = measured if Block(block.part, measured) in blocks else ""
        return f"{mark['begin']}\n{document_part(report)}\n\n{mark['end']}" if block.tmux == own else mark[0]

    return _BLOCK.sub(replacement, document)


def document_part(report: Report) -> str:
    """Return what the document shows of a part: where it was measured, then its tables."""
    match report.benchmark:
        case "throughput":
            shown = [CEILING, _throughput(report.figures["throughput"]).markdown(titled=False)]
        case "latency":
            printed = _latency(report.figures["printed_to_seen"]).markdown(titled=False)
            shown = [printed, _pasted(report.figures["heard_to_pasted"])]
        case "polling":
            shown = [_compared(report.figures), *(table.markdown(titled=False) for table in report.tables)]
        case _:
            shown = [table.markdown() for table in report.tables]
    return "\n\n".join([_measured(report), *shown])


CEILING = "The ceiling is a reader that attaches the same way and throws everything away."


def _measured(report: Report) -> str:
    told = report.machine
    tmux = f", tmux {told['tmux']}" if "tmux" in told else ""
    runs = "" if report.runs is None else f"; medians of {report.runs} runs, lowest and highest in brackets"
    return f"{told['cpus']} cores ({told['system']}){tmux}, Python {told['python']}{runs}."


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
                *row.runs.spreads(2),
            )
            for row in rows
            if row.transport == first
        ],
    )


def _pasted(pasted: Pasted) -> str:
    median, p99 = pasted.runs.spreads()
    return f"Through a relay, from the last line heard to the paste: {median} ms, p99 {p99} ms."


def _compared(rows: Sequence[Heard]) -> str:
    return f"Polling once a second with libtmux is {compared(rows)}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help=f"small sizes; without PART only {', '.join(BRIEF)}")
    parser.add_argument("--output", type=Path, help="write report.md, its plots and report.json into this folder")
    parser.add_argument("--document", type=Path, help="renew the blocks of the measured parts in this file")
    given = parser.parse_args()
    measuring.end_when_told()
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    parts = chosen(given.parts, quick=given.quick)
    document = given.document and given.document.read_text(encoding="utf-8")
    if document is not None:
        # An unsuitable document fails before the measurements, not after an hour.
        try:
            check_document(document, given.parts, parts)
        except ValueError as error:
            parser.error(f"{given.document}: {error}")
    reports: dict[str, Report] = {}
    for name, report in measure(parts, quick=given.quick):
        # After each part: what ends a run of an hour early leaves what was measured until then.
        reports[name] = report
        if given.output is not None:
            write(given.output, markdown(reports, quick=given.quick), reports)
        if document is not None:
            given.document.write_text(renewed(document, reports), encoding="utf-8")
    measuring.progress("")
    sys.stdout.write(markdown(reports, quick=given.quick))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
