"""Limits of the process of a test: a disk that takes no more, and no descriptors."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Let each write beyond `size` bytes of a file fail inside the context, as on a full disk (but with EFBIG)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    """Let this process open nothing inside the context."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A new descriptor has the lowest free number: those below it are taken.
    lowest = os.open(os.devnull, os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.close(lowest)
