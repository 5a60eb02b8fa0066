"""What a service keeps so that it can go on after any end: the journal, and with it how things stood after each event.

One transaction holds the events of a step, what changed by them, and the messages that follow (`out/...`), which go
into the outbox only then. Whatever is not committed is as if it had not happened; a message that is committed and not
yet known to be in the outbox is put there again, where its id keeps it from being taken twice.
"""

import itertools
import socket
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from streamrelay.delivery.message import Message
from streamrelay.history.journal import Journal
from streamrelay.relay.steps import Outgoing, Step
from streamrelay.service.feed import Feed

OUT = "out/"


class Pending(msgspec.Struct, frozen=True):
    """A message that is on its way to the outbox."""

    message: Message
    pane: str


class Kept:
    """The keeper of a service's conversation."""

    def __init__(self, journal: Journal, feed: Feed, changes: Callable[[], dict[str, bytes | None]]) -> None:
        """Take what is asked, with each step, for what has changed by it."""
        self._journal = journal
        self._feed = feed
        self._changes = changes
        self._began = time.monotonic()
        self._host = socket.gethostname()
        self._numbers = itertools.count(time.time_ns())
        self._on_their_way: dict[tuple[str, str], str] = {}
        self._there: list[str] = []

    async def keep(self, step: Step) -> None:
        """Commit a step, and let everybody know of its events."""
        keep = self._changes()
        if not step and not keep:
            return
        there, self._there = self._there, []
        keep |= dict.fromkeys(there)
        for outgoing in step.outgoing:
            for pane in outgoing.panes:
                key = f"{OUT}{next(self._numbers):020d}"
                keep[key] = msgspec.json.encode(Pending(outgoing.message, pane))
                self._on_their_way[outgoing.message.message_id, pane] = key
        t = round(time.monotonic() - self._began, 6)
        for event in step.events:
            event.t = t
            if event.host is msgspec.UNSET:
                event.host = self._host
        self._feed.publish(await self._journal.append(step.events, keep=keep))

    async def note(self, values: Mapping[str, bytes | None]) -> None:
        """Commit values of their own."""
        await self._journal.append([], keep=values)

    def gone_out(self, outgoing: Sequence[Outgoing]) -> None:
        """Know that messages are in the outbox: with the next step they need not be kept any more."""
        for each in outgoing:
            for pane in each.panes:
                if (key := self._on_their_way.pop((each.message.message_id, pane), None)) is not None:
                    self._there.append(key)


def pending(kept: Mapping[str, bytes]) -> dict[str, Pending]:
    """Return what was on its way to the outbox, oldest first, by key."""
    return {key: msgspec.json.decode(value, type=Pending) for key, value in sorted(kept.items()) if key.startswith(OUT)}
