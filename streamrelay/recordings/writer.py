"""Write a recording of a live pane, in the control-mode format that `control_stream` reads.

Output stands there as tmux writes it, `{"t": seconds, "dir": "out", "line": "%output %3 ..."}`, so that everything that
reads such recordings reads these; what else happened stands between as `{"t": ..., "dir": "entry", "entry": {...}}`,
which other readers pass over. Pane output may be secret, so only the user may read the file.
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
_HINT: Final = "name a file that ends in .jsonl.gz, or .jsonl for one that is not packed"


def line_of(entry: Input) -> bytes:
    """Return an entry as its line of the file."""
    if isinstance(entry, Output):
        printed = (b"%output " + entry.pane.encode() + b" " + escape(entry.data)).decode("latin-1")
        return msgspec.json.encode({"t": entry.t, "dir": "out", "line": printed}) + b"\n"
    return msgspec.json.encode({"t": entry.t, "dir": "entry", "entry": entry}) + b"\n"


class RecordingWriter:
    """A recording that is being written; a context manager that closes it.

    Raises RecordingError for a name that `open_recording` would take for something else, for a file that is there
    already, unless it is to be replaced (`force`), and where nothing can be written.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        if not path.name.endswith(SUFFIXES) or path.name.startswith(SUFFIXES):
            raise RecordingError(f"{path}: a recording has another name", hint=_HINT)
        try:
            if force and not path.is_dir():
                path.unlink(missing_ok=True)
            # Created anew in any case: what is there may be a link, or readable for others.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            hint = "a folder is never replaced" if path.is_dir() else "--force replaces it"
            raise RecordingError(f"{path} is there already", hint=hint) from error
        except OSError as error:
            raise RecordingError(f"{path} cannot be written: {error.strerror}") from error
        self._file = os.fdopen(descriptor, "wb")
        self._lock = threading.Lock()
        self._packed = gzip.GzipFile("", "wb", 6, self._file, 0) if path.suffix == ".gz" else None

    def write(self, entries: Iterable[Input]) -> None:
        """Add entries; what was written can be read, whatever becomes of this process."""
        data = b"".join(map(line_of, entries))
        try:
            with self._lock:
                if self._packed is not None:
                    self._packed.write(data)
                    self._packed.flush()
                else:
                    self._file.write(data)
                self._file.flush()
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror}") from error

    def discard(self) -> None:
        """Leave no file behind: there was nothing to record."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Finish the file."""
        try:
            with self._lock, self._file:
                if self._packed is not None:
                    self._packed.close()
        except OSError as error:
            raise RecordingError(f"{self.path} cannot be written: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
