"""A pytest plugin for libtmux's own tests: each of their servers is a ControlServer.

The class in `libtmux.server` stays, because the doctests of its methods are found there.
"""

import sys

import libtmux.pytest_plugin
import libtmux.server
import pytest

from streamrelay.libtmux import ControlServer

STOCK = libtmux.server.Server


class Server(ControlServer):
    """A ControlServer whose representation is libtmux's."""


def replace() -> None:
    """Put the class in place of libtmux's wherever a module has imported that."""
    for name, module in list(sys.modules.items()):
        if name not in {"libtmux.server", __name__} and module.__dict__.get("Server") is STOCK:
            module.__dict__["Server"] = Server


def pytest_collection_finish(session: pytest.Session) -> None:
    """Replace it in the modules of tests, too."""
    replace()


replace()
