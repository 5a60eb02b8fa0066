"""What a screen and its history may take, counted by Python itself."""

import tracemalloc
from collections.abc import Callable

import pytest

from benchmarks import inputs
from benchmarks.screen import as_fed, chunks
from streamrelay.vt import TmuxScreen

ROWS = 2_000
BYTES_PER_ROW = 300
"""3 MB for 10,000."""
IDLE = 40_000


def grown(make: Callable[[], TmuxScreen]) -> tuple[TmuxScreen, int]:
    """Return what `make` makes and the bytes it takes; made once before, for what all screens share.

    The smaller of two measurements: a cache that all screens share may grow during one of them.
    """
    make()
    made = []
    for _ in range(2):
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            screen = make()
            made.append((screen, tracemalloc.get_traced_memory()[0] - before))
        finally:
            tracemalloc.stop()
    return min(made, key=lambda one: one[1])


@pytest.mark.parametrize("size", [300, 1000, 16384])
@pytest.mark.parametrize("name", ["plain", "sgr", "cjk+emoji"])
def test_rows_of_history(name: str, size: int) -> None:
    lines = inputs.make(name, 400_000).data.split(b"\n")[: ROWS + 50]
    pieces = chunks(as_fed(b"\n".join(lines)), size)

    def make() -> TmuxScreen:
        screen = TmuxScreen(200, 50)
        for piece in pieces:
            screen.feed(piece)
        return screen

    screen, memory = grown(make)
    assert len(screen.history.top) >= ROWS - 1
    assert memory - IDLE < ROWS * BYTES_PER_ROW


@pytest.mark.parametrize("character", "é│世🦜")
def test_a_full_screen_that_rests(character: str) -> None:
    width = 1 if ord(character) < 0x2E80 else 2
    page = "".join(
        f"\x1b[{y};1H" + "".join(f"\x1b[38;5;{(x + y) % 256}m{character * 10}" for x in range(20 // width))
        for y in range(1, 51)
    ).encode()

    def make() -> TmuxScreen:
        screen = TmuxScreen(200, 50)
        screen.feed(page)
        screen.rest()
        return screen

    screen, memory = grown(make)
    assert memory < IDLE
    assert screen.text() == [character * (200 // width)] * 50
