"""`streamrelay record` as a person runs it: a file that replays, and clean ends."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.control import ServerInfo, Version
from streamrelay.delivery.lock import only_writer
from streamrelay.delta.inputs import Waited
from streamrelay.delta.printing.lines import PROVING
from streamrelay.recordings import Output, open_recording
from streamrelay.testing.waiting import wait_until

AGENT = [sys.executable, str(Path(__file__).parents[1] / "panes" / "painted_agent.py")]
COMMAND = Path(sys.executable).with_name("streamrelay")
COUNTER = ["sh", "-c", "stty -echo; while read n; do seq 1 $n; done"]


def replayed(path: Path, *options: str) -> str:
    return subprocess.run(
        [COMMAND, "replay", str(path), *options], check=True, capture_output=True, text=True, timeout=60
    ).stdout


def printed(path: Path) -> bytes:
    return b"".join(entry.data for entry in open_recording(path).entries() if isinstance(entry, Output))


def waited(path: Path) -> float:
    """Return the seconds of rest behind the last bytes, as far as the file tells."""
    entries = list(open_recording(path).entries())
    last = max(entry.t for entry in entries if isinstance(entry, Output))
    return max((entry.t - last for entry in entries if isinstance(entry, Waited)), default=0.0)


@pytest.mark.requirement("OPS-02a", "DEL-09a")
def test_a_pane_is_recorded_until_ctrl_c(private_tmux, cli, tmp_path):
    pane = private_tmux.new_session("work", COUNTER)
    file = tmp_path / "a.jsonl.gz"
    recording = cli.start("record", "work", str(file))
    recording.until_ready()
    private_tmux.run("send-keys", "-t", pane, "3", "Enter")
    wait_until(lambda: b"3\r\n" in printed(file), 20, "what was printed to be in the file already")
    # The first lines after the attach stand half a second before they are said; the file says when that has passed.
    wait_until(lambda: waited(file) > 0.9 * PROVING, 20, "the lines to be said")

    assert recording.interrupt() == 0
    assert recording.stdout == ""
    assert "3 lines" in recording.stderr
    assert "Traceback" not in recording.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert replayed(file) == "1\n2\n3\n"
    assert private_tmux.run("list-clients") == ""


@pytest.mark.parametrize("options", [("--for", "0.5"), ("--lines", "2")])
def test_it_ends_by_itself(private_tmux, cli, tmp_path, options):
    private_tmux.new_session("work", ["sh", "-c", "sleep 0.2; while :; do echo tick; sleep 0.05; done"])
    recording = cli.start("record", "work", str(tmp_path / "a.jsonl"), *options)
    assert recording.wait() == 0
    assert "tick" in replayed(tmp_path / "a.jsonl")


def test_a_pane_that_closes_ends_it(private_tmux, cli, tmp_path):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.new_session("other", ["cat"])
    recording = cli.start("record", "work", str(tmp_path / "a.jsonl"))
    recording.until_ready()
    private_tmux.run("kill-pane", "-t", pane)
    assert recording.wait() == 0
    closed = json.loads(replayed(tmp_path / "a.jsonl", "--json").splitlines()[-1])
    assert (closed["event"], closed["reason"]) == ("pane_closed", "session_gone")


def test_what_it_says_to_the_program_is_recorded_with_the_answers(private_tmux, cli, tmp_path):
    pane = private_tmux.new_session("work", AGENT, columns=60, lines=16)
    wait_until(lambda: "shortcuts" in private_tmux.run("capture-pane", "-p", "-t", pane), 20)
    file = tmp_path / "talk.jsonl.gz"
    recording = cli.start("record", "work", str(file), "--say", "What is this?", "--say", "And this?")
    assert recording.wait() == 0
    assert "2 messages" in recording.stderr
    assert "You said 'And this?'.\nNothing else.\n" in replayed(file)


def test_a_pane_that_the_daemon_types_into_is_refused_before_there_is_a_file(private_tmux, cli, tmp_path):
    pane = private_tmux.new_session("work", ["cat"])
    process = int(private_tmux.run("display-message", "-p", "#{pid}"))
    info = ServerInfo(Version.parse("3.3a"), process, str(private_tmux.socket_path))
    file = tmp_path / "a.jsonl.gz"
    with only_writer(info, pane, "daemon"):
        refused = cli.run("record", "work", str(file), "--say", "hello")
    assert refused.returncode == 26
    assert f"error: the daemon (pid {os.getpid()}) writes into pane {pane} already" in refused.stderr
    assert f"hint: stop the daemon first: streamrelay -S {private_tmux.socket_path} daemon stop" in refused.stderr
    assert not file.exists()
    recorded = cli.run("record", "work", str(file), "--say", "hello", "--for", "0.1")
    assert (recorded.returncode, file.exists()) == (0, True), recorded.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("work", "there.jsonl"), "--force", 30),
        (("work", "a.cast"), ".jsonl.gz", 30),
        (("work", "missing/a.jsonl"), "cannot write", 30),
        (("nowhere", "a.jsonl"), "nowhere", 20),
    ],
)
def test_what_cannot_be_done_is_said(private_tmux, cli, tmp_path, arguments, words, code):
    private_tmux.new_session("work", ["cat"])
    (tmp_path / "there.jsonl").write_text("kept")
    target, file = arguments
    recording = cli.start("record", target, str(tmp_path / file))
    assert recording.wait() == code
    assert words in recording.stderr
    assert "Traceback" not in recording.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file() and "a." in path.name] == []
    assert (tmp_path / "there.jsonl").read_text() == "kept"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_with_a_whole_file(private_tmux, cli, tmp_path, number):
    private_tmux.new_session("work", ["cat"])
    recording = cli.start("record", "work", str(tmp_path / "a.jsonl.gz"))
    recording.until_ready()
    assert recording.interrupt(number) == 128 + number
    assert "recording_ended" in replayed(tmp_path / "a.jsonl.gz", "--json")


def test_on_a_terminal_its_progress_is_shown_in_place(private_tmux, tmp_path):
    private_tmux.new_session("work", ["sh", "-c", "while :; do echo tick; sleep 0.1; done"])
    arguments = ["record", "-S", str(private_tmux.socket_path), "work", str(tmp_path / "a.jsonl"), "--lines", "20"]
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    shown = private_tmux.new_session("shown", [str(COMMAND), *arguments], columns=120)

    def screen() -> str:
        return private_tmux.run("capture-pane", "-p", "-t", shown)

    wait_until(lambda: " lines" in screen(), 30, "progress")
    wait_until(lambda: private_tmux.run("display", "-p", "-t", shown, "#{pane_dead}").strip() == "1", 30, "the end")
    assert screen().count("recorded ") == 1
