"""Reads a JSON Lines file that another program appends to, each time from where the last read ended.

An incomplete line is left for the next read. If more than `MAX_READ` bytes were added, only the end is read. A file
that was replaced or truncated is read as a new one. A file of another user, or one that other users may write, is
refused.
"""

import os
import stat
from pathlib import Path
from typing import Final

from streamrelay.agents.transcript_files import MAX_LINE, open_plain

MAX_READ: Final = 8 * 2**20
"""Bytes that one call reads."""
FIRST_READ: Final = 2 * 2**20
"""Bytes that the first call reads."""


class NotTrusted(OSError):
    """Another user owns the file or may write to it."""


class GrowingFile:
    """One file; `uid` is its required owner."""

    def __init__(self, path: Path, uid: int) -> None:
        """Begin with the last `FIRST_READ` bytes of the file."""
        self.path = path
        self._uid = uid
        self._offset = 0
        self._identity: tuple[int, int] | None = None

    def read_lines(self) -> list[bytes]:
        """Return the complete lines added since the last call; raises OSError if the file cannot be read."""
        most = FIRST_READ if self._identity is None else MAX_READ
        with open_plain(self.path) as file:
            status = os.fstat(file.fileno())
            if status.st_uid != self._uid or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise NotTrusted(f"other users may write to {self.path}")
            identity = (status.st_dev, status.st_ino)
            size = status.st_size
            if identity != self._identity or size < self._offset:
                self._identity, self._offset = identity, 0
            skipped = size - self._offset > most
            start = size - most if skipped else self._offset
            data = os.pread(file.fileno(), size - start, start)
        if skipped:
            # The line that the cut goes through is lost.
            cut = data.find(b"\n") + 1
            data, start = (data[cut:], start + cut) if cut else (b"", size)
        whole, newline, rest = data.rpartition(b"\n")
        self._offset = start + len(whole) + len(newline)
        if len(rest) > MAX_LINE:
            self._offset = start + len(data)
        return [line for line in whole.split(b"\n") if line and len(line) <= MAX_LINE]
