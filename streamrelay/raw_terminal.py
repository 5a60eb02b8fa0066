"""A raw terminal, as programs with a composer set it: no echo, no line editing, no signal keys."""

import os
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_STDIN, _STDOUT = 0, 1


@contextmanager
def raw_terminal(*, begins: bytes = b"", ends: bytes = b"") -> Iterator[None]:
    """Set the terminal on standard input raw and restore it afterwards; print `begins` before and `ends` after."""
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
