"""What was typed and not read yet: taken back where the program leaves without it.

Between the moment in which a program decides to leave and the one in which its terminal hears of it, what tmux types is
still meant for it, and will be read by its shell. No line of tmux can see that. The terminal device can: what was typed
waits in it, and is thrown away there, if need be with what a person typed in the same milliseconds. Once it was seen
empty, everything was read, and whatever waits later is somebody else's: not at once, as tmux answers first and writes
then.
"""

from streamrelay.delivery.tty_input import discard_input, unread_input

ARRIVAL_DELAY = 0.05
"""Seconds in which what tmux says it has typed is in the terminal device."""


class UnreadInput:
    """The terminal device of one pane, as far as what was typed into it last goes."""

    def __init__(self, tty: str) -> None:
        self._tty = tty
        self._waits = False
        self._lands_until = 0.0

    def typed(self, now: float, *, lands: float = ARRIVAL_DELAY) -> None:
        """Note that something was typed just now."""
        self._waits = bool(self._tty)
        self._lands_until = now + lands

    def look(self, now: float) -> bool:
        """Tell whether what was typed last may still be unread."""
        self._waits = self._waits and (bool(unread_input(self._tty)) or now < self._lands_until)
        return self._waits

    def take_back(self) -> bool:
        """Throw away what is unread of it; tell whether anything was."""
        if not self._waits or not unread_input(self._tty):
            return False
        discard_input(self._tty)
        self._waits = False
        return True
