"""How often, and how soon, a lost connection to tmux is made again.

At once, since a person who detaches everybody means no harm; then after longer and longer waits, since whatever ends
connections as fast as they are made (a hook, a server that hangs) will do it again; and not for ever.
"""

from collections import deque

WINDOW = 30.0
"""Seconds for which an attempt counts."""
MAX_ATTEMPTS = 8
_FIRST_WAIT = 0.1


class Backoff:
    """Counts attempts."""

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
