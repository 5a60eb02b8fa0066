"""Whatever two linked sessions, and a third, say and whatever people do: what may never happen to a link."""

from dataclasses import dataclass, field

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.events import Text, TurnEnded, TurnStarted
from streamrelay.links.link import LinkPolicy, Party, StoredLinks
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.rules import Deliver, Effect
from tests.sampling import examples

PARTIES = [Party(f"s{number}", f"%{number}", f"title {number}") for number in (1, 2, 3)]
A, B, _ = PARTIES


@dataclass
class World:
    """Two links over three sessions, and the account of what was said and what crossed."""

    registry: LinkRegistry
    now: float = 0.0
    said: int = 0
    granted: int = 0
    crossed: list[tuple[str, str, str]] = field(default_factory=list)

    def take(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Deliver):
                assert len(effect.listeners) == 1
                self.crossed.append((effect.relay, effect.listeners[0].session, effect.text))
                assert effect.speaker.session != effect.listeners[0].session
                assert effect.text.startswith(f"[From {effect.speaker.name}] ")

    def say(self, party: Party, whole: bool) -> None:
        self.said += 1
        line = Text(text=f"said {self.said} by {party.session}", origin="program", pane=party.pane)
        events = [line, TurnEnded(reason="signal", certain=True, pane=party.pane)] if whole else [line]
        for event in [TurnStarted(pane=party.pane), *events] if whole else events:
            self.take(self.registry.handle(event, self.now))

    def check(self) -> None:
        link = self.registry.between(A.session, B.session)
        within = [text for relay, _, text in self.crossed if relay == "ab"]
        if link is not None:
            assert len(within) == link.deliveries
            assert link.remaining is None or link.remaining >= 0
        assert not self.granted or len(within) <= self.granted
        assert len(set(self.crossed)) == len(self.crossed)
        for _, session, text in self.crossed:
            assert not text.endswith(f"by {session}")


STEPS = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(PARTIES), st.booleans()),
    st.tuples(st.just("wait"), st.floats(0.001, 100.0)),
    st.tuples(st.just("pause"), st.booleans()),
    st.tuples(st.just("mute"), st.sampled_from(PARTIES), st.booleans()),
    st.tuples(st.just("extend"), st.integers(1, 4)),
    st.tuples(st.just("suspend"), st.sampled_from(PARTIES), st.sampled_from(["", "relay-1"])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("leave"), st.sampled_from(PARTIES)),
)  # fmt: skip
POLICIES = st.builds(LinkPolicy, budget=st.integers(0, 4), per_minute=st.sampled_from([0, 0, 1, 2]))
SEQUENCES = st.lists(STEPS, max_size=40) | st.lists(STEPS, min_size=15, max_size=40)
"""Left to itself, hypothesis hardly makes a list of ten."""


@pytest.mark.requirement("LNK-03")
@settings(max_examples=examples(150))
@given(POLICIES, SEQUENCES)
def test_no_budget_is_exceeded_nobody_hears_themselves_and_nothing_crosses_twice(policy, steps):
    world = World(LinkRegistry())
    world.registry.create(A, B, link_id="ab", at=0.0, policy=policy)
    world.registry.create(PARTIES[2], A, link_id="ca", at=0.0)
    world.granted = policy.budget
    for step in steps:
        world.now += 0.001
        registry = world.registry
        before = registry.between(A.session, B.session)
        made = sum(relay == "ab" for relay, _, _ in world.crossed)
        match step:
            case ("say", party, whole):
                registry.speaks_in_turns(party.pane, whole)
                world.say(party, whole)
            case ("wait", seconds):
                world.now += seconds
                world.take(registry.advance(world.now))
            case ("pause", paused):
                world.take(registry.pause(world.now, paused=paused))
            case ("mute", party, muted):
                world.take(registry.mute(party.session, muted=muted))
            case ("extend", deliveries):
                world.granted += deliveries if world.granted and before is not None else 0
                world.take(registry.extend(B.session, A.session, deliveries, world.now))
            case ("suspend", party, by):
                world.take(registry.suspend(party.session, by))
            case ("restart",):
                data = msgspec.json.encode(registry.stored())
                world.registry = LinkRegistry.restored(msgspec.json.decode(data, type=StoredLinks))
            case ("leave", party):
                world.take(registry.leave(party.pane, "pane_gone", world.now))
        if before is not None and before.state == "spent" and step[0] != "extend":
            assert sum(relay == "ab" for relay, _, _ in world.crossed) == made
        if before is not None and before.state == "suspended" and step[0] != "suspend":
            assert sum(relay == "ab" for relay, _, _ in world.crossed) == made
        world.check()
