"""`streamrelay delivery`: the messages that wait are listed and cancelled without a daemon."""

import asyncio
import json
import os

import pytest
from streamrelay_cli.main import app
from typer.testing import CliRunner

from streamrelay.control import ServerInfo, Tmux
from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.message import Message
from streamrelay.delivery.outbox import server_key
from streamrelay.delivery.sending import open_outbox
from streamrelay.panes.server import Server


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def run(private_tmux):
    """Runs a command in this process: its exit code, standard output and standard error."""

    def run(*words):
        done = CliRunner().invoke(app, [*words, "-S", private_tmux.socket_path])
        return done.exit_code, done.stdout, done.stderr

    return run


async def fill(socket_path: str, pane: str) -> ServerInfo:
    """Leave two messages that are queued, and one that is submitted."""
    async with Server(Tmux(socket_path=socket_path)) as server, open_outbox() as outbox:
        key = server_key(server.info.address, server.info.pid, await server.started())
        for number in (1, 2, 3):
            text = f"text\x1b[2J {number}\n{'long ' * 20}"
            await outbox.put(Message(f"m{number}", text), server=key, pane=pane, program="cat")
        (third,) = await outbox.find("m3")
        outbox.note(third.number, "submitted")
        return server.info


@pytest.mark.requirement("DLV-09a")
def test_without_a_daemon_what_is_left_in_the_outbox_is_listed_and_cancelled(run, private_tmux):
    pane = private_tmux.new_session("Ann", ["cat"])
    assert run("delivery", "list") == (0, "", "no message waits\n")
    info = asyncio.run(fill(private_tmux.socket_path, pane))

    code, out, _ = run("delivery", "list")
    rows = [line.split() for line in out.splitlines()]
    assert (code, rows[0], [row[0] for row in rows[1:]]) == (0, ["ID", "TO", "STATE", "AGE", "TEXT"], ["m1", "m2"])
    assert f"Ann ({pane})  queued" in out
    assert "…" in out
    assert "\x1b" not in out
    _, out, _ = run("delivery", "list", "Ann", "--all", "--json")
    assert [json.loads(line)["state"] for line in out.splitlines()] == ["queued", "queued", "submitted"]

    with only_writer(info, pane, "send"):
        code, out, error = run("delivery", "cancel", "m1")
    assert (code, out) == (26, "")
    assert f"cannot cancel m1: `streamrelay send` (pid {os.getpid()}) writes into pane {pane}" in error
    assert "Ctrl-C" in error

    code, out, error = run("delivery", "cancel", "m3", "m1", "m9")
    assert (code, out) == (46, f"m1  {pane}  failed (cancelled)\n")
    assert f"cannot cancel m3: it is already submitted in pane {pane}" in error
    assert "no message has the id 'm9'" in error
    assert run("delivery", "cancel", "m1")[0] == 0, "a second time is as good as once"
    assert run("delivery", "cancel", "--to", "Ann")[1] == f"m2  {pane}  failed (cancelled)\n"
    assert run("delivery", "cancel", "--to", "Ann")[::2] == (0, "no message waits for Ann\n")
    assert run("delivery", "show", "m2", "m3")[1] == f"m2  {pane}  failed (cancelled)\nm3  {pane}  submitted\n"
    assert run("delivery", "cancel")[0] == 2
    code, _, error = run("delivery", "show", "unknown")
    assert (code, "streamrelay delivery list --all" in error) == (20, True)
    assert "streamrelay delivery show m3" in run("delivery", "cancel", "m3")[2]
