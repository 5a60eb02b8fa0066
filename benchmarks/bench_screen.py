"""The screen alone: feeding, and feeding with the text of every row that entered history."""

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import inputs, screen

_SIZE = 500_000
_READ, _SMALL = 16_384, 256


@pytest.mark.parametrize("chunk", [_READ, _SMALL])
@pytest.mark.parametrize("name", inputs.NAMES)
def bench_feed(benchmark: BenchmarkFixture, name: str, chunk: int) -> None:
    data = screen.as_fed(inputs.make(name, _SIZE).data)
    benchmark.extra_info["bytes"] = len(data)
    assert benchmark(screen.feed, screen.chunks(data, chunk)).columns == inputs.COLUMNS


@pytest.mark.parametrize("name", inputs.NAMES)
def bench_feed_and_text(benchmark: BenchmarkFixture, name: str) -> None:
    source = inputs.make(name, _SIZE)
    data = screen.as_fed(source.data)
    benchmark.extra_info["bytes"] = len(data)
    texts = benchmark(lambda: screen.all_of(screen.feed_and_text(screen.chunks(data, _READ))))
    assert source.lines is None or [text.rstrip() for text in texts] == list(source.lines[: len(texts)])
