"""A person at a terminal in tmux: the status line, messages, the keys; and that nothing of it stays.

The person's terminal is a pane of another private server, in which a client of the first one runs.
"""

import asyncio
import json
import os
import re
import signal
import sys

import pytest

from streamrelay import errors
from streamrelay.control import Tmux
from streamrelay.leftovers import find_leftovers
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

PATIENCE = 30.0
SILENT_CAT = ["sh", "-c", "stty -echo; exec cat"]


class Person:
    """Somebody who looks at a session of the server."""

    def __init__(self, terminal: PrivateTmux, server: PrivateTmux, session: str) -> None:
        self._terminal = terminal
        client = ["env", "-u", "TMUX", "TERM=screen-256color", server.binary, "-S", str(server.socket_path), "attach"]
        self._pane = terminal.new_session(session, [*client, "-t", f"={session}"], columns=120, lines=30)
        wait_until(lambda: server.run("list-clients", "-t", f"={session}"), PATIENCE, "the client")

    def screen(self) -> str:
        return self._terminal.run("capture-pane", "-p", "-t", self._pane)

    def sees(self, words: str) -> None:
        wait_until(lambda: words in self.screen(), PATIENCE, f"{words!r} on {self.screen()}")

    def press(self, *keys: str) -> None:
        self._terminal.run("send-keys", "-t", self._pane, *keys)


@pytest.fixture
def terminal():
    with PrivateTmux() as terminal:
        yield terminal


@pytest.fixture
def configured(private_tmux, cli, tmp_path):
    """Two programs on a server that has the lines `streamrelay tmux` prints."""
    panes = [private_tmux.new_session(name, SILENT_CAT) for name in ("one", "two")]
    printed = cli.run("tmux", server=False)
    assert printed.returncode == 0, printed.stderr
    file = tmp_path / "tmux.conf"
    file.write_text(printed.stdout)
    for _ in range(2):
        private_tmux.run("source-file", str(file))
    assert private_tmux.run("show-options", "-gv", "status-right").count("[#{@streamrelay}]") == 1
    return panes


def options(tmux):
    return [tmux.run("show-options", "-p", "-t", pane) for pane in tmux.run("list-panes", "-aF", "#{pane_id}").split()]


@pytest.mark.requirement("OPS-09")
def test_the_status_line_shows_a_link_and_a_message_tells_that_it_is_spent(configured, private_tmux, terminal, cli):
    ann, bob = Person(terminal, private_tmux, "one"), Person(terminal, private_tmux, "two")
    linking = cli.start("link", "--budget", "2", "--no-notices", "Ann#{pid}=one", "Bob=two")
    linking.until_ready()
    ann.sees("[Bob 0/2]")
    bob.sees("[Ann#{pid} 0/2]")
    private_tmux.run("send-keys", "-t", "one", "hello", "Enter")
    for person in (ann, bob):
        person.sees("streamrelay: Ann#{pid} and Bob: the budget of 2 deliveries is spent")
    assert linking.wait() == 0
    assert not any("@streamrelay " in shown for shown in options(private_tmux))


@pytest.mark.requirement("OPS-09", "DLV-04")
def test_a_dialog_that_waits_is_told_to_whoever_looks_at_its_session(configured, private_tmux, terminal, cli, tmp_path):
    log = tmp_path / "got"
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--dialog"]
    private_tmux.new_session("agent", words)
    wait_until(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)
    person, other = Person(terminal, private_tmux, "agent"), Person(terminal, private_tmux, "one")
    sending = cli.start("send", "agent", "hello")
    person.sees("streamrelay: agent:0.0 waits for a person (")
    person.sees("[waits for you: ")
    assert "waits for" not in other.screen()
    assert sending.interrupt() == 128 + signal.SIGINT
    assert not any("@streamrelay " in shown for shown in options(private_tmux))


@pytest.mark.requirement("OPS-09")
def test_a_key_opens_what_the_pane_says_and_another_links_it(configured, private_tmux, terminal):
    one, two = configured
    person = Person(terminal, private_tmux, "one")
    person.press("C-b", "W")
    person.sees(f"watching one:0.0 ({one}, cat); Ctrl-C ends")
    private_tmux.run("send-keys", "-t", one, "spoken", "Enter")
    person.sees("spoken")
    person.press("C-c")
    wait_until(lambda: "watching" not in person.screen(), PATIENCE, "the popup to close")

    private_tmux.run("select-pane", "-m", "-t", two)
    person.press("C-b", "B")
    person.sees("one and two are linked, for 8 deliveries")
    person.press("q")
    wait_until(lambda: "link" not in private_tmux.run("list-windows", "-t", "one", "-F", "#W"), PATIENCE, "the end")


def test_nobody_is_told_who_does_not_want_to_be(configured, private_tmux, cli):
    linking = cli.start("link", "one", "two", STREAMRELAY_NOTIFY="false")
    linking.until_ready()
    assert not any("@streamrelay " in shown for shown in options(private_tmux))


@pytest.mark.requirement("OPS-09")
def test_doctor_finds_and_uninstall_takes_away_what_a_killed_command_left(private_tmux, cli, tmp_path, monkeypatch):
    for name in ("cache", "state", "config", "run"):
        (tmp_path / name).mkdir()
    own = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "HOME": str(tmp_path),
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    for name in ("one", "two"):
        private_tmux.new_session(name, SILENT_CAT)
    before = listed(private_tmux)
    linking = cli.start("link", "Ann=one", "Bob=two", **own)
    linking.until_ready()
    private_tmux.run("send-keys", "-t", "one", "hello", "Enter")
    wait_until(lambda: "@streamrelay_entered" in "".join(options(private_tmux)), PATIENCE, "a delivery")

    assert left_behind(private_tmux).in_use
    refused = cli.run("uninstall", **own)
    assert refused.returncode == errors.UsageError.exit_code
    assert "at work" in refused.stderr

    linking.process.kill()
    linking.process.wait()
    wait_until(lambda: "streamrelay-" not in private_tmux.run("list-sessions"), PATIENCE, "the hub to end")
    private_tmux.run(
        "new-session",
        "-d",
        "-s",
        "streamrelay-lost",
        ";",
        "set-option",
        "-t",
        "streamrelay-lost",
        "@streamrelay_hub",
        "1",
    )
    found = leftovers(cli, own)
    assert (found["status"], found["found"][:29]) == ("warning", "1 hubs without a client, 2 pa")
    assert "streamrelay uninstall" in found["fix"]

    left = left_behind(private_tmux)
    tried = cli.run("uninstall", "--dry-run", "--json", **own)
    planned = [json.loads(line)["removed"] for line in tried.stdout.splitlines()]
    assert left_behind(private_tmux) == left
    summary = cli.run("uninstall", "--dry-run", **own).stdout.splitlines()
    assert len(summary) < len(planned)
    assert len({re.match(r" *\d+ \w+ +", line).end() for line in summary}) == 1
    assert sum(int(line.split()[0]) for line in summary) == len(planned)
    other = tmp_path / "run" / "streamrelay" / f"{os.getpid()}-%0.lock"
    other.touch()
    done = cli.run("uninstall", "-v", **own)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == planned
    assert "remove the program itself with: " in done.stderr
    assert [*(tmp_path / "run").rglob("*.lock")] == [other]  # of another server, which runs
    other.unlink()
    other.parent.rmdir()
    assert listed(private_tmux) == before
    assert not list((tmp_path / "cache").iterdir())
    assert not list((tmp_path / "run").iterdir())
    assert "kept: " in done.stderr
    left = left_behind(private_tmux)
    assert (left.hubs, left.shown, left.in_use) == ((), (), False)

    assert cli.run("uninstall", "--data", **own).returncode == 0
    assert [file for folder in ("cache", "state", "config", "run") for file in (tmp_path / folder).iterdir()] == []
    assert cli.run("uninstall", "-S", str(tmp_path / "nowhere"), server=False, **own).stdout == ""


def left_behind(tmux):
    """Look for leftovers as `doctor` does, without the time for its other checks."""
    return asyncio.run(find_leftovers(Tmux(tmux.binary, socket_path=tmux.socket_path)))


def leftovers(cli, environment):
    examined = cli.run("doctor", "--json", **environment)
    return next(check for check in map(json.loads, examined.stdout.splitlines()) if check["name"] == "leftovers")


def listed(tmux):
    return [
        tmux.run("list-sessions", "-F", "#{session_id} #{session_name}"),
        tmux.run("list-windows", "-a", "-F", "#{window_id} #{window_linked}"),
        *options(tmux),
        tmux.run("list-buffers"),
        tmux.run("show-options", "-g"),
    ]


def test_somebody_elses_tmux_conf_is_told_and_left(cli, tmp_path):
    (tmp_path / ".tmux.conf").write_text("# streamrelay\n")
    done = cli.run("uninstall", HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path))
    assert done.returncode == 0
    assert f"{tmp_path}/.tmux.conf mentions streamrelay" in done.stderr
    assert (tmp_path / ".tmux.conf").read_text() == "# streamrelay\n"
    assert [file.name for file in tmp_path.iterdir()] == [".tmux.conf"]
