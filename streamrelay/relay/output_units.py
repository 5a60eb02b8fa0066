"""What of a stream is one thing said: a burst of a program that prints, a whole turn of one that converses. Pure.

* Only what the program says is said: echoes, typed text and live text are not.
* What a linear program says is gathered into a burst, which `BURST_REST` seconds of quiet or `MAX_BURST_LENGTH`
  characters close. What a conversing one says is gathered for as long as its turn lasts; only a turn that never ends
  goes out in parts, of `MAX_TURN_LENGTH` characters.
  A stream says nothing of a program outside of a turn, so every one of them has an end.
* Neither reaches over the end of a turn: two answers are two utterances, however quickly they come.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamrelay.events import Event, PaneClosed, Text, TurnEnded, TurnStarted

BURST_REST = 0.005
MAX_BURST_LENGTH = 16_384
MAX_TURN_LENGTH = 1_000_000


@dataclass(frozen=True, slots=True)
class OutputUnit:
    """What was said in a pane in one go; `heard_at` is when the last line of it was heard (stream time)."""

    pane: str
    lines: tuple[str, ...]
    whole_turn: bool
    heard_at: float


@dataclass(slots=True)
class _Burst:
    whole_turn: bool
    lines: list[str] = field(default_factory=list)
    characters: int = 0
    last: float = 0.0


class OutputCollector:
    """Gathers what is said in some panes; `rest` seconds of quiet close a burst."""

    def __init__(self, rest: float = BURST_REST) -> None:
        self._rest = rest
        self._bursts: dict[str, _Burst] = {}
        self._conversing: set[str] = set()

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # what is told, not how
        """Note whether what is said in a pane's turns from here on is one utterance each."""
        (self._conversing.add if whole else self._conversing.discard)(pane)

    def hear(self, event: Event, now: float) -> OutputUnit | None:
        """Take one event; return what it completes."""
        pane = event.pane
        if isinstance(event, Text):
            return self._take(event, now) if event.origin == "program" else None
        if isinstance(event, TurnStarted | TurnEnded | PaneClosed):
            return self.complete(pane)
        return None

    def complete(self, pane: str) -> OutputUnit | None:
        """Return what a pane has said so far, and begin anew."""
        burst = self._bursts.pop(pane, None)
        return None if burst is None else OutputUnit(pane, tuple(burst.lines), burst.whole_turn, burst.last)

    def deadline(self) -> float | None:
        """Return when `rested` is due; None while nobody is in mid-burst."""
        resting = (burst.last + self._rest for burst in self._bursts.values() if not burst.whole_turn)
        return min(resting, default=None)

    def rested(self, now: float) -> list[OutputUnit]:
        """Return the bursts that have come to rest."""
        panes = [pane for pane, burst in self._bursts.items() if now >= burst.last + self._rest]
        complete = (self.complete(pane) for pane in panes if not self._bursts[pane].whole_turn)
        return [utterance for utterance in complete if utterance is not None]

    def stored(self) -> tuple[OutputUnit, ...]:
        """Return what is being said and not complete."""
        return tuple(
            OutputUnit(pane, tuple(burst.lines), burst.whole_turn, burst.last) for pane, burst in self._bursts.items()
        )

    def restore(self, stored: Iterable[OutputUnit]) -> None:
        """Go on with what was being said."""
        for said in stored:
            characters = sum(len(line) + 1 for line in said.lines)
            self._bursts[said.pane] = _Burst(said.whole_turn, list(said.lines), characters, said.heard_at)

    def clear(self) -> None:
        """Forget what nobody will hear."""
        self._bursts.clear()

    def _take(self, event: Text, now: float) -> OutputUnit | None:
        pane = event.pane
        burst = self._bursts.get(pane)
        if burst is None:
            burst = self._bursts[pane] = _Burst(whole_turn=pane in self._conversing)
        burst.lines.append(event.text)
        burst.characters += len(event.text) + 1
        burst.last = now
        longest = MAX_TURN_LENGTH if burst.whole_turn else MAX_BURST_LENGTH
        return self.complete(pane) if burst.characters >= longest else None
