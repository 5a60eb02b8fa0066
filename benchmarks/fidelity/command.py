"""Fidelity: what came out of recorded sessions, against what their programs said.

Every recording is heard by the stream, by the screen alone and with the agent's own record as a second witness, by the
usual ways of doing without a stream, and by any command of your own (`--reader`, docs/judge.md). One scorer judges them
all; docs/benchmarks.md says what each figure means. Without a folder there are three tables: recorded answers, whole
lives of agents, and every fifth of these lives, which are looked at by no one who makes rules.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import measuring
from benchmarks.fidelity import presenting
from benchmarks.fidelity.judging import Judged, Way, judge_all, recordings, way_name
from benchmarks.fidelity.reader import DEFAULT_SECONDS, CommandReader
from benchmarks.fidelity.summary import Summary
from benchmarks.fidelity.ways import HEARERS, WITHOUT_PROFILES
from benchmarks.measuring import ROOT, Report

CORPUS = ROOT / "tests" / "corpus" / "agents"
LIVES = ROOT / "tests" / "corpus" / "lifecycle"
_HELD_OUT = 5
"""Every so many of the lives, by name, are held out."""


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("corpus", nargs="?", type=Path, help="folder of PROGRAM/SCENARIO recordings, for one table")
    parser.add_argument("--lives", type=Path, default=LIVES, help="folder of whole lives (tests/corpus/lifecycle)")
    parser.add_argument("--only", nargs="+", default=[], metavar="PROGRAM[/SCENARIO]", help="default: all")
    usual = [way for way in HEARERS if way != WITHOUT_PROFILES]
    parser.add_argument(
        "--ways", nargs="+", choices=[*HEARERS], default=usual, metavar="WAY", help=f"default: {', '.join(usual)}"
    )
    parser.add_argument("--without-profiles", action="store_true", help=f"add the way {WITHOUT_PROFILES!r}")
    parser.add_argument(
        "--reader", action="append", default=[], metavar="NAME=COMMAND",
        help="also hear every recording through this command, which prints JSON Lines; {dir} is the recording",
    )  # fmt: skip
    parser.add_argument(
        "--reader-seconds", type=float, default=DEFAULT_SECONDS, help="its time for one recording (%(default)s)"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--output", type=Path, help="write fidelity.md, with every recording, and the plot here")
    parser.add_argument("--document", type=Path, help="renew the generated part of this file, and the plot beside it")
    return parser


def corpora(arguments: argparse.Namespace) -> dict[str, list[Path]]:
    """Return the recordings to judge, by their kind."""
    if arguments.corpus is not None:
        return {"": recordings(arguments.corpus, arguments.only)}
    # Which are held out does not depend on which are asked for.
    every = recordings(arguments.lives)
    held_out = {*every[_HELD_OUT - 1 :: _HELD_OUT]}
    lives = recordings(arguments.lives, arguments.only)
    kinds = {
        "": recordings(CORPUS, arguments.only),
        "lifecycle": [folder for folder in lives if folder not in held_out],
        "hold-out": [folder for folder in lives if folder in held_out],
    }
    return {kind: folders for kind, folders in kinds.items() if folders}


def summaries(judged: Sequence[Judged], ways: Sequence[str]) -> dict[str, Summary]:
    """Return what some recordings come to, by way."""
    return {way: Summary.of([row for row in judged if row.way == way]) for way in ways}


def measure(arguments: argparse.Namespace) -> Report:
    """Judge everything the options ask for; write the files they name."""
    asked = {*arguments.ways, *([WITHOUT_PROFILES] if arguments.without_profiles else [])}
    ways: list[Way] = [way for way in HEARERS if way in asked]
    try:
        ways += [CommandReader.parse(option, arguments.reader_seconds) for option in arguments.reader]
    except ValueError as error:
        raise SystemExit(f"--reader: {error}") from error
    names = [way_name(way) for way in ways]
    if len({*names}) < len(names):
        raise SystemExit(f"--reader: two ways have the same name: {', '.join(names)}")
    kinds = corpora(arguments)
    if not any(kinds.values()):
        raise SystemExit(f"no recording to judge in {arguments.corpus or CORPUS}")
    judged_of = {kind: judge_all(folders, ways, workers=arguments.workers) for kind, folders in kinds.items()}
    totals_of = {kind: summaries(judged, names) for kind, judged in judged_of.items()}
    judged = next(iter(judged_of.values()))
    programs = {
        program: summaries([row for row in judged if row.program == program], names)
        for program in dict.fromkeys(row.program for row in judged)
    }
    every = [row for rows in judged_of.values() for row in rows]
    totals = [presenting.total_table(total, kind) for kind, total in totals_of.items()]
    by_program = presenting.program_table(programs)
    errors = presenting.error_tables(every)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        single = [*errors, *(presenting.recording_table(way, every) for way in ways)]
        page = presenting.page(totals, by_program, single)
        (arguments.output / "fidelity.md").write_text(page, encoding="utf-8")
        (arguments.output / presenting.PLOT).write_text(presenting.plot(programs), encoding="utf-8")
    if arguments.document:
        renewed = presenting.with_block(arguments.document.read_text(encoding="utf-8"), totals, by_program)
        arguments.document.write_text(renewed, encoding="utf-8")
        arguments.document.with_name(presenting.PLOT).write_text(presenting.plot(programs), encoding="utf-8")
    figures = {
        "totals": next(iter(totals_of.values())),
        "programs": programs,
        "recordings": judged,
        "kinds": {kind: total for kind, total in totals_of.items() if kind},
    }
    return Report("fidelity", measuring.machine(), figures, (*totals, by_program, *errors))
