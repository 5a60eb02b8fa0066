"""Standard output that nobody reads, that is full or closed, and the other two closed: said, never a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.waiting import wait_until
from tests.cli.conftest import COMMAND, PATIENCE

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
PRINTING = [
    ["render", "FILE"],
    ["replay", "RECORDING"],
    ["profiles"],
    ["profiles", "--json"],
    ["profiles", "show", "claude"],
    ["hooks", "show"],
    ["tmux"],
    ["config", "show"],
    ["config", "path"],
    ["--help"],
]
"""Commands that print without a tmux server."""
UNSET = {"TMUX", "TMUX_PANE", "PYTHONUNBUFFERED"}
"""Without a buffer there is nothing that Python could fail to flush as it ends."""


@pytest.fixture
def environment(tmp_path):
    outside = {key: value for key, value in os.environ.items() if key not in UNSET}
    return outside | {"HOME": str(tmp_path)}


@pytest.fixture(params=PRINTING, ids=" ".join)
def words(request, tmp_path):
    file = tmp_path / "bytes"
    file.write_bytes(b"hello\r\n")
    places = {"FILE": str(file), "RECORDING": str(CORPUS / "aider" / "enterdelay")}
    return [places.get(word, word) for word in request.param]


def ended(words, environment, stdout=subprocess.PIPE):
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=environment,
    )


def closing(redirection, *words):
    """The words of a shell that closes descriptors of a command, as a person would."""
    return ["sh", "-c", f'exec "$@" {redirection}', "sh", *words]


def refusal(number):
    hint = "check the disk or the program that it is redirected to"
    return f"error: cannot write to standard output: {os.strerror(number)}\nhint: {hint}\n"


def told(done):
    """What was said on standard error, but for the note of `profiles show`."""
    return "".join(line for line in done.stderr.splitlines(keepends=True) if not line.endswith("claude.toml\n"))


@pytest.mark.sampled(3)
def test_a_reader_that_is_gone_ends_any_command_quietly(words, environment):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = ended([COMMAND, *words], environment, writing)
    finally:
        os.close(writing)
    assert (done.returncode, told(done)) == (141, "")


@pytest.mark.sampled(3)
def test_a_full_disk_is_one_error_of_any_command(words, environment):
    with Path("/dev/full").open("wb") as full:
        done = ended([COMMAND, *words], environment, full)
    assert (done.returncode, told(done)) == (1, refusal(errno.ENOSPC))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", [["--version"], ["profiles"], ["hooks", "show", "--json"], ["tmux"]])
def test_a_closed_standard_output_is_one_error(words, environment):
    done = ended(closing(">&-", COMMAND, *words), environment)
    assert (done.returncode, done.stderr) == (1, refusal(errno.EBADF))


def test_as_a_module_it_is_the_same_command(environment):
    done = ended(closing(">&-", sys.executable, "-m", "streamrelay_cli", "profiles"), environment)
    assert (done.returncode, done.stderr) == (1, refusal(errno.EBADF))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("redirection", ["<&-", "2>&-", "<&- 2>&-"])
def test_other_closed_descriptors_take_nothing_from_what_is_printed(private_tmux, environment, redirection):
    private_tmux.new_session("work", ["cat"])
    words = [COMMAND, "ls", "-S", str(private_tmux.socket_path)]
    done = ended(closing(redirection, *words), environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ended(words, environment).stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("redirection", ["2>&-", "<&- >&- 2>&-"])
def test_an_error_that_nobody_can_hear_keeps_its_exit_code(environment, redirection, tmp_path):
    words = [COMMAND, "ls", "-S", str(tmp_path / "nowhere")]
    assert ended(closing(redirection, *words), environment).returncode == ended(words, environment).returncode == 13


@pytest.mark.parametrize(("redirection", "number"), [(">&-", errno.EBADF), (">/dev/full", errno.ENOSPC)])
def test_what_asks_tmux_says_it_as_well(private_tmux, environment, redirection, number):
    private_tmux.new_session("work", ["cat"])
    done = ended(closing(redirection, COMMAND, "ls", "-S", str(private_tmux.socket_path)), environment)
    assert (done.returncode, done.stderr) == (1, refusal(number))


def test_watch_ends_with_the_first_line_that_it_cannot_print(private_tmux, environment):
    pane = private_tmux.new_session("work", ["cat"])
    watching = subprocess.Popen(
        closing(">&- <&-", COMMAND, "watch", "-S", str(private_tmux.socket_path), pane),
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert watching.stderr is not None
        assert "Ctrl-C ends" in watching.stderr.readline()
        private_tmux.run("send-keys", "-t", pane, "hello", "Enter")
        wait_until(lambda: watching.poll() is not None, PATIENCE, "the end")
        assert (watching.returncode, watching.stderr.read()) == (1, refusal(errno.EBADF))
    finally:
        watching.kill()
        watching.communicate()


def test_a_closed_standard_input_is_an_empty_one(private_tmux, environment):
    pane = private_tmux.new_session("work", ["cat"])
    done = ended(closing("<&-", COMMAND, "send", "-S", str(private_tmux.socket_path), pane, "-"), environment)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: there is nothing to send",
        "hint: name a text, or - for standard input: streamrelay send TARGET TEXT",
    ]


@pytest.mark.parametrize("redirection", ["<&-", "<&- >&- 2>&-"])
def test_a_hook_is_silent_and_succeeds_without_descriptors(environment, redirection):
    inside = environment | {"TMUX": "/nowhere/tmux,1,0", "TMUX_PANE": "%0"}
    done = ended(closing(redirection, COMMAND, "hook", "claude"), inside)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
