"""One step of a conversation as a value: what was taken up together, and what follows from it; and who has a say in it.

A step is kept as a whole or not at all (`Keeper`), and only then does anything of it go out.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from streamrelay.delivery.message import Message
from streamrelay.events import Event, Receipt, RelayDelivered
from streamrelay.relay.rules import Close, Deliver, Effect, Notice, Participant, PublishEvent, Withdraw

Decision = Callable[[float], Sequence[Effect]]
"""What somebody decides: given the time, what the machine makes of it."""


class RelayEngine(Protocol):
    """What decides: a relay, a registry of links, or all that a service has of them."""

    @property
    def closed(self) -> bool:
        """Whether nothing is left to be done."""

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # what is told, not how
        """Note whether what is said in a pane is passed on by whole turns."""

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event."""

    def deadline(self) -> float | None:
        """Return when `advance` is due."""

    def advance(self, now: float) -> list[Effect]:
        """Let time pass."""

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """A participant is gone."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message for some panes."""

    message: Message
    panes: tuple[str, ...]
    heard_at: float | None = None
    """When what it delivers was said (loop time); None for a notice."""


@dataclass(slots=True)
class Step:
    """What was taken up together, and what follows from it."""

    events: list[Event] = field(default_factory=list)
    outgoing: list[Outgoing] = field(default_factory=list)
    withdrawn: list[Withdraw] = field(default_factory=list)
    """What is not to be typed any more, if it was not yet."""
    heard: dict[str, int] = field(default_factory=dict)
    """How many events of a pane were taken up in all, for those of which some were."""
    renewed: set[str] = field(default_factory=set)
    """The panes whose streams began anew; `heard` counts from there."""
    gone: list[str] = field(default_factory=list)
    """The panes that were lost."""
    succeeded: dict[str, str] = field(default_factory=dict)
    """The programs that are heard on in panes where the one before has left."""
    closed: str = ""
    """Why a relay has ended, where one has."""

    def __bool__(self) -> bool:
        return bool(self.events or self.outgoing or self.gone or self.renewed or self.succeeded)

    def follow(self, effects: Iterable[Effect]) -> None:
        """Note what follows, in order."""
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
        """Take back what of a message is not on its way yet; the rest is asked of those who have it."""
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
    """Keeps what has happened before anything follows from it."""

    async def keep(self, step: Step) -> None:
        """Return when all of it is committed; events have their places then."""

    def gone_out(self, outgoing: Sequence[Outgoing]) -> None:
        """Know that messages are in the outbox."""


LATENCIES_KEPT = 10_000


@dataclass(slots=True)
class RelayCounts:
    """What a conversation has done so far."""

    deliveries: int = 0
    characters: int = 0
    echoes: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES_KEPT))
    """Seconds from hearing the last line of a burst to writing its paste command, one for each target."""
    _heard_at: dict[str, float] = field(default_factory=dict)

    def delivering(self, outgoing: Outgoing) -> None:
        """Count what is about to be delivered."""
        if outgoing.heard_at is None:
            return
        self.deliveries += 1
        self._heard_at[outgoing.message.message_id] = outgoing.heard_at
        while len(self._heard_at) > LATENCIES_KEPT:
            del self._heard_at[next(iter(self._heard_at))]

    def pasted(self, message_id: str, at: float) -> None:
        """Count how long a delivery took to be typed."""
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
