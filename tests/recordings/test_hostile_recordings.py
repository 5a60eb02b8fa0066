"""Recordings that make no sense are errors, never hangs."""

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
    ],
)
def test_nonsense_in_an_asciicast_is_an_error(tmp_path, text):
    path = tmp_path / "x.cast"
    path.write_text(text)
    with pytest.raises(RecordingError):
        list(replay(open_recording(path)))
