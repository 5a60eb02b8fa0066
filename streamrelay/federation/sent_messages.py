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
        """By message id and pane."""
        self._changed: set[str] = set()

    @classmethod
    def restored(cls, kept: Mapping[str, bytes]) -> Self:
        """Go on with what was kept."""
        log = cls()
        for key, value in kept.items():
            if key.startswith(AWAY):
                sent = msgspec.json.decode(value, type=SentAway)
                log._known[_key(sent)] = sent
        return log

    def changes(self) -> dict[str, bytes | None]:
        """Return what is to be kept anew, by key; None for what is forgotten."""
        changed, self._changed = self._changed, set()
        known = self._known
        return {AWAY + one: msgspec.json.encode(known[one]) if one in known else None for one in changed}

    def note(self, message: SentAway) -> None:
        """Note how a message stands."""
        self._known[_key(message)] = message
        self._changed.add(_key(message))
        while len(self._known) > MAX_MESSAGES:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._changed.add(oldest)

    @property
    def all(self) -> list[SentAway]:
        """The messages that are remembered, oldest first."""
        return list(self._known.values())

    def all_of(self, message_id: str) -> list[SentAway]:
        """Return how a message stands, one entry a pane."""
        return [sent for sent in self._known.values() if sent.message_id == message_id]

    def get(self, message_id: str, pane: str = "") -> SentAway | None:
        """Return how a message stands in a pane; of one that went to a single pane or name, how that stands."""
        exact = self._known.get(f"{message_id} {pane}")
        return exact or next(iter(self.all_of(message_id)), None)


def _key(sent: SentAway) -> str:
    return f"{sent.message_id} {sent.pane}"
