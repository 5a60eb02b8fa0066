"""A relay whose participants speak in whole turns or in lines, with a clock that is handed in."""

from collections.abc import Callable, Sequence

import pytest

from streamrelay.events import Event, RelayWithheld, Text, TurnEnded, TurnStarted
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.rules import Deliver, Effect, Participant, PublishEvent, Rules

ANN = Participant("$1", "%1", "Ann", 1)
BOB = Participant("$2", "%2", "Bob", 2)
CY = Participant("$3", "%3", "Cy", 3)


class Talk:
    """A relay of agents, each of whom says whole turns; a second passes with each."""

    def __init__(self, rules: Rules, participants: Sequence[Participant]) -> None:
        self.machine = RelayMachine("r", participants, rules)
        self.effects: list[Effect] = []
        self.now = 0.0
        for participant in participants:
            self.machine.speaks_in_turns(participant.pane, whole=True)

    def hear(self, *events: Event) -> list[Effect]:
        self.now += 1.0
        effects = [effect for event in events for effect in self.machine.handle(event, self.now)]
        effects += self.machine.advance(self.now + 0.5)
        self.effects += effects
        return effects

    def turn(self, who: Participant, *lines: str) -> list[Effect]:
        texts = [Text(text=line, origin="program", pane=who.pane) for line in lines]
        return self.hear(TurnStarted(pane=who.pane), *texts, TurnEnded(reason="signal", certain=True, pane=who.pane))

    def typed(self, who: Participant, line: str) -> list[Effect]:
        return self.hear(Text(text=line, origin="typed", pane=who.pane))

    def delivered(self) -> list[str]:
        return [effect.text.split("\n", 2)[2] for effect in self.effects if isinstance(effect, Deliver)]

    def withheld(self) -> list[RelayWithheld]:
        told = [effect.event for effect in self.effects if isinstance(effect, PublishEvent)]
        return [event for event in told if isinstance(event, RelayWithheld)]


@pytest.fixture
def talk() -> Callable[..., Talk]:
    def begin(rules: Rules | None = None, *, three: bool = False) -> Talk:
        return Talk(rules or Rules(), [ANN, BOB, CY] if three else [ANN, BOB])

    return begin
