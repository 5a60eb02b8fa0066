"""`start`, `end` and `hooks`, as a person and as an agent's hook run them."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from streamrelay_cli.hook_client import report_hook, socket_paths

from streamrelay.control import Tmux
from streamrelay.daemon.address import address_of
from streamrelay.daemon.client import DaemonClient
from streamrelay.events import AgentStopped
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import COMMAND, PATIENCE


@pytest.mark.requirement("AGT-01a")
def test_a_session_is_started_and_ended_by_its_id(cli, private_tmux, tmp_path):
    private_tmux.new_session("keeper", ["cat"])
    words = ["sh", "--cwd", str(tmp_path), "--title", "Ann", "-e", "GREETING=a b;", "--size", "90x20", "--timeout", "0"]
    started = cli.run("start", *words, "--", "-c", 'echo "$0 $GREETING" > told; sleep 100', "$HOME;")
    assert (started.returncode, started.stderr) == (0, "")
    session = started.stdout.strip()
    assert (tmp_path / "told").read_text() == "$HOME; a b;\n"
    assert private_tmux.run("display-message", "-p", "-t", "Ann:", "#{window_width}x#{window_height}") == "90x20"
    assert session in cli.run("ls").stdout
    ended = cli.run("end", session)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", f"ended Ann ({session})\n")
    assert private_tmux.run("list-sessions", "-F", "#{session_name}") == "keeper"
    assert cli.run("end", session).returncode == 20


@pytest.mark.requirement("AGT-06")
def test_a_program_is_looked_up_in_the_path_of_the_shell_and_one_that_dies_says_why(cli, private_tmux, tmp_path):
    private_tmux.new_session("keeper", ["cat"])
    program = tmp_path / "bin" / "sprout"
    program.parent.mkdir()
    program.write_text("#!/usr/bin/env sh\nexec cat\n")
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    found = cli.run("start", "sprout", "--timeout", "0", PATH=path)
    assert (found.returncode, found.stderr) == (0, "")
    missing = cli.run("start", "sprout", PATH=os.environ["PATH"])
    assert (missing.returncode, missing.stdout) == (34, "")
    assert f"program not found: sprout (searched the PATH: {os.environ['PATH']})\nhint: " in missing.stderr
    before = private_tmux.run("list-panes", "-a", "-F", "#{pane_id}")
    died = cli.run("start", "sh", "--", "-c", "echo 'no licence'; sleep 0.5; exit 3")
    assert (died.returncode, died.stdout) == (34, "")
    assert "error: sh ended before it was ready (exit status 3); it printed last:\nno licence\nhint: " in died.stderr
    assert private_tmux.run("list-panes", "-a", "-F", "#{pane_id}") == before


def test_a_session_that_is_ready_takes_its_prompt(cli, private_tmux):
    private_tmux.new_session("keeper", ["cat"])
    started = cli.run("start", "cat", "--prompt", "hello", "--json")
    assert started.returncode == 0, started.stderr
    session = json.loads(started.stdout)
    assert session["started_here"]
    assert "prompt: submitted" in started.stderr
    assert private_tmux.run("capture-pane", "-p", "-t", session["pane"]).split()[:2] == ["hello", "hello"]


@pytest.mark.parametrize("words", [["cat", "--size", "39x20"], ["cat", "-e", "x"]])
def test_arguments_that_make_no_sense_are_refused(cli, private_tmux, words):
    private_tmux.new_session("keeper", ["cat"])
    refused = cli.run("start", *words)
    assert refused.returncode == 2
    assert "hint:" in refused.stderr


def test_a_person_may_start_sessions_where_a_program_may_not(cli, private_tmux, tmp_path):
    """In the same pane: a command that is typed, and one that is run without the terminal, as an agent runs its own."""
    rules = {"STREAMRELAY_SESSIONS_START": "people", "STREAMRELAY_SESSIONS_MOST": "1"}
    command = f"{COMMAND} start cat --timeout 0 -S {private_tmux.socket_path}"
    pane = private_tmux.new_session("keeper", environment=rules)

    def typed(line: str, name: str) -> str:
        private_tmux.run(
            "send-keys", "-t", pane, f"{line} >'{tmp_path / name}' 2>&1; echo $? >'{tmp_path / name}.code'"
        )
        private_tmux.run("send-keys", "-t", pane, "Enter")
        code = tmp_path / f"{name}.code"
        wait_until(lambda: code.exists() and code.read_text().endswith("\n"), PATIENCE, name)
        return code.read_text().strip() + ": " + (tmp_path / name).read_text()

    alone = (
        f"{sys.executable} -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], start_new_session=True))'"
    )
    assert "only people start sessions here\nhint: " in typed(f"{alone} {command}", "by a program")
    assert typed(command, "by a person").startswith("0: s-")
    assert typed(command, "one more").startswith("39: error: 1 session was started here earlier")
    nobody = cli.run("start", "cat", STREAMRELAY_SESSIONS_START="nobody")
    assert (nobody.returncode, nobody.stdout) == (39, "")
    assert "hint: " in nobody.stderr


@pytest.mark.requirement("AGT-03b")
def test_hooks_are_put_in_shown_and_taken_out(cli, tmp_path):
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model":"x"}')
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), "CLAUDE_CONFIG_DIR": ""}
    assert cli.run("hooks", "install", "claude", server=False, **home).returncode == 0
    shown = cli.run("hooks", "show", "claude", "--json", server=False, **home)
    told = json.loads(shown.stdout)
    assert told["command"].endswith("streamrelay hook claude")
    assert json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"] == told["command"]
    assert cli.run("hooks", "remove", "claude", server=False, **home).returncode == 0
    assert settings.read_text() == '{"model":"x"}'


@pytest.mark.requirement("HIS-02a")
def test_what_agents_wrote_down_is_found_by_the_command(cli, private_tmux, tmp_path):
    private_tmux.new_session("keeper", ["cat"])
    file = tmp_path / ".claude" / "projects" / "x" / "1.jsonl"
    file.parent.mkdir(parents=True)
    said = {
        "type": "assistant",
        "timestamp": "2026-11-22T04:37:01Z",
        "message": {"content": "so " * 99 + "the KEY\x1b[2J"},
    }
    file.write_text(json.dumps(said))
    home = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), "CLAUDE_CONFIG_DIR": ""}
    search = ("history", "search", "-S", private_tmux.socket_path, "key")
    found = cli.run(*search, server=False, **home)
    assert found.returncode == 0, found.stderr
    assert "claude, its transcript │ …" in found.stdout
    assert "the KEY" in found.stdout
    assert "\x1b" not in found.stdout
    none = cli.run(*search, "--no-transcripts", server=False, **home)
    assert none.returncode == 2


@pytest.mark.requirement("AGT-03a")
def test_a_hook_reaches_the_daemon_and_is_journaled(cli, private_tmux, monkeypatch):
    folders = {
        "XDG_RUNTIME_DIR": str(private_tmux.directory / "r"),
        "XDG_STATE_HOME": str(private_tmux.directory / "s"),
    }
    Path(folders["XDG_RUNTIME_DIR"]).mkdir()
    for name, value in folders.items():
        monkeypatch.setenv(name, value)
    address = address_of(Tmux(socket_path=private_tmux.socket_path))
    assert next(socket_paths(private_tmux.socket_path, folders)) == str(address.socket)

    async def journaled():
        async with DaemonClient(address.socket) as service:
            return await service.read_since(0)

    private_tmux.new_session("keeper", ["cat"])
    here = ("-S", private_tmux.socket_path)
    started = cli.run("daemon", "start", *here, server=False, **folders)
    assert started.returncode == 0, started.stderr
    try:
        session = json.loads(cli.run("start", "cat", "--title", "Ann", "--json", **folders).stdout)
        inside = {"TMUX": f"{private_tmux.socket_path},1,0", "TMUX_PANE": session["pane"], **folders}
        payload = json.dumps({"hook_event_name": "Stop", "last_assistant_message": "**done**"})
        assert report_hook(["claude", payload], inside) == 0
        stopped = [event for event in asyncio.run(journaled()) if isinstance(event, AgentStopped)]
        assert [(event.pane, event.agent, event.answer) for event in stopped] == [
            (session["pane"], "claude", "**done**")
        ]
        assert cli.run("end", "Ann", **folders).returncode == 0
        assert private_tmux.run("list-sessions", "-F", "#{session_name}") == "keeper"
    finally:
        cli.run("daemon", "stop", *here, server=False, **folders)


class Listener:
    """A unix socket that keeps what it is posted once."""

    def __init__(self, path: str, *, answers: bool = True) -> None:
        Path(path).parent.mkdir(parents=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen()
        self._socket.settimeout(20)
        self._answers = answers
        self.got = b""
        self.hung_up = False
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()

    def _take(self) -> None:
        connection, _ = self._socket.accept()
        with self._socket, connection:
            connection.settimeout(20)
            while b"\r\n\r\n" not in self.got or len(self.got.partition(b"\r\n\r\n")[2]) < self._length():
                self.got += connection.recv(65536)
            if self._answers:
                connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            else:
                self.hung_up = connection.recv(1) == b""

    def _length(self) -> int:
        head = self.got.partition(b"\r\n\r\n")[0].lower()
        return int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])


@pytest.fixture
def inside(private_tmux: PrivateTmux) -> dict[str, str]:
    """What the environment of a program in a pane is, with state and runtime folders of its own."""
    folder = private_tmux.directory
    return {
        "TMUX": f"{private_tmux.socket_path},12,0",
        "TMUX_PANE": "%3",
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "s"),
        "XDG_RUNTIME_DIR": str(folder / "r"),
    }


@pytest.mark.parametrize("where", [0, 1])
def test_a_hook_is_posted_wherever_the_daemon_listens(private_tmux, inside, where):
    listener = Listener(list(socket_paths(private_tmux.socket_path, inside))[where])
    payload = {"hook_event_name": "Stop", "last_assistant_message": "é" * 100_000}
    command = Path(sys.executable).with_name("streamrelay")
    told = subprocess.run(
        [command, "hook", "claude"],
        input=json.dumps(payload),
        env=inside,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    listener.thread.join(20)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
    head, _, body = listener.got.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/hooks HTTP/1.1\r\n")
    told_where = {"HOME": inside["HOME"]}
    assert json.loads(body) == {"agent": "claude", "pane": "%3", "payload": payload, "environment": told_where}


def test_a_daemon_that_hangs_does_not_hold_the_agent_up(private_tmux, inside):
    listener = Listener(next(socket_paths(private_tmux.socket_path, inside)), answers=False)
    assert report_hook(["claude", "{}"], inside) == 0
    listener.thread.join(20)
    assert listener.hung_up, "the hook gave up, for the daemon never answered"


@pytest.mark.parametrize(
    ("report", "changed"),
    [("{}", {}), ("no JSON", {}), ("[1]", {}), ("{}", {"TMUX": ""}), ("{}", {"TMUX_PANE": ""}), ("{}", {"HOME": ""})],
)
def test_without_a_daemon_a_hook_is_silent_and_succeeds(inside, report, changed):
    assert report_hook(["claude", report], inside | changed) == 0
