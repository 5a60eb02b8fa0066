"""Terminal events (titles, bells, OSC) until the caller takes them; bounded, because programs may send many."""

from collections import deque
from typing import get_args

from streamrelay.vt.engine import TerminalEvent, TerminalEventKind

_BARE = {kind: TerminalEvent(kind) for kind in get_args(TerminalEventKind)}
_LIMIT = 4 << 20
_COST = 256
"""What an event counts for besides its payload."""


class TerminalEvents:
    """The events since the last take. Over 4 MiB the oldest go; a bell that rings on and on is one event."""

    __slots__ = ("_events", "_size")

    def __init__(self) -> None:
        self._events: deque[TerminalEvent] = deque()
        self._size = 0

    def add(self, kind: TerminalEventKind, payload: str = "") -> None:
        """Append an event."""
        if kind == "bell" and self._events and self._events[-1].kind == "bell":
            return
        self._events.append(TerminalEvent(kind, payload) if payload else _BARE[kind])
        self._size += _COST + len(payload)
        while self._size > _LIMIT:
            self._size -= _COST + len(self._events.popleft().payload)

    def take(self) -> tuple[TerminalEvent, ...]:
        """Return the events and forget them."""
        events = tuple(self._events)
        self._events.clear()
        self._size = 0
        return events
