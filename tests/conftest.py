"""Marks shared by all tests: `tmux` is given to whatever starts a private server, `slow` is claimed by hand.

A property has no deadline for one example: on a busy machine that is a coin toss.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("streamrelay", deadline=None)
settings.load_profile("streamrelay")


@pytest.fixture(autouse=True)
def nobodys_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the profiles of whoever runs the tests out of them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tmux: starts a tmux server (given to every test that asks for private_tmux)")
    config.addinivalue_line("markers", "slow: takes seconds; left out of scripts/test quick")
    config.addinivalue_line("markers", "network: downloads packages")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "private_tmux" in getattr(item, "fixturenames", ()):
            item.add_marker("tmux")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests measure and deliver is not kept for the user, nor what the user did taken."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
