"""The state that lets a service continue after any end: the journal, and the values after each of its events.

One transaction holds the events of a step, the values they changed, the place in each pane's stream, the resulting
messages (`out/...`) and the ids of those to withdraw (`withdrawn/...`). Only then are they put into the outbox or
withdrawn, and the next step deletes them here. A step that is not committed never happened, because the pane's log
(streamrelay.panes.log) replays it; so the log is on disk before the step is committed.

The state of a delivery is in the outbox before its receipt is committed. So after any end, the outbox is where the
journal is or one step ahead of it, and `untold` returns the receipts of that step.
"""

import contextlib
import itertools
import secrets
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from streamrelay.delivery.message import FINAL, Message
from streamrelay.delivery.outbox import Outbox, OutboxEntry
from streamrelay.errors import StorageError
from streamrelay.events import DeliveryState, Receipt
from streamrelay.history.journal import Journal
from streamrelay.panes.log import PaneLog
from streamrelay.relay.participants import StreamProgress
from streamrelay.relay.steps import Outgoing, RelayStep
from streamrelay.service.feed import Feed

OUT, PLACE, SERVER, WITHDRAWN = "out/", "place/", "server", "withdrawn/"
PANES = "panes"
"""The folder of the logs of panes, in that of the service."""
UNTOLD = 60.0
"""Seconds before the newest event since when the outbox may have changed without a receipt in the journal."""


class PendingDelivery(msgspec.Struct, frozen=True):
    """A committed message that may not be in the outbox yet."""

    message: Message
    pane: str


class RememberedPane(msgspec.Struct, frozen=True):
    """An observed pane: its program, the log of its stream, and how far the service has read it."""

    program: str
    log: str
    allow_shell: bool = False
    taken: int = 0


class ServiceStore:
    """Commits the steps of a service."""

    def __init__(
        self,
        journal: Journal,
        feed: Feed,
        outbox: Outbox,
        folder: Path,
        changes: Callable[[], dict[str, bytes | None]],
    ) -> None:
        """Take the folder for logs, and the function that returns the values changed by each step."""
        self.places: dict[str, RememberedPane] = {}
        self._journal = journal
        self._outbox = outbox
        self._feed = feed
        self._folder = folder
        self._changes = changes
        self._logs: dict[str, PaneLog] = {}
        self._next_logs: dict[str, PaneLog] = {}
        self._began = time.monotonic()
        self._host = socket.gethostname()
        self._numbers = itertools.count(time.time_ns())
        self._on_their_way: dict[tuple[str, str], str] = {}
        self._next: dict[str, bytes | None] = {}
        """Values to commit with the next step."""

    async def keep(self, step: RelayStep) -> None:
        """Commit a step, then publish its events; raises StorageError if the disk takes no more."""
        gone = {pane: self._logs.get(pane) for pane in step.gone}
        if self._next or any(isinstance(event, Receipt) for event in step.events):
            # The outbox tries again what it could not write, and a journal on the same disk raises as well.
            with contextlib.suppress(StorageError):
                await self._outbox.flush()
        keep, self._next = self._next | self._changes(), {}
        if not step and not keep:
            return
        for pane in step.heard:
            for logs in (self._logs, self._next_logs):
                if pane in logs:
                    logs[pane].flush()
        for pane in step.renewed & self._next_logs.keys() & self.places.keys():
            self.places[pane] = msgspec.structs.replace(self.places[pane], log=self._next_logs[pane].path.name)
        for pane, program in step.succeeded.items():
            if pane in self.places:
                self.places[pane] = msgspec.structs.replace(self.places[pane], program=program, allow_shell=True)
                keep[PLACE + pane] = msgspec.json.encode(self.places[pane])
        keep |= self._taken(step.heard)
        # A pane may have been admitted again, with another log, while the outbox was written.
        gone = {pane: log for pane, log in gone.items() if self._logs.get(pane) is log}
        keep |= {PLACE + pane: None for pane in gone}
        for outgoing in step.outgoing:
            for pane in outgoing.panes:
                key = f"{OUT}{next(self._numbers):020d}"
                # A long text is copied into MessagePack as it is, and not searched.
                keep[key] = msgspec.msgpack.encode(PendingDelivery(outgoing.message, pane))
                # Of two requests with one id, the outbox takes one.
                if (same := self._on_their_way.get((outgoing.message.message_id, pane))) is not None:
                    keep[same] = None
                self._on_their_way[outgoing.message.message_id, pane] = key
        for withdraw in step.withdrawn:
            for listener in withdraw.listeners:
                key = withdrawal_key(withdraw.message_id, listener.pane)
                keep[key], self._next[key] = b"", None
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
        for pane, log in gone.items():
            if self._logs.get(pane) is log:
                self._drop(pane)

    def gone_out(self, outgoing: Sequence[Outgoing]) -> None:
        """Take messages that are in the outbox now; the next step deletes them here."""
        for each in outgoing:
            for pane in each.panes:
                if (key := self._on_their_way.pop((each.message.message_id, pane), None)) is not None:
                    self._next[key] = None

    def with_next(self, values: Mapping[str, bytes | None]) -> None:
        """Commit values with the next step, which has their cause."""
        self._next |= values

    async def note(self, values: Mapping[str, bytes | None]) -> None:
        """Commit values that belong to no step."""
        await self._journal.append([], keep=values)

    async def untold(self, socket: str, own: Collection[tuple[str, str]]) -> list[Receipt]:
        """Return the receipts that an earlier service could not commit before it ended, oldest first.

        They are of its `own` messages (message id and pane) and of those with earlier receipts in the journal. The
        messages of other processes have none.
        """
        since = await self._journal.last_at() - UNTOLD
        changed = [entry for entry in await self._outbox.changed_since(socket, since) if entry.state != "queued"]
        if not changed:
            return []
        first = min(min(entry.changed, entry.taken_up) for entry in changed) - UNTOLD
        return untold(changed, await self._journal.receipts(first), own)

    # Panes

    async def remember(self, pane: str, program: str, *, allow_shell: bool) -> StreamProgress:
        """Begin to remember a pane."""
        remembered = RememberedPane(program, _log_name(pane), allow_shell)
        self._next.pop(PLACE + pane, None)
        await self.note({PLACE + pane: msgspec.json.encode(remembered)})
        return self.recall(pane, remembered)

    def recall(self, pane: str, remembered: RememberedPane) -> StreamProgress:
        """Return the progress of a remembered pane, and continue from it."""
        log = PaneLog(self._folder / remembered.log)
        log.open()
        if not log.size:
            remembered = msgspec.structs.replace(remembered, taken=0)
        self.places[pane], self._logs[pane] = remembered, log
        return StreamProgress(log, remembered.taken)

    def renew(self, pane: str) -> PaneLog | None:
        """Return a new log for a pane; it replaces the old one with the step that says so.

        Return None while an earlier replacement is still pending.
        """
        if pane in self._next_logs:
            return None
        log = PaneLog(self._folder / _log_name(pane))
        log.open()
        self._next_logs[pane] = log
        return log

    def stay(self, pane: str) -> None:
        """Drop the pending replacement and keep the old log."""
        if (log := self._next_logs.pop(pane, None)) is not None:
            log.discard()

    async def forget(self, pane: str) -> None:
        """Forget a pane that is no longer observed."""
        await self.note({PLACE + pane: None})
        self._drop(pane)

    def forget_with_next(self, pane: str) -> None:
        """Forget a pane with the next step, which has the reason."""
        self.with_next({PLACE + pane: None})
        self._drop(pane)

    def close(self) -> None:
        """Close all logs without deleting them."""
        for log in (*self._logs.values(), *self._next_logs.values()):
            log.close()

    def clear(self) -> None:
        """Delete the logs that belong to no remembered pane."""
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


def untold(
    entries: Sequence[OutboxEntry], receipts: Collection[Receipt], own: Collection[tuple[str, str]]
) -> list[Receipt]:
    """Return receipts for the states in the outbox that are not among the receipts of the same message and pane."""
    told: defaultdict[tuple[str, str], set[DeliveryState]] = defaultdict(set)
    for receipt in receipts:
        told[receipt.message_id, receipt.pane].add(receipt.state)
    missing: list[Receipt] = []
    for entry in entries:
        states = told[entry.message_id, entry.pane]
        is_own = bool(states) or (entry.message_id, entry.pane) in own
        if is_own and entry.state not in states and states.isdisjoint(FINAL):
            receipt = Receipt(message_id=entry.message_id, pane=entry.pane, state=entry.state, reason=entry.reason)
            missing.append(msgspec.structs.replace(receipt, file=entry.file))
    return missing


def pending(kept: Mapping[str, bytes]) -> dict[str, PendingDelivery]:
    """Return the messages that may not be in the outbox yet, oldest first, by key."""
    return {key: _read_pending(value) for key, value in kept.items() if key.startswith(OUT)}


def _read_pending(value: bytes) -> PendingDelivery:
    """Return a message from what was kept; earlier versions kept JSON, which begins as no MessagePack of it does."""
    read = msgspec.json.decode if value.startswith(b"{") else msgspec.msgpack.decode
    return read(value, type=PendingDelivery)


def withdrawal_key(message_id: str, pane: str) -> str:
    """Return the key under which it is kept that a message is to be withdrawn from a pane."""
    return f"{WITHDRAWN}{message_id}/{pane}"


def withdrawals(kept: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return the messages that may not be withdrawn yet: the id and the pane of each."""
    parts = (key.removeprefix(WITHDRAWN).rpartition("/") for key in kept if key.startswith(WITHDRAWN))
    return [(message_id, pane) for message_id, _, pane in parts]


def remembered(kept: Mapping[str, bytes]) -> dict[str, RememberedPane]:
    """Return the panes that were observed."""
    places = {key: value for key, value in kept.items() if key.startswith(PLACE)}
    return {key[len(PLACE) :]: msgspec.json.decode(value, type=RememberedPane) for key, value in places.items()}
