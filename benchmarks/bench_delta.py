"""The delta stream of one pane without tmux: bytes to events."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import inputs
from benchmarks.screen import as_fed, chunks
from streamrelay.delta.stream import DeltaStream
from streamrelay.vt import TmuxScreen

_SIZE = 500_000
_READ = 16_384


@pytest.mark.parametrize("name", inputs.NAMES)
def bench_delta(benchmark: BenchmarkFixture, name: str) -> None:
    source = inputs.make(name, _SIZE)
    pieces = chunks(as_fed(source.data), _READ)

    def stream() -> list[str]:
        delta = DeltaStream(TmuxScreen(inputs.COLUMNS, inputs.LINES))
        return [text for now, piece in enumerate(pieces) for text in delta.feed(piece, now / 1e3).texts()]

    benchmark.extra_info["bytes"] = sum(map(len, pieces))
    said = benchmark(stream)
    assert source.lines is None or said == list(source.lines)
