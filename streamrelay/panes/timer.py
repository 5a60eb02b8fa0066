"""A timer that is set again and again, and mostly to where it stands: one that is early is left to ring."""

import asyncio
from collections.abc import Callable

_LAZY = 0.05
"""Seconds by which it may ring too early: a flood sets it anew with every read, which costs more than one ring."""


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
        if self._handle is not None and (due is None or not due - _LAZY <= self._at <= due):
            self._handle.cancel()
            self._handle = None
        if due is not None and self._handle is None:
            self._at = max(due, not_before)
            self._handle = self._loop.call_at(self._at, self._go_off)

    def _go_off(self) -> None:
        self._handle = None
        self._ring()
