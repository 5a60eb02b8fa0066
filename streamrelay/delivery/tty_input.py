"""Reads a pane's terminal device: how much input its program left unread, and whether it asks for a secret."""

import array
import contextlib
import fcntl
import os
import termios
from collections.abc import Iterator

MAX_LINE_BYTES = 4095
"""Bytes of a line, its end not counted, that a terminal device in canonical mode passes on (Linux n_tty.c)."""


def unread_input(tty: str) -> int | None:
    """Return the bytes that wait in the terminal device `tty` ("/dev/pts/3"); None if unknown.

    In canonical mode only whole lines count (Linux n_tty.c, FIONREAD). The function never consumes input.
    """
    waiting = array.array("i", [0])
    with contextlib.suppress(OSError), _opened(tty) as descriptor:
        fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
        return waiting[0]
    return None


def reads_lines(tty: str) -> bool:
    """Return whether the terminal device `tty` is in canonical mode; False if unknown."""
    with contextlib.suppress(OSError, termios.error), _opened(tty) as descriptor:
        return bool(termios.tcgetattr(descriptor)[3] & termios.ICANON)
    return False


def hides_input(tty: str) -> bool:
    """Return whether the terminal device `tty` reads lines without echo, as for a password; False if unknown.

    A program that edits its input itself (no canonical mode) hides nothing by this. A program can also switch the echo
    off for another reason, so the caller must look at its question as well.
    """
    with contextlib.suppress(OSError, termios.error), _opened(tty) as descriptor:
        local_modes: int = termios.tcgetattr(descriptor)[3]
        return bool(local_modes & termios.ICANON) and not local_modes & termios.ECHO
    return False


def discard_input(tty: str) -> None:
    """Discard the unread input of the terminal device `tty`: its next reader does not get it."""
    with contextlib.suppress(OSError, termios.error), _opened(tty) as descriptor:
        termios.tcflush(descriptor, termios.TCIFLUSH)


@contextlib.contextmanager
def _opened(tty: str) -> Iterator[int]:
    descriptor = os.open(tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
