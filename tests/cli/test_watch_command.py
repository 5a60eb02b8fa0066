"""`streamrelay watch` on live panes: every line once, unchanged, in order, and not a trace left behind."""

import array
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from streamrelay.testing.traces import listed
from streamrelay.testing.waiting import wait_until

COMMAND = Path(sys.executable).with_name("streamrelay")
PRINTED = (
    r"seq 1 20000; printf '\033[31mred\033[0m plain\n\033[1;44mbold\033[0m\n'; "
    r"printf '中文字 и кириллица 🦜🎉\n日本語\n'; echo the''end"
)
EXPECTED = [*map(str, range(1, 20001)), "red plain", "bold", "中文字 и кириллица 🦜🎉", "日本語", "theend"]
SHELLS = {
    "sh": ["sh", "-i"],
    "bash": ["bash", "--noprofile", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "-N", "-i"],
}


@pytest.mark.sampled(3)
@pytest.mark.requirement("OPS-02a", "ENG-01a", "ENG-01b", "DEL-01")
@pytest.mark.parametrize("shell", SHELLS)
def test_every_line_of_a_live_pane_comes_once_unchanged_in_order(private_tmux, cli, transport, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    pane = private_tmux.new_session("work", SHELLS[shell], columns=200)
    wait_until(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).strip(), message="a prompt")
    before = listed(private_tmux)
    own = listed(private_tmux, hubs=False)

    watching = cli.start("watch", "--transport", transport, "--json", "work")
    watching.until_ready()
    assert len(private_tmux.run("list-clients").splitlines()) == 1
    assert listed(private_tmux, hubs=False) == own
    private_tmux.run("send-keys", "-l", "-t", pane, PRINTED)
    private_tmux.run("send-keys", "-t", pane, "Enter")
    watching.until(lambda: '"text":"theend","origin":"program"' in watching.stdout, "the last line")

    assert watching.said() == EXPECTED
    numbers = [event["seq"] for event in watching.events()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert watching.interrupt() == 128 + signal.SIGINT
    assert "Traceback" not in watching.stderr
    assert private_tmux.run("list-clients") == ""
    assert listed(private_tmux) == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_any_polite_signal_ends_it_and_leaves_no_process(private_tmux, cli, transport, number):
    private_tmux.new_session("work", ["cat"])
    watching = cli.start("watch", "--transport", transport, "work")
    watching.until_ready()
    client = int(private_tmux.run("list-clients", "-F", "#{client_pid}"))

    assert watching.interrupt(number) == 128 + number
    assert private_tmux.run("list-clients") == ""
    with pytest.raises(ProcessLookupError):
        os.kill(client, 0)


def test_text_is_the_default_and_several_panes_are_labelled(private_tmux, cli):
    private_tmux.new_session("one", ["cat"])
    private_tmux.new_session("two", ["cat"])
    watching = cli.start("watch", "one", "two")
    watching.until_ready()
    for session in ("one", "two"):
        private_tmux.run("send-keys", "-t", session, f"hello {session}", "Enter")
    watching.until(lambda: watching.stdout.count("hello") >= 4, "both lines and their echoes")

    assert "one %0 | hello one\n" in watching.stdout
    assert "two %1 | hello two\n" in watching.stdout


def test_a_reader_that_goes_away_ends_it_quietly(private_tmux, tmp_path):
    pane = private_tmux.new_session("work", ["sh", "-c", "read go; seq 1 100000; sleep 60"])
    errors = tmp_path / "errors"
    process = subprocess.Popen(
        ["/bin/sh", "-c", f"'{COMMAND}' watch -S '{private_tmux.socket_path}' work 2>'{errors}' | head -n 3"],
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: errors.exists() and "Ctrl-C ends" in errors.read_text(), 60, "the command to be ready")
    private_tmux.run("send-keys", "-t", pane, "Enter")
    out, _ = process.communicate(timeout=60)

    assert out.splitlines()[-2:] == ["1", "2"]
    assert "Traceback" not in errors.read_text()
    wait_until(lambda: not private_tmux.run("list-clients"), 30, "the client to leave")


def test_this_pane_is_the_default_inside_tmux(private_tmux, cli, tmp_path):
    pane = private_tmux.new_session("work", ["sh", "-i"], columns=200)
    log = tmp_path / "log"
    private_tmux.run("send-keys", "-l", "-t", pane, f"'{COMMAND}' watch --json >'{log}' 2>&1 &")
    private_tmux.run("send-keys", "-t", pane, "Enter")
    wait_until(lambda: log.exists() and "pane_opened" in log.read_text(), 30, "the stream of this pane")
    private_tmux.run("send-keys", "-t", pane, "echo from$((40+2))", "Enter")
    wait_until(lambda: '"from42"' in log.read_text(), 30, "the line")


def test_a_defect_less_stream_survives_a_resize_and_a_split(private_tmux, cli):
    pane = private_tmux.new_session("work", ["sh", "-c", "while read line; do seq 1 $line; done"])
    watching = cli.start("watch", "--json", pane)
    watching.until_ready()
    private_tmux.run("send-keys", "-t", pane, "50", "Enter")
    watching.until(lambda: watching.said()[-1:] == ["50"], "the first lines")
    private_tmux.run("split-window", "-h", "-t", pane, "cat")
    watching.until(lambda: watching.events("pane_resized"), "the resize")
    private_tmux.run("send-keys", "-t", pane, "30", "Enter")
    watching.until(lambda: watching.said().count("30") == 3, "the lines after it")

    numbers = [int(line) for line in watching.said()]
    assert numbers == [50, *range(1, 51), 30, *range(1, 31)]
    assert watching.events("gap") == []


@pytest.mark.requirement("OPS-02a")
def test_all_panes_of_a_session_are_watched_each_once(private_tmux, cli):
    """The second window is linked into two sessions, and a program of the session has ended."""
    command = ["sh", "-c", "stty -echo; while read line; do echo $line; done"]
    first = private_tmux.new_session("work", command)
    second = private_tmux.run("split-window", "-P", "-F", "#{pane_id}", "-t", "work", *command).strip()
    third = private_tmux.run("new-window", "-P", "-F", "#{pane_id}", "-t", "work:", *command).strip()
    other = private_tmux.new_session("other", command)
    private_tmux.run("link-window", "-d", "-s", third, "-t", "other:7")
    private_tmux.run("link-window", "-d", "-s", third, "-t", "work:8")
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    dead = private_tmux.run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", first, "true").strip()
    wait_until(lambda: private_tmux.run("display-message", "-p", "-t", dead, "#{pane_dead}").strip() == "1")

    everything = cli.start("watch", "work", "--all-panes")
    active = cli.start("watch", "work", "work:0", third)
    for watching in (everything, active):
        watching.until_ready()
    for number, target in enumerate([first, second, third, other]):
        private_tmux.run("send-keys", "-t", target, f"line{number}", "Enter")
    everything.until(lambda: everything.stdout.count("line") >= 3, "all lines")
    assert sorted(line.partition(" ")[2] for line in everything.stdout.splitlines()) == [
        f"{first} | line0",
        f"{second} | line1",
        f"{third} | line2",
    ]
    assert "other pane" not in everything.stderr
    assert active.stderr.splitlines()[:2] == [
        f"{target} has 1 other pane, not watched; --all-panes watches every pane of the session"
        for target in ("work", "work:0")
    ]


def test_all_panes_with_the_one_it_prints_to_are_refused(private_tmux):
    pane = private_tmux.new_session("work", ["sh", "-i"], columns=200)
    other = private_tmux.run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", pane, "cat").strip()
    private_tmux.run("send-keys", "-t", pane, f"'{COMMAND}' watch {other} --all-panes; echo ended=$?", "Enter")
    wait_until(lambda: "ended=2" in private_tmux.run("capture-pane", "-p", "-t", pane), 30, "the refusal")


def test_it_refuses_to_hear_itself(private_tmux):
    pane = private_tmux.new_session("work", ["sh", "-i"], columns=200)
    private_tmux.run("send-keys", "-t", pane, f"'{COMMAND}' watch; echo ended=$?", "Enter")
    wait_until(lambda: "ended=2" in private_tmux.run("capture-pane", "-p", "-t", pane), 30, "the refusal")
    assert "cannot watch the pane that this command" in private_tmux.run("capture-pane", "-p", "-t", pane)


def test_a_full_disk_is_one_error(private_tmux):
    private_tmux.new_session("work", ["sh", "-c", "while sleep 0.1; do echo talking; done"])
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [COMMAND, "watch", "-S", str(private_tmux.socket_path), "work"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert "error: cannot write to standard output: No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_tmux_own_options_may_stand_in_front_of_the_command(private_tmux):
    private_tmux.new_session("work", ["cat"])
    listed = subprocess.run(
        [COMMAND, "-S", str(private_tmux.socket_path), "ls"], capture_output=True, text=True, timeout=60, check=False
    )
    assert "work:0.0" in listed.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("command", [["watch", "work"], ["watch", "--json", "work"]])
def test_a_reader_that_stops_reading_does_not_stop_the_listening(private_tmux, tmp_path, command):
    """Signals are heard, and what is printed meanwhile waits in a bounded queue."""
    private_tmux.new_session("work", ["sh", "-c", "while :; do seq 1 1000; done"])
    errors = tmp_path / "errors"
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [COMMAND, command[0], "-S", str(private_tmux.socket_path), *command[1:]],
            stdout=subprocess.PIPE,
            stderr=file,
        )
    try:
        assert process.stdout is not None
        wait_until(lambda: "Ctrl-C ends" in errors.read_text(), 60, "the command to be ready")
        size = fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ)
        wait_until(lambda: waiting_in(process.stdout) > size // 2, 60, "the pipe to be full")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 128 + signal.SIGINT
    finally:
        process.kill()
        process.communicate()
    assert private_tmux.run("list-clients") == ""


def waiting_in(pipe):
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]
