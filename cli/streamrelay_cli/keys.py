"""Single keys on the terminal a command was started from, while it runs."""

import asyncio
import os
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def has_terminal() -> bool:
    """Tell whether a person at a terminal can press keys for this command."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def is_typed() -> bool:
    """Tell whether this command was typed at a terminal: it has the foreground, which no agent gives to its tools."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


@contextmanager
def pressed_keys(take: Callable[[str], None]) -> Iterator[bool]:
    """Hand every key to `take`, unechoed; Ctrl-C stays what it is. False where there is no terminal for that."""
    if not has_terminal():
        yield False
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    mode = termios.tcgetattr(descriptor)
    mode[3] &= ~(termios.ECHO | termios.ICANON)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    loop = asyncio.get_running_loop()

    def read() -> None:
        data = os.read(descriptor, 64)
        if not data:
            loop.remove_reader(descriptor)
        for key in data.decode(errors="replace"):
            take(key)

    termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
    loop.add_reader(descriptor, read)
    try:
        yield True
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
