"""The pytest plugin: private tmux and Redis servers for tests, and a guard for the servers of the user.

pytest loads it only where a project asks for it, in one of two ways:

    # pyproject.toml
    [tool.pytest.ini_options]
    addopts = "-p streamrelay.testing.pytest_plugin"

    # conftest.py, beside pyproject.toml
    pytest_plugins = ["streamrelay.testing.pytest_plugin"]

It declares the fixtures `private_tmux` and `private_redis`, the marker `requirement`, and the ini option
`streamrelay_guard` (see `streamrelay.testing.guard`), which is off by default.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from streamrelay.testing.redis import PrivateRedis
    from streamrelay.testing.tmux import PrivateTmux


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini("streamrelay_guard", "fail tests that touch a tmux server which is not their own", "bool", False)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; start the guard if it is enabled."""
    config.addinivalue_line("markers", "requirement(id, ...): the requirements this test shows to be met")
    if config.getini("streamrelay_guard"):
        from streamrelay.testing.guard import TmuxServerGuard

        config.pluginmanager.register(TmuxServerGuard(), "streamrelay-guard")


@pytest.fixture
def private_tmux() -> "Iterator[PrivateTmux]":
    """A private tmux server, started by its first `new_session`, gone when the test ends."""
    from streamrelay.testing.tmux import PrivateTmux

    with PrivateTmux() as server:
        yield server


@pytest.fixture
def private_redis() -> "Iterator[PrivateRedis]":
    """A private Redis server that ends with the test; fails without redis-server."""
    from streamrelay.testing.redis import PrivateRedis

    with PrivateRedis() as server:
        yield server
