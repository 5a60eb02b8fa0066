"""The lock of a session: one process at a time holds it, because two would write answers under the same numbers.

The kernel releases the lock however its holder ends: it is an flock on a file beside the store.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamrelay.errors import UsageError


@contextmanager
def only_holder(folder: Path, session: str) -> Iterator[None]:
    """Hold the lock of a session while the context is open; raises UsageError while another process holds it."""
    path = folder / f"{session}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"{session} is open in another process", hint="end it there first: /bye") from error
        yield
    finally:
        os.close(descriptor)
