"""Marks shared by all tests: `tmux` is given to whatever starts a private server, `slow` is claimed by hand.

Tests that ask for the `way` to a server run over pipes and over a terminal; those that are marked `over_ssh` also over
a real ssh server, both ways.
"""

import asyncio
import gc
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from streamrelay.control import Ssh, TransportName
from streamrelay.loops import new_event_loop
from streamrelay.testing.agent import PROFILE
from streamrelay.testing.redis import HINT, redis_binary
from streamrelay.testing.sshd import PrivateSshd, missing_program
from streamrelay.testing.tmux import PrivateTmux

pytest_plugins = ["tests.sampling", "tests.spreading"]

_NO_BROWSER = "there is no Chromium here"


@pytest.fixture(autouse=True)
def nobodys_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the profiles of whoever runs the tests out of them."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")


@pytest.fixture
def daemon_folders(monkeypatch: pytest.MonkeyPatch, private_tmux: PrivateTmux) -> Path:
    """A short folder with the XDG folders of a daemon, and the profile of the scripted agents."""
    for name in ("runtime", "state", "config"):
        (private_tmux.directory / name).mkdir(mode=0o700)
    profiles = private_tmux.directory / "config" / "streamrelay" / "agents.d"
    profiles.mkdir(parents=True)
    (profiles / "sprite.toml").write_text(PROFILE)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(private_tmux.directory / "runtime"))
    monkeypatch.setenv("XDG_STATE_HOME", str(private_tmux.directory / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(private_tmux.directory / "config"))
    return private_tmux.directory


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the tests on the loop that the commands have here (`streamrelay.loops`), unless they move its clock."""
    if item.get_closest_marker("moves_clock"):
        return {"asyncio": asyncio.new_event_loop}
    return {"installed": new_event_loop}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tmux: starts a tmux server (given to every test that asks for private_tmux)")
    config.addinivalue_line("markers", "slow: takes seconds; scripts/test all runs it")
    config.addinivalue_line("markers", "smoke: what CI runs on each version of tmux (scripts/test versions -m smoke)")
    config.addinivalue_line("markers", "moves_clock: sets the time of asyncio's own loop, as no other lets it")
    config.addinivalue_line("markers", "network: downloads packages")
    config.addinivalue_line("markers", "over_ssh: runs over a private ssh server as well; slow there")
    config.addinivalue_line("markers", "redis: starts a Redis server (given to every test that asks for private_redis)")
    config.addinivalue_line("markers", "browser: starts Chromium (given to every test that asks for browser)")


class Way(NamedTuple):
    """How a server is reached."""

    transport: TransportName
    ssh: Ssh | None = None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "way" in metafunc.fixturenames:
        ways = ["pipes", "cc"]
        if metafunc.definition.get_closest_marker("over_ssh"):
            ways += [pytest.param(way, marks=pytest.mark.slow) for way in ("pipes-over-ssh", "cc-over-ssh")]
        metafunc.parametrize("way", ways, indirect=True)


@pytest.fixture
def way(request: pytest.FixtureRequest) -> Way:
    transport, _, over = request.param.partition("-")
    if not over:
        return Way(transport)
    sshd: PrivateSshd = request.getfixturevalue("sshd")
    return Way(transport, Ssh(sshd.host, sshd.command))


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateSshd]:
    if absent := missing_program():
        pytest.skip(f"there is no {absent} here: what runs over ssh is not tested (apt-get install openssh-server)")
    with PrivateSshd(tmp_path_factory.mktemp("sshd")) as sshd:
        yield sshd


def chromium() -> str | None:
    """Return the Chromium that tests are to use: the one that STREAMRELAY_CHROMIUM names, or the first that is here."""
    on_a_mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    names = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", on_a_mac)
    named = os.environ.get("STREAMRELAY_CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, names)), None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from the collected tests, which live to the end and of which there are 14,000.

    Going through them again and again was half the processor time of collecting them, and every worker collects them
    all.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # scripts/test installs a browser where it can. Where none can be had the rest is tested, and the end says so.
    without_browser = chromium() is None
    for item in items:
        if "private_tmux" in getattr(item, "fixturenames", ()):
            item.add_marker("tmux")
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
            item.add_marker("spread")
            if without_browser:
                item.add_marker(pytest.mark.skip(reason=_NO_BROWSER))
        if "private_redis" in getattr(item, "fixturenames", ()):
            item.add_marker("redis")
            if shutil.which(redis_binary()) is None:
                item.add_marker(pytest.mark.skip(reason=f"there is no redis-server here: {HINT}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", ())
    if count := sum(_NO_BROWSER in str(report.longrepr) for report in skipped):
        words = f"{count} tests of the web page were NOT RUN: {_NO_BROWSER}"
        terminalreporter.section("no browser", sep="!", red=True, bold=True)
        terminalreporter.line(f"{words}. scripts/test installs it where it can, and says what to type.", red=True)


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests measure and deliver is not kept for the user, nor what the user did taken."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
