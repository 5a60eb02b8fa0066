"""One writer a pane, over all processes of a user."""

import contextlib
import dataclasses
import fcntl
import os
import subprocess
import sys

import pytest

from streamrelay.control import ServerInfo, Version
from streamrelay.delivery.lock import WriterKind, only_writer
from streamrelay.errors import PaneTaken, StreamrelayError

ONE, TWO = (ServerInfo(Version.parse("3.3a"), pid, "/tmp/tmux") for pid in (1, 2))
HOLDER = """
import os
from streamrelay.control import ServerInfo, Version
from streamrelay.delivery.lock import only_writer
held = only_writer(ServerInfo(Version.parse("3.3a"), 1, "/tmp/tmux"), "%1", "send")
held.__enter__()
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_a_second_writer_is_refused_and_a_later_one_is_not(runtime):
    with only_writer(ONE, "%1", "relay"):
        elsewhere = [dataclasses.replace(ONE, host=host) for host in ("a/../b", "c")]
        with (
            only_writer(ONE, "%2", "relay"),
            only_writer(TWO, "%1", "relay"),
            only_writer(elsewhere[0], "%1", "relay"),
            only_writer(elsewhere[1], "%1", "relay"),
        ):
            pass
        with pytest.raises(PaneTaken) as caught, only_writer(ONE, "%1", "relay"):
            pass
        assert caught.value.data == {"pane": "%1", "holder": "relay", "pid": os.getpid()}
    with only_writer(ONE, "%1", "relay"):
        pass
    assert list((runtime / "streamrelay").iterdir()) == []


@pytest.mark.requirement("DLV-03c")
def test_who_opened_the_file_just_before_its_holder_let_go_is_the_only_writer_too(monkeypatch):
    holder = contextlib.ExitStack()
    holder.enter_context(only_writer(ONE, "%1", "relay"))
    lock = fcntl.flock

    def locked_late(descriptor, operation):
        holder.close()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", locked_late)
    with only_writer(ONE, "%1", "relay"), pytest.raises(PaneTaken), only_writer(ONE, "%1", "relay"):
        pass


def test_a_holder_that_was_killed_holds_nothing():
    assert subprocess.run([sys.executable, "-c", HOLDER], check=False).returncode == -9
    with only_writer(ONE, "%1", "relay"):
        pass


def test_a_folder_that_cannot_be_had_is_an_error(runtime):
    (runtime / "streamrelay").write_text("in the way")
    with pytest.raises(StreamrelayError, match="cannot be made"), only_writer(ONE, "%1", "relay"):
        pass


@pytest.mark.parametrize(
    ("kind", "message", "hint"),
    [
        ("daemon", "the daemon", "streamrelay -S '/tmp/a b' daemon stop"),
        ("service", "a Python program", "end the process"),
        ("relay", "a relay", "press Ctrl-C where `streamrelay relay` runs"),
        ("link", "a link", "press Ctrl-C where `streamrelay link` runs"),
        ("send", "`streamrelay send`", "wait until process"),
        ("cancel", "`streamrelay delivery cancel`", "try again"),
        ("record", "`streamrelay record --say`", "wait until process"),
    ],
)
def test_the_error_names_the_writer_and_how_to_end_it(kind: WriterKind, message: str, hint: str) -> None:
    server = dataclasses.replace(ONE, socket_path="/tmp/a b")
    with only_writer(server, "%1", kind), pytest.raises(PaneTaken) as caught, only_writer(server, "%1", "send"):
        pass
    assert caught.value.message == f"{message} (pid {os.getpid()}) writes into pane %1 already"
    assert hint in caught.value.hint
    assert "{" not in caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"daemon 12",
        b"daemon\n",
        b"daemon 0\n",
        b"daemon 99999999999\n",
        b"daemon 4194305\n",
        b"\x1b]0;owned\x07 12\n",
        b"daemon 12\n\x1b[2J",
        b"d" * 100000,
    ],
)
def test_a_damaged_lock_file_names_nobody_and_still_locks(runtime, content):
    with only_writer(ONE, "%1", "daemon"):
        (path,) = (runtime / "streamrelay").iterdir()
        path.write_bytes(content)
        with pytest.raises(PaneTaken) as caught, only_writer(ONE, "%1", "send"):
            pass
        assert caught.value.message == "another process writes into pane %1 already"
        assert caught.value.hint == PaneTaken.default_hint
        assert caught.value.data == {"pane": "%1", "holder": None, "pid": None}


def test_a_name_that_a_killed_holder_left_is_not_told_of_the_next_one(runtime):
    subprocess.run([sys.executable, "-c", HOLDER], check=False)
    (path,) = (runtime / "streamrelay").iterdir()
    assert path.read_text().startswith("send ")
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(PaneTaken) as caught, only_writer(ONE, "%1", "relay"):
            pass
    assert caught.value.data == {"pane": "%1", "holder": None, "pid": None}


def test_the_file_of_a_killed_holder_names_the_next_one(runtime):
    subprocess.run([sys.executable, "-c", HOLDER], check=False)
    (path,) = (runtime / "streamrelay").iterdir()
    path.write_text("x" * 1000)
    with only_writer(ONE, "%1", "daemon"):
        assert path.read_text() == f"daemon {os.getpid()}\n"


def test_a_link_in_place_of_the_file_is_an_error_and_its_target_stays(runtime):
    victim = runtime / "victim"
    victim.write_text("kept")
    with only_writer(ONE, "%1", "send"):
        (path,) = (runtime / "streamrelay").iterdir()
    path.symlink_to(victim)
    with pytest.raises(StreamrelayError, match="cannot lock"), only_writer(ONE, "%1", "send"):
        pass
    assert victim.read_text() == "kept"
