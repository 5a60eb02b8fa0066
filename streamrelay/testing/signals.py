"""Signals that a program reads like input: between two things that it does, never in the midst of one."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def readable_signals(*numbers: signal.Signals) -> Iterator[int]:
    """Give a descriptor from which the number of each signal is read, a byte each, from here on."""
    readable, written = os.pipe()
    os.set_blocking(written, False)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    wakeup = signal.set_wakeup_fd(written)
    try:
        yield readable
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(readable)
        os.close(written)
