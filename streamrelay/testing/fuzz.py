"""Hostile input for terminals: made-up streams and random bytes, by the hundred thousand.

    python -m streamrelay.testing.fuzz [--inputs 100000] [--megabytes 100] [--seed 0]

Every stream is fed whole and in pieces, and must show the same both times; nothing may raise, and whatever the bytes
were, the engine keeps its bounds. The same pieces of input are what the test suite uses a small share of.
"""

import argparse
import random
import sys
from collections.abc import Sequence

from streamrelay.vt import TmuxScreen

_PIECES: Sequence[bytes] = (
    b"text", b"a longer run of text that is wrapped on most screens", b"\r\n", b"\n", b"\r", b"\b", b"\t", b"\x0b",
    b"\x0e", b"\x0f", b"\a", b"\x18", b"\x1a", b"\x00", b"\x7f", b"\x85", b"\xff", b"\xe4\xb8", b"\xf0\x9f\x91",
    "世界".encode(), "e\u0301".encode(), "⚠\ufe0f".encode(), "👩\u200d💻".encode(), "\u200d".encode(), "🏽".encode(),
    "\U000f0000\ufffe\uffff\ufdd0".encode(), b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX",
    b"\x1bk", b"\x1b\\", b"\x1b(0", b"\x1b(B", b"\x1b)0", b"\x1b#8", b"\x1b7", b"\x1b8", b"\x1bc", b"\x1bM", b"\x1bD",
    b"\x1bE", b"\x1bH", b"\x1b[m", b"\x1b[1;31m", b"\x1b[44m", b"\x1b[38;2;1;2;3m", b"\x1b[4:3m", b"\x1b[?1049h",
    b"\x1b[?1049l", b"\x1b[?47h", b"\x1b[?6h", b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?3h", b"\x1b[4h", b"\x1b[4l",
    b"\x1b[?2004h", b"\x1b[?2026h", b"\x1b[2;4r", b"\x1b[r", b"\x1b[2J", b"\x1b[3J", b"\x1b[1J", b"\x1b[K", b"\x1b[1K",
    b"\x1b[9999999999m", b"\x1b[99999b", b"\x1b[99999@", b"\x1b[99999P", b"\x1b[99999L", b"\x1b[99999M", b"\x1b[99999S",
    b"\x1b[99999T", b"\x1b[99999X", b"\x1b[H", b"\x1b[9;9H", b"\x1b[2A", b"\x1b[3B", b"\x1b[4C", b"\x1b[5D", b"\x1b[g",
    b"\x1b[3g", b"\x1b[Z", b"0", b"9", b";", b":", b"?", b">", b" ", b"h", b"l", b"J", b"q", b"\x1b]0;", b"\x1b]52;c;",
    b"\x1b[31mline of a log\x1b[0m with its end\r\n" * 12, "zeile 世界 ⚠\ufe0f\r\n".encode() * 20,
)  # fmt: skip


def stream(choose: random.Random, *, pieces: int = 40) -> bytes:
    """Return one made-up stream: sequences, halves of them, text and noise."""
    few = choose.sample(_PIECES, choose.randint(2, 30))
    return b"".join(
        choose.choice(few) if choose.random() < 0.9 else choose.randbytes(choose.randint(1, 6))
        for _ in range(choose.randint(1, pieces))
    )


def shown(screen: TmuxScreen) -> tuple[object, ...]:
    """Return the rows and the history of a screen; raises `AssertionError` if it exceeds its bounds."""
    rows = [screen.row(y) for y in range(screen.lines)]
    cursor = screen.cursor.x, screen.cursor.y
    bounded = (
        0 <= cursor[0] <= screen.columns
        and 0 <= cursor[1] < screen.lines
        and all(len(row.cells) <= screen.columns for row in rows)
        and len(screen.history.top) <= screen.history.size
    )
    if not bounded:
        raise AssertionError("a bound was broken")
    return [(row.text, row.wrapped, row.runs) for row in rows], screen.history_text(), cursor, screen.modes


def check(data: bytes, choose: random.Random) -> None:
    """Feed `data` to two screens, cut differently; raises `AssertionError` if they differ."""
    columns, lines, history = choose.randint(1, 30), choose.randint(1, 8), choose.choice((0, 5, 1000))
    whole, cut = (TmuxScreen(columns, lines, history) for _ in range(2))
    whole.feed(data)
    start = 0
    while start < len(data):
        stop = start + choose.choice((1, 2, 7, 500))
        cut.feed(data[start:stop])
        if choose.random() < 0.1:
            cut.rest()
        start = stop
    if shown(whole) != shown(cut):
        raise AssertionError(f"cutting changes what {data!r} shows on {columns}x{lines}")


def random_bytes(megabytes: int, choose: random.Random) -> None:
    """Feed random bytes, a megabyte at a time, and take what comes."""
    screen = TmuxScreen(80, 24, 2000)
    for number in range(megabytes):
        screen.feed(choose.randbytes(1_000_000))
        if number % 3:
            screen.take()
        shown(screen)
        _tell(f"{number + 1} MB of random bytes")


def _tell(words: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words}")


def main() -> int:
    """Run it all and print what was done and how much memory it took at most."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000, help="made-up streams (%(default)s)")
    parser.add_argument("--megabytes", type=int, default=100, help="random bytes (%(default)s)")
    parser.add_argument("--seed", default="0", help="(%(default)s)")
    given = parser.parse_args()
    choose = random.Random(given.seed)  # noqa: S311  # nothing secret: the same seed makes the same streams
    for number in range(given.inputs):
        check(stream(choose), choose)
        if number % 500 == 0:
            _tell(f"{number} streams")
    random_bytes(given.megabytes, choose)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{given.inputs} streams, {given.megabytes} MB of random bytes: nothing raised, peak {peak} MB\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
