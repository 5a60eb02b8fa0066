"""Standard output that nobody reads, or that is full: said, never a traceback."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

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


def refusal(number):
    return f"error: standard output cannot be written: {os.strerror(number)}\n"


def told(done):
    """What was said on standard error, but for the note of `profiles show`."""
    return "".join(line for line in done.stderr.splitlines(keepends=True) if not line.endswith("claude.toml\n"))


def test_a_reader_that_is_gone_ends_any_command_quietly(words, environment):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = ended([COMMAND, *words], environment, writing)
    finally:
        os.close(writing)
    assert (done.returncode, told(done)) == (141, "")


def test_a_full_disk_is_one_error_of_any_command(words, environment):
    with Path("/dev/full").open("wb") as full:
        done = ended([COMMAND, *words], environment, full)
    assert (done.returncode, told(done)) == (1, refusal(errno.ENOSPC))
