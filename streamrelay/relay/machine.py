"""The relay's rules, as a pure machine: events and time in, effects out.

* Everything a participant's program says goes to all others, never back to itself. Echoes, typed text and live text
  are not said by the program and go nowhere.
* What a linear program says is gathered into a burst, which `BURST_REST` seconds of quiet or `LONGEST_BURST`
  characters close. What an agent says is gathered for as long as its turn lasts. Either goes out once, under one
  header, and never reaches over the end of a turn: two answers are two messages, however quickly they come.
* The relay ends when a participant's pane closes, when a budget of deliveries is spent, or when a delivery finds that
  a participant's program has left; the reason says which. A closed relay does nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from streamrelay.errors import UsageError
from streamrelay.events import Event, PaneClosed, Text, TurnEnded, TurnStarted
from streamrelay.relay.attribution import attributed

BURST_REST = 0.005
LONGEST_BURST = 16_384
LONGEST_TURN = 1_000_000
"""Characters after which a turn that never ends goes out in parts."""


@dataclass(frozen=True, slots=True)
class Participant:
    """Who takes part: the session and pane it lives in, and the name and number the others know it by."""

    session: str
    pane: str
    name: str
    number: int
    session_name: str = ""

    @property
    def label(self) -> str:
        """How people read of it: `Ann (1)`."""
        return f"{self.name} ({self.number})"


@dataclass(frozen=True, slots=True)
class Deliver:
    """Put `text` into the panes of `listeners`."""

    message_id: str
    speaker: Participant
    listeners: tuple[Participant, ...]
    text: str
    heard_at: float
    """When the last line of it was heard (stream time)."""


@dataclass(frozen=True, slots=True)
class Close:
    """The relay has ended."""

    reason: str
    deliveries: int


Effect = Deliver | Close


@dataclass(slots=True)
class _Burst:
    lines: list[str] = field(default_factory=list)
    characters: int = 0
    last: float = 0.0
    whole_turn: bool = False


class RelayMachine:
    """One relay of two or more participants."""

    def __init__(self, relay_id: str, participants: Sequence[Participant], *, budget: int = 0) -> None:
        if len(participants) < 2:
            raise UsageError("a relay needs at least two participants")
        for what in ("pane", "number", "name"):
            values = [getattr(participant, what) for participant in participants]
            if len(set(values)) < len(values):
                raise UsageError(f"two participants of a relay have the same {what}", data={what: values})
        self.relay_id = relay_id
        self.participants = tuple(participants)
        self.deliveries = 0
        self._budget = budget
        self._by_pane = {participant.pane: participant for participant in participants}
        self._bursts: dict[str, _Burst] = {}
        self._agents: set[str] = set()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the relay has ended."""
        return self._closed

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # what is told, not how
        """Note whether what is said in a pane from here on is to be passed on by whole turns."""
        (self._agents.add if whole else self._agents.discard)(pane)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event of a participant's stream."""
        speaker = self._by_pane.get(event.pane)
        if self._closed or speaker is None:
            return []
        if isinstance(event, Text) and event.origin == "program":
            burst = self._bursts.setdefault(event.pane, _Burst(whole_turn=event.pane in self._agents))
            burst.lines.append(event.text)
            burst.characters += len(event.text) + 1
            burst.last = now
            longest = LONGEST_TURN if burst.whole_turn else LONGEST_BURST
            return self._send(event.pane) if burst.characters >= longest else []
        if isinstance(event, TurnStarted | TurnEnded):
            return self._send(event.pane)
        if isinstance(event, PaneClosed):
            return [*self._send(event.pane), *self.close(event.reason)]
        return []

    def deadline(self) -> float | None:
        """Return when `advance` is due; None while nobody is in mid-burst."""
        resting = (burst.last + BURST_REST for burst in self._bursts.values() if not burst.whole_turn)
        return min(resting, default=None)

    def advance(self, now: float) -> list[Effect]:
        """Let time pass: send the bursts that have come to rest."""
        effects: list[Effect] = []
        rested = [
            pane for pane, burst in self._bursts.items() if now >= burst.last + BURST_REST and not burst.whole_turn
        ]
        for pane in rested:
            effects += self._send(pane)
        return effects

    def close(self, reason: str) -> list[Effect]:
        """End the relay, once."""
        if self._closed:
            return []
        self._closed = True
        self._bursts.clear()
        return [Close(reason, self.deliveries)]

    def _send(self, pane: str) -> list[Effect]:
        burst = self._bursts.pop(pane, None)
        if self._closed or burst is None:
            return []
        speaker = self._by_pane[pane]
        text = attributed(speaker.name, speaker.number, burst.lines)
        if text is None:
            return []
        self.deliveries += 1
        listeners = tuple(p for p in self.participants if p is not speaker)
        message_id = f"{self.relay_id}-{self.deliveries}"
        effects: list[Effect] = [Deliver(message_id, speaker, listeners, text, burst.last)]
        if self.deliveries == self._budget:
            effects += self.close("budget_spent")
        return effects
