"""The terminal as programs with a composer have it: no echo, no line editing, every key read like any other."""

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_STDIN, _STDOUT = 0, 1


@contextmanager
def raw_terminal(*, begins: bytes = b"", ends: bytes = b"") -> Iterator[None]:
    """Have the terminal on standard input raw meanwhile; what is given is printed when that begins and ends."""
    before = termios.tcgetattr(_STDIN)
    mode = termios.tcgetattr(_STDIN)
    mode[0] &= ~(termios.ICRNL | termios.INLCR | termios.IXON)
    mode[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    termios.tcsetattr(_STDIN, termios.TCSADRAIN, mode)
    os.write(_STDOUT, begins)
    try:
        yield
    finally:
        os.write(_STDOUT, ends)
        termios.tcsetattr(_STDIN, termios.TCSADRAIN, before)
