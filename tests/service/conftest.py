"""A stage for a service: a private tmux server with scripted agents, and the service on it."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.events import Event
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until, wait_until_async

PATIENCE = 40.0
START = f"""
[start]
command = ["{sys.executable}", "-m", "streamrelay.testing.agent", "--works", "0.1", "--log"]
[transcript]
path = "~/.sprite/*.jsonl"
format = "jsonl"
"""


class Stage:
    """Scripted agents by name, and what they really got."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        self.tmux = tmux
        self.folder = folder
        self.panes: dict[str, str] = {}

    def start(self, name: str, *options: str) -> str:
        log = self.folder / name
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.1", *options]
        self.panes[name] = self.tmux.new_session(name, words, columns=100, lines=40)
        wait_until(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
        return self.panes[name]

    def heard(self, name: str) -> list[str]:
        return [got.text for got in read_got(self.folder / name) if got.kind == "message"]

    async def until_heard(self, name: str, *texts: str) -> None:
        await wait_until_async(lambda: set(texts) <= set(self.heard(name)), PATIENCE, f"{name} to get {texts}")

    def types(self, name: str, text: str) -> None:
        self.tmux.run("send-keys", "-l", "-t", self.panes[name], text)
        self.tmux.run("send-keys", "-t", self.panes[name], "Enter")

    @asynccontextmanager
    async def service(self, **said: Any) -> AsyncIterator[LocalService]:
        sprite = parse_profile("sprite", PROFILE + START, source="sprite.toml")
        connection = streamrelay.connect(tmux=self.tmux.binary, socket_path=self.tmux.socket_path, profiles=[sprite])
        async with connection as server, LocalService(server, folder=self.folder / "state", **said) as service:
            try:
                yield service
            except TimeoutError:
                print(*await service.read_since(0, limit=100_000), sep="\n")
                raise


@pytest.fixture
def stage(private_tmux: PrivateTmux, tmp_path: Path) -> Iterator[Stage]:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    return Stage(private_tmux, tmp_path)


async def journaled(service: LocalService, kind: type[Event]) -> list[Event]:
    return [event for event in await service.read_since(0, limit=100_000) if isinstance(event, kind)]
