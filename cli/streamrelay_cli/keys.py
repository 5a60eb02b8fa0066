"""Single keys on the terminal a command was started from, while it runs."""

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


def _named_terminal() -> Path:
    """Return where the terminal of a command that `has_terminal` is opened."""
    try:
        return Path(os.ttyname(sys.stdin.fileno()))
    except OSError:
        # A container may have been given one of the machine's. Only then: no Mac's event loop can wait for this one.
        return Path("/dev/tty")


@contextmanager
def pressed_keys(take: Callable[[str], None]) -> Iterator[bool]:
    """Hand every key to `take`, unechoed; Ctrl-C stays what it is. False where there is no terminal for that.

    The terminal is opened anew for that: an event loop may make what it reads from non-blocking (uvloop does), and that
    would hold for the standard streams of whoever started us, too, and for longer than we live.
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
