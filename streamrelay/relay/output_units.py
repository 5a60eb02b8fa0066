"""Units of output that a relay delivers: a burst of a printing program, or a whole turn of an agent. Pure.

* Only the program's own text counts; echoes, typed text and live text do not.
* A printing program's lines form a burst, which ends after `BURST_REST` seconds of quiet or `MAX_BURST_LENGTH`
  characters. An agent's lines form one unit for as long as its turn lasts; only an overlong turn goes out in parts,
  of `MAX_TURN_LENGTH` characters. A stream has no program text outside a turn, so each unit has an end.
* A unit never crosses the end of a turn: two answers are two units, however quickly they follow each other.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamrelay.events import Event, PaneClosed, Text, TurnEnded, TurnStarted

BURST_REST = 0.005
MAX_BURST_LENGTH = 16_384
MAX_TURN_LENGTH = 1_000_000


@dataclass(frozen=True, slots=True)
class OutputUnit:
    """The lines of one unit of a pane's output; `heard_at` is when the last of them arrived (stream time)."""

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
    """Collects the output of panes into units; `rest` seconds of quiet end a burst."""

    def __init__(self, rest: float = BURST_REST) -> None:
        self._rest = rest
        self._bursts: dict[str, _Burst] = {}
        self._conversing: set[str] = set()

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # the flag is the information
        """Record whether each later turn of a pane is one unit."""
        (self._conversing.add if whole else self._conversing.discard)(pane)

    def hear(self, event: Event, now: float) -> OutputUnit | None:
        """Take one event; return the unit that it completes."""
        pane = event.pane
        if isinstance(event, Text):
            return self._take(event, now) if event.origin == "program" else None
        if isinstance(event, TurnStarted | TurnEnded | PaneClosed):
            return self.complete(pane)
        return None

    def complete(self, pane: str) -> OutputUnit | None:
        """Return a pane's unit so far and begin a new one; None if there is none."""
        burst = self._bursts.pop(pane, None)
        return None if burst is None else OutputUnit(pane, tuple(burst.lines), burst.whole_turn, burst.last)

    def deadline(self) -> float | None:
        """Return when `rested` is due; None if no burst is open."""
        resting = (burst.last + self._rest for burst in self._bursts.values() if not burst.whole_turn)
        return min(resting, default=None)

    def rested(self, now: float) -> list[OutputUnit]:
        """Return the bursts that `rest` seconds of quiet have completed."""
        panes = [pane for pane, burst in self._bursts.items() if now >= burst.last + self._rest]
        complete = (self.complete(pane) for pane in panes if not self._bursts[pane].whole_turn)
        return [output for output in complete if output is not None]

    def stored(self) -> tuple[OutputUnit, ...]:
        """Return the incomplete units."""
        return tuple(
            OutputUnit(pane, tuple(burst.lines), burst.whole_turn, burst.last) for pane, burst in self._bursts.items()
        )

    def restore(self, stored: Iterable[OutputUnit]) -> None:
        """Continue with incomplete units."""
        for said in stored:
            characters = sum(len(line) + 1 for line in said.lines)
            self._bursts[said.pane] = _Burst(said.whole_turn, list(said.lines), characters, said.heard_at)

    def clear(self) -> None:
        """Discard all incomplete units."""
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
