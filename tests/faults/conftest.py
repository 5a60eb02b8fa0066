"""Folders of its own for a daemon, and a small disk for its state."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux
from tests.faults.stage import own_home


@pytest.fixture
def state(private_tmux: PrivateTmux) -> Iterator[Path]:
    with own_home(private_tmux.directory) as state:
        yield state
