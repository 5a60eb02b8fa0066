"""What a pane's terminal device tells of its program: what it leaves unread, and whether it asks for a secret."""

import array
import contextlib
import fcntl
import os
import termios
from collections.abc import Iterator

MAX_LINE_BYTES = 4095
"""Bytes of a line, its end not counted, that a terminal device in canonical mode passes on (Linux n_tty.c)."""


def unread_input(tty: str) -> int | None:
    """Return the bytes that wait in the terminal device `tty` ("/dev/pts/3"); None where that cannot be told.

    In canonical mode only whole lines count (Linux n_tty.c, FIONREAD). The device is only looked at, never read.
    """
    waiting = array.array("i", [0])
    with contextlib.suppress(OSError), _opened(tty) as descriptor:
        fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
        return waiting[0]
    return None


def reads_lines(tty: str) -> bool:
    """Return whether the terminal device `tty` is in canonical mode; False where that cannot be told."""
    with contextlib.suppress(OSError, termios.error), _opened(tty) as descriptor:
        return bool(termios.tcgetattr(descriptor)[3] & termios.ICANON)
    return False


def hides_input(tty: str) -> bool:
    """Return whether lines are read from the terminal device `tty` without being echoed, as for a password.

    False where that cannot be told. A program that edits its input itself (no canonical mode) hides nothing by this.
    A program can switch the echo off and not mean a secret: what it asks has to be looked at as well.
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
