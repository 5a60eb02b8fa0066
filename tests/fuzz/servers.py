"""The servers that take foreign requests, each a real one with a daemon behind it: `http`, `mcp` and `acp`.

Agents, a link and a relay exist, so that requests reach what they name; between two rounds what requests have closed
is made again. A server's input is what a client writes; its memory is that of the server and of the daemon.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import running_pid
from streamrelay.errors import StreamrelayError
from streamrelay.service.api import CreateRelay, RelayParticipant
from streamrelay.service.core import SWEEP_EVERY
from streamrelay.testing.tmux import PrivateTmux, resident
from tests.fuzz.http_api import Known, fuzz_http, fuzz_requests
from tests.fuzz.line_protocols import fuzz_server
from tests.web.conftest import PATIENCE, Household, prepare

NAMES = ("Ann", "Bob", "Cid")
EXAMPLES = 10
"""Generated requests of each kind to each operation in a round."""
MUTATED = 20_000
"""Mutated requests in a round."""
BATCHES = 50
FILLING, FILLED = 12_000, 10_000
"""Lines of a pane that is watched, and the events after which the rings of the newest events are full: 10,000 in the
feed, 16 MiB in the broadcast."""
FILLING_LENGTH = 2500
REST = 5
"""Seconds for which a server rests before its memory is measured."""
RELEASED = SWEEP_EVERY + 2
"""Seconds in which the daemon has given back what its allocator kept free."""


class Fuzzed(NamedTuple):
    """A server under fuzz: `feed` writes a round to it and returns its bytes, `memory` is in bytes."""

    feed: Callable[[], int]
    memory: Callable[[], int]


class Setting:
    """A private tmux server with agents, and the daemon of its user."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        self.variables = prepare(tmux.directory)
        os.environ.update(self.variables)
        self.house = Household(tmux, folder)
        tmux.new_session("keeper", ["sleep", "100000"])

    @property
    def daemon(self) -> int:
        """The daemon's process."""
        pid = running_pid(self.house.address)
        assert pid, f"the daemon ended; its log is {self.house.address.log}"
        return pid

    async def furnish(self) -> Known:
        """Start what is missing of the agents, the link and the relay; return their ids by argument."""
        alive = self.house.tmux.run("list-panes", "-a", "-F", "#{pane_id}").split()
        for name in NAMES:
            if self.house.panes.get(name) not in alive:
                (self.house.folder / name).unlink(missing_ok=True)
                with suppress(StreamrelayError):
                    self.house.tmux.run("kill-session", "-t", f"={name}")
                self.house.agent(name, "an answer")
        panes = [self.house.panes[name] for name in NAMES]
        if not running_pid(self.house.address):
            await self.house.begin()
        async with DaemonClient(self.house.address.socket, timeout=PATIENCE) as client:
            with suppress(StreamrelayError):
                await client.create_link(panes[0], panes[1])
            with suppress(StreamrelayError):
                await client.create_relay(
                    CreateRelay(participants=[RelayParticipant(session=pane) for pane in panes[1:]])
                )
            links = [link.link_id for link in await client.links()]
            relays = [relay.relay for relay in await client.relays()]
        ids = {"link": links, "relay": relays}
        return ids | dict.fromkeys(("session", "to", "a", "b", "by"), panes)

    async def fill(self) -> None:
        """Fill the daemon's rings of the newest events with a pane's output, so that only what has no bound grows."""
        printing = f"input(); [print(n, {'x' * 50!r} * {FILLING_LENGTH // 50}) for n in range({FILLING})]; input()"
        pane = self.house.tmux.new_session("filler", [sys.executable, "-c", printing])
        async with DaemonClient(self.house.address.socket, timeout=PATIENCE) as client:
            await client.watch(pane, watched=True)
            before = (await client.status()).seq
            self.house.tmux.run("send-keys", "-t", pane, "Enter")
            async with asyncio.timeout(600):
                while (await client.status()).seq < before + FILLED:
                    await asyncio.sleep(0.5)
            await client.watch(pane, watched=False)
        self.house.tmux.run("kill-session", "-t", "=filler")


@contextmanager
def fuzzed(name: str, chance: random.Random, *, fill: bool = False) -> Iterator[Fuzzed]:
    """Give a server to feed; the end checks that neither it nor the daemon wrote of a defect. Raises AssertionError.

    With `fill`, the daemon's rings are full already, so that its memory can be compared.
    """
    with ExitStack() as stack:
        tmux = stack.enter_context(PrivateTmux())
        folder = tmux.directory / "agents"
        folder.mkdir()
        setting = Setting(tmux, folder)
        stack.callback(setting.house.kill)
        asyncio.run(setting.furnish())
        if fill:
            asyncio.run(setting.fill())
        daemon = setting.daemon
        try:
            yield stack.enter_context(SERVERS[name](setting, chance))
        except Exception as error:
            error.add_note("".join(defects(setting.house.address.log)[:5]))
            raise
        assert setting.daemon == daemon, "the daemon ended, and another one was started"
        found = defects(setting.house.address.log)
        assert not found, "".join(found[:5])


def defects(log: Path) -> list[str]:
    """Return the lines of a daemon's log that tell of a defect."""
    with log.open(encoding="utf-8") as lines:
        return [line for line in lines if _is_defect(line)]


def _is_defect(line: str) -> bool:
    with suppress(ValueError):
        return bool(json.loads(line).get("level") == "error")
    return "Traceback" in line


@contextmanager
def _http(setting: Setting, chance: random.Random) -> Iterator[Fuzzed]:
    seen: list[bytes] = []

    def feed() -> int:
        known = asyncio.run(setting.furnish())
        written: list[bytes] = []
        socket = setting.house.address.socket
        fuzz_http(socket, EXAMPLES, chance.randrange(2**32), known, written)
        seen.extend(written)
        del seen[:-10_000]
        return sum(map(len, written)) + fuzz_requests(socket, seen, MUTATED, chance)

    def memory() -> int:
        time.sleep(RELEASED)
        return resident(setting.daemon)

    yield Fuzzed(feed, memory)


@contextmanager
def _lines(setting: Setting, chance: random.Random, protocol: str) -> Iterator[Fuzzed]:
    house = setting.house
    target = [house.panes["Ann"]] if protocol == "acp" else []
    errors = house.folder / "errors"
    with (
        errors.open("wb") as written,
        subprocess.Popen(
            [sys.executable, "-m", "streamrelay_cli", protocol, "-S", house.tmux.socket_path, *target],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=written, env={**os.environ, **setting.variables},
        ) as server,
    ):  # fmt: skip

        def feed() -> int:
            asyncio.run(setting.furnish())
            return fuzz_server(server, protocol, BATCHES, chance)

        def memory() -> int:
            # Requests under way hold memory, and so does what the client has not read.
            for _ in range(REST):
                fuzz_server(server, protocol, 0, chance)
                time.sleep(1)
            time.sleep(RELEASED - REST)
            return resident(server.pid) + resident(setting.daemon)

        try:
            yield Fuzzed(feed, memory)
        finally:
            server.kill()
    said = errors.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in said, said[-4000:]


@contextmanager
def _mcp(setting: Setting, chance: random.Random) -> Iterator[Fuzzed]:
    with _lines(setting, chance, "mcp") as server:
        yield server


@contextmanager
def _acp(setting: Setting, chance: random.Random) -> Iterator[Fuzzed]:
    with _lines(setting, chance, "acp") as server:
        yield server


Opening = Callable[[Setting, random.Random], AbstractContextManager[Fuzzed]]
SERVERS: Mapping[str, Opening] = MappingProxyType({"http": _http, "mcp": _mcp, "acp": _acp})
"""The servers by the name that the command line takes."""
