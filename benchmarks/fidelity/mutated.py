"""Recordings painted differently: `python -m benchmarks.fidelity.mutated --help`.

Every recording is heard as it is, and with each mutation of `streamrelay.testing.mutations`: other glyphs, words,
boxes, signals. What is lost then was learned by heart. Without profiles by default: those know their programs' looks.
"""

import argparse
import multiprocessing
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import msgspec

from benchmarks import measuring
from benchmarks.fidelity.command import CORPUS
from benchmarks.fidelity.judging import Judged, name, recordings
from benchmarks.fidelity.scoring import Truth, score
from benchmarks.fidelity.summary import Summary
from benchmarks.fidelity.ways import streamed
from benchmarks.measuring import Report, Table
from streamrelay.events import Event, Text
from streamrelay.recordings import open_recording
from streamrelay.testing.mutations import MUTATIONS, Mutated, Mutation

UNMUTATED = Mutation("as recorded")
DECORATION = "●⏺✦◆▣■◉○ "
"""Glyphs that are to be gone from what is heard, whatever stands for them; all others are compared as recorded."""


def judge(folder: Path, mutation: Mutation, *, profiles: bool) -> Judged:
    """Hear one recording as the mutation shows it, and judge it by a truth that is mutated alike."""
    truth = Truth.of(folder)
    restored = str.maketrans({new: old for old, new in reversed(mutation.glyphs.items()) if old not in DECORATION})

    def shown(text: str | None) -> str | None:
        return text and mutation.text(text).translate(restored)

    def later(time: float | None) -> float | None:
        return time and time * mutation.pace

    answers = [
        msgspec.structs.replace(one, text=shown(one.text), t0=later(one.t0), t1=later(one.t1)) for one in truth.truth
    ]
    injected = [msgspec.structs.replace(one, text=shown(one.text)) for one in truth.injected]
    unpainted = [shown(line) or "" for line in truth.unpainted]
    told = msgspec.structs.replace(truth, truth=answers, injected=injected, unpainted=unpainted)
    events = streamed(Mutated(open_recording(folder), mutation), profiles=profiles)
    return Judged(name(folder), mutation.name, score(told, [*_restored(events, restored)]))


def _restored(events: Iterator[Event], glyphs: Mapping[int, str]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, Text):
            event.text = event.text.translate(glyphs)
        yield event


def sampled(seed: int, count: int) -> Iterator[Mutation]:
    """Yield `count` mutations that each are one of every family at once, the same ones for the same seed."""
    choice = random.Random(seed)
    families = [[*family] for _, family in groupby(MUTATIONS.values(), lambda one: one.name.split(":")[0])]
    for number in range(1, count + 1):
        mutation = choice.choice(families[0])
        for family in families[1:]:
            mutation |= choice.choice(family)
        yield replace(mutation, name=f"all at once, {seed}.{number}")


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="folder of PROGRAM/SCENARIO recordings")
    parser.add_argument("--only", nargs="+", default=[], metavar="PROGRAM[/SCENARIO]", help="default: all")
    parser.add_argument("--mutations", nargs="+", default=[""], metavar="WORD", help="those with such a word (all)")
    parser.add_argument("--sample", type=int, default=0, help="that many that change everything at once, besides")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (%(default)s)")
    parser.add_argument("--profiles", action="store_true", help="with what streamrelay comes with of single programs")
    parser.add_argument("--workers", type=int, default=2, help="processes (%(default)s)")
    return parser


def measure(arguments: argparse.Namespace) -> Report:
    """Judge everything the options ask for."""
    folders = recordings(arguments.corpus, arguments.only)
    if not folders:
        raise SystemExit(f"no recording to judge in {arguments.corpus}")
    asked = [one for one in MUTATIONS.values() if any(word in one.name for word in arguments.mutations)]
    mutations = [UNMUTATED, *asked, *sampled(arguments.seed, arguments.sample)]
    judged: dict[str, list[Judged]] = {}
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.workers, mp_context=spawning) as pool:
        for mutation in mutations:
            measuring.progress(mutation.name)
            jobs = [pool.submit(judge, folder, mutation, profiles=arguments.profiles) for folder in folders]
            judged[mutation.name] = [job.result() for job in jobs]
    figures = {mutation: {"total": Summary.of(rows), "recordings": rows} for mutation, rows in judged.items()}
    return Report("mutated", measuring.machine(), figures, (table(judged), losses(judged)))


def table(judged: Mapping[str, Sequence[Judged]]) -> Table:
    """Return one row for each mutation."""
    head = ("painted", "recall", "exact lines", "noise words a run", "leaking", "duplicating", "missing", "early")
    rows = []
    for mutation, heard in judged.items():
        total = Summary.of(heard)
        counts = (total.leaking, total.duplicating, total.ends_missing, total.early_ends)
        rows.append((mutation, f"{total.recall:.3f}", f"{total.lines:.3f}", f"{total.noise:.2f}", *map(str, counts)))
    return Table(f"The same {len(judged[UNMUTATED.name])} recordings, painted differently", head, rows)


def losses(judged: Mapping[str, Sequence[Judged]]) -> Table:
    """Return one row for each recording that is heard worse than as it was recorded."""
    rows = []
    for mutation, heard in judged.items():
        for before, after in zip(judged[UNMUTATED.name], heard, strict=True):
            was, now = before.score, after.score
            worse = (
                now.recall < was.recall, now.lines < was.lines, now.noise > was.noise, now.leak > was.leak,
                now.dup > was.dup, now.ends_missing > was.ends_missing, now.early_ends > was.early_ends,
            )  # fmt: skip
            if any(worse):
                shares = (f"{was.recall:.2f} to {now.recall:.2f}", f"{was.lines:.2f} to {now.lines:.2f}")
                counts = (now.noise - was.noise, now.dup - was.dup, now.ends_missing, now.early_ends)
                rows.append((mutation, after.recording, *shares, f"{now.leak:.2f}", *map(str, counts)))
    head = ("painted", "recording", "recall", "exact lines", "leak", "more noise", "more dup", "missing", "early")
    return Table("Heard worse", head, rows)


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
