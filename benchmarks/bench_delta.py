"""The delta stream of one pane without tmux: bytes to events."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import inputs
from benchmarks.screen import as_fed, chunks
from streamrelay.delta.inputs import Output
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
        outputs = (Output(number / 1e3, "%0", piece) for number, piece in enumerate(pieces))
        return [text for output in outputs for text in delta.apply(output).texts()]

    benchmark.extra_info["bytes"] = sum(map(len, pieces))
    said = benchmark(stream)
    assert source.lines is None or said == list(source.lines)
