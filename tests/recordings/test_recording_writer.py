"""Every entry comes back from the file exactly as it went in, and the file is its owner's alone."""

import gzip
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from streamrelay.delta.inputs import (
    AtWork,
    Began,
    Ended,
    HandedOver,
    HookReported,
    Input,
    Looked,
    Missed,
    Output,
    Pasted,
    Ran,
    Reseeded,
    Resized,
    Submitted,
    Waited,
    WitnessOpened,
    WitnessPassage,
    WitnessReported,
)
from streamrelay.errors import RecordingError
from streamrelay.events import PaneClosed, PaneOpened, TurnEnded
from streamrelay.recordings import RecordingWriter, open_recording, replay
from streamrelay.recordings.writer import encode_entry
from streamrelay.vt.engine import Cursor, Modes, Snapshot
from tests.sampling import examples

SCREEN = Snapshot(
    columns=20,
    lines=2,
    rows=(b"\x1b[1mbold\xff", b""),
    wrapped=(True, False),
    cursor=Cursor(4, 0),
    history_total=7,
    scroll_region=(0, 1),
    modes=Modes(cursor_visible=False),
    pending=b"\x1b[3",
)
BEGAN = Began(0.1, "%3", "work", "node", "a title", SCREEN, {"é": 2})
ALL: list[Input] = [
    BEGAN,
    Output(0.25, "%3", b"\x1b[2J\\ caf\xc3 \x00\x7f\n"),
    Waited(0.3, "%3"),
    Looked(0.3, "%3"),
    HookReported(0.3, "%3", "claude", "Done."),
    WitnessOpened(0.3, "%3", "claude", "transcript", 0.6, "verify", under_way=3.0),
    WitnessReported(0.3, "%3", "claude", (WitnessPassage("agent", "**Done.**", 2.5), WitnessPassage("end")), since=1.5),
    Pasted(1 / 3, "%3", "m1", "two\nlines"),
    Submitted(0.5, "%3", "m1"),
    HandedOver(0.55, "%3", "m2", "past the composer"),
    Resized(0.6, "%3", 30, 4),
    Reseeded(0.7, "%3", SCREEN),
    Ran(0.8, "%3", "sh"),
    AtWork(0.85, "%3"),
    Missed(0.9, "%3", "moved"),
    Ended(1.0, "%3", "pane_gone"),
]


def written(path: Path, entries: list[Input]) -> list[Input]:
    with RecordingWriter(path) as writer:
        writer.write(entries[:3])
        writer.write(entries[3:])
    return list(open_recording(path).entries())


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_every_entry_comes_back(tmp_path, name):
    assert written(tmp_path / name, ALL) == ALL
    assert (open_recording(tmp_path / name).columns, open_recording(tmp_path / name).lines) == (20, 2)
    assert {type(entry) for entry in ALL} == set(Input.__args__)


@settings(max_examples=examples(100))
@given(st.binary(min_size=1), st.floats(0, 1e7), st.text())
def test_any_bytes_any_time_and_any_text(tmp_path_factory, data, t, text):
    entries: list[Input] = [BEGAN, Output(t, "%3", data), Pasted(t, "%3", "m", text.encode(errors="replace").decode())]
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    assert written(path, entries) == entries


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_nobody_else_can_read_it_and_nothing_is_replaced_unasked(tmp_path, name):
    path = tmp_path / name
    written(path, ALL)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(RecordingError, match="file exists") as refused:
        RecordingWriter(path)
    assert "--force" in refused.value.hint
    assert path.read_bytes() == before

    path.chmod(0o644)
    with RecordingWriter(path, force=True):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(open_recording(path).entries()) == []


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "precious")
    with RecordingWriter(tmp_path / "a.jsonl", force=True) as writer:
        writer.write(ALL)
    assert (tmp_path / "precious").read_text() == "kept"


@pytest.mark.parametrize("name", ["a", "a.cast", "a.json", "a.gz", ".jsonl"])
def test_a_name_that_replay_would_read_as_something_else_is_refused(tmp_path, name):
    with pytest.raises(RecordingError) as refused:
        RecordingWriter(tmp_path / name)
    assert ".jsonl.gz" in refused.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("force", [False, True])
def test_where_nothing_can_be_written_there_is_an_error(tmp_path, force):
    (tmp_path / "a.jsonl").mkdir()
    for path in (tmp_path / "a.jsonl", tmp_path / "missing" / "a.jsonl"):
        with pytest.raises(RecordingError):
            RecordingWriter(path, force=force)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_what_was_written_is_read_though_its_writer_was_killed(tmp_path, name):
    path = tmp_path / name
    with RecordingWriter(path) as writer:
        writer.write(ALL[:4])
        at_kill = path.read_bytes()
    path.write_bytes(at_kill)
    assert list(open_recording(path).entries()) == ALL[:4]
    if name.endswith(".jsonl"):
        path.write_bytes(at_kill + encode_entry(ALL[4])[:-5])
        assert list(open_recording(path).entries()) == ALL[:4]


def test_a_recording_of_nothing_opens_and_closes(tmp_path):
    empty = replace(SCREEN, rows=(b"", b""), cursor=Cursor(0, 0), wrapped=(False, False))
    began = Began(0.1, "%3", "work", "node", "a title", empty)
    written(tmp_path / "a.jsonl", [began, Ended(2.0, "%3", "recording_ended")])
    opened, closed = replay(open_recording(tmp_path / "a.jsonl"))
    assert isinstance(opened, PaneOpened)
    assert isinstance(closed, PaneClosed)
    assert (opened.command, opened.session, opened.columns) == ("node", "work", 20)
    assert (closed.t, closed.reason) == (2.0, "recording_ended")


def test_a_deadline_that_an_earlier_version_did_not_have_passes_too(tmp_path):
    empty = replace(SCREEN, rows=(b"", b""), cursor=Cursor(0, 0), wrapped=(False, False), modes=Modes(), pending=b"")
    entries = [
        structs.replace(BEGAN, screen=empty),
        Output(0.2, "%3", b"hello\r\n"),
        Ended(9.0, "%3", "recording_ended"),
    ]
    written(tmp_path / "a.jsonl", entries)
    (ended,) = [event for event in replay(open_recording(tmp_path / "a.jsonl")) if isinstance(event, TurnEnded)]
    assert (ended.reason, ended.t) == ("quiet", 1.7)


@pytest.mark.parametrize(
    "line",
    [
        encode_entry(BEGAN).replace(b'"columns":20', b'"columns":2000000000'),
        encode_entry(BEGAN).replace(b'"lines":2', b'"lines":0'),
        encode_entry(BEGAN).replace(b'"entry":"began"', b'"entry":"unheard_of"'),
        encode_entry(BEGAN).replace(b'"rows":["', b'"rows":["!'),
        b"{}\n",
        b"\xff\n",
    ],
)
def test_nonsense_is_an_error(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_bytes(line)
    with pytest.raises(RecordingError):
        list(replay(open_recording(path)))


def test_a_packed_file_that_is_no_gzip_is_an_error(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(encode_entry(BEGAN))[:20])
    with pytest.raises(RecordingError):
        open_recording(path)
