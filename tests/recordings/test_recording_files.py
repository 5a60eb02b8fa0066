"""The three kinds of files a recording can be, and those it cannot be."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from streamrelay.errors import RecordingError
from streamrelay.events import Text
from streamrelay.recordings import Output, Pasted, Resized, Submitted, open_recording, replay

CAT = Path(__file__).parents[1] / "corpus" / "agents" / "cat" / "multi"
LAYOUT = "%layout-change @0 aafd,100x30,0,0,0 aafd,100x30,0,0,0 *"
STREAM = [
    {"t": 0.0, "dir": "cmd", "line": "refresh-client -C 100x30"},
    {"t": 0.1, "dir": "out", "line": LAYOUT},
    {"t": 0.2, "dir": "out", "line": "%output %0 caf\u00c3\u00a9 \\033[1mbold\\033[0m\\015\\012"},
    {"t": 0.3, "dir": "out", "line": "%output %1 another pane\\015\\012"},
    {"t": 0.4, "dir": "out", "line": LAYOUT.replace("100x30", "90x30")},
    {"t": 0.5, "dir": "out", "line": "%output %0 after\\015\\012"},
]


def written(path: Path, records: list[Any]) -> Path:
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("file", ["session.jsonl", "session.jsonl.gz"])
def test_a_control_stream(tmp_path: Path, file: str) -> None:
    recording = open_recording(written(tmp_path / file, STREAM))
    assert (recording.columns, recording.lines) == (100, 30)
    assert [*recording.entries()] == [
        Output(0.2, "%0", "café \x1b[1mbold\x1b[0m\r\n".encode()),
        Output(0.3, "%1", b"another pane\r\n"),
        Resized(0.4, "%0", 90, 30),
        Output(0.5, "%0", b"after\r\n"),
    ]
    texts = [(event.pane, event.text) for event in replay(recording) if isinstance(event, Text)]
    assert sorted(texts) == [("%0", "after"), ("%0", "café bold"), ("%1", "another pane")]


def test_a_folder_adds_the_size_and_the_injections() -> None:
    recording = open_recording(CAT)
    assert (recording.columns, recording.lines) == (120, 40)
    kinds = [type(entry) for entry in recording.entries()]
    assert (kinds.index(Pasted), kinds.count(Pasted), kinds.count(Submitted)) == (0, 1, 1)
    times = [entry.t for entry in recording.entries()]
    assert times == sorted(times)


def test_without_its_folder_a_stream_knows_of_no_injection() -> None:
    entries = [*open_recording(CAT / "stream.jsonl.gz").entries()]
    assert {type(entry) for entry in entries} == {Output}


def test_every_pane_of_a_control_stream_has_its_own_size(tmp_path: Path) -> None:
    split = "100x30,0,0{60x30,0,0,4,39x30,61,0,7}"
    moved = "100x30,0,0{50x30,0,0,4,49x30,51,0,7}"
    records = [
        {"t": 0.1, "dir": "out", "line": f"%layout-change @0 aafd,{split} aafd,{split} *"},
        {"t": 0.2, "dir": "out", "line": "%output %7 one\\015\\012"},
        {"t": 0.3, "dir": "out", "line": f"%layout-change @0 aafd,{moved} aafd,{moved} *"},
        {"t": 0.4, "dir": "out", "line": "%output %7 two\\015\\012"},
    ]
    recording = open_recording(written(tmp_path / "foreign.jsonl", records))
    assert (recording.columns, recording.lines) == (100, 30)
    assert [*recording.entries()] == [
        Resized(0.2, "%7", 39, 30),
        Output(0.2, "%7", b"one\r\n"),
        Resized(0.3, "%7", 49, 30),
        Output(0.4, "%7", b"two\r\n"),
    ]


def test_injections_that_were_no_text_are_left_out(tmp_path: Path) -> None:
    written(tmp_path / "stream.jsonl.gz", STREAM)
    injected = [
        {"t": 0.2, "mode": "key", "text": "Escape"},
        {"t": 0.3, "mode": "resize"},
        {"t": 0.35, "mode": "keys", "text": "hi", "t_enter": 0.45},
        {"t": 0.1, "mode": "paste", "text": "never submitted", "t_paste": 0.15, "t_enter": None},
    ]
    (tmp_path / "meta.json").write_text(json.dumps({"cols": 80, "rows": 24, "injected": injected}))
    entries = [entry for entry in open_recording(tmp_path).entries() if isinstance(entry, Pasted | Submitted)]
    assert entries == [
        Pasted(0.15, "%0", "recorded-4", "never submitted"),
        Pasted(0.35, "%0", "recorded-3", "hi"),
        Submitted(0.45, "%0", "recorded-3"),
    ]


V2 = [
    {"version": 2, "width": 60, "height": 10, "timestamp": 1},
    [0.5, "o", "one\r\n"],
    [1.0, "i", "typed"],
    [1.5, "r", "50x9"],
    [2.0, "m", "marker"],
    [2.5, "o", "日本\r\n"],
]
V3 = [
    {"version": 3, "term": {"cols": 60, "rows": 10, "type": "xterm"}},
    [0.5, "o", "one\r\n"],
    [0.5, "i", "typed"],
    [0.5, "r", "50x9"],
    [0.5, "m", "marker"],
    [0.5, "o", "日本\r\n"],
    [0.1, "x", "0"],
]


@pytest.mark.parametrize("records", [V2, V3], ids=["version 2", "version 3"])
def test_an_asciicast(tmp_path: Path, records: list[Any]) -> None:
    recording = open_recording(written(tmp_path / "demo.cast", records))
    assert (recording.columns, recording.lines) == (60, 10)
    assert [*recording.entries()] == [
        Output(0.5, "%0", b"one\r\n"),
        Resized(1.5, "%0", 50, 9),
        Output(2.5, "%0", "日本\r\n".encode()),
    ]
    assert [event.text for event in replay(recording) if isinstance(event, Text)] == ["one", "日本"]


def test_an_asciicast_may_have_comments_and_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "demo.cast"
    path.write_text('{"version": 3, "term": {"cols": 9, "rows": 3}}\n# a comment\n\n[1, "o", "x\\r\\n"]\n')
    assert [*open_recording(path).entries()] == [Output(1.0, "%0", b"x\r\n")]


def test_what_is_not_there_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="not there") as caught:
        open_recording(tmp_path / "nothing.cast")
    assert caught.value.hint


HEADER = '{"version": 2, "width": 80, "height": 24}\n'


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("empty.cast", b""),
        ("garbage.cast", b"not json\n"),
        ("binary.cast", b"\xff\xfe\x00\x01\n"),
        ("list.cast", b"[1, 2]\n"),
        ("old.cast", b'{"version": 1, "width": 80, "height": 24}\n'),
        ("event.cast", HEADER.encode() + b'{"not": "a list"}\n'),
        ("short.cast", HEADER.encode() + b'[1.0, "o"]\n'),
        ("time.cast", HEADER.encode() + b'["soon", "o", "x"]\n'),
        ("size.cast", HEADER.encode() + b'[1.0, "r", "wide"]\n'),
        ("cut.cast", HEADER.encode() + b'[1.0, "o", "x'),
        ("bytes.cast", HEADER.encode() + b'[1.0, "o", "\xff"]\n'),
        ("garbage.jsonl", b"not json\n"),
        ("fields.jsonl", b'{"t": 1.0}\n'),
        ("binary.jsonl", b"\xff\xfe\n"),
        ("wide.jsonl", json.dumps({"t": 0, "dir": "out", "line": "日"}).encode() + b"\n"),
        ("garbage.jsonl.gz", b"not gzip"),
        ("truncated.jsonl.gz", gzip.compress(json.dumps(STREAM[2]).encode() * 500)[:-20]),
        ("damaged.jsonl.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + b"\xff" * 40),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_an_error_that_names_the_file(tmp_path: Path, file: str, data: bytes) -> None:
    path = tmp_path / file
    path.write_bytes(data)
    with pytest.raises(RecordingError) as caught:
        [*replay(open_recording(path))]
    assert str(path) in caught.value.message


def test_an_empty_stream_has_no_events(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    assert [*replay(open_recording(path))] == []


@pytest.mark.parametrize("meta", [None, b"{}", b"garbage", b'{"cols": "wide", "rows": 3}'])
def test_a_folder_without_a_meta_file_that_makes_sense(tmp_path: Path, meta: bytes | None) -> None:
    written(tmp_path / "stream.jsonl.gz", STREAM)
    if meta is not None:
        (tmp_path / "meta.json").write_bytes(meta)
    with pytest.raises(RecordingError, match=r"meta\.json"):
        open_recording(tmp_path)


def test_a_folder_without_a_stream(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"cols": 80, "rows": 24}')
    with pytest.raises(RecordingError, match=r"stream\.jsonl"):
        [*open_recording(tmp_path).entries()]


def test_replay_knows_nothing_of_what_comes_later(tmp_path: Path) -> None:
    """The events up to a moment are the same whether the recording goes on or not, as in a live run."""
    records: list[Any] = [
        V3[0], [0.5, "o", "one\r\nPassword: "], [9, "o", "\r\ntwo\r\n"], [2, "o", "half"], [9, "o", " whole\r\n"],
    ]  # fmt: skip
    whole = [*replay(open_recording(written(tmp_path / "whole.cast", records)))]
    for count in range(2, len(records)):
        part = [*replay(open_recording(written(tmp_path / "part.cast", records[:count])))]
        end = sum(record[0] for record in records[1:count])
        assert [event for event in part if event.t < end] == [event for event in whole if event.t < end]
