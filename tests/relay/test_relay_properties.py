"""Whatever is said and decided in a relay: everything said is accounted for, once, and nobody hears themselves."""

from collections import Counter

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.events import Event, RelayWithheld, Text, TurnEnded, TurnStarted
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.rules import Deliver, Effect, Participant, PublishEvent, Rules, StoredRelay
from tests.sampling import examples

PEOPLE = [Participant(f"${number}", f"%{number}", f"P{number}", number) for number in (1, 2, 3)]
WORDS = ["Thanks!", "news {}", "[checkpoint] {}", "I wait."]
WHO = st.sampled_from(PEOPLE)
STEPS = st.one_of(
    st.tuples(st.just("turn"), WHO, st.sampled_from(WORDS)),
    st.tuples(st.just("lines"), WHO, st.sampled_from(WORDS)),
    st.tuples(st.just("typed"), WHO),
    st.tuples(st.just("wait"), st.floats(0.0, 100.0)),
    st.tuples(st.just("pause"), st.booleans()),
    st.tuples(st.just("mute"), WHO, st.booleans()),
    st.tuples(st.just("extend"), st.integers(1, 3)),
    st.tuples(st.just("suspend"), st.sampled_from(["", "other"])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("leave"), WHO),
)
RULES = st.builds(
    Rules,
    budget=st.integers(0, 5),
    when_spent=st.sampled_from(["close", "wait"]),
    checkpoints=st.just(("[checkpoint]",)),
    acknowledgements=st.integers(0, 2),
    hops=st.sampled_from([0, 3]),
    per_minute=st.sampled_from([0, 1, 2]),
)
SEQUENCES = st.lists(STEPS, max_size=40) | st.lists(STEPS, min_size=15, max_size=40)
"""Left to itself, hypothesis hardly makes a list of ten."""


@settings(max_examples=examples(200))
@given(RULES, SEQUENCES)
def test_everything_said_is_delivered_once_withheld_or_waits(rules, steps):
    machine = RelayMachine("r", PEOPLE, rules)
    effects: list[Effect] = []
    said: dict[str, list[str]] = {person.pane: [] for person in PEOPLE}
    now = 0.0
    for number, step in enumerate(steps):
        now += 1.0
        made = machine.deliveries
        match step:
            case ("turn" | "lines" as how, person, words):
                line = f"{number}. {words.format(number)}" if words.startswith("news") else words.format(number)
                events: list[Event] = [TurnStarted(pane=person.pane)]
                events.append(Text(text=line, origin="program", pane=person.pane))
                events.append(TurnEnded(reason="signal", certain=True, pane=person.pane))
                machine.speaks_in_turns(person.pane, whole=how == "turn")
                if not machine.closed and person.pane not in machine.state.gone:
                    said[person.pane].append(line)
                for event in events:
                    effects += machine.handle(event, now)
            case ("typed", person):
                effects += machine.handle(Text(text="x", origin="typed", pane=person.pane), now)
            case ("wait", seconds):
                now += seconds
                effects += machine.advance(now)
            case ("pause", paused):
                effects += machine.pause(now, paused=paused)
            case ("mute", person, muted):
                effects += machine.mute(person.pane, muted=muted)
            case ("extend", deliveries):
                effects += machine.extend(deliveries, now)
            case ("suspend", by):
                machine.suspend(by)
            case ("restart",):
                machine = RelayMachine.restored(
                    msgspec.json.decode(msgspec.json.encode(machine.stored()), type=StoredRelay)
                )
            case ("leave", person):
                effects += machine.leave(person.pane, "pane_gone", now)
        assert machine.deliveries == made or not machine.state.suspended_by
        if step[0] == "wait" and machine.state.stops and not machine.closed:
            assert machine.deadline() is None or machine.deadline() > now, (
                "nothing that waits would be looked at for ever"
            )

    delivered = [effect for effect in effects if isinstance(effect, Deliver)]
    assert len({effect.message_id for effect in delivered}) == len(delivered) == machine.deliveries
    assert all(effect.speaker not in effect.listeners for effect in delivered)
    assert not machine.state.budget or machine.deliveries <= machine.state.budget
    withheld = [e.event for e in effects if isinstance(e, PublishEvent) and isinstance(e.event, RelayWithheld)]
    assert Counter(event.reason for event in withheld) == machine.state.withheld
    for person in PEOPLE:
        out = [effect.text.split("\n", 2)[2] for effect in delivered if effect.speaker.pane == person.pane]
        kept = [event.text for event in withheld if event.speaker == person.label]
        waiting = [held.text for held in machine.state.held if held.pane == person.pane]
        remaining = iter(said[person.pane])
        assert all(line in remaining for line in out), "in the order in which it was said, each once"
        accounted = Counter(out) + Counter(kept) + Counter(waiting)
        assert not accounted - Counter(said[person.pane])
        if not machine.closed:
            assert accounted == Counter(said[person.pane])
        received = sum(person in effect.listeners for effect in delivered)
        traffic = machine.state.traffic[person.label]
        assert (traffic.sent, traffic.received) == (len(out), received)
