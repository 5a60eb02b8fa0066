"""The participant program at a real terminal: a pty, and a pane of a real tmux."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ptyprocess import PtyProcess

from streamrelay.testing.participant import ParticipantRecord, read_log
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until

PROGRAM = [sys.executable, "-m", "streamrelay.testing.participant"]


@contextmanager
def spawned(*options: str) -> Iterator[PtyProcess]:
    program = PtyProcess.spawn([*PROGRAM, *options])
    try:
        yield program
    finally:
        program.terminate(force=True)
        program.close()


def read_until(program: PtyProcess, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        seen += program.read(4096)
    return seen


def read_to_end(program: PtyProcess) -> bytes:
    seen = b""
    try:
        while True:
            seen += program.read(4096)
    except EOFError:
        return seen


def test_cooked_the_kernel_echoes_and_the_answer_follows(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with spawned("--name", "Ann", "--rounds", "1", "--prompt", "ann: ", "--log", str(log)) as program:
        read_until(program, b"ann: ")
        program.write(b"Bob (2):\n\nmessage 5 from Bob\n")
        seen = read_to_end(program)
    assert seen.count(b"message 5 from Bob\r\n") == 1
    assert seen.endswith(b"message 6 from Ann\r\nann: ")
    assert [(record.kind, record.text, record.sender) for record in read_log(log)] == [
        ("heard", "message 5 from Bob", "Bob"),
        ("said", "message 6 from Ann", None),
    ]


def test_raw_the_program_paints_what_was_pasted(tmp_path: Path) -> None:
    with spawned("--name", "Ann", "--input", "raw", "--rounds", "1", "--quote-every", "1") as program:
        read_until(program, b"\x1b[?2004h")
        program.write(b"\x1b[200~Bob (2):\r\rmessage 5 from Bob\x1b[201~")
        assert read_until(program, b"from Bob") == b"> Bob (2):\r\n  \r\n  message 5 from Bob"
        program.write(b"\r")
        assert read_to_end(program) == (
            b"\r\nYou said: message 5 from Bob\r\nmessage 5 from Bob\r\nmessage 6 from Ann\r\n\x1b[?2004l"
        )


def test_raw_nothing_is_painted_before_the_delay() -> None:
    with spawned("--name", "Ann", "--input", "raw", "--rounds", "1", "--paint-delay", "0.3") as program:
        read_until(program, b"\x1b[?2004h")
        typed_at = time.monotonic()
        program.write(b"message 1 from Bob\r")
        assert program.read(1) == b">"
        assert time.monotonic() - typed_at >= 0.3
        assert read_to_end(program) == b" message 1 from Bob\r\nmessage 2 from Ann\r\n\x1b[?2004l"


@pytest.mark.parametrize("key", [b"\x03", b"\x04"])
def test_raw_it_leaves_when_told_and_restores_the_terminal(key: bytes) -> None:
    with spawned("--name", "Ann", "--input", "raw") as program:
        read_until(program, b"\x1b[?2004h")
        program.write(key)
        assert read_to_end(program).endswith(b"\x1b[?2004l")


def test_the_end_of_input_ends_it() -> None:
    with spawned("--name", "Ann", "--prompt", "> ") as program:
        read_until(program, b"> ")
        program.sendeof()
        read_to_end(program)
        assert program.wait() == 0


def texts(log: Path, kind: str, keep: Callable[[ParticipantRecord], bool] = lambda record: True) -> list[str]:
    return [record.text for record in read_log(log) if record.kind == kind and keep(record)]


@pytest.mark.parametrize("form", ["cooked", "raw"])
def test_in_a_pane_of_tmux_it_hears_a_paste(private_tmux: PrivateTmux, tmp_path: Path, form: str) -> None:
    log = tmp_path / "log"
    command = [*PROGRAM, "--name", "Ann", "--input", form, "--rounds", "2", "--first", "--stay", "--log", str(log)]
    pane = private_tmux.new_session("ann", [*command, "--prompt", "ready "])
    wait_until(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).startswith("ready"), 20)
    private_tmux.run("send-keys", "-t", pane, "start", "Enter")
    wait_until(lambda: texts(log, "said") == ["message 1 from Ann"])
    private_tmux.run("load-buffer", "-b", "words", "-", input="Bob (2):\n\nmessage 2 from Bob")
    private_tmux.run("paste-buffer", "-p", "-d", "-b", "words", "-t", pane, ";", "send-keys", "-t", pane, "Enter")
    wait_until(lambda: texts(log, "said") == ["message 1 from Ann", "message 3 from Ann"])
    assert texts(log, "heard", lambda record: record.sender == "Bob") == ["message 2 from Bob"]
    screen = private_tmux.run("capture-pane", "-p", "-t", pane).splitlines()
    painted = [row for row in screen if "message 2 from Bob" in row]
    assert painted == ["message 2 from Bob" if form == "cooked" else "  message 2 from Bob"]
