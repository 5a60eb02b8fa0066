"""Standard output of the process: raises streamrelay's own errors if its reader goes away or the disk is full.

It imports nothing of the library, because `--help` and `--version` print through it.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamrelay.errors import StreamrelayError

READER_GONE = 141
"""Exit code when the reader of standard output has gone (128 + SIGPIPE)."""


class ReaderGoneError(Exception):
    """The reader of standard output has closed it."""


@contextmanager
def writing() -> Iterator[None]:
    """Turn errors of writing to standard output into ReaderGoneError or StreamrelayError."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except OSError as error:
        raise StreamrelayError(
            f"cannot write to standard output: {error.strerror}",
            hint="check the disk or the program that it is redirected to",
        ) from error


class _StandardOutput(io.FileIO):
    """Standard output that raises streamrelay's errors also for the help and the version, which bypass `Output`."""

    def write(self, data: Any, /) -> int:  # collections.abc.Buffer came with Python 3.12
        """Write as much as possible at once; return the number of bytes."""
        with writing():
            return super().write(data)


@contextmanager
def own_standard_output() -> Iterator[None]:
    """Inside the context, let failing writes raise ReaderGoneError or StreamrelayError.

    Standard output must not be used afterwards.
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
            # The error is reported; otherwise Python would try to flush the same data again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), raw.fileno())
