"""The view that `relay` and `link` share: runs a conversation in the foreground, prints it, and handles keys."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from streamrelay.counts import counted, deliveries
from streamrelay.events import (
    Event,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    Receipt,
    RelayClosed,
    RelayDelivered,
    RelayLeft,
    RelayMuted,
    RelayOpened,
    RelayPaused,
    RelayWithheld,
    Traffic,
)
from streamrelay.notifying.board import ConversationBoard
from streamrelay.notifying.notifier import Notifier
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first
from streamrelay_cli.keys import pressed_keys
from streamrelay_cli.output import CommandOutput, as_events, as_lines

MAX_QUEUE_LENGTH = 10_000
PRINTING_TIMEOUT = 2.0


class Controls(Protocol):
    """The actions of the keys on a conversation."""

    @property
    def traffic(self) -> Mapping[str, Traffic]:
        """The traffic of each participant so far."""

    def toggle_pause(self) -> None:
        """Pause or resume."""

    def toggle_mute(self, number: int) -> None:
        """Mute or unmute a participant."""

    def stop(self) -> None:
        """End the conversation."""


@dataclass
class LiveView:
    """Prints the events of a conversation on standard output and notes on standard error, and handles the keys."""

    output: CommandOutput
    controls: Controls
    told: Callable[[Event], None] = lambda _: None
    """Gets every event, too."""
    more_keys: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    _printing: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(MAX_QUEUE_LENGTH))
    _mutes: bool = False
    _takes_keys: bool = False

    async def show(self, conversation: Coroutine[Any, Any, object]) -> None:
        """Run a conversation that publishes here, and print its events."""
        with pressed_keys(self._press) as self._takes_keys:
            try:
                await until_first(self._run(conversation), self._print())
            except asyncio.CancelledError:
                # Most conversations end by Ctrl-C.
                for note in _costs(self.controls.traffic):
                    self.output.note(note)
                raise

    def publish(self, event: Event) -> None:
        """Take an event."""
        self.told(event)
        for note in notes_on(event):
            self.output.note(note)
        if self._takes_keys and isinstance(event, RelayOpened | LinkCreated):
            extends = "e extends, " if "e" in self.more_keys else ""
            self.output.note(f"keys: p pauses, m and a number mutes, {extends}q stops")
        if self.output.as_json:
            data = as_events([event])
        elif isinstance(event, RelayDelivered):
            data = as_lines([*event.text.split("\n"), ""])
        else:
            return
        try:
            self._printing.put_nowait(data)
        except asyncio.QueueFull:
            self.output.note("standard output was not read in time: some lines are missing")

    async def _run(self, conversation: Coroutine[Any, Any, object]) -> None:
        await conversation
        # Does not wait for a reader that has stopped.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PRINTING_TIMEOUT):
                await self._printing.join()

    async def _print(self) -> NoReturn:
        while True:
            await self.output.write(await self._printing.get())
            self._printing.task_done()

    def _press(self, key: str) -> None:
        mutes, self._mutes = self._mutes, False
        if mutes and key.isdecimal():
            self.controls.toggle_mute(int(key))
        elif key == "m":
            self._mutes = True
        elif key == "p":
            self.controls.toggle_pause()
        elif key == "q":
            self.controls.stop()
        elif key in self.more_keys:
            self.more_keys[key]()


@contextlib.asynccontextmanager
async def told_in_tmux(
    server: Server, labels: Mapping[str, str], *, wanted: bool, budget: int = 0
) -> AsyncIterator[Callable[[Event], None]]:
    """Show the state of a conversation in tmux, if configured; yield the function that takes its events."""
    if not wanted:
        yield lambda _: None
        return
    async with Notifier(server, ConversationBoard(labels, budget=budget)) as notifier:
        yield notifier.take


def notes_on(event: Event) -> Iterable[str]:
    """Return the notes about an event."""
    match event:
        case RelayOpened():
            yield f"{' and '.join(event.participants)} hear each other; Ctrl-C ends"
        case LinkCreated():
            budget = f", for {deliveries(event.budget)}" if event.budget else ""
            yield f"{' and '.join(event.titles)} are linked{budget}; Ctrl-C ends"
        case Receipt(state="failed"):
            yield f"not delivered to {event.pane}: {event.message_id} ({event.reason})"
        case Receipt(state="queued", reason="needs_human"):
            yield f"{event.pane} waits for a person; {event.message_id} waits too"
        case RelayWithheld():
            yield f"not passed on, {event.speaker}: {event.why} ({event.reason}, {event.count} so far)"
        case RelayPaused():
            yield "paused; what is said waits" if event.paused else f"going on; {event.waiting} waiting"
        case RelayMuted():
            yield f"{event.participant} is {'muted' if event.muted else 'heard again'}"
        case RelayLeft():
            yield f"{event.participant} is gone ({event.reason}); {counted(event.remaining, 'participant')} left"
        case LinkSpent():
            yield f"the link is spent after {deliveries(event.deliveries)}"
        case LinkExtended():
            yield f"the link is open for {counted(event.budget - event.deliveries, 'more delivery', 'more deliveries')}"
        case RelayClosed() | LinkClosed():
            yield from _costs(event.traffic)
        case _:
            pass


def _costs(traffic: Mapping[str, Traffic]) -> Iterable[str]:
    for label, cost in traffic.items():
        yield (
            f"{label}: {cost.sent:,} sent ({counted(cost.sent_characters, 'character')}), "
            f"{cost.received:,} received ({counted(cost.received_characters, 'character')})"
        )


def named(target: str) -> tuple[str | None, str]:
    """Split `Ann=%3`; a leading `=` belongs to tmux and means an exact name."""
    name, separator, rest = target.partition("=")
    return (name, rest) if separator and name and rest else (None, target)
