"""How one conversation stands, as people read it in tmux: events go in, what to show and what to say come out. Pure.

Each pane that takes part has a few words in its option `@streamrelay`: who hears it and how many deliveries were made,
or that it waits for a person. Nothing is shown of what was said. People are told what they have to do something about:
a dialog that waits (once, until the program goes on), a budget that is spent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from streamrelay.events import (
    Activity,
    Event,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    NeedsHuman,
    PaneClosed,
    ProgramChanged,
    RelayClosed,
    RelayDelivered,
    RelayLeft,
    RelayMuted,
    RelayPaused,
    Text,
    TurnEnded,
    TurnStarted,
)

MOST_CHARACTERS = 40
"""Of the names of the others."""


@dataclass(frozen=True, slots=True)
class Show:
    """Show a text in the status line of a pane; an empty one shows nothing."""

    pane: str
    text: str


@dataclass(frozen=True, slots=True)
class Notify:
    """Tell whoever looks at the sessions of these panes."""

    panes: tuple[str, ...]
    text: str


Effect = Show | Notify


@dataclass(frozen=True, slots=True)
class _Standing:
    deliveries: int = 0
    budget: int = 0
    """0 for none."""
    state: str = ""
    """What is to be said of it beside the count."""


class Board:
    """One conversation: its panes, and what the participants in them are called."""

    def __init__(self, labels: Mapping[str, str], *, budget: int = 0) -> None:
        self._labels = dict(labels)
        self._standing = _Standing(budget=budget)
        self._muted: set[str] = set()
        self._waiting: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    def opening(self) -> list[Effect]:
        """Return what is shown at the beginning."""
        return [*self._show()]

    def take(self, event: Event) -> list[Effect]:
        """Take an event of the conversation."""
        told: list[Effect] = []
        was = self._standing
        match event:
            case NeedsHuman() if event.pane in self._labels and self._waiting.get(event.pane) != event.kind:
                self._waiting[event.pane] = event.kind
                told.append(Notify((event.pane,), f"{self._labels[event.pane]} waits for a person ({event.kind})"))
            case TurnStarted() | TurnEnded() | Activity() | ProgramChanged() | Text(origin="program" | "typed"):
                self._waiting.pop(event.pane, None)
            case PaneClosed():
                self._waiting.pop(event.pane, None)
                self._labels.pop(event.pane, None)
            case LinkCreated():
                self._standing = replace(was, budget=event.budget)
            case LinkExtended():
                self._standing = replace(was, budget=event.budget, state="")
            case RelayDelivered():
                self._standing = replace(was, deliveries=was.deliveries + 1)
            case LinkSpent():
                self._standing = replace(was, state="spent")
                told.append(self._spent(event.deliveries))
            case RelayPaused():
                self._standing = replace(was, state="paused" if event.paused else "")
            case RelayMuted():
                (self._muted.add if event.muted else self._muted.discard)(event.participant)
            case RelayLeft():
                for pane in [pane for pane, label in self._labels.items() if label == event.participant]:
                    del self._labels[pane]
            case RelayClosed() | LinkClosed():
                if event.reason in {"spent", "budget_spent"} and was.state != "spent":
                    told.append(self._spent(event.deliveries))
                self._labels.clear()
        return [*told, *self._show()]

    def closing(self) -> list[Effect]:
        """Return what takes everything back that is shown."""
        self._labels.clear()
        return [*self._show()]

    def _spent(self, deliveries: int) -> Notify:
        names = " and ".join(self._labels.values())
        return Notify(tuple(self._labels), f"{names}: the budget of {deliveries} deliveries is spent")

    def _show(self) -> Iterable[Effect]:
        """Yield what differs from what is shown."""
        now = {pane: self._text(pane) for pane in self._labels}
        for pane in self._shown.keys() | now.keys():
            text = now.get(pane, "")
            if self._shown.get(pane, "") != text:
                yield Show(pane, text)
        self._shown = now

    def _text(self, pane: str) -> str:
        if pane in self._waiting:
            return f"waits for you: {self._waiting[pane]}"
        others = ", ".join(label for other, label in self._labels.items() if other != pane)
        if not others:
            return ""
        if len(others) > MOST_CHARACTERS:
            others = others[: MOST_CHARACTERS - 1] + "…"
        standing = self._standing
        count = f"{standing.deliveries}/{standing.budget}" if standing.budget else str(standing.deliveries)
        state = standing.state or ("muted" if self._labels[pane] in self._muted else "")
        return " ".join(filter(None, (others, count, state)))
