"""A tmux behind a real ssh server: what fails on the way is an error, and what breaks goes on."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import streamrelay
from streamrelay.control import Ssh, Tmux
from streamrelay.control.hub import LIST_SESSIONS, parse_sessions
from streamrelay.errors import NoServer, SshFailed, TmuxMissing, UsageError
from streamrelay.events import Gap
from streamrelay.panes import backoff
from streamrelay.testing.sshd import PrivateSshd
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

if TYPE_CHECKING:
    from tests.panes.conftest import Heard

pytestmark = pytest.mark.requirement("ENG-01d")
PRINTER = ["sh", "-c", "stty -echo; while read first last; do seq $first $last; done"]


@pytest.fixture
def own_sshd(sshd: PrivateSshd, tmp_path: Path) -> Iterator[PrivateSshd]:
    """One that may be stopped, and whose keys may be changed."""
    with PrivateSshd(tmp_path) as own:
        yield own


def over(sshd: PrivateSshd, tmux: PrivateTmux, *, options: str = "", **more: str) -> streamrelay.Server:
    named = {"tmux": tmux.binary, "socket_path": tmux.socket_path} | more
    return streamrelay.connect(host=sshd.host, ssh=f"{sshd.command} {options}", **named)


def hubs(tmux: PrivateTmux) -> list[str]:
    return [one.name for one in parse_sessions(tmux.run(*LIST_SESSIONS).splitlines()) if one.hub]


async def test_what_is_not_there_is_an_error_that_says_so(private_tmux: PrivateTmux, own_sshd: PrivateSshd) -> None:
    private_tmux.new_session("main", ["cat"])
    tmux = Tmux(private_tmux.binary, socket_path=private_tmux.socket_path, ssh=Ssh(own_sshd.host, own_sshd.command))
    info = await tmux.probe()
    assert (info.pid, info.address) == (private_tmux.server_pid, f"{own_sshd.host}:{private_tmux.socket_path}")
    with pytest.raises(NoServer):
        await replace(tmux, socket_path="/nonexistent").probe()
    with pytest.raises(TmuxMissing, match="no-such-tmux"):
        await replace(tmux, binary="no-such-tmux").probe()
    with pytest.raises(SshFailed, match="resolve"):
        await replace(tmux, ssh=Ssh("no-such-machine.invalid", own_sshd.command)).probe()
    (own_sshd.folder / "authorized_keys").write_text("")
    with pytest.raises(SshFailed, match="Permission denied"):
        await tmux.probe()
    (own_sshd.folder / "known_hosts").write_text("")
    with pytest.raises(SshFailed, match="Host key verification failed"):
        await tmux.probe()
    own_sshd.stop()
    with pytest.raises(SshFailed, match="refused"):
        await tmux.probe()


async def test_hostile_names_stay_names(private_tmux: PrivateTmux, sshd: PrivateSshd, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    name = f"a'; touch {witness}; $(touch {witness}) \\`touch {witness}`!"
    private_tmux.new_session("main", ["cat"])
    pane = private_tmux.new_session(name, ["cat"])
    listed = private_tmux.run("display-message", "-p", "-t", pane, "#{session_name}")
    async with over(sshd, private_tmux) as server:
        found = await server.find(listed)
        assert (found.pane, found.session_name) == (pane, listed)
    assert not witness.exists()


@pytest.mark.slow
async def test_this_machine_says_nothing_of_another(private_tmux, sshd, monkeypatch):
    pane = private_tmux.new_session("main", ["cat"])
    monkeypatch.setenv("TMUX", f"{private_tmux.socket_path},1,0")
    monkeypatch.setenv("TMUX_PANE", pane)
    async with over(sshd, private_tmux) as server:
        assert not server.is_here
        assert server.terminal(await server.find(pane)) == ""
        with pytest.raises(UsageError):
            await server.find()


@pytest.mark.slow
@pytest.mark.requirement("ENG-09a")
async def test_a_connection_that_breaks_is_made_again(private_tmux, own_sshd, heard: "type[Heard]"):
    private_tmux.new_session("other", ["cat"])
    private_tmux.run("set-option", "-g", "history-limit", "100")
    pane = private_tmux.new_session("work", PRINTER)
    async with over(own_sshd, private_tmux) as server, server.watch(pane) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-t", pane, "1 40", "Enter")
        await says.until(lambda s: s.said[-1:] == ["40"])
        own_sshd.stop()
        private_tmux.run("send-keys", "-t", pane, "41 1000", "Enter")
        await wait_until_async(lambda: "1000" in private_tmux.run("capture-pane", "-p", "-t", pane))
        own_sshd.start()
        await says.until(lambda s: s.said[-1:] == ["1000"])
        [gap] = says.of(Gap)
        assert (gap.reason, says.said[:40]) == ("detached", [str(number) for number in range(1, 41)])
        assert 0 < len(says.said) - 40 < 200
    assert hubs(private_tmux) == []


@pytest.mark.slow
@pytest.mark.requirement("ENG-09a")
async def test_a_network_that_is_dead_is_noticed(private_tmux, own_sshd, heard: "type[Heard]"):
    """The server's side of the connection is stopped: to us nothing comes any more, to tmux nothing has changed."""
    pane = private_tmux.new_session("work", PRINTER)
    options = "-o ServerAliveInterval=1 -o ServerAliveCountMax=1"
    async with over(own_sshd, private_tmux, options=options) as server, server.watch(pane) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-t", pane, "1 40", "Enter")
        await says.until(lambda s: s.said[-1:] == ["40"])
        former, stopped = hubs(private_tmux), own_sshd.connections
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            private_tmux.run("send-keys", "-t", pane, "41 80", "Enter")
            await says.until(lambda s: s.said[-1:] == ["80"])
            assert says.said == [str(number) for number in range(1, 81)]
            assert [(gap.reason, gap.lost_lines) for gap in says.of(Gap)] == [("detached", 0)]
            await wait_until_async(lambda: len(hubs(private_tmux)) == 1)
            assert hubs(private_tmux) != former
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.requirement("ENG-05e")
async def test_a_flood_that_nobody_reads_any_more_keeps_no_hub(private_tmux, own_sshd, heard, monkeypatch):
    monkeypatch.setattr(backoff, "MAX_ATTEMPTS", 3)
    pane = private_tmux.new_session("work", ["sh", "-c", "read go; exec yes"])
    private_tmux.new_session("other", ["cat"])
    async with over(own_sshd, private_tmux) as server, server.watch(pane) as stream:
        private_tmux.run("send-keys", "-t", pane, "Enter")
        await heard(stream).until(lambda s: s.said)
        own_sshd.stop()
        await wait_until_async(lambda: hubs(private_tmux) == [], 20)
        async with asyncio.timeout(60):
            [*_, last] = [event async for event in stream]
    assert last.reason == "server_lost"
