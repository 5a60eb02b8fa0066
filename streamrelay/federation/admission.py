"""What a node refuses of its inbox, by keys, clock and repetition, and how often. Pure.

An entry that was captured and added again is known by its salt. After a restart, when the salts are forgotten, an old
entry is known by its age: the node compares the time that is sealed in it with the time at which the broker took it.
So an entry may wait in the inbox for a week, but a sender whose clock is wrong is refused. A refused envelope is not
lost: its sender keeps it, and sends it again, until it is acknowledged.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from streamrelay.federation.envelope import Envelope, opened
from streamrelay.federation.keys import KeyRing, RefusalReason, Refused

MAX_CLOCK_SKEW = 300.0
"""Seconds by which the clock of a sender and that of the broker may differ."""
MAX_SALTS = 20_000
"""Entries that are remembered, to know them again."""
MAX_SENDERS = 100
"""Claimed senders of refused entries that are told apart."""


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """How often a node has refused entries of one claimed sender for one reason, and why it did so last."""

    sender: str
    reason: RefusalReason
    count: int
    why: str


class Admission:
    """What one node checks of each entry before it uses it."""

    def __init__(self, node: str, keys: KeyRing) -> None:
        self._node = node
        self._keys = keys
        self._salts: OrderedDict[bytes, bytes] = OrderedDict()
        self._refusals: dict[tuple[str, RefusalReason], Refusal] = {}

    @property
    def refusals(self) -> list[Refusal]:
        """All that was refused since the node began, by sender and reason."""
        return sorted(self._refusals.values())

    def open(self, entry_id: bytes, fields: Mapping[bytes, bytes]) -> tuple[Envelope, ...]:
        """Return the envelopes of an entry; raises Refused. The entry with the same id may be opened again."""
        salt, batch = opened(fields, to=self._node, keys=self._keys)
        sender = batch.envelopes[0].sender
        if self._salts.get(salt, entry_id) != entry_id:
            raise Refused("replayed", "it is a copy of an entry that came before", sender)
        skew = batch.at - _broker_time(entry_id)
        if abs(skew) > MAX_CLOCK_SKEW:
            when = "ahead of" if skew > 0 else "behind"
            why = f"it was sealed {abs(skew) / 60:,.0f} minutes {when} the time at which the broker took it"
            raise Refused("clock", f"{why}: a clock is wrong, or it is a copy", sender)
        self._salts[salt] = entry_id
        if len(self._salts) > MAX_SALTS:
            self._salts.popitem(last=False)
        return batch.envelopes

    def count(self, refused: Refused) -> Refusal:
        """Count a refusal and return how often that was so."""
        senders = {sender for sender, _ in self._refusals}
        sender = refused.sender if refused.sender in senders or len(senders) < MAX_SENDERS else ""
        key = (sender, refused.reason)
        known = self._refusals.get(key)
        refusal = Refusal(sender, refused.reason, 1 if known is None else known.count + 1, str(refused))
        self._refusals[key] = refusal
        return refusal


def _broker_time(entry_id: bytes) -> float:
    """Return the Unix time of an entry's id, `MILLISECONDS-NUMBER`."""
    milliseconds, _, _ = entry_id.partition(b"-")
    return int(milliseconds) / 1000 if milliseconds.isdigit() else 0.0
