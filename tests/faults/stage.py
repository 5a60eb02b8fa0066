"""The home of a daemon under faults: folders of its own, a profile of the scripted agents, a small disk."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.testing.agent import PROFILE
from tests.faults.campaign import small_disk


@contextlib.contextmanager
def own_home(directory: Path) -> Iterator[Path]:
    """Point the XDG folders below `directory` inside the context; yields the folder of the state."""
    profiles = directory / "config" / "streamrelay" / "agents.d"
    profiles.mkdir(parents=True)
    (profiles / "sprite.toml").write_text(PROFILE)
    (directory / "runtime").mkdir(mode=0o700)
    with small_disk(directory / "state") as state, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(directory / "runtime"))
        patch.setenv("XDG_STATE_HOME", str(state))
        patch.setenv("XDG_CONFIG_HOME", str(directory / "config"))
        yield state
