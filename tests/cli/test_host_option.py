"""`--host`: the commands as a person runs them, on a tmux behind a real ssh server."""

import json
import os
import signal

import pytest

from streamrelay import errors
from streamrelay.testing.sshd import PrivateSshd
from streamrelay.testing.waiting import wait_until

pytestmark = pytest.mark.requirement("ENG-01d")


@pytest.fixture
def there(sshd: PrivateSshd, private_tmux) -> list[str]:
    """The options that name the server."""
    return ["--host", sshd.host, "--ssh", sshd.command, "--tmux", private_tmux.binary, "-S", private_tmux.socket_path]


def is_left(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_watching_and_typing(cli, there, private_tmux):
    pane = private_tmux.new_session("main", ["cat", "-"])
    listed = cli.run("ls", *there, "--json", server=False)
    assert [json.loads(line)["pane"] for line in listed.stdout.splitlines()] == [pane]
    watching = cli.start("watch", *there, "main", server=False)
    watching.until_ready()
    sent = cli.run("send", *there, pane, "ça va ~. 🦜", server=False)
    assert (sent.returncode, "submitted" in sent.stderr) == (0, True)
    private_tmux.run("send-keys", "-t", pane, "-l", "by hand")
    private_tmux.run("send-keys", "-t", pane, "Enter")
    watching.until(lambda: "by hand" in watching.stdout, "what was typed by hand to be said")
    assert watching.interrupt() == 130
    assert private_tmux.run("list-sessions", "-F", "#{session_name}") == "main"


@pytest.mark.slow
def test_a_long_line_is_refused_where_the_terminal_cannot_be_looked_at(cli, there, private_tmux):
    pane = private_tmux.new_session("main", ["cat", "-"])
    sent = cli.run("send", *there, pane, "x" * 5000, server=False)
    assert (sent.returncode, "line_too_long" in sent.stderr) == (errors.DeliveryFailed.exit_code, True)


@pytest.mark.slow
def test_a_command_that_is_killed_leaves_nothing_there(cli, there, private_tmux):
    private_tmux.new_session("main", ["cat", "-"])
    watching = cli.start("watch", *there, "main", server=False)
    watching.until_ready()
    [there_now] = private_tmux.run("list-clients", "-F", "#{client_pid}").split()
    watching.process.send_signal(signal.SIGKILL)
    watching.wait()
    wait_until(lambda: private_tmux.run("list-sessions", "-F", "#{session_name}") == "main", 20)
    wait_until(lambda: is_left(int(there_now)), 20)


@pytest.mark.slow
def test_what_is_wrong_is_said(cli, there, private_tmux):
    def failed(*arguments: str, **environment: str) -> tuple[int, str]:
        done = cli.run("watch", *arguments, server=False, **environment)
        return done.returncode, done.stderr

    private_tmux.new_session("main", ["cat", "-"])
    code, words = failed("--host", "-oProxyCommand=id", "main")
    assert (code, "invalid host" in words) == (errors.UsageError.exit_code, True)
    code, words = failed(*there, "--host", "no-such-machine.invalid", "main")
    assert (code, "hint: check the name of the machine" in words) == (errors.SshFailed.exit_code, True)
    code, words = failed(*there, "--tmux", "no-such-tmux", "main")
    assert (code, "--tmux PATH" in words) == (errors.TmuxMissing.exit_code, True)
    code, words = failed(*there, ".")
    assert code == errors.UsageError.exit_code
    told = cli.run("doctor", *there, "--host", "no-such-machine.invalid", server=False)
    assert (told.returncode, "FAILED   ssh" in told.stdout) == (1, True)
    told = cli.run("doctor", *there, server=False)
    assert (told.returncode, "ok       server" in told.stdout) == (0, True), told.stdout


@pytest.mark.slow
def test_it_can_be_configured_by_the_user_alone(cli, there, private_tmux, tmp_path):
    pane = private_tmux.new_session("main", ["cat", "-"])
    _, host, _, ssh, _, binary, _, socket = there
    folder = tmp_path / "streamrelay"
    folder.mkdir()
    words = {"host": host, "ssh": ssh, "tmux": binary, "socket_path": socket}
    (folder / "config.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items()))
    # The tmux around is this machine's, and not meant.
    told = cli.run("ls", server=False, XDG_CONFIG_HOME=str(tmp_path), TMUX="/nonexistent,1,0")
    assert (told.returncode, pane in told.stdout) == (0, True), told.stderr
    told = cli.run("ls", "--host", "", server=False, XDG_CONFIG_HOME=str(tmp_path), TMUX_TMPDIR="/nonexistent")
    assert told.returncode == errors.NoServer.exit_code, told.stderr
