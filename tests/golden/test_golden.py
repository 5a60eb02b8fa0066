"""What every recording says is what it said when that was last looked at and taken for right."""

import random

import pytest

from tests.golden.events import all_lines, changes, lines_of, name_of, read, recordings

HINT = "python -m tests.golden --lines shows the difference; --write takes it for right, and the commit explains it"


def test_a_few_recordings_say_what_they_said(pytestconfig: pytest.Config) -> None:
    seed = pytestconfig.getoption("--sample-seed")
    chosen = random.Random(seed).sample(recordings(), 8)
    kept = read()
    now = {name_of(recording): lines_of(recording) for recording in chosen}
    before = {name: kept.get(name, []) for name in now}
    assert not list(changes(before, now)), HINT


@pytest.mark.slow
def test_every_recording_says_what_it_said() -> None:
    assert not list(changes(read(), all_lines())), HINT
