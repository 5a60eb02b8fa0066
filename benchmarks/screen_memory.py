"""What screens hold in memory: the history by the pieces it was fed in, and one screen at work and compacted.

    python -m benchmarks.screen_memory [--rows 10000] [--repetitions 5] [--json]

Bytes are counted by tracemalloc, so without the allocator's own. Compacting (`TmuxScreen.rest`) and the first look
after it are timed on the same screens.
"""

import argparse
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator

import msgspec

from benchmarks import inputs, measuring
from benchmarks.measuring import Report, Sample, Table, progress
from streamrelay.vt import TmuxScreen

COLUMNS, LINES = 200, 50
PIECES = (300, 1000, 4096)
HISTORIES = ("plain", "sgr", "cjk+emoji")
_ROW = 120
"""Bytes of input for a row, at the least: more is made than the history takes."""


class HistoryMemory(msgspec.Struct, frozen=True):
    """Megabytes of a full history, one value a run."""

    input: str
    piece: int
    megabytes: Sample


class ScreenMemory(msgspec.Struct, frozen=True):
    """Kilobytes of one screen at work and compacted, and the milliseconds of compacting and of the look after it."""

    screen: str
    at_work: Sample
    compacted: Sample
    compacting: Sample
    look: Sample


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def _traced(make: Callable[[], TmuxScreen]) -> tuple[TmuxScreen, int]:
    """Return a screen and the bytes it holds."""
    before = tracemalloc.get_traced_memory()[0]
    screen = make()
    return screen, tracemalloc.get_traced_memory()[0] - before


def history(name: str, piece: int, rows: int, repetitions: int) -> HistoryMemory:
    """Fill a history with an input in such pieces."""
    data = inputs.make(name, rows * _ROW).data

    def fill() -> TmuxScreen:
        screen = TmuxScreen(COLUMNS, LINES, rows)
        for part in _pieces(data, piece):
            screen.feed(part)
            screen.take()
        return screen

    taken = []
    for _ in range(repetitions):
        tracemalloc.start()
        taken.append(_traced(fill)[1] / 1e6)
        tracemalloc.stop()
    return HistoryMemory(name, piece, Sample.of(taken))


def painted(kind: str) -> bytes:
    """Return what paints a screen: nothing, text on every third row, or every cell in its own look."""
    choose = random.Random(7)
    rows = []
    for y in range(1, LINES + 1):
        if kind == "text" and y % 3 == 0:
            rows.append(f"\x1b[{y}H" + "some words of a text " * 8)
        elif kind == "every cell":
            cells = (f"\x1b[38;5;{choose.randrange(256)}m{chr(choose.randrange(0x21, 0x7F))}" for _ in range(COLUMNS))
            rows.append(f"\x1b[{y}H" + "".join(cells))
    return "".join(rows).encode()


def screen(kind: str, repetitions: int) -> ScreenMemory:
    """Paint a screen, compact it, and look at it again."""
    data = painted(kind)
    at_work, compacted, compacting, look = [], [], [], []

    def paint() -> TmuxScreen:
        made = TmuxScreen(COLUMNS, LINES, 100)
        made.feed(data)
        made.take()
        return made

    for _ in range(repetitions):
        tracemalloc.start()
        made, held = _traced(paint)
        before = tracemalloc.get_traced_memory()[0]
        made.rest()
        at_work.append(held / 1e3)
        compacted.append((held + tracemalloc.get_traced_memory()[0] - before) / 1e3)
        tracemalloc.stop()
        made = paint()
        began = time.perf_counter()
        made.rest()
        compacting.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        made.feed(b"\x1b[Hx")
        made.take()
        look.append((time.perf_counter() - began) * 1e3)
    return ScreenMemory(kind, *map(Sample.of, (at_work, compacted, compacting, look)))


def measure(arguments: argparse.Namespace) -> Report:
    """Measure all histories and screens."""
    histories = []
    for name in HISTORIES:
        for piece in PIECES:
            progress(f"screen_memory: {name} in pieces of {piece} bytes")
            histories.append(history(name, piece, arguments.rows, arguments.repetitions))
    screens = [screen(kind, arguments.repetitions) for kind in ("blank", "text", "every cell")]
    of_histories = Table(
        f"History of {arguments.rows:,} rows, {COLUMNS}x{LINES}, MB",
        ("input", "pieces, bytes", "MB"),
        [(one.input, str(one.piece), one.megabytes.spread()) for one in histories],
    )
    of_screens = Table(
        f"One screen, {COLUMNS}x{LINES}",
        ("screen", "at work, KB", "compacted, KB", "compacting, ms", "the look after it, ms"),
        [
            (one.screen, one.at_work.spread(0), one.compacted.spread(0), one.compacting.spread(2), one.look.spread(2))
            for one in screens
        ],
    )
    figures = {"histories": histories, "screens": screens}
    return Report("screen_memory", measuring.machine(), figures, (of_histories, of_screens))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--rows", type=int, default=10_000, help="of each history (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
