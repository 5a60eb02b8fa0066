"""What was sent to other nodes and how it stands there, as its receipts tell. Pure."""

from collections.abc import Mapping
from typing import Self

import msgspec

from streamrelay.events import DeliveryState

AWAY = "away/"
MAX_MESSAGES = 1_000
"""Messages that are remembered."""


class SentAway(msgspec.Struct, frozen=True):
    """One message; `pane` is the session or pane it went to, as `%3@beta` or `Bob@beta`."""

    message_id: str
    pane: str
    node: str
    state: DeliveryState = "queued"
    reason: str = ""
    file: str | None = None


class SentAwayLog:
    """The last messages that were sent away, by their ids."""

    def __init__(self) -> None:
        self._known: dict[str, SentAway] = {}
        self._changed: set[str] = set()

    @classmethod
    def restored(cls, kept: Mapping[str, bytes]) -> Self:
        """Go on with what was kept."""
        log = cls()
        for key, value in kept.items():
            if key.startswith(AWAY):
                log._known[key.removeprefix(AWAY)] = msgspec.json.decode(value, type=SentAway)
        return log

    def changes(self) -> dict[str, bytes | None]:
        """Return what is to be kept anew, by key; None for what is forgotten."""
        changed, self._changed = self._changed, set()
        known = self._known
        return {AWAY + one: msgspec.json.encode(known[one]) if one in known else None for one in changed}

    def note(self, message: SentAway) -> None:
        """Note how a message stands."""
        self._known[message.message_id] = message
        self._changed.add(message.message_id)
        while len(self._known) > MAX_MESSAGES:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._changed.add(oldest)

    @property
    def all(self) -> list[SentAway]:
        """The messages that are remembered, oldest first."""
        return list(self._known.values())

    def get(self, message_id: str) -> SentAway | None:
        """Return how a message stands; None for one that is not known."""
        return self._known.get(message_id)
