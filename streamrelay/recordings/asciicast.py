"""Asciicast recordings, versions 2 and 3: one pane, its output and its size (docs.asciinema.org, asciicast v3).

Version 3 gives the interval since the event before, version 2 the time since the beginning. Input ("i") and markers
are not used: what a person typed shows in the output.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import regex

from streamrelay.delta.inputs import Input, Output, Resized
from streamrelay.errors import RecordingError
from streamrelay.recordings.limits import is_size, is_time

PANE = "%0"
_SIZE = regex.compile(r"[1-9]\d{0,3}")


class _Terminal(msgspec.Struct):
    cols: int = 80
    rows: int = 24


class _Header(msgspec.Struct):
    version: int
    term: _Terminal | None = None
    width: int = 80
    height: int = 24


class Asciicast:
    """One asciicast file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                header = msgspec.json.decode(file.readline(), type=_Header)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RecordingError(
                f"{path} is no recording: {error}",
                hint="a recording is a folder of a recorded session, a .jsonl or .jsonl.gz of one, or an asciicast",
            ) from error
        if header.version not in {2, 3}:
            raise RecordingError(
                f"{path}: asciicast version {header.version} is not known", hint="versions 2 and 3 are read"
            )
        self._intervals = header.version == 3
        size = header.term or _Terminal(header.width, header.height)
        self.columns, self.lines = size.cols, size.rows
        if not is_size(self.columns, self.lines):
            raise RecordingError(f"{path}: {self.columns}x{self.lines} is no size of a terminal")

    def entries(self) -> Iterator[Input]:
        """Yield outputs and resizes."""
        now = 0.0
        with self._path.open("rb") as file:
            next(file)
            for number, line in enumerate(file, 2):
                if not line.strip() or line.startswith(b"#"):
                    continue
                time, code, data = self._event(line, number)
                now = now + time if self._intervals else time
                if not is_time(now):
                    raise RecordingError(f"{self._path}:{number}: {now} is no time")
                if code == "o":
                    yield Output(now, PANE, data.encode("utf-8", "surrogatepass"))
                elif code == "r":
                    yield Resized(now, PANE, *self._size(data, number))

    def _size(self, data: str, number: int) -> tuple[int, int]:
        columns, _, lines = data.partition("x")
        if not (_SIZE.fullmatch(columns) and _SIZE.fullmatch(lines)):
            raise RecordingError(f"{self._path}:{number}: {data!r} is no size")
        return int(columns), int(lines)

    def _event(self, line: bytes, number: int) -> tuple[float, str, str]:
        try:
            event: Any = json.loads(line)
            time, code, data = event
            seconds = float(time)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise RecordingError(f"{self._path}:{number}: not an asciicast event: {error}") from error
        if not (math.isfinite(seconds) and seconds >= 0):
            raise RecordingError(f"{self._path}:{number}: {seconds} is no time")
        return seconds, str(code), str(data)
