"""Recordings that make no sense are errors, never hangs."""

import gzip
import json

import pytest

from streamrelay.errors import RecordingError
from streamrelay.recordings import open_recording, replay

HEADER = '{"version": 2, "width": 80, "height": 24}\n'


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 2, "width": 0, "height": 24}\n',
        '{"version": 3, "term": {"cols": 80, "rows": 1000000000}}\n',
        HEADER + '[NaN, "o", "x"]\n',
        HEADER + '[Infinity, "o", "x"]\n',
        HEADER + '[-1, "o", "x"]\n',
        HEADER + '[1, "r", "0x0"]\n',
        HEADER + '[1, "r", "99999x10"]\n',
        HEADER + '[1, "r"]\n',
        HEADER + '[1e300, "o", "x"]\n',
        '{"version": 3}\n' + '[1e9, "o", "x"]\n' * 2,
        HEADER + "[" + "9" * 401 + ', "o", "x"]\n',
        HEADER + "[" * 100_000 + "\n",
        '{"version": 2, "deep": ' + "[" * 100_000 + "]" * 100_000 + "}\n",
    ],
)
def test_nonsense_in_an_asciicast_is_an_error(tmp_path, text):
    path = tmp_path / "x.cast"
    path.write_text(text)
    with pytest.raises(RecordingError):
        list(replay(open_recording(path)))


PRINTED = '{"t": 1, "dir": "out", "line": "%output %0 x"}\n'
RESIZED = (
    '{{"t": 1, "dir": "entry", "entry": {{"entry": "resized", "t": 1, "pane": "%0", "columns": {0}, "lines": {0}}}}}\n'
)
DEEP = '{"t": 1, "dir": "out", "unknown": ' + "[" * 100_000 + "]" * 100_000 + "}\n"


@pytest.mark.parametrize(
    "text",
    [
        '{"t": 1, "dir": "out", "line": "%layout-change @1 abcd,0x0,0,0,1 abcd,0x0,0,0,1 *"}\n' + PRINTED,
        RESIZED.format(-5),
        RESIZED.format(10**9),
        PRINTED.replace('"t": 1', '"t": 1e300'),
        RESIZED.format(24).replace('"t": 1, "pane"', '"t": 1e300, "pane"'),
        DEEP,
        "[" * 100_000 + "\n",
    ],
    ids=["no layout", "below nought", "no memory", "never", "an entry never", "a deep field", "a deep line"],
)
def test_nonsense_in_a_control_stream_is_an_error(tmp_path, text):
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(RecordingError):
        list(replay(open_recording(path)))


def test_a_layout_that_is_cut_off_tells_no_size(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"t": 1, "dir": "out", "line": "%layout-change @1"}\n' + PRINTED)
    recording = open_recording(path)
    assert (recording.columns, recording.lines) == (80, 24)
    assert [*replay(recording)]


NEVER = json.dumps({"cols": 80, "rows": 24, "injected": [{"t": 1, "mode": "paste", "text": "x", "t_enter": 1e300}]})


@pytest.mark.parametrize("meta", [json.dumps({"cols": 0, "rows": -3}), "[" * 100_000, NEVER])
def test_nonsense_beside_a_control_stream_is_an_error(tmp_path, meta):
    (tmp_path / "meta.json").write_text(meta)
    (tmp_path / "stream.jsonl.gz").write_bytes(gzip.compress(PRINTED.encode()))
    with pytest.raises(RecordingError):
        list(replay(open_recording(tmp_path)))
