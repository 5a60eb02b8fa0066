"""One step of a relay runner as a value: the inputs handled together and their effects; the protocols around it.

A `StepStore` stores a step as a whole or not at all; only then do its messages go out.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from streamrelay.delivery.message import Message
from streamrelay.events import Event, Receipt, RelayDelivered
from streamrelay.relay.rules import Close, Deliver, Effect, Notice, Participant, PublishEvent, Withdraw

Decision = Callable[[float], Sequence[Effect]]
"""A user's decision: it takes the time and returns the engine's effects."""


class RelayEngine(Protocol):
    """The pure decider of a runner: a relay, a registry of links, or a whole service."""

    @property
    def closed(self) -> bool:
        """Whether the engine has nothing left to do."""

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # the flag is the information
        """Record whether a pane's output is delivered by whole turns."""

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event."""

    def deadline(self) -> float | None:
        """Return when `advance` is due."""

    def advance(self, now: float) -> list[Effect]:
        """Advance the clock."""

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """Remove a participant that is gone."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message for some panes."""

    message: Message
    panes: tuple[str, ...]
    heard_at: float | None = None
    """When the delivered output arrived (loop time); None for a notice."""


@dataclass(slots=True)
class RelayStep:
    """The inputs that the runner handled together, and their effects."""

    events: list[Event] = field(default_factory=list)
    outgoing: list[Outgoing] = field(default_factory=list)
    withdrawn: list[Withdraw] = field(default_factory=list)
    """Messages not to be typed, unless they are already."""
    heard: dict[str, int] = field(default_factory=dict)
    """The total number of handled events, for each pane with events in this step."""
    renewed: set[str] = field(default_factory=set)
    """The panes whose streams restarted; `heard` counts from there."""
    gone: list[str] = field(default_factory=list)
    """The panes that were lost."""
    succeeded: dict[str, str] = field(default_factory=dict)
    """The current programs of panes whose previous program has left."""
    closed: str = ""
    """Why a relay closed in this step; empty if none did."""

    def __bool__(self) -> bool:
        return bool(self.events or self.outgoing or self.gone or self.renewed or self.succeeded)

    def follow(self, effects: Iterable[Effect]) -> None:
        """Add effects, in order."""
        for effect in effects:
            match effect:
                case Deliver():
                    sender = effect.speaker.session
                    message = Message(effect.message_id, effect.text, effect.head, effect.policy, sender)
                    self.outgoing.append(Outgoing(message, _panes(effect.listeners), effect.heard_at))
                    self.events.append(_delivered(effect))
                case Notice():
                    message = Message(effect.message_id, effect.text, effect.head, effect.policy, effect.sender)
                    self.outgoing.append(Outgoing(message, _panes(effect.listeners)))
                case Withdraw():
                    self._withdraw(effect)
                case PublishEvent():
                    self.events.append(effect.event)
                case Close():
                    self.closed = effect.reason
                case _:
                    pass

    def _withdraw(self, withdraw: Withdraw) -> None:
        """Withdraw a message that is not sent yet from its panes; ask the writers of the others to cancel it."""
        panes = set(_panes(withdraw.listeners))
        outgoing, self.outgoing = self.outgoing, []
        for each in outgoing:
            late = panes.intersection(each.panes) if each.message.message_id == withdraw.message_id else set[str]()
            self.events += [
                Receipt(message_id=withdraw.message_id, pane=pane, state="failed", reason="superseded")
                for pane in each.panes
                if pane in late
            ]
            panes -= late
            if going := tuple(pane for pane in each.panes if pane not in late):
                self.outgoing.append(replace(each, panes=going))
        listeners = tuple(listener for listener in withdraw.listeners if listener.pane in panes)
        if listeners:
            self.withdrawn.append(Withdraw(withdraw.message_id, listeners))


class StepStore(Protocol):
    """Stores each step before its effects go out."""

    async def keep(self, step: RelayStep) -> None:
        """Return when the step is committed; its events have their sequence numbers then."""

    def gone_out(self, outgoing: Sequence[Outgoing]) -> None:
        """Record that messages are in the outbox."""


LATENCIES_KEPT = 10_000


@dataclass(slots=True)
class RelayCounts:
    """The counters of a runner."""

    deliveries: int = 0
    characters: int = 0
    echoes: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES_KEPT))
    """Seconds from the last line of a burst to its paste command, one value for each target."""
    _heard_at: dict[str, float] = field(default_factory=dict)

    def delivering(self, outgoing: Outgoing) -> None:
        """Count a message that is about to be delivered."""
        if outgoing.heard_at is None:
            return
        self.deliveries += 1
        self._heard_at[outgoing.message.message_id] = outgoing.heard_at
        while len(self._heard_at) > LATENCIES_KEPT:
            del self._heard_at[next(iter(self._heard_at))]

    def pasted(self, message_id: str, at: float) -> None:
        """Record the latency of a delivery."""
        heard_at = self._heard_at.get(message_id)
        if heard_at is not None:
            self.latencies.append(at - heard_at)


def _delivered(effect: Deliver) -> RelayDelivered:
    return RelayDelivered(
        relay=effect.relay,
        message_id=effect.message_id,
        speaker=effect.speaker.label,
        listeners=tuple(p.label for p in effect.listeners),
        text=effect.text,
        session=effect.speaker.session_name,
        pane=effect.speaker.pane,
    )


def _panes(listeners: Iterable[Participant]) -> tuple[str, ...]:
    return tuple(listener.pane for listener in listeners)
