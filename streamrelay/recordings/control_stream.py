"""Reader of recorded control-mode sessions: the lines of `tmux -C` with their times, and the injected messages.

The stream is JSON Lines, gzipped or not, `{"t": seconds, "dir": "out", "line": latin-1 text}`; a folder holds it as
`stream.jsonl.gz` beside a `meta.json` that tells the size and the injections. Without one, the size is that of the
first `%layout-change`, and nothing counts as injected, unless the stream itself tells: one that `RecordingWriter` wrote
holds all that happened (`"dir": "entry"`). Such a stream may have been cut off where its writer was ended: what is
there is read.
"""

import gzip
import heapq
import operator
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import regex

from streamrelay.control import ControlProtocol, PaneOutput
from streamrelay.control.notifications import LayoutChange
from streamrelay.delta.inputs import Began, Input, Output, Pasted, Reseeded, Resized, Submitted
from streamrelay.errors import RecordingError
from streamrelay.recordings.limits import is_size, is_time

STREAM = "stream.jsonl.gz"
META = "meta.json"
PANE = "%0"
_PANE = regex.compile(r"(\d{1,5})x(\d{1,5}),\d+,\d+,(\d+)")
_SIZE = regex.compile(r"[0-9a-f]{4},(\d{1,5})x(\d{1,5}),")


class _Line(msgspec.Struct):
    t: float
    dir: str
    line: str = ""
    entry: Input | None = None


class _Injection(msgspec.Struct):
    t: float
    mode: str
    text: str = ""
    t_paste: float | None = None
    t_enter: float | None = None


class _Meta(msgspec.Struct):
    cols: int
    rows: int
    injected: list[_Injection] = []


class ControlRecording:
    """A recorded control-mode session, from a folder or from its stream alone."""

    def __init__(self, path: Path) -> None:
        self._stream = path / STREAM if path.is_dir() else path
        self._injected: list[_Injection] = []
        if path.is_dir():
            meta = self._read_meta(path / META)
            self.columns, self.lines = self._checked(meta.cols, meta.rows)
            self._injected = meta.injected
        else:
            self.columns, self.lines = self._first_size()

    def entries(self) -> Iterator[Input]:
        """Yield outputs, resizes and injections, by time."""
        return heapq.merge(self._printed(), self._entered(), key=operator.attrgetter("t"))

    def _entered(self) -> Iterator[Input]:
        entries: list[Input] = []
        for number, injection in enumerate(self._injected, 1):
            if injection.mode not in {"paste", "keys"}:
                continue
            for seconds in (injection.t, injection.t_paste, injection.t_enter):
                self._check_time(seconds)
            message_id = f"recorded-{number}"
            entries.append(Pasted(injection.t_paste or injection.t, PANE, message_id, injection.text))
            if injection.t_enter is not None:
                entries.append(Submitted(injection.t_enter, PANE, message_id))
        entries.sort(key=operator.attrgetter("t"))
        yield from entries

    def _printed(self) -> Iterator[Input]:
        protocol = ControlProtocol()
        size = (self.columns, self.lines)
        sizes: dict[str, tuple[int, int]] = {}
        told = {PANE: size}
        for record in self._records():
            if record.entry is not None:
                yield record.entry
                continue
            try:
                line = record.line.encode("latin-1")
            except UnicodeEncodeError as error:
                raise RecordingError(f"{self._stream}: a line is no latin-1: {error}") from error
            for event in protocol.receive(line + b"\n"):
                if isinstance(event, PaneOutput):
                    told.setdefault(event.pane, size)
                elif isinstance(event, LayoutChange):
                    sizes |= self._panes_of(event.layout)
                # A window holds panes that print nothing: of these there is no stream.
                for pane in [pane for pane in told if sizes.get(pane, told[pane]) != told[pane]]:
                    told[pane] = sizes[pane]
                    yield Resized(record.t, pane, *told[pane])
                if isinstance(event, PaneOutput):
                    yield Output(record.t, event.pane, event.data)

    def _first_size(self) -> tuple[int, int]:
        for record in self._records():
            if isinstance(record.entry, Began):
                return record.entry.screen.columns, record.entry.screen.lines
            if record.line.startswith("%layout-change "):
                for layout in record.line.split(" ")[2:3]:
                    size = self._size_of(layout)
                    if size is not None:
                        return size
        return 80, 24

    def _records(self) -> Iterator[_Line]:
        decoder = msgspec.json.Decoder(_Line)
        tells_all = False
        try:
            with gzip.open(self._stream) if self._stream.suffix == ".gz" else self._stream.open("rb") as file:
                for line in file:
                    if tells_all and not line.endswith(b"\n"):
                        return
                    record = decoder.decode(line)
                    self._check_time(record.t)
                    if record.entry is not None:
                        tells_all = True
                        self._check(record.entry)
                    if record.entry is not None or record.dir == "out":
                        yield record
        except (OSError, EOFError, zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if tells_all and isinstance(error, EOFError):
                return
            raise RecordingError(f"{self._stream}: not a control-mode recording: {error}") from error

    def _check(self, entry: Input) -> None:
        """Refuse a screen that no terminal has: nothing of it is allocated."""
        self._check_time(entry.t)
        if isinstance(entry, Began | Reseeded):
            self._checked(entry.screen.columns, entry.screen.lines)
        elif isinstance(entry, Resized):
            self._checked(entry.columns, entry.lines)

    def _check_time(self, seconds: float | None) -> None:
        if seconds is not None and not is_time(seconds):
            raise RecordingError(f"{self._stream}: {seconds} is no time")

    def _checked(self, columns: int, lines: int) -> tuple[int, int]:
        if not is_size(columns, lines):
            raise RecordingError(f"{self._stream}: {columns}x{lines} is no size of a terminal")
        return columns, lines

    def _panes_of(self, layout: str) -> dict[str, tuple[int, int]]:
        found = _PANE.findall(layout)
        return {f"%{number}": self._checked(int(columns), int(lines)) for columns, lines, number in found}

    def _size_of(self, layout: str) -> tuple[int, int] | None:
        match = _SIZE.match(layout)
        return self._checked(int(match[1]), int(match[2])) if match else None

    def _read_meta(self, path: Path) -> _Meta:
        try:
            return msgspec.json.decode(path.read_bytes(), type=_Meta)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RecordingError(f"{path}: cannot be read: {error}") from error
