"""Backoff: when to reconnect a lost tmux connection, and when to give up.

The first attempt is immediate, because the usual cause, a person who detaches all clients, passes at once. The second
waits `_FIRST_WAIT` seconds, and each further one twice as long as the one before, because a lasting cause, such as a
hook or a hanging server, ends the next connection too. After `MAX_ATTEMPTS` within `WINDOW` the backoff gives up.
"""

from collections import deque

WINDOW = 30.0
"""Seconds for which an attempt counts against the limit."""
MAX_ATTEMPTS = 8
_FIRST_WAIT = 0.1
"""Seconds before the second attempt."""


class Backoff:
    """Counts reconnect attempts and returns the delay before the next one."""

    def __init__(self) -> None:
        self._attempts: deque[float] = deque()

    def wait(self, now: float) -> float | None:
        """Count an attempt at `now`, and return the seconds to wait before it is made; None to give up."""
        while self._attempts and self._attempts[0] <= now - WINDOW:
            self._attempts.popleft()
        earlier = len(self._attempts)
        if earlier >= MAX_ATTEMPTS:
            return None
        self._attempts.append(now)
        return _FIRST_WAIT * 2 ** (earlier - 1) if earlier else 0.0
