"""What a service keeps so that it can go on after any end: the journal, and with it how things stood after each event.

One transaction holds the events of a step, what changed by them, how far each pane's stream was taken up, and the
messages that follow (`out/...`), which go into the outbox only then. Whatever is not committed is as if it had not
happened: the pane's log (streamrelay.panes.log) says it again. A message that is committed and not yet known to be in
the outbox is put there again, where its id keeps it from being taken twice.
"""

import itertools
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from streamrelay.delivery.message import Message
from streamrelay.history.journal import Journal
from streamrelay.panes.log import PaneLog
from streamrelay.relay.participants import StreamProgress
from streamrelay.relay.steps import Outgoing, Step
from streamrelay.service.feed import Feed

OUT, PLACE, SERVER = "out/", "place/", "server"


class PendingDelivery(msgspec.Struct, frozen=True):
    """A message that is on its way to the outbox."""

    message: Message
    pane: str


class RememberedPane(msgspec.Struct, frozen=True):
    """A pane that is heard: the program that was addressed there, the log of its stream, how far that was taken up."""

    program: str
    log: str
    allow_shell: bool = False
    taken: int = 0


class ServiceStore:
    """The keeper of a service's conversation."""

    def __init__(
        self, journal: Journal, feed: Feed, folder: Path, changes: Callable[[], dict[str, bytes | None]]
    ) -> None:
        """Take the folder for logs, and what is asked, with each step, for what has changed by it."""
        self.places: dict[str, RememberedPane] = {}
        self._journal = journal
        self._feed = feed
        self._folder = folder
        self._changes = changes
        self._logs: dict[str, PaneLog] = {}
        self._next_logs: dict[str, PaneLog] = {}
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
        for pane in step.renewed & self._next_logs.keys() & self.places.keys():
            self.places[pane] = msgspec.structs.replace(self.places[pane], log=self._next_logs[pane].path.name)
        for pane, program in step.succeeded.items():
            if pane in self.places:
                self.places[pane] = msgspec.structs.replace(self.places[pane], program=program, allow_shell=True)
                keep[PLACE + pane] = msgspec.json.encode(self.places[pane])
        keep |= self._taken(step.heard)
        keep |= {PLACE + pane: None for pane in step.gone}
        for outgoing in step.outgoing:
            for pane in outgoing.panes:
                key = f"{OUT}{next(self._numbers):020d}"
                keep[key] = msgspec.json.encode(PendingDelivery(outgoing.message, pane))
                self._on_their_way[outgoing.message.message_id, pane] = key
        t = round(time.monotonic() - self._began, 6)
        for event in step.events:
            event.t = t
            if event.host is msgspec.UNSET:
                event.host = self._host
        self._feed.publish(await self._journal.append(step.events, keep=keep))
        for pane in step.renewed & self._next_logs.keys():
            if pane in self._logs:
                self._logs[pane].discard()
            self._logs[pane] = self._next_logs.pop(pane)
        for pane in step.gone:
            self._drop(pane)

    def gone_out(self, outgoing: Sequence[Outgoing]) -> None:
        """Know that messages are in the outbox: with the next step they need not be kept any more."""
        for each in outgoing:
            for pane in each.panes:
                if (key := self._on_their_way.pop((each.message.message_id, pane), None)) is not None:
                    self._there.append(key)

    async def note(self, values: Mapping[str, bytes | None]) -> None:
        """Commit values of their own."""
        await self._journal.append([], keep=values)

    # Panes

    async def remember(self, pane: str, program: str, *, allow_shell: bool) -> StreamProgress:
        """Begin to remember a pane."""
        remembered = RememberedPane(program, _log_name(pane), allow_shell)
        await self.note({PLACE + pane: msgspec.json.encode(remembered)})
        return self.recall(pane, remembered)

    def recall(self, pane: str, remembered: RememberedPane) -> StreamProgress:
        """Return what is remembered of a pane, and go on remembering."""
        log = PaneLog(self._folder / remembered.log)
        log.open()
        if not log.size:
            remembered = msgspec.structs.replace(remembered, taken=0)
        self.places[pane], self._logs[pane] = remembered, log
        return StreamProgress(log, remembered.taken)

    def renew(self, pane: str) -> PaneLog | None:
        """Return a log for a pane to begin anew in; it takes the place of the old one with the step that says so.

        None while another one is about to.
        """
        if pane in self._next_logs:
            return None
        log = PaneLog(self._folder / _log_name(pane))
        log.open()
        self._next_logs[pane] = log
        return log

    def stay(self, pane: str) -> None:
        """Go on in the old log after all."""
        if (log := self._next_logs.pop(pane, None)) is not None:
            log.discard()

    async def forget(self, pane: str) -> None:
        """Remember nothing of a pane that is not heard any more."""
        await self.note({PLACE + pane: None})
        self._drop(pane)

    def close(self) -> None:
        """Let go of all logs; they stay."""
        for log in (*self._logs.values(), *self._next_logs.values()):
            log.close()

    def clear(self) -> None:
        """Delete the logs that nobody remembers."""
        known = {remembered.log for remembered in self.places.values()}
        for path in self._folder.iterdir():
            if path.name not in known:
                path.unlink(missing_ok=True)

    def _taken(self, heard: Mapping[str, int]) -> dict[str, bytes | None]:
        for pane, taken in heard.items():
            if pane in self.places:
                self.places[pane] = msgspec.structs.replace(self.places[pane], taken=taken)
        return {PLACE + pane: msgspec.json.encode(self.places[pane]) for pane in heard if pane in self.places}

    def _drop(self, pane: str) -> None:
        self.places.pop(pane, None)
        self.stay(pane)
        if (log := self._logs.pop(pane, None)) is not None:
            log.discard()


def _log_name(pane: str) -> str:
    return f"{pane[1:]}-{secrets.token_hex(4)}.jsonl"


def pending(kept: Mapping[str, bytes]) -> dict[str, PendingDelivery]:
    """Return what was on its way to the outbox, oldest first, by key."""
    return {key: msgspec.json.decode(value, type=PendingDelivery) for key, value in kept.items() if key.startswith(OUT)}


def remembered(kept: Mapping[str, bytes]) -> dict[str, RememberedPane]:
    """Return the panes that were heard."""
    places = {key: value for key, value in kept.items() if key.startswith(PLACE)}
    return {key[len(PLACE) :]: msgspec.json.decode(value, type=RememberedPane) for key, value in places.items()}
