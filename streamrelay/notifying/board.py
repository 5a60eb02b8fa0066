"""The state of one conversation as tmux shows it: events in, status texts and messages out. Pure.

Each pane that takes part has a few words in its option `@streamrelay`: who hears it and how many deliveries were made,
or that it waits for a person. Nothing is shown of what was said. People are told what they have to do something about:
a dialog that waits (once, until the program goes on), a budget that is spent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamrelay.counts import counted
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

MAX_CHARACTERS = 40
"""Characters of the other participants' names, all together."""


@dataclass(frozen=True, slots=True)
class ShowStatus:
    """Show a text in the status line of a pane; an empty one shows nothing."""

    pane: str
    text: str


@dataclass(frozen=True, slots=True)
class Notify:
    """Show a message to the clients attached to the sessions of these panes."""

    panes: tuple[str, ...]
    text: str


StatusEffect = ShowStatus | Notify


class Waiting:
    """Which panes wait for a person, and for what."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}

    def take(self, event: Event, labels: Mapping[str, str]) -> list[StatusEffect]:
        """Handle an event; return the messages to show."""
        match event:
            case NeedsHuman() if event.pane in labels and self.kinds.get(event.pane) != event.kind:
                self.kinds[event.pane] = event.kind
                return [Notify((event.pane,), f"{labels[event.pane]} waits for a person ({event.kind})")]
            case TurnStarted() | TurnEnded() | Activity() | ProgramChanged() | PaneClosed():
                self.kinds.pop(event.pane, None)
            case Text(origin="program" | "typed"):
                self.kinds.pop(event.pane, None)
            case _:
                pass
        return []


class Shown:
    """The status texts of panes."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def become(self, texts: Mapping[str, str]) -> list[StatusEffect]:
        """Return what turns it into these texts, by pane."""
        changed = [
            pane for pane in self._texts.keys() | texts.keys() if self._texts.get(pane, "") != texts.get(pane, "")
        ]
        self._texts = dict(texts)
        return [ShowStatus(pane, texts.get(pane, "")) for pane in changed]


def waits(kind: str) -> str:
    """Return what a pane shows whose program waits for a person."""
    return f"waits for you: {kind}"


def words(pane: str, labels: Mapping[str, str], *, deliveries: int, budget: int, state: str) -> str:
    """Return what a pane shows of a conversation of these panes; a `budget` of 0 is none. Nothing if it is alone."""
    others = ", ".join(label for other, label in labels.items() if other != pane)
    if not others:
        return ""
    if len(others) > MAX_CHARACTERS:
        others = others[: MAX_CHARACTERS - 1] + "…"
    count = f"{deliveries}/{budget}" if budget else str(deliveries)
    return " ".join(filter(None, (others, count, state)))


def spent(labels: Mapping[str, str], deliveries: int) -> Notify:
    """Return the message for a spent budget of a conversation of these panes."""
    budget = counted(deliveries, "delivery", "deliveries")
    return Notify(tuple(labels), f"{' and '.join(labels.values())}: the budget of {budget} is spent")


@dataclass(frozen=True, slots=True)
class _PaneStatus:
    deliveries: int = 0
    budget: int = 0
    """0 for none."""
    state: str = ""
    """What is to be said of it beside the count."""


class ConversationBoard:
    """One conversation: its panes, and what the participants in them are called."""

    def __init__(self, labels: Mapping[str, str], *, budget: int = 0) -> None:
        self._labels = dict(labels)
        self._status = _PaneStatus(budget=budget)
        self._muted: set[str] = set()
        self._waiting = Waiting()
        self._shown = Shown()

    def opening(self) -> list[StatusEffect]:
        """Return the first status texts."""
        return self._show()

    def take(self, event: Event) -> list[StatusEffect]:
        """Take an event of the conversation."""
        told = self._waiting.take(event, self._labels)
        was = self._status
        match event:
            case PaneClosed():
                self._labels.pop(event.pane, None)
            case LinkCreated():
                self._status = replace(was, budget=event.budget)
            case LinkExtended():
                self._status = replace(was, budget=event.budget, state="")
            case RelayDelivered():
                self._status = replace(was, deliveries=was.deliveries + 1)
            case LinkSpent():
                self._status = replace(was, state="spent")
                told.append(spent(self._labels, event.deliveries))
            case RelayPaused():
                self._status = replace(was, state="paused" if event.paused else "")
            case RelayMuted():
                (self._muted.add if event.muted else self._muted.discard)(event.participant)
            case RelayLeft():
                for pane in [pane for pane, label in self._labels.items() if label == event.participant]:
                    del self._labels[pane]
            case RelayClosed() | LinkClosed():
                if event.reason in {"spent", "budget_spent"} and was.state != "spent":
                    told.append(spent(self._labels, event.deliveries))
                self._labels.clear()
            case _:
                pass
        return [*told, *self._show()]

    def closing(self) -> list[StatusEffect]:
        """Return the effects that remove everything shown."""
        return self._shown.become({})

    def _show(self) -> list[StatusEffect]:
        return self._shown.become({pane: self._text(pane) for pane in self._labels})

    def _text(self, pane: str) -> str:
        if pane in self._waiting.kinds:
            return waits(self._waiting.kinds[pane])
        status = self._status
        state = status.state or ("muted" if self._labels[pane] in self._muted else "")
        return words(pane, self._labels, deliveries=status.deliveries, budget=status.budget, state=state)
