"""Standard output of the process: a reader that goes away, or a full disk, becomes an error of ours.

It imports nothing of the engine, because `--help` and `--version` print through it.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamrelay.errors import StreamrelayError

READER_GONE = 141
"""Exit code when nobody reads standard output any more (128 + SIGPIPE)."""


class ReaderGoneError(Exception):
    """Standard output was closed by whoever read it."""


@contextmanager
def writing() -> Iterator[None]:
    """Have what writing to standard output raises be ReaderGoneError or StreamrelayError."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        raise StreamrelayError(f"standard output cannot be written: {error.strerror}") from error


class _StandardOutput(io.FileIO):
    """Standard output whose errors are ours, whoever prints: the help and the version are not printed by `Output`."""

    def write(self, data: Any, /) -> int:  # collections.abc.Buffer came with Python 3.12
        """Write what can be written at once; return how much that was."""
        with writing():
            return super().write(data)


@contextmanager
def own_standard_output() -> Iterator[None]:
    """Have all that is printed meanwhile raise ReaderGoneError or StreamrelayError where it cannot be.

    Standard output is not to be used afterwards.
    """
    was = sys.stdout
    raw = _StandardOutput(was.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=was.encoding, errors=was.errors, line_buffering=was.isatty()
    )
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except (ReaderGoneError, StreamrelayError):
            # It has been said; Python would try to print the same once more as it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), raw.fileno())
