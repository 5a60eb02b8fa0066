"""How all conversations of a service stand, as people in tmux see it (streamrelay.notifying). Pure.

The machine knows how each stands, so what is shown is read off it whenever something happens that can change it.
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
        """Take the conversations; `links` returns those that other machines keep too."""
        self._machine = machine
        self._links = links or machine.links.links
        self._labels: dict[str, Mapping[str, str]] = {}
        """The panes of each conversation and what they are called there, as they were known last."""
        self._by_pane: dict[str, str] = {}
        self._waiting = Waiting()
        self._shown = Shown()

    def opening(self) -> list[StatusEffect]:
        """Return what is shown at the beginning."""
        return self._show()

    def take(self, event: Event) -> list[StatusEffect]:
        """Take an event of the service."""
        waited = event.pane in self._waiting.kinds
        # A program can wait that is in no conversation: one that was sent a message.
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
        """Return what takes everything back that is shown."""
        return self._shown.become({})

    def _show(self) -> list[StatusEffect]:
        texts: dict[str, list[str]] = {}
        self._labels, self._by_pane = {}, {}
        for name, labels, standing in self._conversations():
            self._labels[name] = labels
            self._by_pane |= labels
            for pane in filterfalse(is_far, labels):
                state = "muted" if pane in standing.muted else ""
                state = "spent" if standing.spent else "paused" if standing.paused else state
                text = words(pane, labels, deliveries=standing.deliveries, budget=standing.budget, state=state)
                texts.setdefault(pane, []).append(text)
        shown = {pane: "; ".join(filter(None, parts)) for pane, parts in texts.items()}
        waiting = {pane: waits(kind) for pane, kind in self._waiting.kinds.items()}
        return self._shown.become(shown | waiting)

    def _conversations(self) -> list[tuple[str, Mapping[str, str], RelayState]]:
        links = [
            (link.link_id, {party.pane: party.title for party in link.parties}, link.relay.standing)
            for link in self._links()
        ]
        relays = [
            (
                name,
                {one.pane: one.label for one in relay.participants if one.pane not in relay.standing.gone},
                relay.standing,
            )
            for name, relay in self._machine.relays.all.items()
        ]
        return [*links, *relays]
