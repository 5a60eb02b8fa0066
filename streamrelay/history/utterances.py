"""Utterances: lines of text that belong together, the units of search.

An utterance is consecutive text of one pane, one turn and one origin (of one message, where it was injected). Another
origin ends it, a turn that begins or ends, a gap, `REST` seconds of silence (a program that prints lines has no turns
to speak of), or `MAX_CHARACTERS` characters: what is indexed again with every line has to be bounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from streamrelay.events import (
    Activity,
    Event,
    Gap,
    Origin,
    PaneClosed,
    PaneOpened,
    ProgramChanged,
    Text,
    TurnEnded,
    TurnStarted,
)

REST = 5.0
"""Seconds."""
MAX_CHARACTERS = 16_384
"""Characters."""

Kind = Origin | str


@dataclass(slots=True)
class Utterance:
    """Lines that one said; `first` and `last` are their events' places in the journal, `at` and `until` Unix times."""

    first: int
    last: int
    at: float
    until: float
    host: str
    session: str
    pane: str
    turn: int
    agent: str
    origin: str
    message_id: str | None
    lines: list[str] = field(default_factory=list)
    characters: int = 0

    @property
    def text(self) -> str:
        """What was said, without empty lines around it."""
        return "\n".join(self.lines).strip("\n")

    def goes_on(self, event: Text, at: float) -> bool:
        """Return whether a text is part of it."""
        same = (event.turn, event.origin, event.message_id) == (self.turn, self.origin, self.message_id)
        return same and at - self.until < REST and self.characters < MAX_CHARACTERS

    def add(self, number: int, at: float, text: str) -> None:
        """Add a line."""
        self.last, self.until = number, at
        self.lines.append(text)
        self.characters += len(text) + 1


class Utterances:
    """Gathers the utterances of all panes."""

    def __init__(self) -> None:
        self._open: dict[str, Utterance] = {}
        self._agents: dict[str, str] = {}

    def copied(self, panes: Iterable[str]) -> "Utterances":
        """Return the same, of which those panes' events can be taken without a change here."""
        copy = Utterances()
        copy._agents = dict(self._agents)
        copy._open = dict(self._open)
        for pane in self._open.keys() & set(panes):
            utterance = self._open[pane]
            copy._open[pane] = replace(utterance, lines=list(utterance.lines))
        return copy

    def take(self, number: int, event: Event, at: float) -> Utterance | None:
        """Take the event of that place in the journal; return the utterance that it began or continued, if any."""
        pane = event.pane
        if isinstance(event, PaneOpened | ProgramChanged):
            self._agents[pane] = event.command
        elif isinstance(event, TurnStarted | TurnEnded | Gap | PaneClosed):
            self._open.pop(pane, None)
            if isinstance(event, PaneClosed):
                self._agents.pop(pane, None)
        elif isinstance(event, Activity):
            self._open.pop(pane, None)
            activity = self._began(number, event, at, "activity", None)
            activity.add(number, at, event.text)
            return activity
        elif isinstance(event, Text):
            utterance = self._open.get(pane)
            if utterance is None or not utterance.goes_on(event, at):
                utterance = self._open[pane] = self._began(number, event, at, event.origin, event.message_id)
            utterance.add(number, at, event.text)
            return utterance
        return None

    def _began(self, number: int, event: Event, at: float, origin: str, message_id: str | None) -> Utterance:
        host = event.host if isinstance(event.host, str) else ""
        agent = self._agents.get(event.pane, "")
        return Utterance(number, number, at, at, host, event.session, event.pane, event.turn, agent, origin, message_id)
