"""A real daemon on a private tmux server that serves its page, and a real Chromium that looks at it."""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from streamrelay.control import Tmux
from streamrelay.daemon import background
from streamrelay.daemon.address import address_of
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import running_pid
from streamrelay.testing.agent import PROFILE
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until
from streamrelay.web.access import Access
from tests.conftest import chromium
from tests.federation.conftest import private_redis, pytest_generate_tests  # noqa: F401  # over each broker
from tests.service.conftest import PATIENCE, START, Stage

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
"""Its sandbox is for what comes from elsewhere, and refuses to be used by root; /dev/shm is small in a container."""
expect.set_options(timeout=PATIENCE * 1000)


class Household(Stage):
    """Scripted agents, and a daemon that serves a page of them."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        super().__init__(tmux, folder)
        self.address = address_of(Tmux(socket_path=tmux.socket_path))
        self.access = Access()

    def agent(self, name: str, *answers: str, options: Sequence[str] = ()) -> str:
        """Start a scripted agent that answers this, over and over."""
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(answers))
        return self.start(name, "--answers", str(file), *options)

    @property
    def port(self) -> int:
        return urlsplit(self.access.address).port or 0

    async def begin(self) -> None:
        """Start the daemon; its page is where it was if it has been there before."""
        words = [sys.executable, "-m", "streamrelay_cli", "daemon", "-S", self.tmux.socket_path, "--web"]
        await background.start(self.address, [*words, f"127.0.0.1:{self.port}" if self.port else "0"])
        async with self.client() as client:
            told = await client.open_page()
        assert self.access.token in {"", told.token}
        self.access = told

    def forget_token(self) -> None:
        """Shut out everybody who has the token, as of the next start."""
        (self.address.state / "web.token").unlink()
        self.access = Access(address=self.access.address)

    def kill(self) -> None:
        pid = running_pid(self.address)
        if pid:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid), PATIENCE)

    def client(self) -> DaemonClient:
        return DaemonClient(self.address.socket, timeout=PATIENCE)


def prepare(directory: Path) -> dict[str, str]:
    """Make the folders of a user who knows the scripted agent; return the variables that name them."""
    variables = {}
    for name in ("runtime_dir", "state_home", "config_home"):
        folder = directory / name
        folder.mkdir(mode=0o700)
        variables[f"XDG_{name.upper()}"] = str(folder)
    profiles = directory / "config_home" / "streamrelay" / "agents.d"
    profiles.mkdir(parents=True)
    (profiles / "sprite.toml").write_text(PROFILE + START)
    return variables


@contextmanager
def furnished(tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Household]:
    """Prepare a household on a private server; its daemon ends with it."""
    tmux.new_session("keeper", ["sleep", "1000"])
    for name, value in prepare(tmux.directory).items():
        monkeypatch.setenv(name, value)
    house = Household(tmux, folder)
    try:
        yield house
    finally:
        house.kill()


@pytest.fixture
def house(private_tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Household]:
    with furnished(private_tmux, monkeypatch, tmp_path) as house:
        yield house


class Visitor:
    """A person with a browser; what its console complains of fails the test."""

    def __init__(self, house: Household, browser: Browser) -> None:
        self.house = house
        self.browser = browser
        self.complaints: list[str] = []
        self.expected: tuple[str, ...] = ()

    @asynccontextmanager
    async def device(self, **how: object) -> AsyncIterator[BrowserContext]:
        """Give a browser of its own, with its own memory: `viewport`, `color_scheme` and the like say what it is."""
        context = await self.browser.new_context(**how)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE * 1000)
        try:
            yield context
        finally:
            await context.close()
        unexpected = [words for words in self.complaints if not any(known in words for known in self.expected)]
        assert not unexpected

    async def comes(self, context: BrowserContext, link: str | None = None) -> Page:
        page = await context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)
        await page.goto(self.house.access.link if link is None else link)
        return page


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    path = chromium()
    assert path, "chromium is needed"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@pytest.fixture
def visitor(house: Household, browser: Browser) -> Visitor:
    return Visitor(house, browser)
