"""Reads single keys from the terminal of a running command."""

import asyncio
import os
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def has_terminal() -> bool:
    """Tell whether a person at a terminal can press keys for this command."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def is_typed() -> bool:
    """Tell whether a person typed this command at a terminal: it has the foreground, which agents' tools never get."""
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


def _named_terminal() -> Path:
    """Return the path of the terminal of a command that `has_terminal`."""
    try:
        return Path(os.ttyname(sys.stdin.fileno()))
    except OSError:
        # A container may use a terminal of the machine, which has no name inside it. Otherwise avoid /dev/tty: no event
        # loop on macOS can wait for it.
        return Path("/dev/tty")


@contextmanager
def pressed_keys(take: Callable[[str], None]) -> Iterator[bool]:
    """Pass every key to `take` without echo, except Ctrl-C; yield False without a terminal.

    It opens the terminal again, because an event loop may set its input to non-blocking (uvloop does). On the inherited
    descriptor, that would also change the parent process's streams and outlast this process.
    """
    if not has_terminal():
        yield False
        return
    with _named_terminal().open("rb", buffering=0) as terminal:
        before = termios.tcgetattr(terminal)
        mode = termios.tcgetattr(terminal)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        loop = asyncio.get_running_loop()

        def read() -> None:
            data = os.read(terminal.fileno(), 64)
            if not data:
                loop.remove_reader(terminal)
            for key in data.decode(errors="replace"):
                take(key)

        termios.tcsetattr(terminal, termios.TCSADRAIN, mode)
        loop.add_reader(terminal, read)
        try:
            yield True
        finally:
            loop.remove_reader(terminal)
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
