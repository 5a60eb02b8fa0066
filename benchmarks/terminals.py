"""Terminals side by side on 200x50: stock pyte, `TmuxScreen`, and avt (native, xterm-like) where it is installed.

    python -m benchmarks.terminals [--plot speed.svg] [--json]

Speed in MB/s of bytes fed, on generated inputs and on recorded full-screen programs; memory as the growth of a
process of its own, by 10,000 lines of history and by a screen that just stands there. pyte gets a smaller part of the
same bytes, and `raises` where it raises.
"""

import argparse
import gzip
import json
import math
import os
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pyte

from benchmarks import inputs, measuring
from benchmarks.measuring import ROOT, Report, Sample, Table, progress
from benchmarks.plotting import Panel, bars
from benchmarks.screen import as_fed, chunks
from streamrelay.vt import TmuxScreen

COLUMNS, LINES, HISTORY = 200, 50, 10_000
RECORDED = ("claude", "codex", "gemini", "opencode", "textual", "vim")
CHUNK = 4096
_OUTPUT = "%output %0 "
_SCREENS = 300

Work = Callable[[Iterable[bytes]], object]


class Speed(msgspec.Struct, frozen=True):
    """One input; MB/s for each way of rendering it, and `times_pyte` of paired runs (`None` where pyte raises)."""

    input: str
    pyte: Sample | None
    whole: Sample
    chunked: Sample
    with_texts: Sample
    native: Sample | None
    times_pyte: Sample | None


class Weight(msgspec.Struct, frozen=True):
    """One engine: bytes for a history, by input, and for an idle screen."""

    engine: str
    history: dict[str, Sample]
    idle: Sample


def with_pyte(pieces: Iterable[bytes]) -> object:
    screen = pyte.HistoryScreen(COLUMNS, LINES, history=HISTORY)
    stream = pyte.ByteStream(screen)
    for piece in pieces:
        stream.feed(piece)
    return screen


def with_ours(pieces: Iterable[bytes]) -> object:
    screen = TmuxScreen(COLUMNS, LINES, HISTORY)
    for piece in pieces:
        screen.feed(piece)
    return screen


def with_texts(pieces: Iterable[bytes]) -> object:
    screen = TmuxScreen(COLUMNS, LINES, HISTORY)
    texts: list[str] = []
    for piece in pieces:
        screen.feed(piece)
        texts += [row.text for row in screen.take().committed]
    return screen, texts


def with_native(pieces: Iterable[bytes]) -> object:
    import avt

    screen = avt.Vt(COLUMNS, LINES, HISTORY)
    for piece in pieces:
        screen.feed_str(piece.decode(errors="replace"))
    return screen


ENGINES: dict[str, Work] = {"pyte": with_pyte, "TmuxScreen": with_ours}
if find_spec("avt"):
    ENGINES["avt"] = with_native


def recorded() -> bytes:
    """Return what recorded full-screen programs printed, one after the other."""
    printed = bytearray()
    for name in RECORDED:
        for path in sorted((ROOT / "tests" / "corpus" / "agents" / name).glob("*/stream.jsonl.gz")):
            with gzip.open(path, "rt") as lines:
                for line in map(json.loads, lines):
                    if line["dir"] == "out" and line["line"].startswith(_OUTPUT):
                        data = line["line"].removeprefix(_OUTPUT).encode("latin-1")
                        printed += re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), data)
            printed += b"\x1bc"
    return bytes(printed)


def speed(work: Work, pieces: list[bytes]) -> float:
    began = time.perf_counter()
    work(pieces)
    return sum(map(len, pieces)) / 1e6 / (time.perf_counter() - began)


def measure_speed(name: str, data: bytes, arguments: argparse.Namespace) -> Speed:
    few = [data[: int(arguments.pyte_megabytes * 1e6)]]
    ways: dict[str, Callable[[], float]] = {
        "pyte": partial(speed, with_pyte, few),
        "whole": partial(speed, with_ours, [data]),
        "chunked": partial(speed, with_ours, chunks(data, CHUNK)),
        "with_texts": partial(speed, with_texts, chunks(data, CHUNK)),
    }
    if "avt" in ENGINES:
        ways["native"] = partial(speed, with_native, [data])
    runs: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(1, arguments.repetitions + 1):
        progress(f"terminals: {name}, run {number} of {arguments.repetitions}")
        for way, run in list(ways.items()):
            try:
                runs[way].append(run())
            except TypeError:  # pyte, on private forms and surplus parameters
                del ways[way]
    samples = {way: Sample.of(values) for way, values in runs.items() if values}
    pairs = zip(runs["whole"], runs["pyte"], strict=False)
    times = Sample.of(own / stock for own, stock in pairs) if "pyte" in samples else None
    return Speed(
        name,
        samples.get("pyte"),
        samples["whole"],
        samples["chunked"],
        samples["with_texts"],
        samples.get("native"),
        times,
    )


def resident() -> int:
    """Return the bytes of memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held(engine: str) -> Callable[[], int]:
    """Return what tells how much memory is held: Python's own count for our screen, which is small, else all of it."""
    if engine != "TmuxScreen":
        return resident
    tracemalloc.start()
    return lambda: tracemalloc.get_traced_memory()[0]


def weigh(engine: str, what: str) -> float:
    """Return the bytes that one history, or one idle screen, adds to this process."""
    work, memory = ENGINES[engine], held(engine)
    if what == "idle":  # many, so that what imports left behind doesn't matter
        page = b"\r\n".join(b"a line of some program's output, number %d" % number for number in range(LINES))
        work([page])
        before = memory()
        screens = [work([page]) for _ in range(_SCREENS)]
        return (memory() - before) / len(screens)
    # What is read piece by piece leaves nothing behind that would be used again, and so not be counted.
    before = memory()
    screen = work(iter(partial(sys.stdin.buffer.read, CHUNK), b""))
    grown = memory() - before
    assert screen
    return float(grown)


def measure_weight(engine: str, rows: int, repetitions: int) -> Weight:
    def ask(what: str) -> Sample:
        progress(f"terminals: memory of {engine}, {what}")
        command = [sys.executable, "-m", "benchmarks.terminals", "--weigh", engine, what]
        lines = b"" if what == "idle" else inputs.make(what, 1_500_000).data
        fed = as_fed(b"\n".join(lines.split(b"\n")[: rows + LINES]))
        return Sample.of(
            float(subprocess.run(command, cwd=ROOT, capture_output=True, input=fed, check=True).stdout)
            for _ in range(min(repetitions, 3))
        )

    return Weight(engine, {name: ask(name) for name in ("plain", "sgr", "cjk+emoji")}, ask("idle"))


def measure(arguments: argparse.Namespace) -> Report:
    """Run everything the options ask for; write the plot if one is wanted."""
    size = int(arguments.megabytes * 1e6)
    data = {name: as_fed(inputs.make(name, size).data) for name in inputs.NAMES} | {"recorded": recorded()}
    speeds = [measure_speed(name, data[name], arguments) for name in data]
    weights = (
        [measure_weight(engine, arguments.rows, arguments.repetitions) for engine in ENGINES]
        if Path("/proc").is_dir()
        else []
    )
    if arguments.plot:
        arguments.plot.write_text(plot(speeds), encoding="utf-8")

    def cell(sample: Sample | None, digits: int = 1, missing: str = "-") -> str:
        return missing if sample is None else sample.spread(digits)

    speed_table = Table(
        f"Terminals, {COLUMNS}x{LINES}, MB/s: median (lowest-highest)",
        ("input", "pyte", "TmuxScreen", "in 4 KiB", "in 4 KiB, every text", "avt", "times pyte"),
        [
            (
                row.input, cell(row.pyte, 2, "raises"), cell(row.whole), cell(row.chunked), cell(row.with_texts),
                cell(row.native), cell(row.times_pyte, 0),
            )
            for row in speeds
        ],
    )  # fmt: skip
    weight_table = Table(
        f"Memory: {arguments.rows:,} rows of history in MB, one idle screen in KB",
        ("engine", "plain", "sgr", "cjk+emoji", "idle screen"),
        [
            (
                row.engine,
                *(f"{row.history[name].median / 1e6:.1f}" for name in row.history),
                f"{row.idle.median / 1e3:.0f}",
            )
            for row in weights
        ],
    )
    tables = (speed_table, weight_table) if weights else (speed_table,)
    return Report("terminals", measuring.machine(), {"speed": speeds, "memory": weights}, tables)


def plot(speeds: list[Speed]) -> str:
    """Return the speeds as an SVG: bars on a logarithmic scale, 0.1 to 1000 MB/s."""
    ways = {
        "pyte": ("pyte", "#999999"), "whole": ("TmuxScreen", "#2b6cb0"), "chunked": ("TmuxScreen, 4 KiB", "#63b3ed"),
        "native": ("avt (xterm-like)", "#dd6b20"),
    }  # fmt: skip
    samples: list[list[Sample | None]] = [[getattr(row, way) for way in ways] for row in speeds]
    medians = [[None if sample is None else sample.median for sample in group] for group in samples]
    panel = Panel("MB/s, logarithmic", medians, width=lambda value: 120 * (math.log10(max(value, 0.1)) + 1))
    return bars([row.input for row in speeds], [*ways.values()], [panel], labels=100, span=500)


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=7)
    parser.add_argument("--megabytes", type=float, default=4.0, help="of each generated input (%(default)s)")
    parser.add_argument("--pyte-megabytes", type=float, default=0.1, help="what pyte is fed (%(default)s)")
    parser.add_argument("--rows", type=int, default=HISTORY, help="of history that are weighed (%(default)s)")
    parser.add_argument("--plot", type=Path, help="write the speeds as an SVG here")
    return parser


if __name__ == "__main__":
    if sys.argv[1:2] == ["--weigh"]:
        print(weigh(*sys.argv[2:4]))
        raise SystemExit(0)
    raise SystemExit(measuring.run(options(), measure))
