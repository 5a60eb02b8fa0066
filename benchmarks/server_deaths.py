"""How often a tmux server dies while control clients attach to it, by the way in which they attach.

A round is one private server with one busy pane. In the scene `churn`, clients attach one after the other while
another process renames a session every 2 ms; in `crowd`, five attach at the same moment; in `quiet`, one after the
other and nothing else happens. The process has 300 environment variables of 120 characters, as a CI job has. The ways
take turns, so that all of them meet the same load of the machine. docs/decisions/0037 has the reasons and the figures.

    python -m benchmarks.server_deaths --rounds 200
    python -m benchmarks.server_deaths --rounds 40 --ways proxy --scenes churn --tmux .tmux-versions/trixie/tmux
"""

import argparse
import asyncio
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from itertools import count
from typing import Final

import msgspec

from benchmarks import measuring
from benchmarks.measuring import Report, Table, progress
from streamrelay.control import ControlClient, ServerInfo, Tmux, harmless
from streamrelay.control.hub import LIST_SESSIONS, STOP_FOLLOWING_DEATHS, opening, parse_sessions, visiting
from streamrelay.errors import NoServer, StreamrelayError
from streamrelay.testing.tmux import PrivateTmux

_VARIABLES: Final = {f"CI_VARIABLE_{number}": "v" * 120 for number in range(300)}
_NEEDED: Final = ("PATH", "HOME", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TMUX_TMPDIR")
_FLAGS: Final = ("ignore-size", "pause-after=5")
_BUSY: Final = ("sh", "-c", "while sleep 0.05; do echo x; done")
_PAUSE: Final = 0.002
_CROWD: Final = 5

Start = Callable[[Tmux, ServerInfo], Awaitable[None]]


class Deaths(msgspec.Struct, frozen=True):
    """What became of one way in one scene: rounds, clients started, and rounds in which the server died."""

    scene: str
    way: str
    rounds: int
    starts: int
    deaths: int


async def _start(tmux: Tmux, server: ServerInfo, *, proxied: bool, visits: bool) -> None:
    """Start a hub, let a passing client visit the other sessions, and leave."""
    name = f"streamrelay-{secrets.token_hex(4)}"
    client = ControlClient(tmux, name, lambda events, at: None, opening=opening(name, str(os.getpid()), _FLAGS))
    given = server if proxied else None
    try:
        await client.open(given)
        listed = await client.command(" ".join((LIST_SESSIONS[0], "-F", f"'{LIST_SESSIONS[2]}'")))
        lines = [line.decode(errors="replace") for line in listed.lines]
        for words in visiting(parse_sessions(lines)) if visits else ():
            async with harmless(tmux, given) as reached:
                await reached.run("-N", "-C", *words, stays=True)
    finally:
        with suppress(StreamrelayError):
            client.request(STOP_FOLLOWING_DEATHS, lambda result: None)
        await client.aclose()


async def _two_starts(tmux: Tmux, server: ServerInfo) -> None:
    await _start(tmux, server, proxied=False, visits=True)


async def _one_start(tmux: Tmux, server: ServerInfo) -> None:
    await _start(tmux, server, proxied=False, visits=False)


async def _proxied(tmux: Tmux, server: ServerInfo) -> None:
    await _start(tmux, server, proxied=True, visits=True)


class _Way(msgspec.Struct, frozen=True):
    start: Start
    small_environment: bool = False
    locked: bool = False


WAYS: Final[Mapping[str, _Way]] = {
    "before": _Way(_two_starts),
    "one-start": _Way(_one_start),
    "small-environment": _Way(_two_starts, small_environment=True),
    "locked": _Way(_two_starts, locked=True),
    "all-three": _Way(_one_start, small_environment=True, locked=True),
    "proxy": _Way(_proxied),
}
"""`before` is two clients a start, each with the whole environment: the hub's, and one that visits every session."""
SCENES: Final = ("churn", "crowd", "quiet")


@contextmanager
def _environment(*, small: bool) -> Iterator[None]:
    before = dict(os.environ)
    try:
        if small:
            for name in set(os.environ) - set(_NEEDED):
                del os.environ[name]
        else:
            os.environ.update(_VARIABLES)
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@asynccontextmanager
async def _churning(private: PrivateTmux) -> AsyncIterator[None]:
    """Rename a session every few milliseconds, over a client that attached before anything else happened."""
    private.new_session("churn", ["cat"])

    async def rename(client: ControlClient) -> None:
        for number in count():
            await client.command(f"rename-session -t '{client.session}' churn{number}")
            await asyncio.sleep(_PAUSE)

    tmux = Tmux(private.binary, socket_path=private.socket_path)
    async with ControlClient(tmux, "churn", lambda events, at: None) as client:
        renaming = asyncio.create_task(rename(client))
        try:
            yield
        finally:
            renaming.cancel()
            await asyncio.gather(renaming, return_exceptions=True)


async def _round(way: _Way, scene: str, starts: int, binary: str | None) -> bool:
    """Return whether the server lived."""
    with PrivateTmux(binary) as private:
        private.new_session("keeper", _BUSY)
        pid = private.server_pid
        tmux = Tmux(private.binary, socket_path=private.socket_path)
        lock = asyncio.Lock()
        with _environment(small=way.small_environment):
            server = await tmux.probe()

            async def one() -> None:
                async with lock if way.locked else nullcontext():
                    with suppress(StreamrelayError):
                        await way.start(tmux, server)

            if scene == "crowd":
                await asyncio.gather(*(one() for _ in range(starts)))
            else:
                async with _churning(private) if scene == "churn" else nullcontext():
                    for _ in range(starts):
                        await one()
        try:
            return private.server_pid == pid
        except NoServer:
            return False


def measure(arguments: argparse.Namespace) -> Report:
    """Take turns, and count."""
    deaths: Counter[tuple[str, str]] = Counter()
    for number in range(arguments.rounds):
        for scene in arguments.scenes:
            for way in arguments.ways:
                starts = _CROWD if scene == "crowd" else arguments.starts
                if not asyncio.run(_round(WAYS[way], scene, starts, arguments.tmux)):
                    deaths[scene, way] += 1
        told = ", ".join(f"{scene} {way} {count}" for (scene, way), count in deaths.items())
        progress(f"round {number + 1} of {arguments.rounds}: {told or 'no server died'}")
    figures = [
        Deaths(scene, way, arguments.rounds, arguments.rounds * starts, deaths[scene, way])
        for scene in arguments.scenes
        for way in arguments.ways
        for starts in [_CROWD if scene == "crowd" else arguments.starts]
    ]
    head = ("scene", "way", "rounds", "starts", "servers that died")
    rows = tuple((one.scene, one.way, str(one.rounds), str(one.starts), str(one.deaths)) for one in figures)
    machine = measuring.machine(arguments.tmux or os.environ.get("STREAMRELAY_TMUX") or "tmux")
    return Report("server_deaths", machine, figures, (Table("Server deaths", head, rows),))


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="servers of each way in each scene (%(default)s)")
    parser.add_argument("--starts", type=int, default=3, help="starts a round, but in `crowd` (%(default)s)")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="ways to attach (all)")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=["churn", "crowd"], help="(%(default)s)")
    parser.add_argument("--tmux", help="the tmux binary")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
