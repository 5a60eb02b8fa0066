"""A small share of `python -m tests.fuzz all`: foreign bytes raise our errors only."""

import random

import pytest

from streamrelay.errors import ConfigError, RecordingError
from tests.fuzz.targets import TARGETS, Target, fuzz, mutated


@pytest.mark.parametrize("name", TARGETS)
def test_foreign_bytes_raise_our_errors_only(name: str) -> None:
    assert fuzz(TARGETS[name], 60, random.Random(1)) > 1000


def test_deeply_nested_configuration_is_invalid() -> None:
    with pytest.raises(ConfigError, match="invalid TOML"):
        TARGETS["configuration"].read(b"node = " + b"[" * 5000)


def test_a_recording_that_is_not_utf_8_is_an_error() -> None:
    with pytest.raises(RecordingError, match="not a control-mode recording"):
        TARGETS["recording"].read(b'{"t": 1, "dir": "out", "line": "%\x83"}\n')


def test_an_error_that_is_not_ours_passes_with_its_input() -> None:
    def fails(data: bytes) -> None:
        raise KeyError(len(data))

    with pytest.raises(KeyError) as caught:
        fuzz(Target(fails, (b"sample",)), 1, random.Random(1))
    assert caught.value.__notes__[0].startswith("input: b")


def test_our_errors_are_no_findings() -> None:
    def refuses(_: bytes) -> None:
        raise RecordingError("invalid")

    assert fuzz(Target(refuses, (b"sample",)), 20, random.Random(1)) > 20


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, second = random.Random(5), random.Random(5)
    samples = TARGETS["protocol"].samples
    assert [mutated(samples, first) for _ in range(20)] == [mutated(samples, second) for _ in range(20)]
