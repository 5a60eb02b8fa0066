"""Reminder: make tmux send answers that it holds back.

When tmux pauses a pane because its output was not read (`pause-after`), it drops the pane's output. If its output
buffer is empty at that moment, tmux stops writing (tmux 3.3a control.c, `control_write_callback`). Command replies and
the pause notification then stay queued until tmux has something else to write; after that they arrive in order. An
answer to any command is enough. While an answer is due and tmux is silent, the client therefore sends an empty request
once a second.
"""

import asyncio
from collections.abc import Callable

_INTERVAL = 1.0
_MAX_REMINDERS = 3
"""Maximum reminders since tmux last wrote anything: a stopped server answers none."""


class Reminder:
    """Calls `remind` while tmux is silent although `owes` says that an answer is due."""

    def __init__(self, *, owes: Callable[[], bool], remind: Callable[[], None]) -> None:
        self._owes = owes
        self._remind = remind
        self._timer: asyncio.TimerHandle | None = None
        self._was_heard = True
        self._reminded = 0

    def asked(self) -> None:
        """Record that tmux owes an answer."""
        if self._timer is None:
            self._was_heard = True
            self._wait()

    def heard(self) -> None:
        """Record that tmux wrote something."""
        self._was_heard = True
        self._reminded = 0

    def stop(self) -> None:
        """Stop reminding."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._owes():
            return
        was_heard, self._was_heard = self._was_heard, False
        self._wait()
        if not was_heard and self._reminded < _MAX_REMINDERS:
            self._reminded += 1
            self._remind()
