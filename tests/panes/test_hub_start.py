"""How a hub starts: it ends no other hub, and says so when the server ends under it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamrelay.control import CommandResult, ControlClient, ServerInfo, Tmux
from streamrelay.control.hub import HubSession
from streamrelay.control.transport import Eager
from streamrelay.errors import CommandFailed, ServerLost
from streamrelay.panes.hub import Hub
from streamrelay.testing.tmux import PrivateTmux

MakeHub = Callable[..., Hub]


@pytest.fixture
def make_hub(private_tmux: PrivateTmux) -> MakeHub:
    private_tmux.new_session("work", ["cat"])

    def make(binary: str = "") -> Hub:
        tmux = Tmux(binary or private_tmux.binary, socket_path=private_tmux.socket_path)
        return Hub(tmux, lambda events, at: None, intake=Eager(), transport="pipes")

    return make


def sessions(tmux: PrivateTmux) -> set[str]:
    return set(tmux.run("list-sessions", "-F", "#{session_name}").split())


@pytest.mark.parametrize("when", ["before it lists", "after it listed"])
async def test_a_hub_that_begins_while_another_one_sweeps_is_not_ended(
    private_tmux: PrivateTmux, make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Whichever command of the sweep it comes before or after."""
    sweeping, born = make_hub(), list[Hub]()
    command = ControlClient.command

    async def give_birth(line: str) -> None:
        if line.startswith(('"list-', "list-")):
            born.append(make_hub())
            await born[-1].open()

    async def interrupted(client: ControlClient, line: str, **options: Any) -> CommandResult:
        if client is sweeping.client and when == "before it lists":
            await give_birth(line)
        result = await command(client, line, **options)
        if client is sweeping.client and when == "after it listed":
            await give_birth(line)
        return result

    monkeypatch.setattr(ControlClient, "command", interrupted)
    await sweeping.open()
    assert born
    assert sessions(private_tmux) == {"work", sweeping.name, *(hub.name for hub in born)}
    await asyncio.gather(*(hub.aclose() for hub in (sweeping, *born)))
    assert sessions(private_tmux) == {"work"}


async def test_a_hub_without_a_client_is_ended(private_tmux: PrivateTmux, make_hub: MakeHub) -> None:
    private_tmux.new_session("left", ["cat"])
    private_tmux.run("set-option", "-t", "left", "@streamrelay_hub", "1")
    hub = make_hub()
    await hub.open()
    assert sessions(private_tmux) == {"work", hub.name}
    await hub.aclose()


@pytest.mark.parametrize("used", [0, 1 << 40], ids=["the first one visited", "a later one"])
async def test_a_session_that_ends_while_a_hub_starts_does_not_stop_it(
    private_tmux: PrivateTmux, make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch, used: int
) -> None:
    """The passing client used to stay attached until its time was up, and the start failed."""
    hub, listed = make_hub(), Hub.sessions
    asked: list[int] = []

    async def with_one_that_has_ended(self: Hub) -> list[HubSession]:
        asked.append(1)
        return [*await listed(self), *([HubSession("$99", used, False, "ended")] if len(asked) == 1 else [])]

    monkeypatch.setattr(Hub, "sessions", with_one_that_has_ended)
    async with asyncio.timeout(5):
        await hub.open()
    assert private_tmux.run("list-clients", "-F", "#{client_session}") == hub.name
    visited = "#{?session_last_attached,yes,no}"
    assert private_tmux.run("display-message", "-p", "-t", "=work:", visited) == "yes"
    await hub.aclose()


def dying(folder: Path, tmux: PrivateTmux, command: str, end: str) -> str:
    """Return a tmux that has its server die at the start of a control client with that command."""
    path = folder / "tmux"
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *" -C {command}"*) kill -9 {tmux.server_pid}; {end}; exit 1;; esac\n'
        f'exec {tmux.binary} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("command", ["new-session", "attach-session"])
@pytest.mark.parametrize("end", ["echo '%exit server exited unexpectedly'", "kill -9 $$"])
async def test_a_server_that_dies_while_a_hub_starts_is_said_to_be_lost(
    private_tmux: PrivateTmux, make_hub: MakeHub, tmp_path: Path, command: str, end: str
) -> None:
    """Not that tmux refused a command: that was what a crash looked like."""
    version = private_tmux.run("display-message", "-p", "#{version}")
    with pytest.raises(ServerLost) as raised:
        await make_hub(dying(tmp_path, private_tmux, command, end)).open()
    error = raised.value
    assert (error.code, error.exit_code) == ("server_lost", 14)
    assert error.data["version"] == version
    assert error.data["socket"] == private_tmux.socket_path
    assert error.data["reason"]
    assert f"tmux {version} at {private_tmux.socket_path} ended while" in error.message
    assert error.hint


async def test_a_refusal_of_a_server_that_lives_stays_a_refusal(
    make_hub: MakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(client: ControlClient, server: ServerInfo | None = None) -> None:
        raise CommandFailed("no")

    monkeypatch.setattr(ControlClient, "open", refused)
    with pytest.raises(CommandFailed, match="no"):
        await make_hub().open()
