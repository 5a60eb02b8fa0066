"""What holds for every recording: reads may be cut anywhere, nothing later counts, and twice is the same.

A few of each program in every run, all of them where slow tests run.
"""

import hashlib
import os
import random
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pytest

from streamrelay.events import Event, PaneClosed, encode
from streamrelay.recordings import Input, Output, Recording, open_recording, replay

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/*/stream.jsonl.gz"))
PAINTERS = {"aider", "claude", "codex", "gemini", "ink", "opencode", "textual", "textual_inline"}
QUICK_BYTES = 8_000
"""Packed recordings of at most so many bytes are replayed in every run: the smallest of each program."""
QUICK_OF_A_PAINTER = 2


class Held:
    """Entries in memory, of a recording or of part of one."""

    def __init__(self, recording: Recording, entries: Sequence[Input] | None = None) -> None:
        self.columns, self.lines = recording.columns, recording.lines
        self.held = list(recording.entries() if entries is None else entries)

    def entries(self) -> Iterator[Input]:
        yield from self.held


def size(folder: Path) -> int:
    return (folder / "stream.jsonl.gz").stat().st_size


def chosen() -> Iterator[object]:
    for program, folders in groupby(FOLDERS, key=lambda folder: folder.parent.name):
        smallest = sorted(folders, key=size)
        quick = [
            folder
            for folder in smallest[: QUICK_OF_A_PAINTER if program in PAINTERS else 1]
            if size(folder) < QUICK_BYTES
        ]
        for folder in smallest:
            yield pytest.param(
                folder, id=f"{program}-{folder.name}", marks=[] if folder in quick else [pytest.mark.slow]
            )


every_recording = pytest.mark.parametrize("folder", [*chosen()])


def events(recording: Recording) -> list[Event]:
    return list(replay(recording))


def encoded(all_events: Sequence[Event]) -> list[bytes]:
    return [encode(event) for event in all_events]


@pytest.mark.sampled(8)
@pytest.mark.requirement("DEL-09a", "ENG-03b")
@every_recording
def test_reads_may_be_cut_anywhere(folder: Path) -> None:
    recording = Held(open_recording(folder))
    whole = encoded(events(recording))
    choose = random.Random(folder.name)
    for longest in (1, 40):
        cut: list[Input] = []
        for entry in recording.held:
            if not isinstance(entry, Output):
                cut.append(entry)
                continue
            start = 0
            while start < len(entry.data):
                stop = start + choose.randint(1, longest)
                cut.append(Output(entry.t, entry.pane, entry.data[start:stop]))
                start = stop
        assert encoded(events(Held(recording, cut))) == whole


@pytest.mark.sampled(8)
@pytest.mark.requirement("DEL-09a")
@every_recording
def test_nothing_later_than_an_event_influenced_it(folder: Path) -> None:
    """The recording ends at some moment; all that was told before it stays as it is."""
    recording = Held(open_recording(folder))
    whole = events(recording)
    times = [entry.t for entry in recording.held]
    choose = random.Random(folder.name)
    for _ in range(5):
        until = choose.uniform(times[0], times[-1])
        part = events(Held(recording, recording.held[: bisect_left(times, until)]))
        # What is due by itself before the moment comes in both; what the end of the recording brings does not count.
        assert isinstance(part[-1], PaneClosed)
        assert encoded([e for e in part if e.t < until and e.t < part[-1].t]) == encoded(
            [e for e in whole if e.t < until and e.t < part[-1].t]
        )


DIGESTS = """
import hashlib, pathlib, sys
from streamrelay.events import encode
from streamrelay.recordings import open_recording, replay
for folder in sys.stdin.read().splitlines():
    print(hashlib.sha256(b"".join(encode(event) for event in replay(open_recording(pathlib.Path(folder))))).hexdigest())
"""


def quick() -> list[Path]:
    return [one.values[0] for one in chosen() if not one.marks]


@pytest.mark.requirement("DEL-09a")
@pytest.mark.parametrize(
    "folders",
    [quick(), pytest.param(FOLDERS, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])],
    ids=["quick", "all"],
)
def test_other_processes_tell_the_same(folders: list[Path]) -> None:
    """Sets and hashes of strings are ordered differently there: the seed of Python's hashes is another one."""
    assert len(folders) > 5
    told = [
        subprocess.run(
            [sys.executable, "-c", DIGESTS],
            input="\n".join(map(str, folders)),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    here = [hashlib.sha256(b"".join(encoded(events(open_recording(folder))))).hexdigest() for folder in folders]
    assert told == [here, here]
