"""Every recording of a corpus, heard in every way asked for and judged, in several processes."""

import multiprocessing
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, as_completed
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.fidelity.reader import CommandReader
from benchmarks.fidelity.scoring import Score, Truth, score
from benchmarks.fidelity.ways import HEARERS, WITH_WITNESSES
from streamrelay.recordings import open_recording

Way = str | CommandReader
"""One of ours by its name, or a command."""

_FULL_SCREEN = frozenset({"less", "vim", "fzf"})
"""Programs of which nothing is to be relayed."""
_OF_DELIVERY = frozenset({"enterdelay"})
"""Scenarios recorded to see when an Enter submits, not what is said."""


class Judged(msgspec.Struct, frozen=True):
    """One recording, heard in one way; with an `error` where it could not be, and then the score of nothing."""

    recording: str
    way: str
    score: Score
    error: str | None = None

    @property
    def program(self) -> str:
        """The first half of the recording's name."""
        return self.recording.partition("/")[0]


def recordings(corpus: Path, only: Sequence[str] = ()) -> list[Path]:
    """Return the folders of all recordings with a truth to judge by, or of some programs or PROGRAM/SCENARIOs."""
    return [
        folder
        for folder in sorted(meta.parent for meta in corpus.glob("*/*/meta.json"))
        if folder.parent.name not in _FULL_SCREEN
        and folder.name not in _OF_DELIVERY
        and (not only or folder.parent.name in only or name(folder) in only)
        and Truth.of(folder).checkable
    ]


def name(folder: Path) -> str:
    """Return PROGRAM/SCENARIO."""
    return f"{folder.parent.name}/{folder.name}"


def way_name(way: Way) -> str:
    """Return what a way is called in the tables."""
    return way if isinstance(way, str) else way.name


def judge(folder: Path, way: Way) -> Judged:
    """Hear one recording and judge what was heard."""
    truth = Truth.of(folder)
    if not isinstance(way, str):
        return Judged(name(folder), way.name, score(truth, way.events(folder)))
    if way == WITH_WITNESSES and truth.agent:
        # What was never painted, or before the attach, is in the record.
        truth = msgspec.structs.replace(truth, unpainted=[], stood={})
    return Judged(name(folder), way, score(truth, [*HEARERS[way](open_recording(folder), truth)]))


def judge_all(folders: Iterable[Path], ways: Iterable[Way], *, workers: int) -> list[Judged]:
    """Judge every recording in every way, with a progress bar on standard error; in the order given."""
    jobs = [(folder, way) for folder in folders for way in ways]
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    bar = Progress(TextColumn("fidelity"), *columns, console=Console(stderr=True), transient=True)
    # The bar has a thread, and a process with threads cannot be forked safely.
    spawning = multiprocessing.get_context("spawn")
    with bar, ProcessPoolExecutor(workers, mp_context=spawning) as pool:
        task = bar.add_task("", total=len(jobs))
        futures = {pool.submit(judge, *job): job for job in jobs}
        for future in as_completed(futures):
            folder, way = futures[future]
            bar.update(task, advance=1, description=f"{name(folder)}, {way_name(way)}")
    return [_outcome(future, *job) for future, job in futures.items()]


def _outcome(future: Future[Judged], folder: Path, way: Way) -> Judged:
    """Return the result; a recording that cannot be heard, for whatever reason, has the score of nothing."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, BrokenExecutor):  # a worker died: that tells of the machine, and not of this recording
        raise error
    return Judged(name(folder), way_name(way), Score(), f"{type(error).__name__}: {error}")
