"""A timer that callers reset often, mostly to the time it already has.

Resetting it to a slightly later time keeps the running timer, which then fires early.
"""

import asyncio
from collections.abc import Callable

_LAZY = 0.004
"""Seconds by which it may fire early: a flood resets it with every read, which costs more than one early call. Output
that comes less often resets it at once, since an early call wakes the process."""


class ResettableTimer:
    """Calls `ring` once, at or before the time it was set to last (loop time)."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None
        self._at = 0.0

    def __bool__(self) -> bool:
        """Whether it is set."""
        return self._handle is not None

    def set(self, due: float | None, *, not_before: float = 0.0) -> None:
        """Ring at `due`, or at `not_before` if that is later; None for never."""
        if due is not None and due < not_before:
            due = not_before
        if self._handle is not None and (due is None or not due - _LAZY <= self._at <= due):
            self._handle.cancel()
            self._handle = None
        if due is not None and self._handle is None:
            self._at = due
            self._handle = self._loop.call_at(self._at, self._go_off)

    def _go_off(self) -> None:
        self._handle = None
        self._ring()
