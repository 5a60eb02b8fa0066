"""How much and how fast a peer may tell this node. Pure.

A peer may send a minute's worth at once; then its allowance fills again, evenly. The receiver does not take what
exceeds it yet, and asks the sender to wait for so many seconds (`Ack.slow`). So nothing is lost or reordered: messages
wait on the sender's disk. Requests for a link, a relay or a session are refused instead (`NotAllowed`).

An envelope larger than a minute's worth passes when the allowance is full, and the next one waits until that is paid.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from streamrelay.errors import UsageError

MINUTE = 60.0
MIN_WAIT, MAX_WAIT = 0.5, 60.0
"""Seconds that a sender has to wait, at least and at most."""


class Limits(NamedTuple):
    """What a peer may send in a minute; 0 for no limit."""

    messages: int = 0
    size: int = 0
    """In bytes."""

    def __str__(self) -> str:
        said = [f"{self.messages:,} messages"] if self.messages else []
        said += [f"{self.size:,} bytes"] if self.size else []
        return f"{' and '.join(said)} a minute"


class Allowance:
    """What one peer may still send."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.slowed = 0
        """How many envelopes were put off."""
        self._messages = float(limits.messages)
        self._size = float(limits.size)
        self._filled: float | None = None
        """When both were filled last."""

    def wait(self, now: float, *, counts: bool = True) -> float:
        """Return the seconds until the next envelope may be taken; 0 if it may now.

        One that does not `count` as a message waits for bytes only.
        """
        self._fill(now)
        waits = [0.0]
        if counts and self.limits.messages and self._messages < 1.0:
            waits.append((1.0 - self._messages) * MINUTE / self.limits.messages)
        if self.limits.size and self._size <= 0.0:
            waits.append((1.0 - self._size) * MINUTE / self.limits.size)
        wait = max(waits)
        return min(max(wait, MIN_WAIT), MAX_WAIT) if wait else 0.0

    def spend(self, size: int, *, counts: bool = True) -> None:
        """Count an envelope of so many bytes as taken."""
        self._messages -= counts
        self._size -= size

    def _fill(self, now: float) -> None:
        minutes = 0.0 if self._filled is None else (now - self._filled) / MINUTE
        self._filled = now
        self._messages = min(self._messages + minutes * self.limits.messages, self.limits.messages)
        self._size = min(self._size + minutes * self.limits.size, self.limits.size)


def read_limits(peers: Iterable[str], messages: Sequence[str], sizes: Sequence[str]) -> dict[str, Limits]:
    """Return the limits of each peer from lines `NODE COUNT`; `*` stands for all others. Raises UsageError."""
    counts = _read("messages_per_minute", messages), _read("bytes_per_minute", sizes)
    return {peer: Limits(*(count.get(peer, count.get("*", 0)) for count in counts)) for peer in peers}


def _read(name: str, lines: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        peer, _, count = line.strip().partition(" ")
        if not peer or not count.strip().isdecimal() or not int(count):
            raise UsageError(f"invalid federation.{name}: {line!r}", hint='write the peer and a number: "beta 600"')
        counts[peer] = int(count)
    return counts
