"""How a control client's connection ends, or never begins, against real tmux and over both transports."""

import asyncio
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamrelay.control import (
    CommandResult,
    ControlClient,
    PaneOutput,
    Tmux,
    TransportName,
    command_line,
)
from streamrelay.errors import (
    CommandTimeout,
    NoServer,
    ServerLost,
    TargetNotFound,
    TmuxMissing,
    UsageError,
)
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until_async

if TYPE_CHECKING:
    from tests.control.conftest import Connect, Heard

pytestmark = pytest.mark.requirement("ENG-01a", "ENG-01b")
IDLE = ["sleep", "1000"]


def is_reaped(client: ControlClient) -> bool:
    """Whether no trace of the client's child is left in the process table."""
    assert client.pid is not None
    try:
        os.waitpid(client.pid, os.WNOHANG)
    except ChildProcessError:
        return not is_alive(client.pid)
    return False


def say(text: str) -> str:
    return command_line(["display-message", "-p", "--", text])


@pytest.mark.requirement("ENG-04a")
@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGKILL], ids=["kill-server", "SIGTERM", "SIGKILL"])
async def test_a_server_that_ends_in_mid_stream_fails_what_waits(
    private_tmux: PrivateTmux, connect: "Connect", heard: "Heard", number: signal.Signals | None
) -> None:
    pane = private_tmux.new_session("main", ["sh", "-c", "read go; exec yes"])
    async with connect() as client:
        await client.command(command_line(["send-keys", "-t", pane, "Enter"]))
        await heard.until(pane, b"y\r\ny\r\n")
        waiting = [asyncio.create_task(client.command("wait-for never")) for _ in range(3)]
        await wait_until_async(lambda: client.outstanding == 3)
        if number is None:
            private_tmux.run("kill-server")
        else:
            os.kill(private_tmux.server_pid, number)
        async with asyncio.timeout(10):
            end = await client.closed
            answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert (end.reason, end.abrupt) == ("server_lost", number is signal.SIGKILL)
        # A server that ends in good order lets go of whoever waits, and answers what it still can.
        in_order = () if number is signal.SIGKILL else (CommandResult,)
        assert [answer for answer in answers if not isinstance(answer, (ServerLost, *in_order))] == []
        with pytest.raises(ServerLost):
            await client.command(say("x"))


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ([["detach-client", "-s", "main"]], "detached"),
        ([["kill-session", "-t", "main"]], "session_gone"),
        ([["set-option", "-g", "detach-on-destroy", "off"], ["kill-session", "-t", "main"]], "session_gone"),
        ([["switch-client", "-c", "#{client_name}", "-t", "other"]], "moved"),
    ],
    ids=["detach", "kill-session", "detach-on-destroy-off", "switch-client"],
)
@pytest.mark.over_ssh
async def test_the_end_says_why_and_the_client_is_gone(
    private_tmux: PrivateTmux, connect: "Connect", commands: list[list[str]], reason: str
) -> None:
    private_tmux.new_session("main", IDLE)
    private_tmux.new_session("other", IDLE)
    async with connect("$0") as client:
        name = private_tmux.run("list-clients", "-F", "#{client_name}")
        for command in commands:
            private_tmux.run(*(name if word == "#{client_name}" else word for word in command))
        async with asyncio.timeout(10):
            end = await client.closed
        assert (end.reason, end.abrupt) == (reason, False)
        assert private_tmux.run("list-clients") == ""
        assert is_reaped(client)


@pytest.mark.over_ssh
async def test_a_client_that_is_killed_is_an_abrupt_end(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        assert client.pid
        os.kill(client.pid, signal.SIGKILL)
        async with asyncio.timeout(10):
            end = await client.closed
        assert (end.reason, end.abrupt) == ("detached", True)


async def test_closing_is_final_and_can_be_repeated(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    client = connect()
    with pytest.raises(UsageError):
        client.request("list-panes", lambda _: None)
    await client.aclose()
    await client.open()
    assert client.pid
    watching = asyncio.ensure_future(client.closed)
    watching.cancel()
    blocked = asyncio.create_task(client.command("wait-for never"))
    await wait_until_async(lambda: client.outstanding == 1)
    await client.aclose()
    await client.aclose()
    assert (await client.closed).reason == "left"
    with pytest.raises(ServerLost):
        await blocked
    assert is_reaped(client)


@pytest.mark.over_ssh
async def test_leaving_under_a_flood_is_quick_and_keeps_the_server(
    private_tmux: PrivateTmux, connect: "Connect", heard: "Heard"
) -> None:
    pane = private_tmux.new_session("main", ["sh", "-c", "read go; exec yes"])
    async with connect() as client:
        await client.command(command_line(["send-keys", "-t", pane, "Enter"]))
        await heard.until(pane, b"y\r\ny\r\n")
        client.request("wait-for never", lambda _: None)
        async with asyncio.timeout(5):
            await client.aclose()
    assert private_tmux.run("list-clients") == ""
    before = len(heard.events)
    await asyncio.sleep(0)
    assert len(heard.events) == before
    assert is_reaped(client)


async def test_a_server_that_is_stopped_is_left_all_the_same(
    private_tmux: PrivateTmux, connect: "Connect", monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("transport", "pipes"):
        monkeypatch.setattr(f"streamrelay.control.{module}.GRACE", 0.1)
    private_tmux.new_session("main", IDLE)
    client = connect()
    await client.open()
    os.kill(private_tmux.server_pid, signal.SIGSTOP)
    try:
        with pytest.raises(CommandTimeout):
            await client.command(say("x" * 1_000_000), timeout=0.1)
        async with asyncio.timeout(5):
            await client.aclose()
    finally:
        os.kill(private_tmux.server_pid, signal.SIGCONT)
    assert is_reaped(client)
    await wait_until_async(lambda: private_tmux.run("list-clients") == "")


async def test_a_handler_that_raises_ends_the_connection(
    private_tmux: PrivateTmux, tmux: Tmux, transport: TransportName
) -> None:
    pane = private_tmux.new_session("main", ["cat"])
    told: list[BaseException | None] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context.get("exception")))

    def handler(events: object, read_at: float) -> None:
        assert isinstance(events, list)
        if any(isinstance(event, PaneOutput) for event in events):
            raise ZeroDivisionError("a bug")

    async with ControlClient(tmux, "main", handler, transport=transport) as client:
        client.request(command_line(["send-keys", "-t", pane, "x", "Enter"]), lambda _: None)
        async with asyncio.timeout(10):
            end = await client.closed
    assert end.reason == "failed"
    assert "a bug" in end.words
    assert [type(error) for error in told] == [ZeroDivisionError]


@pytest.mark.parametrize(
    ("target", "words"),
    [("$9", "can't find session: $9"), ("none", "can't find session: none"), ("%7", "can't find pane")],
)
async def test_attaching_to_what_is_not_there(
    private_tmux: PrivateTmux, connect: "Connect", target: str, words: str
) -> None:
    private_tmux.new_session("main", IDLE)
    with pytest.raises(TargetNotFound, match=re.escape(words)):
        async with connect(target):
            pass
    assert private_tmux.run("list-clients") == ""


@pytest.mark.over_ssh
async def test_attaching_never_starts_a_server(private_tmux: PrivateTmux, connect: "Connect") -> None:
    with pytest.raises(NoServer, match=re.escape(private_tmux.socket_path)):
        async with connect():
            pass
    with pytest.raises(NoServer):
        private_tmux.server_pid  # noqa: B018


async def test_a_binary_that_is_not_there(private_tmux: PrivateTmux, transport: TransportName, heard: "Heard") -> None:
    tmux = Tmux("no-such-tmux", socket_path=private_tmux.socket_path)
    with pytest.raises(TmuxMissing):
        async with ControlClient(tmux, "$0", heard, transport=transport):
            pass


@pytest.mark.parametrize("how", ["timeout", "cancelled"])
async def test_an_attach_that_hangs_leaves_no_process(
    tmp_path: Path, transport: TransportName, heard: "Heard", monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The stand-in for tmux listens to no polite request, and has to be killed."""
    for module in ("transport", "pipes"):
        monkeypatch.setattr(f"streamrelay.control.{module}.GRACE", 0.1)
    binary = tmp_path / "tmux"
    binary.write_text(
        f"#!/bin/sh\ntrap '' HUP TERM\necho $$ >{tmp_path}/pid\nwhile :; do read line || sleep 0.05; done\n"
    )
    binary.chmod(0o755)
    client = ControlClient(
        Tmux(str(binary), socket_path=str(tmp_path / "none")), "$0", heard, transport=transport,
        attach_timeout=0.2 if how == "timeout" else 60,
    )  # fmt: skip
    opening = asyncio.create_task(client.open())
    if how == "cancelled":
        await wait_until_async(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
        opening.cancel()
    with pytest.raises(CommandTimeout if how == "timeout" else asyncio.CancelledError):
        await opening
    assert is_reaped(client)
