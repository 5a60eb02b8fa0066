"""What following a conversation costs on top of its terminal: floods of repaints, on both screens.

The figure is a ratio in one run: bytes a second of the whole stream by bytes a second of the terminal that draws them.
"""

import gc
import time
from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import inputs
from benchmarks.screen import as_fed, chunks
from streamrelay.delta.inputs import Output, Pasted, Submitted, Waited
from streamrelay.delta.stream import DeltaStream
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Engine

_SIZE = 1_000_000
_READ = 16_384
_ROUNDS = 5


def _linear(name: str) -> list[bytes]:
    return chunks(as_fed(inputs.make(name, _SIZE).data), _READ)


def _repaint(*, alternate: bool) -> list[bytes]:
    """A composer is asked for first, as every program with a transcript does."""
    begin = (b"\x1b[?1049h" if alternate else b"") + b"\x1b[?2004h"
    return [begin, *chunks(as_fed(inputs.make("tui", _SIZE).data), _READ)]


def _scrolling() -> list[bytes]:
    """A transcript that scrolls on the alternate screen, every row repainted in its place."""
    frames: list[bytes] = []
    rows = [line for line in (inputs.make("plain", 300_000).lines or ()) if line]
    for top in range(400):
        shown = "".join(
            f"\x1b[{y + 1};1H{row[: inputs.COLUMNS]}\x1b[K" for y, row in enumerate(rows[top : top + inputs.LINES - 3])
        )
        frames.append(f"\x1b[?2026h{shown}\x1b[{inputs.LINES - 1};1H> \x1b[?2026l".encode())
    return [b"\x1b[?1049h\x1b[?2004h", *frames]


INPUTS: dict[str, Callable[[], list[bytes]]] = {
    "plain": lambda: _linear("plain"),
    "sgr": lambda: _linear("sgr"),
    "cjk+emoji": lambda: _linear("cjk+emoji"),
    "repaint, main": lambda: _repaint(alternate=False),
    "repaint, alternate": lambda: _repaint(alternate=True),
    "scrolling, alternate": _scrolling,
}


def through_terminal(pieces: list[bytes]) -> Engine:
    """Draw; a frame is taken after every read, as whoever looks at a terminal does."""
    screen = TmuxScreen(inputs.COLUMNS, inputs.LINES)
    for piece in pieces:
        screen.feed(piece)
        screen.take()
    return screen


def through_stream(pieces: list[bytes]) -> DeltaStream:
    """Read every 20 ms, with no rest between that would let anything fall due: the way of a flood."""
    stream = DeltaStream(TmuxScreen(inputs.COLUMNS, inputs.LINES))
    for number, piece in enumerate(pieces):
        stream.apply(Output(number / 50, "%0", piece))
    return stream


def through_waiting_stream(pieces: list[bytes]) -> DeltaStream:
    """The same with all that falls due in between, and a message sent that is never shown."""
    stream = DeltaStream(TmuxScreen(inputs.COLUMNS, inputs.LINES))
    for number, piece in enumerate(pieces):
        now = number / 50
        while (due := stream.deadline()) is not None and due <= now:
            stream.apply(Waited(due, "%0"))
        stream.apply(Output(now, "%0", piece))
        if number == 0:
            stream.apply(Pasted(now, "%0", "m", "go"))
            stream.apply(Submitted(now, "%0", "m"))
    return stream


STREAMS = {"flood": through_stream, "waiting": through_waiting_stream}


def _seconds(run: Callable[[list[bytes]], object], pieces: list[bytes]) -> float:
    gc.collect()
    begin = time.perf_counter()
    run(pieces)
    return time.perf_counter() - begin


@pytest.mark.parametrize("way", STREAMS)
@pytest.mark.parametrize("name", INPUTS)
def bench_conversation(benchmark: BenchmarkFixture, name: str, way: str) -> None:
    pieces, through = INPUTS[name](), STREAMS[way]
    benchmark.extra_info["bytes"] = sum(map(len, pieces))
    pairs = [(_seconds(through_terminal, pieces), _seconds(through, pieces)) for _ in range(_ROUNDS)]
    # The best of each: whatever else runs on the machine only ever adds.
    benchmark.extra_info["stream / terminal"] = round(min(t for t, _ in pairs) / min(s for _, s in pairs), 3)
    assert benchmark(through, pieces).now > 0
