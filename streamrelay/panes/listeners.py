"""Listeners of a pane: stamp its events with wall clock and host, and pass them to each listener in order."""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from streamrelay.batch import Batch

Listener = Callable[[Batch], None]
"""Receives events and owns them from then on."""

Follows = Callable[[], bool]
"""Tells whether a listener shows live text to people now."""


def always() -> bool:
    """Return True: the listener shows live text."""
    return True


def never() -> bool:
    """Return False: the listener takes whole turns only."""
    return False


class Listeners:
    """The listeners of one pane, and the tasks that wait for its next change."""

    def __init__(self) -> None:
        self._host = socket.gethostname()
        self._listeners: list[Listener] = []
        self._follows: dict[Listener, Follows] = {}
        self._change: asyncio.Event | None = None
        """Set by `wake`; None while no task waits."""

    def __bool__(self) -> bool:
        """Whether there are listeners."""
        return bool(self._listeners)

    def add(self, listener: Listener, joining: Batch, follows: Follows) -> None:
        """Hand every event from here on to `listener`, `joining` before them."""
        if joining:
            listener(self._stamped(joining))
        self._listeners.append(listener)
        self._follows[listener] = follows

    def remove(self, listener: Listener) -> None:
        """Stop handing events to `listener`."""
        if listener in self._listeners:
            self._listeners.remove(listener)
        if listener not in self._listeners:
            self._follows.pop(listener, None)

    def leave(self) -> None:
        """Remove all listeners."""
        self._listeners.clear()
        self._follows.clear()

    @property
    def follow_live(self) -> bool:
        """Whether any listener shows live text to people now."""
        return any(follows() for follows in self._follows.values())

    def hear(self, events: Batch) -> None:
        """Give the events to the last listener, and copies of them to those before."""
        if not events or not self._listeners:
            return
        self._stamped(events)
        *others, last = self._listeners
        for listener in others:
            listener(events.copy())
        last(events)

    def changed(self) -> Coroutine[Any, Any, Literal[True]]:
        """Wait for the next `wake`, counted from the call, not from the awaiting."""
        if self._change is None:
            self._change = asyncio.Event()
        return self._change.wait()

    def wake(self) -> None:
        """Wake all tasks that wait for a change."""
        if self._change is not None:
            self._change.set()
            self._change = None

    def _stamped(self, events: Batch) -> Batch:
        at = time.time()
        for part in events.parts:
            part.at, part.host = at, self._host
        return events
