"""Unread input: discard typed text that a leaving program did not read.

A program may decide to leave shortly before its terminal learns of it. What tmux types in between is meant for the
program, but its shell would read it. tmux cannot see this; the terminal device can. The typed text waits there, and
`take_back` discards it, together with anything a person typed in the same milliseconds. Once the device was seen empty,
the program has read everything, and later input belongs to another writer. The check starts only after a delay, because
tmux answers first and writes then.
"""

from streamrelay.delivery.tty_input import discard_input, unread_input

ARRIVAL_DELAY = 0.05
"""Seconds within which text that tmux reports as typed reaches the terminal device."""


class UnreadInput:
    """Tracks whether the text typed last still waits in a pane's terminal device."""

    def __init__(self, tty: str) -> None:
        self._tty = tty
        self._waits = False
        self._lands_until = 0.0

    def typed(self, now: float, *, lands: float = ARRIVAL_DELAY) -> None:
        """Record that text was typed just now."""
        self._waits = bool(self._tty)
        self._lands_until = now + lands

    def look(self, now: float) -> bool:
        """Return whether the text typed last may still be unread."""
        self._waits = self._waits and (bool(unread_input(self._tty)) or now < self._lands_until)
        return self._waits

    def take_back(self) -> bool:
        """Discard the unread text; return whether there was any."""
        if not self._waits or not unread_input(self._tty):
            return False
        discard_input(self._tty)
        self._waits = False
        return True
