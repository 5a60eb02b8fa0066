"""tmux is reminded of the answers it owes.

Where a pane is paused because nobody read (`pause-after`), tmux drops what that pane printed, and may leave standing
what stood behind it: the answers to commands, and the news of the pause itself. For if its output buffer is empty in
that moment it stops writing (tmux 3.3a control.c, `control_write_callback`), and nothing comes any more until it has
something else to say; then all of it comes, in order. The answer to a question is such a thing. So while an answer is
owed and nothing is heard, tmux is asked for nothing, once a second.
"""

import asyncio
from collections.abc import Callable

_INTERVAL = 1.0
_MAX_REMINDERS = 3
"""Reminders since tmux was heard last, at most: a server that is stopped answers none."""


class Reminder:
    """When to remind tmux: `remind` is called where it says nothing though `owes` says that it should."""

    def __init__(self, *, owes: Callable[[], bool], remind: Callable[[], None]) -> None:
        self._owes = owes
        self._remind = remind
        self._timer: asyncio.TimerHandle | None = None
        self._was_heard = True
        self._reminded = 0

    def asked(self) -> None:
        """Note that tmux owes an answer."""
        if self._timer is None:
            self._was_heard = True
            self._wait()

    def heard(self) -> None:
        """Note that tmux said something."""
        self._was_heard = True
        self._reminded = 0

    def stop(self) -> None:
        """Remind no more."""
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
