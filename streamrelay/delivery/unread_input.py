"""Unread input: discard typed text that a leaving program did not read.

A program can exit while tmux types a message for it. The message then waits in the terminal device, and the shell would
read it. tmux does not report unread input, but the terminal device does. `take_back` discards the input, together with
anything that a person typed in the same milliseconds. Once the device was empty, the program has read the message,
and later input belongs to another writer. An empty device proves nothing directly after typing, because tmux confirms
the command before it writes the text.
"""

from streamrelay.delivery.tty_input import discard_input, unread_input

ARRIVAL_DELAY = 0.05
"""Seconds within which text that tmux reports as typed reaches the terminal device."""


class UnreadInput:
    """Tracks whether the text typed last still waits in a pane's terminal device."""

    def __init__(self, tty: str) -> None:
        self._tty = tty
        self._waits = False
        self._arrives_until = 0.0

    def typed(self, now: float, *, arrives_in: float = ARRIVAL_DELAY) -> None:
        """Record that text was typed just now."""
        self._waits = bool(self._tty)
        self._arrives_until = now + arrives_in

    def may_be_unread(self, now: float) -> bool:
        """Return whether the text typed last may still be unread."""
        self._waits = self._waits and (bool(unread_input(self._tty)) or now < self._arrives_until)
        return self._waits

    def take_back(self) -> bool:
        """Discard the unread text; return whether there was any."""
        if not self._waits or not unread_input(self._tty):
            return False
        discard_input(self._tty)
        self._waits = False
        return True
