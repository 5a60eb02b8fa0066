"""Commands and the daemon run on uvloop where it is installed, and on asyncio's own loop elsewhere."""

import asyncio
import importlib.util
import sys

import pytest

from streamrelay.loops import new_event_loop


def name_of(loop: asyncio.AbstractEventLoop) -> str:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return type(runner.get_loop()).__module__.partition(".")[0]


def test_uvloop_is_taken_where_it_is_installed() -> None:
    installed = importlib.util.find_spec("uvloop") is not None
    assert name_of(new_event_loop()) == ("uvloop" if installed else "asyncio")


def test_without_uvloop_it_is_asyncios_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert name_of(new_event_loop()) == "asyncio"
