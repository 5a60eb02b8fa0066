"""Fidelity: what came out of recorded sessions, against what their programs said.

Every recording is heard by the stream and by the usual ways of doing without one, and one scorer judges them all;
docs/benchmarks.md says what each figure means.
"""

import argparse
from pathlib import Path

from benchmarks import measuring
from benchmarks.fidelity import presenting
from benchmarks.fidelity.judging import judge_all, recordings
from benchmarks.fidelity.summary import Summary
from benchmarks.fidelity.ways import HEARERS, WITHOUT_PROFILES
from benchmarks.measuring import ROOT, Report

CORPUS = ROOT / "tests" / "corpus" / "agents"


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="folder of PROGRAM/SCENARIO recordings")
    parser.add_argument("--only", nargs="+", default=[], metavar="PROGRAM[/SCENARIO]", help="default: all")
    usual = [way for way in HEARERS if way != WITHOUT_PROFILES]
    parser.add_argument(
        "--ways", nargs="+", choices=[*HEARERS], default=usual, metavar="WAY", help=f"default: {', '.join(usual)}"
    )
    parser.add_argument("--without-profiles", action="store_true", help=f"add the way {WITHOUT_PROFILES!r}")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--output", type=Path, help="write fidelity.md, with every recording, and the plot here")
    parser.add_argument("--document", type=Path, help="renew the generated part of this file, and the plot beside it")
    return parser


def measure(arguments: argparse.Namespace) -> Report:
    """Judge everything the options ask for; write the files they name."""
    asked = {*arguments.ways, *([WITHOUT_PROFILES] if arguments.without_profiles else [])}
    ways = [way for way in HEARERS if way in asked]
    folders = recordings(arguments.corpus, arguments.only)
    if not folders:
        raise SystemExit(f"no recording to judge in {arguments.corpus}")
    judged = judge_all(folders, ways, workers=arguments.workers)
    totals = {way: Summary.of([row for row in judged if row.way == way]) for way in ways}
    programs = {
        program: {way: Summary.of([row for row in judged if (row.program, row.way) == (program, way)]) for way in ways}
        for program in dict.fromkeys(row.program for row in judged)
    }
    tables = (presenting.total_table(totals), presenting.program_table(programs))
    errors = presenting.error_tables(judged)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        every = [*errors, *(presenting.recording_table(way, judged) for way in ways)]
        (arguments.output / "fidelity.md").write_text(presenting.page(*tables, every), encoding="utf-8")
        (arguments.output / presenting.PLOT).write_text(presenting.plot(programs), encoding="utf-8")
    if arguments.document:
        renewed = presenting.with_block(arguments.document.read_text(encoding="utf-8"), *tables)
        arguments.document.write_text(renewed, encoding="utf-8")
        arguments.document.with_name(presenting.PLOT).write_text(presenting.plot(programs), encoding="utf-8")
    figures = {"totals": totals, "programs": programs, "recordings": judged}
    return Report("fidelity", measuring.machine(), figures, (*tables, *errors))
