"""What goes wrong is said once, clearly, with a hint and an exit code of its own, and nothing hangs."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from streamrelay import errors
from streamrelay.control import Version, upgrade_hint
from streamrelay.testing.waiting import wait_until


def said(stderr, error, hint=None):
    """The message and the hint, and nothing else that looks like an accident."""
    notes = "Ctrl-C ends", " sent (", "not delivered to "
    lines = [line for line in stderr.splitlines() if not any(note in line for note in notes)]
    assert lines[0].startswith("error: ")
    assert lines[1:] == [f"hint: {hint or error.default_hint}"]
    return lines[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["watch", "nobody"], errors.TargetNotFound),
        (["watch", "%999"], errors.TargetNotFound),
        (["relay", "work", "nobody"], errors.TargetNotFound),
        (["relay", "work", "shell"], errors.ShellRefused),
    ],
)
def test_a_target_that_cannot_be_had(private_tmux, cli, arguments, error):
    private_tmux.new_session("work", ["cat"])
    private_tmux.new_session("shell", ["sh", "-i"])
    ended = cli.run(*arguments)
    assert ended.returncode == error.exit_code
    assert said(ended.stderr, error)
    assert ended.stdout == ""


def test_no_server(cli, tmp_path):
    ended = cli.run("watch", "-S", str(tmp_path / "nowhere"), "work", server=False)
    assert ended.returncode == errors.NoServer.exit_code
    assert said(ended.stderr, errors.NoServer)
    assert not (tmp_path / "nowhere").exists(), "asking started a server"


def test_no_tmux(cli):
    ended = cli.run("watch", "--tmux", "/nowhere/tmux", "work")
    assert ended.returncode == errors.TmuxMissing.exit_code
    assert "/nowhere/tmux" in said(ended.stderr, errors.TmuxMissing)


@pytest.mark.requirement("ENG-01e")
def test_a_tmux_too_old_named_by_the_environment(cli, tmp_path):
    old = tmp_path / "tmux"
    old.write_text('#!/bin/sh\ncase "$*" in *display-message*) printf "2.9a\\t1\\t/nowhere\\n";; esac\n')
    old.chmod(0o755)
    ended = cli.run("watch", "work", STREAMRELAY_TMUX=str(old))
    assert ended.returncode == errors.TmuxTooOld.exit_code
    assert "2.9a" in said(ended.stderr, errors.TmuxTooOld)


def test_outside_tmux_a_target_is_needed(private_tmux, cli):
    private_tmux.new_session("work", ["cat"])
    ended = cli.run("watch")
    assert ended.returncode == errors.UsageError.exit_code
    assert "hint: `streamrelay ls`" in ended.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize("alone", [True, False])
def test_a_pane_that_is_killed(private_tmux, cli, transport, alone):
    pane = private_tmux.new_session("work", ["cat"])
    if not alone:
        private_tmux.new_session("other", ["cat"])
    watching = cli.start("watch", "--transport", transport, "--json", "work")
    watching.until_ready()
    private_tmux.run("kill-pane", "-t", pane)

    assert watching.wait() == errors.PaneGone.exit_code
    assert said(watching.stderr, errors.PaneGone)
    assert watching.events()[-1]["event"] == "pane_closed"


def test_a_split_pane_that_is_killed(private_tmux, cli):
    private_tmux.new_session("work", ["cat"])
    pane = private_tmux.run("split-window", "-P", "-F", "#{pane_id}", "-t", "work", "cat").strip()
    watching = cli.start("watch", pane)
    watching.until_ready()
    private_tmux.run("kill-pane", "-t", pane)

    assert watching.wait() == errors.PaneGone.exit_code
    assert said(watching.stderr, errors.PaneGone)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", ["killed", "told to end"])
def test_a_server_that_dies_in_mid_stream(private_tmux, cli, transport, how):
    private_tmux.new_session("work", ["sh", "-c", "while :; do echo talking; sleep 0.01; done"])
    private_tmux.new_session("other", ["cat"])
    watching = cli.start("watch", "--transport", transport, "--json", "work")
    watching.until(lambda: len(watching.said()) > 20, "some output")
    version = Version.parse(private_tmux.run("display-message", "-p", "#{version}").strip())
    if how == "killed":
        os.kill(private_tmux.server_pid, signal.SIGKILL)
    else:
        private_tmux.run("kill-server")

    assert watching.wait() == errors.ServerLost.exit_code
    # A server that died may have had the crash of its version; one that was told to end had not.
    message = said(watching.stderr, errors.ServerLost, upgrade_hint(version) if how == "killed" else None)
    assert f"tmux {version.text} at {private_tmux.socket_path} ended while pane %0 was watched" in message
    assert ("unexpectedly" in message or "lost server" in message) == (how == "killed")
    assert watching.events()[-1]["reason"] == "server_lost"


@pytest.mark.requirement("REL-02c", "OPS-02e")
def test_a_program_that_exits_to_its_shell_ends_the_relay(private_tmux, cli):
    private_tmux.new_session("work", ["cat"])
    shell = private_tmux.new_session("other", ["bash", "--noprofile", "--norc", "-i"])
    private_tmux.run("send-keys", "-t", shell, "cat", "Enter")
    wait_until(lambda: foreground(private_tmux, shell) == "cat", message="cat in the foreground")
    relaying = cli.start("relay", "work", "other")
    relaying.until_ready()
    private_tmux.run("send-keys", "-t", shell, "C-d")

    assert relaying.wait() == errors.ProgramLeft.exit_code
    assert "cat left the foreground" in said(relaying.stderr, errors.ProgramLeft)


TALKER = """
import pathlib, sys, time
begin, marker = map(pathlib.Path, sys.argv[1:])
while not begin.exists():
    time.sleep(0.01)
print("bye", flush=True)
time.sleep(1.5)
print(f"touch {marker}", flush=True)
time.sleep(600)
"""


@pytest.mark.requirement("DLV-05a")
def test_nothing_is_typed_into_the_shell_a_program_has_left(private_tmux, cli, tmp_path):
    """The program leaves in answer to the first message, and the second is under way: the paste itself checks."""
    begin, marker = tmp_path / "begin", tmp_path / "ran"
    private_tmux.new_session("work", [sys.executable, "-c", TALKER, str(begin), str(marker)])
    shell = private_tmux.new_session("other", ["bash", "--noprofile", "--norc", "-i"], columns=200)
    private_tmux.run("send-keys", "-t", shell, "head -n 3 >/dev/null", "Enter")
    wait_until(lambda: foreground(private_tmux, shell) == "head", message="head in the foreground")
    relaying = cli.start("relay", "--json", "work", "other")
    relaying.until(lambda: len(relaying.events("pane_opened")) == 2, "both panes to be watched")
    begin.touch()

    assert relaying.wait() == errors.ProgramLeft.exit_code
    assert relaying.events("relay_delivered")
    wait_until(lambda: foreground(private_tmux, shell) == "bash", message="the shell")
    private_tmux.run("send-keys", "-t", shell, "echo do''ne", "Enter")
    wait_until(lambda: "done" in private_tmux.run("capture-pane", "-p", "-t", shell).split(), message="its answer")
    assert not marker.exists()
    assert "touch" not in private_tmux.run("capture-pane", "-p", "-t", shell)


def test_a_target_that_never_reads(private_tmux, cli):
    private_tmux.new_session("work", ["sh", "-c", "while sleep 0.2; do echo talking; done"])
    private_tmux.new_session("deaf", ["sleep", "1000"])
    ended = cli.run("relay", "--allow-shell", "--read-timeout", "2", "work", "deaf")
    assert ended.returncode == errors.TargetNotReading.exit_code
    assert "sleep" in said(ended.stderr, errors.TargetNotReading)


def foreground(tmux, pane):
    return tmux.run("display-message", "-p", "-t", pane, "#{pane_current_command}").strip()


def every_error(error=errors.StreamrelayError):
    return [error, *(found for child in error.__subclasses__() for found in every_error(child))]


def test_every_error_has_a_code_and_an_exit_code_of_its_own():
    found = every_error()
    assert len({error.code for error in found}) == len(found)
    assert len({error.exit_code for error in found}) == len(found)
    for error in found:
        assert error.__name__ in errors.__doc__


@pytest.mark.requirement("OPS-02e")
def test_the_manual_has_every_code_with_its_exit_code():
    manual = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    told = dict(re.findall(r"^\| (\d+) \| `(\w+)` \|", manual, re.MULTILINE))
    assert told == {str(error.exit_code): error.code for error in every_error() if error is not errors.TmuxError}
