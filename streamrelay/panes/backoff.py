"""Backoff: when to reconnect a lost tmux connection, and when to give up.

The first attempt is immediate, because a person who detaches all clients means no harm. Further attempts wait longer
and longer, because a cause such as a hook or a hanging server will end the next connection too. After `MAX_ATTEMPTS`
within `WINDOW` the backoff gives up.
"""

from collections import deque

WINDOW = 30.0
"""Seconds for which an attempt counts against the limit."""
MAX_ATTEMPTS = 8
_FIRST_WAIT = 0.1


class Backoff:
    """Counts reconnect attempts and returns the delay before the next one."""

    def __init__(self) -> None:
        self._attempts: deque[float] = deque()

    def wait(self, now: float) -> float | None:
        """Return how many seconds to wait before the attempt that is due `now`; None to give up."""
        while self._attempts and self._attempts[0] <= now - WINDOW:
            self._attempts.popleft()
        made = len(self._attempts)
        if made >= MAX_ATTEMPTS:
            return None
        self._attempts.append(now)
        return _FIRST_WAIT * 2 ** (made - 1) if made else 0.0
