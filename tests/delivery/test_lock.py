"""One writer a pane, over all processes of a user."""

import contextlib
import dataclasses
import fcntl
import subprocess
import sys

import pytest

from streamrelay.control import ServerInfo, Version
from streamrelay.delivery.lock import only_writer
from streamrelay.errors import PaneTaken, StreamrelayError

ONE, TWO = (ServerInfo(Version.parse("3.3a"), pid, "/tmp/tmux") for pid in (1, 2))
HOLDER = """
import os
from streamrelay.control import ServerInfo, Version
from streamrelay.delivery.lock import only_writer
only_writer(ServerInfo(Version.parse("3.3a"), 1, "/tmp/tmux"), "%1").__enter__()
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_a_second_writer_is_refused_and_a_later_one_is_not(runtime):
    with only_writer(ONE, "%1"):
        elsewhere = [dataclasses.replace(ONE, host=host) for host in ("a/../b", "c")]
        with (
            only_writer(ONE, "%2"),
            only_writer(TWO, "%1"),
            only_writer(elsewhere[0], "%1"),
            only_writer(elsewhere[1], "%1"),
        ):
            pass
        with pytest.raises(PaneTaken) as caught, only_writer(ONE, "%1"):
            pass
        assert caught.value.data == {"pane": "%1"}
    with only_writer(ONE, "%1"):
        pass
    assert list((runtime / "streamrelay").iterdir()) == []


@pytest.mark.requirement("DLV-03c")
def test_who_opened_the_file_just_before_its_holder_let_go_is_the_only_writer_too(monkeypatch):
    holder = contextlib.ExitStack()
    holder.enter_context(only_writer(ONE, "%1"))
    lock = fcntl.flock

    def locked_late(descriptor, operation):
        holder.close()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", locked_late)
    with only_writer(ONE, "%1"), pytest.raises(PaneTaken), only_writer(ONE, "%1"):
        pass


def test_a_holder_that_was_killed_holds_nothing():
    assert subprocess.run([sys.executable, "-c", HOLDER], check=False).returncode == -9
    with only_writer(ONE, "%1"):
        pass


def test_a_folder_that_cannot_be_had_is_an_error(runtime):
    (runtime / "streamrelay").write_text("in the way")
    with pytest.raises(StreamrelayError, match="cannot be made"), only_writer(ONE, "%1"):
        pass
