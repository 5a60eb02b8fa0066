"""The state of all conversations of a service, as tmux users see it (streamrelay.notifying). Pure.

The machine holds each state; the board reads it again after every event that can change it.
"""

from collections.abc import Callable, Mapping
from itertools import filterfalse

from streamrelay.events import (
    Event,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    NeedsHuman,
    PaneClosed,
    RelayClosed,
    RelayDelivered,
    RelayLeft,
    RelayMuted,
    RelayOpened,
    RelayPaused,
)
from streamrelay.federation.names import is_far
from streamrelay.links.link import Link
from streamrelay.notifying.board import Shown, StatusEffect, Waiting, spent, waits, words
from streamrelay.relay.rules import RelayState
from streamrelay.service.machine import ServiceMachine

_CHANGES = (
    LinkClosed, LinkCreated, LinkExtended, LinkSpent, LinkSuspended, NeedsHuman, PaneClosed, RelayClosed,
    RelayDelivered, RelayLeft, RelayMuted, RelayOpened, RelayPaused,
)  # fmt: skip


class ServiceBoard:
    """The conversations of one service."""

    def __init__(self, machine: ServiceMachine, links: Callable[[], list[Link]] | None = None) -> None:
        """Take the machine; `links` returns all links, including those that other machines keep."""
        self._machine = machine
        self._links = links or machine.links.links
        self._labels: dict[str, Mapping[str, str]] = {}
        """The latest known panes of each conversation, with their labels there."""
        self._by_pane: dict[str, str] = {}
        self._waiting = Waiting()
        self._shown = Shown()

    def opening(self) -> list[StatusEffect]:
        """Return the effects that show the first state."""
        return self._show()

    def take(self, event: Event) -> list[StatusEffect]:
        """Take an event of the service."""
        waited = event.pane in self._waiting.kinds
        # A program in no conversation can wait, too: one that a message was sent to.
        labels = {event.pane: self._by_pane.get(event.pane) or f"{event.session} ({event.pane})"}
        told = self._waiting.take(event, labels)
        match event:
            case LinkSpent():
                told.append(spent(self._labels.get(event.link, {}), event.deliveries))
            case RelayClosed(reason="budget_spent"):
                told.append(spent(self._labels.get(event.relay, {}), event.deliveries))
            case _:
                pass
        if waited or isinstance(event, _CHANGES):
            told += self._show()
        return told

    def closing(self) -> list[StatusEffect]:
        """Return the effects that remove everything shown."""
        return self._shown.become({})

    def _show(self) -> list[StatusEffect]:
        texts: dict[str, list[str]] = {}
        self._labels, self._by_pane = {}, {}
        for name, labels, relay in self._conversations():
            self._labels[name] = labels
            self._by_pane |= labels
            for pane in filterfalse(is_far, labels):
                state = "muted" if pane in relay.muted else ""
                state = "spent" if relay.spent else "paused" if relay.paused else state
                text = words(pane, labels, deliveries=relay.deliveries, budget=relay.budget, state=state)
                texts.setdefault(pane, []).append(text)
        shown = {pane: "; ".join(filter(None, parts)) for pane, parts in texts.items()}
        waiting = {pane: waits(kind) for pane, kind in self._waiting.kinds.items()}
        return self._shown.become(shown | waiting)

    def _conversations(self) -> list[tuple[str, Mapping[str, str], RelayState]]:
        links = [
            (link.link_id, {party.pane: party.title for party in link.parties}, link.relay.state)
            for link in self._links()
        ]
        relays = [
            (
                name,
                {one.pane: one.label for one in relay.participants if one.pane not in relay.state.gone},
                relay.state,
            )
            for name, relay in self._machine.relays.all.items()
        ]
        return [*links, *relays]
