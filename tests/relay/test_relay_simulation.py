"""A relay between scripted programs: the real machine and real streams, and no clock but the script's.

A parrot hears a message and, some time later, says something of its own that begins with what it heard. So an echo
that came back as the program's word would be answered, and be seen at once.
"""

import random
from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.rules import Deliver, Effect, Participant
from streamrelay.testing.scripted_pane import ScriptedPane
from tests.sampling import examples

ENTER_DELAY = 0.12


@dataclass
class Parrot:
    """A program in a pane: cooked (the kernel echoes) or raw (it paints what it was sent, `paint` seconds late)."""

    name: str
    raw: bool
    quote_every: int
    pane: ScriptedPane
    said: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def hears(self, text: str, paint: float) -> None:
        lines = text.split("\n")
        if self.raw:
            message_id = self.pane.pastes(text)
            self.pane.rests(ENTER_DELAY)
            self.pane.submits(message_id)
            self.pane.rests(paint)
            self.pane.prints("".join(f"{'  ' if at else '> '}{line}\r\n" for at, line in enumerate(lines)))
        else:
            self.pane.sends(text, painted="\r\n".join(lines), rest=ENTER_DELAY)
            self.pane.prints("\r\n")
            self.pane.rests(paint)
        self.heard += [line for line in lines[2:] if line.startswith("message ")]
        self.says(quoting=lines[-1])

    def says(self, quoting: str = "") -> None:
        line = f"message {len(self.said) + 1} from {self.name}"
        self.said.append(line)
        if self.quote_every and quoting and len(self.said) % self.quote_every == 0:
            self.pane.prints(f"You said: {quoting}\r\n{quoting}\r\n")
        self.pane.prints(f"{line}\r\n")
        self.pane.rests(0.05)


@dataclass
class Simulation:
    parrots: dict[str, Parrot]
    machine: RelayMachine
    now: float = 0.0
    taken: dict[str, int] = field(default_factory=dict)
    mailbox: deque[tuple[str, str]] = field(default_factory=deque)
    delivered: list[Deliver] = field(default_factory=list)

    def listen(self) -> None:
        """Hand the machine what the panes said since the last time, and take what it delivers."""
        effects: list[Effect] = []
        for pane, parrot in self.parrots.items():
            events = parrot.pane.events[self.taken.get(pane, 0) :]
            self.taken[pane] = len(parrot.pane.events)
            for event in events:
                effects += self.machine.handle(event, self.now)
        self.now += 1.0
        effects += self.machine.advance(self.now)
        for effect in effects:
            if isinstance(effect, Deliver):
                self.delivered.append(effect)
                self.mailbox += [(listener.pane, effect.text) for listener in effect.listeners]


def converse(rounds: int, *, seed: int, raw: tuple[bool, bool], quote_every: int, longest_paint: float) -> Simulation:
    delays = random.Random(seed)
    people = [Participant("$1", "%1", "Ann", 1), Participant("$2", "%2", "Bob", 2)]
    parrots = {
        person.pane: Parrot(person.name, is_raw, quote_every, ScriptedPane(80, 24, pane=person.pane))
        for person, is_raw in zip(people, raw, strict=True)
    }
    for parrot in parrots.values():
        if parrot.raw:
            parrot.pane.prints("\x1b[?2004h")
    simulation = Simulation(parrots, RelayMachine("r", people))
    parrots["%1"].says()
    simulation.listen()
    for _ in range(rounds):
        pane, text = simulation.mailbox.popleft()
        parrots[pane].hears(text, delays.choice([0.0, 0.01, 0.2, longest_paint]))
        simulation.listen()
    return simulation


def lines_of(simulation: Simulation, name: str) -> list[str]:
    return [
        line
        for effect in simulation.delivered
        if effect.speaker.name == name
        for line in effect.text.split("\n")[2:]
        if line.endswith(f"from {name}") and line.startswith("message ")
    ]


def assert_nothing_lost_and_no_echo(simulation: Simulation, rounds: int) -> None:
    ann, bob = simulation.parrots.values()
    assert len(ann.said) + len(bob.said) == rounds + 1
    assert lines_of(simulation, "Ann") == ann.said
    assert lines_of(simulation, "Bob") == bob.said
    headers = [line for effect in simulation.delivered for line in effect.text.split("\n")[2:] if line.endswith("):")]
    assert headers == []
    assert [len(effect.listeners) for effect in simulation.delivered] == [1] * (rounds + 1)


MANNERS = [(False, False), (True, True), (False, True)]


@pytest.mark.requirement("REL-04a")
@pytest.mark.parametrize("raw", MANNERS, ids=["cooked", "raw", "mixed"])
def test_five_hundred_rounds_without_an_echo_or_a_loss(raw: tuple[bool, bool]) -> None:
    simulation = converse(500, seed=1, raw=raw, quote_every=0, longest_paint=2.5)
    assert_nothing_lost_and_no_echo(simulation, 500)


@pytest.mark.requirement("REL-04a", "REL-04b")
@settings(max_examples=examples(25))
@given(st.integers(0, 2**32), st.sampled_from(MANNERS), st.sampled_from([0, 2, 3]), st.sampled_from([0.5, 2.5, 60.0]))
def test_no_delay_and_no_quote_makes_an_echo(
    seed: int, raw: tuple[bool, bool], quote_every: int, longest_paint: float
) -> None:
    simulation = converse(30, seed=seed, raw=raw, quote_every=quote_every, longest_paint=longest_paint)
    assert_nothing_lost_and_no_echo_but_quotes(simulation, 30, quote_every)


def assert_nothing_lost_and_no_echo_but_quotes(simulation: Simulation, rounds: int, quote_every: int) -> None:
    ann, bob = simulation.parrots.values()
    assert len(ann.said) + len(bob.said) == rounds + 1
    for speaker, other in ((ann, bob), (bob, ann)):
        assert lines_of(simulation, speaker.name) == speaker.said
        spoken = [
            line
            for effect in simulation.delivered
            if effect.speaker.name == speaker.name
            for line in effect.text.split("\n")[2:]
        ]
        quotes = [line for line in spoken if line not in speaker.said]
        expected = len(speaker.said) // quote_every if quote_every else 0
        verbatim = [line for line in quotes if line in other.said]
        assert len(verbatim) == len([line for line in quotes if line.startswith("You said: ")])
        assert abs(len(verbatim) - expected) <= 1
        assert len(quotes) == 2 * len(verbatim)
