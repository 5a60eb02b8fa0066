"""Test a program in a terminal: pytest -p streamrelay.testing.pytest_plugin examples/pytest_fixture.py.

The plugin brings `private_tmux`, a tmux server for one test: nothing of yours is touched, and nothing is left behind.
"""

import sys
from collections.abc import Iterator

import pytest

import streamrelay.blocking
from streamrelay.blocking import BlockingPane
from streamrelay.testing.tmux import PrivateTmux

PROGRAM = "for line in iter(input, 'quit'): print('hello', line, flush=True)"


@pytest.fixture
def greeter(private_tmux: PrivateTmux) -> Iterator[BlockingPane]:
    """The program under test, in a pane of its own."""
    private_tmux.new_session("greeter", [sys.executable, "-uc", PROGRAM])
    with streamrelay.blocking.connect(socket_path=private_tmux.socket_path) as server:
        yield server.pane("greeter")


def test_it_greets(greeter: BlockingPane) -> None:
    assert greeter.ask("world") == "hello world"
