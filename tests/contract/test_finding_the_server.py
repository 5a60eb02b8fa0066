"""The library finds the server that tmux itself would: by default, by -L, by -S and by $TMUX, with the tmux it is told.

The servers are real; TMUX_TMPDIR is a private directory, so that the default one is nobody's.
"""

import subprocess
from collections.abc import Iterator

import pytest

import streamrelay
from streamrelay.testing.tmux import PrivateTmux

pytestmark = pytest.mark.tmux


@pytest.fixture
def default_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateTmux]:
    """A private server whose socket stands where tmux looks when it is told nothing."""
    with PrivateTmux() as server:
        monkeypatch.setenv("TMUX_TMPDIR", str(server.directory))
        server.environment["TMUX_TMPDIR"] = str(server.directory)
        tmux = [server.binary, "-f", "/dev/null"]
        start = [*tmux, "new-session", "-d", "-P", "-F", "#{socket_path}", "-s", "by-default", "cat"]
        said = subprocess.run(start, env=server.environment, check=True, capture_output=True, text=True, timeout=20)
        server.socket_path = said.stdout.strip()
        server.argv[2] = server.socket_path
        yield server


async def sessions(**named: str) -> set[str]:
    async with streamrelay.connect(**named) as server:
        return {pane.session_name for pane in await server.panes()}


@pytest.mark.requirement("ENG-01c")
async def test_the_default_one_and_one_by_name(default_server: PrivateTmux) -> None:
    assert await sessions() == {"by-default"}
    assert await sessions(socket_name="default") == {"by-default"}
    assert await sessions(socket_path=default_server.socket_path) == {"by-default"}


@pytest.mark.requirement("ENG-01c")
async def test_the_one_around(
    default_server: PrivateTmux, private_tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    private_tmux.new_session("around", ["cat"])
    monkeypatch.setenv("TMUX", f"{private_tmux.socket_path},{private_tmux.server_pid},0")
    assert await sessions() == {"around"}
    assert await sessions(socket_name="default") == {"by-default"}


@pytest.mark.requirement("ENG-01e")
@pytest.mark.parametrize("told", ["argument", "environment"])
async def test_the_tmux_it_is_told_is_run(
    private_tmux: PrivateTmux, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    private_tmux.new_session("main", ["cat"])
    log = private_tmux.directory / "log"
    other = private_tmux.directory / "other-tmux"
    other.write_text(f'#!/bin/sh\necho "$*" >>{log}\nexec {private_tmux.binary} "$@"\n')
    other.chmod(0o755)
    named = {"socket_path": private_tmux.socket_path}
    if told == "argument":
        named["tmux"] = str(other)
    else:
        monkeypatch.setenv("STREAMRELAY_TMUX", str(other))
    assert await sessions(**named) == {"main"}
    assert private_tmux.socket_path in log.read_text()
