"""The inputs of the benchmarks are what they are said to be."""

import pytest

from benchmarks import inputs
from benchmarks.throughput import lost_and_repeated


@pytest.mark.parametrize("name", inputs.NAMES)
def test_an_input_is_the_same_every_time_and_as_long_as_asked(name: str) -> None:
    source = inputs.make(name, 20_000)
    assert source == inputs.make(name, 20_000)
    assert 20_000 <= len(source.data) < 25_000
    assert inputs.make(name, 40_000).data.startswith(source.data)


@pytest.mark.parametrize("name", [name for name in inputs.NAMES if name != "tui"])
def test_the_lines_of_an_input_are_all_different(name: str) -> None:
    source = inputs.make(name, 20_000)
    assert source.lines is not None
    assert len(set(source.lines)) == len(source.lines) == source.data.count(b"\n")


def test_lost_and_repeated_lines_are_counted() -> None:
    assert lost_and_repeated(["a", "b", "c"], ["a", "c", "c", "c"]) == (1, 2)
    assert lost_and_repeated(["a", "b"], ["b", "a"]) == (0, 0)
