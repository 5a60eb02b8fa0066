"""Writer of recordings of a live pane, in the control-mode format that `control_stream` reads.

A line of the file is either output as tmux writes it, `{"t": seconds, "dir": "out", "line": "%output %3 ..."}`, or any
other input of the stream, `{"t": seconds, "dir": "entry", "entry": {...}}`. Other readers of control-mode recordings
read the first kind and skip the second. Pane output may be secret, so only the user may read the file.
"""

import gzip
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from streamrelay.control.escape import escape
from streamrelay.delta.inputs import Input, Output
from streamrelay.errors import RecordingError

SUFFIXES: Final = (".jsonl", ".jsonl.gz")
_HINT: Final = "name a file that ends in .jsonl.gz, or in .jsonl for an uncompressed one"


def encode_entry(entry: Input) -> bytes:
    """Return the line of the file for an entry."""
    if isinstance(entry, Output):
        line = (b"%output " + entry.pane.encode() + b" " + escape(entry.data)).decode("latin-1")
        return msgspec.json.encode({"t": entry.t, "dir": "out", "line": line}) + b"\n"
    return msgspec.json.encode({"t": entry.t, "dir": "entry", "entry": entry}) + b"\n"


class RecordingWriter:
    """A recording that is being written; a context manager that closes it.

    `force` replaces an existing file. Raises RecordingError for a name that `open_recording` would not read as a
    recording, for an existing file without `force`, and if the file cannot be written.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        if not path.name.endswith(SUFFIXES) or path.name.startswith(SUFFIXES):
            raise RecordingError(f"not the name of a recording: {path}", hint=_HINT)
        try:
            if force and not path.is_dir():
                path.unlink(missing_ok=True)
            # Always a new file: the existing one may be a link, or readable for others.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            hint = "it is a folder: name a file" if path.is_dir() else "use --force to replace it"
            raise RecordingError(f"file exists: {path}", hint=hint) from error
        except OSError as error:
            raise RecordingError(
                f"cannot write {path}: {error.strerror}",
                hint="check the folder's permissions and the free space of its disk",
            ) from error
        self._file = os.fdopen(descriptor, "wb")
        self._lock = threading.Lock()
        self._gzip = gzip.GzipFile("", "wb", 6, self._file, 0) if path.suffix == ".gz" else None

    def write(self, entries: Iterable[Input]) -> None:
        """Write entries and flush them, so that they can be read even if this process is killed."""
        data = b"".join(map(encode_entry, entries))
        try:
            with self._lock:
                if self._gzip is not None:
                    self._gzip.write(data)
                    self._gzip.flush()
                else:
                    self._file.write(data)
                self._file.flush()
        except OSError as error:
            raise RecordingError(
                f"cannot write {self.path}: {error.strerror}",
                hint="check the folder's permissions and the free space of its disk",
            ) from error

    def discard(self) -> None:
        """Delete the file, because there was nothing to record."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Write the end of the file and close it."""
        try:
            with self._lock, self._file:
                if self._gzip is not None:
                    self._gzip.close()
        except OSError as error:
            raise RecordingError(
                f"cannot write {self.path}: {error.strerror}",
                hint="check the folder's permissions and the free space of its disk",
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
