"""`streamrelay send`: one message into a pane, receipts, the answer, exit codes."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay import errors
from streamrelay.testing.agent import read_got
from streamrelay.testing.waiting import wait_until
from tests.panes.kernel import shows_waits


@pytest.fixture
def agent(private_tmux, tmp_path):
    """Starts a scripted agent, and returns what it got."""

    def start(*options):
        log = tmp_path / "got"
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), *options]
        private_tmux.new_session("agent", words)
        wait_until(lambda: any(got.kind == "ready" for got in read_got(log)), 20.0)
        return lambda: [got.text for got in read_got(log) if got.kind == "message"]

    private_tmux.new_session("keeper", ["sleep", "1000"])
    return start


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.requirement("OPS-02a", "OPS-02c")
def test_the_answer_is_data_and_the_receipts_are_notes(cli, agent):
    messages = agent("--answer", "fine, thanks")
    done = cli.run("send", "agent", "how are you?", "--wait")
    assert (done.returncode, done.stdout) == (0, "fine, thanks\n")
    states = [line.split(": ")[1] for line in done.stderr.splitlines()]
    assert states == ["queued", "pasted", "painted", "submitted", "turn_started", "answered (signal)"]
    assert messages() == ["how are you?"]


def test_as_json_everything_is_an_event_and_receipts_come_in_their_place(cli, agent):
    agent()
    done = cli.run("send", "agent", "hello", "--wait", "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    kinds = [(event["event"], event.get("state")) for event in events]
    assert kinds.index(("turn_ended", None)) < kinds.index(("receipt", "answered"))
    assert [state for kind, state in kinds if kind == "receipt"] == [
        "queued", "pasted", "painted", "submitted", "turn_started", "answered",
    ]  # fmt: skip


@pytest.mark.requirement("OPS-02c")
def test_standard_input_is_sent_as_it_is(cli, agent, private_tmux):
    messages = agent()
    command = Path(sys.executable).with_name("streamrelay")
    done = subprocess.run(
        [command, "send", "-S", private_tmux.socket_path, "agent", "-"],
        input="one\n\n  two\n", text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert messages() == ["one\n\n  two"]


@pytest.mark.requirement("DLV-07a")
def test_an_id_is_sent_once(cli, agent):
    messages = agent()
    for _ in range(2):
        done = cli.run("send", "--id", "mine", "agent", "hello", "--wait")
        assert done.returncode == 0, done.stderr
    assert "mine: answered" in done.stderr
    done = cli.run("send", "--id", "mine", "agent", "something else")
    assert done.returncode == errors.UsageError.exit_code
    assert done.stderr.splitlines()[0] == "error: the message id mine was used for another text; nothing was sent"
    assert done.stderr.splitlines()[1].startswith("hint: choose another id")
    assert messages() == ["hello"]


@pytest.mark.requirement("DLV-04")
def test_a_dialog_fails_the_message_if_that_is_wanted(cli, agent):
    messages = agent("--dialog")
    done = cli.run("send", "--needs-human", "fail", "agent", "hello")
    assert done.returncode == errors.DeliveryFailed.exit_code
    assert "needs_human" in done.stderr
    assert "hint:" in done.stderr
    assert messages() == []


def test_a_draft_outlasts_the_message_and_the_command(cli, agent):
    messages = agent("--draft", "half a wo")
    done = cli.run("send", "--expire", "0.5", "agent", "hello")
    assert done.returncode == errors.DeliveryFailed.exit_code
    assert "queued (draft)" in done.stderr
    assert "failed (draft)" in done.stderr
    done = cli.run("send", "--timeout", "2", "--id", "m2", "agent", "hello")
    assert done.returncode == errors.DeliveryTimeout.exit_code
    assert "the input box of agent (%1) contains a draft" in done.stderr
    assert "m2: failed (cancelled)" in done.stderr
    assert "m2 was not typed in 2 s and is cancelled" in done.stderr
    assert messages() == []


@pytest.mark.requirement("DLV-09c")
def test_ctrl_c_cancels_what_is_not_pasted_yet_and_says_so(cli, agent, private_tmux):
    messages = agent("--dialog", "--asks", "trust")
    sending = cli.start("send", "--id", "m1", "agent", "hello")
    sending.until(lambda: "Ctrl-C cancels it" in sending.stderr, "the reason")
    assert "agent (%1) waits for a person (trust): Do you trust the files in this folder?" in sending.stderr
    assert "attach-session -t =agent" in sending.stderr
    assert sending.interrupt() == 130
    assert sending.stderr.splitlines()[-1] == "interrupted; m1 is cancelled: nothing of it is typed"
    shown = cli.run("delivery", "show", "m1", "-S", private_tmux.socket_path, server=False)
    assert "failed (cancelled)" in shown.stdout
    assert messages() == []


@pytest.mark.requirement("DLV-09c")
def test_ctrl_c_on_a_terminal_says_on_a_line_of_its_own_what_became_of_the_message(agent, private_tmux):
    messages = agent("--works", "900")
    command = Path(sys.executable).with_name("streamrelay")
    send = shlex.join(
        [str(command), "send", "-S", str(private_tmux.socket_path), "--id", "m1", "--wait", "agent", "hello"]
    )
    user = private_tmux.new_session("user", ["sh", "-c", f"trap : INT; {send}; sleep 1000"], columns=120, lines=30)

    def shown():
        return private_tmux.run("capture-pane", "-p", "-t", user).splitlines()

    wait_until(lambda: any("turn_started" in line for line in shown()), 30.0)
    private_tmux.run("send-keys", "-t", user, "C-c")
    wait_until(lambda: "interrupted; m1 had been submitted already (turn_started)" in shown(), 30.0)
    assert any(line.endswith("^C") for line in shown())
    assert messages() == ["hello"]


@pytest.mark.requirement("DLV-05b")
def test_a_shell_is_refused_unless_it_is_allowed(cli, private_tmux):
    private_tmux.new_session("shell")
    done = cli.run("send", "shell", "echo hello")
    assert done.returncode == errors.ShellRefused.exit_code
    assert "--allow-shell: the shell then runs the text that it gets" in done.stderr
    done = cli.run("send", "--allow-shell", "shell", "echo 'hel''lo'")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: "hello" in private_tmux.run("capture-pane", "-p", "-t", "shell").splitlines(), 20.0)


@pytest.mark.skipif(not shows_waits(), reason="the kernel does not show where a process waits")
@pytest.mark.requirement("DEL-04b")
def test_a_line_that_pauses_comes_whole_and_a_question_ends_the_answer(cli, private_tmux):
    private_tmux.new_session("shell", ["env", "PS1=$ ", "bash", "--norc", "-i"])
    commands = {
        "echo first; printf 'Downloading: '; sleep 4; echo done": "first\nDownloading: done\n",
        "read -p 'Name: ' name; echo hello $name": "Name:\n",
        "Bob": "hello Bob\n",
    }
    for command, answer in commands.items():
        done = cli.run("send", "--allow-shell", "--wait", "shell", command)
        assert (done.returncode, done.stdout) == (0, answer), done.stderr


@pytest.mark.sampled(2)
@pytest.mark.requirement("DLV-05c")
@pytest.mark.parametrize("text", ["/compact", "!ls", "#note", "  @file"])
def test_a_command_follows_the_policy(cli, private_tmux, text):
    private_tmux.new_session("target", ["cat"])
    done = cli.run("send", "--commands", "refuse", "target", text)
    assert done.returncode == errors.DeliveryFailed.exit_code
    assert "failed (command)" in done.stderr
    assert text.strip() not in private_tmux.run("capture-pane", "-p", "-t", "target")
    assert cli.run("send", "target", text).returncode == 0
    wait_until(lambda: text.strip() in private_tmux.run("capture-pane", "-p", "-t", "target"), 20.0)


@pytest.mark.parametrize(
    ("text", "reason", "words", "hint"),
    [
        ("\x1b\x07", "empty", "no text is left", "send a text with letters"),
        ("x" * 20_000, "line_too_long", "takes lines of at most 4,095 bytes", "break the text into shorter lines"),
    ],
)
def test_what_cannot_be_typed_fails_with_its_reason(cli, private_tmux, text, reason, words, hint):
    private_tmux.new_session("target", ["cat"])
    done = cli.run("send", "target", text)
    assert done.returncode == errors.DeliveryFailed.exit_code
    assert f"failed ({reason})" in done.stderr
    error, advice = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert words in error
    assert advice.startswith(f"hint: {hint}")


def test_nothing_to_send_is_a_usage_error(cli, private_tmux):
    private_tmux.new_session("target", ["cat"])
    done = cli.run("send", "target", "")
    assert done.returncode == errors.UsageError.exit_code
    assert done.stderr.splitlines()[-1] == ("hint: name a text, or - for standard input: streamrelay send TARGET TEXT")


@pytest.mark.requirement("DLV-03c")
def test_a_pane_of_a_relay_is_refused_at_once_without_a_time_limit(cli, private_tmux):
    private_tmux.new_session("one", ["cat"])
    private_tmux.new_session("two", ["cat"])
    relaying = cli.start("relay", "one", "two")
    relaying.until_ready()
    done = cli.run("send", "one", "hello")
    assert done.returncode == errors.PaneTaken.exit_code
    assert f"error: a relay (pid {relaying.process.pid}) writes into pane %0 already\nhint: press Ctrl-C" in done.stderr
    relaying.interrupt()


@pytest.mark.requirement("DLV-03c")
def test_another_sender_is_waited_for_with_a_note(cli, agent):
    agent("--dialog")
    first = cli.start("send", "--id", "m1", "agent", "one")
    first.until(lambda: "Ctrl-C cancels it" in first.stderr, "the reason")
    second = cli.start("send", "--id", "m2", "agent", "two")
    note = f"waiting: a sender (pid {first.process.pid}) types into %1; Ctrl-C stops the waiting\n"
    second.until(lambda: second.stderr == note, "the note")
    assert first.interrupt() == 130
    second.until(lambda: "m2: queued (needs_human)" in second.stderr, "its turn")
    assert second.interrupt() == 130
    assert second.stderr.count("waiting:") == 1
