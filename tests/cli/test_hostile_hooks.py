"""`streamrelay hook` never delays, fails or floods an agent, whatever is written to it and whoever listens."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamrelay_cli.hook_client import MAX_REPORT_SIZE, PATIENCE, socket_paths

HOOK = [sys.executable, "-m", "streamrelay_cli", "hook", "claude"]
START = 10.0
"""Seconds that the interpreter may need on a busy machine, besides what the hook waits for."""


@contextmanager
def hook(folder: Path, **how: object) -> Iterator[subprocess.Popen[bytes]]:
    environment = os.environ | {"TMUX_PANE": "%0", "TMUX": "/tmp/none,1,0", "XDG_RUNTIME_DIR": str(folder)}
    process = subprocess.Popen(HOOK, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[bytes], patience: float) -> None:
    """Check that a hook ends in time, prints nothing and succeeds."""
    stdout, stderr = process.communicate(timeout=patience)
    assert (process.returncode, stdout, stderr) == (0, b"", b"")


@pytest.mark.requirement("AGT-03a")
def test_an_agent_that_never_closes_the_hooks_input_is_not_kept_waiting(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        began = time.monotonic()
        with hook(tmp_path, stdin=reading) as process:
            ended(process, PATIENCE + START)
        assert time.monotonic() - began >= PATIENCE / 2
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.requirement("AGT-03a")
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000, b'{"a":' * 100_000, b"\xff\xfe\x00", b'{"a": ' + b"9" * 5000 + b"}", b'{"x": "\\ud800"}',
        b'{"transcript_path": "/a\\u0000b", "hook_event_name": "Stop"}', b"",
    ],
)  # fmt: skip
def test_what_is_no_report_fails_no_hook(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "input"
    file.write_bytes(data)
    with file.open("rb") as opened, hook(tmp_path, stdin=opened) as process:
        ended(process, PATIENCE + START)


@pytest.mark.requirement("AGT-03a")
def test_a_report_without_an_end_is_read_no_further_than_its_limit(tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as endless, hook(tmp_path, stdin=endless) as process:
        ended(process, PATIENCE + START)
    # A writer that goes on gets to know that nobody reads: the pipe is closed.
    reading, writing = os.pipe()
    with hook(tmp_path, stdin=reading) as process:
        os.close(reading)
        written = 0
        with os.fdopen(writing, "wb", buffering=0) as pipe, pytest.raises(BrokenPipeError):
            while written < 4 * MAX_REPORT_SIZE:
                written += pipe.write(b"x" * 65536)
        ended(process, START)
    assert written <= 2 * MAX_REPORT_SIZE


@pytest.mark.requirement("AGT-03a")
def test_a_daemon_that_never_answers_keeps_no_agent_waiting(tmp_path: Path) -> None:
    # A socket's path may have some 100 bytes.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = Path(next(socket_paths("/tmp/none", {"XDG_RUNTIME_DIR": folder, "HOME": folder})))
        path.parent.mkdir()
        listener.bind(str(path))
        listener.listen()
        with hook(Path(folder), stdin=subprocess.DEVNULL) as process:
            ended(process, PATIENCE + START)
