"""Whether a program reads its terminal: how much input waits there unread."""

import array
import contextlib
import fcntl
import os
import termios


def unread_input(tty: str) -> int | None:
    """Return the bytes that wait in the terminal device `tty` ("/dev/pts/3"); None where that cannot be told.

    In canonical mode only whole lines count (Linux n_tty.c, FIONREAD). The device is only looked at, never read.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            waiting = array.array("i", [0])
            fcntl.ioctl(descriptor, termios.FIONREAD, waiting)
            return waiting[0]
        finally:
            os.close(descriptor)
    return None
