"""The log of a pane on a disk that is full for a while."""

from pathlib import Path

import pytest

from streamrelay.delta.inputs import Began, Output, Waited
from streamrelay.errors import RecordingError, StorageError
from streamrelay.panes import log as pane_log
from streamrelay.panes.log import PaneLog
from streamrelay.vt.engine import Cursor, Snapshot
from tests.process_limits import files_limited_to, no_more_descriptors

SCREEN = Snapshot(80, 2, (b"", b""), (False, False), Cursor(0, 0), history_total=0)
BEGAN = Began(0.0, "%0", "work", "cat", "", SCREEN)


def printed(log: PaneLog) -> list[bytes]:
    past = log.past()
    assert past is not None
    return [entry.data for entry in past.entries if isinstance(entry, Output)]


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize("room", range(0, 240, 24))
def test_entries_wait_for_a_disk_that_is_full_and_none_is_lost_or_torn(tmp_path: Path, room: int) -> None:
    log = PaneLog(tmp_path / "log")
    log.open()
    log.begin(0.0)
    log.take(BEGAN)
    log.flush()
    with files_limited_to(log.size + room):
        for number in range(10):
            log.take(Output(float(number), "%0", b"line %d\r\n" % number))
        with pytest.raises(StorageError, match="cannot write"):
            log.flush()
    log.take(Output(10.0, "%0", b"line 10\r\n"))
    log.flush()
    assert log.size == log.path.stat().st_size
    log.close()
    again = PaneLog(log.path)
    again.open()
    assert b"".join(printed(again)) == b"".join(b"line %d\r\n" % number for number in range(11))
    again.close()


def test_a_process_that_ends_while_the_disk_is_full_leaves_the_entries_before(tmp_path: Path) -> None:
    log = PaneLog(tmp_path / "log")
    log.open()
    log.begin(0.0)
    log.take(BEGAN)
    log.take(Output(1.0, "%0", b"first\r\n"))
    with files_limited_to(log.size + 10):
        log.take(Output(2.0, "%0", b"second\r\n"))
        log.close()
    again = PaneLog(log.path)
    again.open()
    assert printed(again) == [b"first\r\n"]
    again.take(Output(3.0, "%0", b"third\r\n"))
    assert printed(again) == [b"first\r\n", b"third\r\n"]
    again.close()


def test_a_log_that_is_too_far_behind_is_never_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pane_log, "MAX_UNWRITTEN", 1000)
    log = PaneLog(tmp_path / "log")
    log.open()
    log.begin(0.0)
    with files_limited_to(log.size):
        for number in range(40):
            log.take(Waited(float(number), "%0"))
    with pytest.raises(StorageError):
        log.flush()
    log.discard()
    assert not log.path.exists()


def test_a_log_that_cannot_be_opened_now_is_kept_for_later(tmp_path: Path) -> None:
    log = PaneLog(tmp_path / "log")
    log.open()
    log.begin(0.0)
    log.take(BEGAN)
    log.take(Output(1.0, "%0", b"first\r\n"))
    with no_more_descriptors(), pytest.raises(RecordingError, match="Too many open files"):
        log.past()
    assert printed(log) == [b"first\r\n"]
    past = log.past()
    assert past is not None
    with no_more_descriptors(), pytest.raises(RecordingError, match="Too many open files"):
        list(past.entries)
    log.close()
