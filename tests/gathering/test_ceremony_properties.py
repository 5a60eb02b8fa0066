"""Whatever happens in a circle: one holds the piece at most, the harvester never, all get their rounds, and it ends."""

from collections import Counter

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from streamrelay.errors import PieceNotHeld
from streamrelay.events import Contribution, GatheringPaused, GatheringPhase, Piece, RelayWithheld
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.library import load_texts
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Breath, Plan
from streamrelay.gathering.state import CeremonyState, RecordEntry, StoredGathering
from streamrelay.gathering.steps import (
    Announce,
    Closed,
    Contribute,
    Effect,
    Left,
    Passed,
    Prompt,
    PublishGatheringEvent,
    Reached,
    Said,
    Sensed,
    Stopped,
    WithdrawPrompts,
)
from tests.sampling import examples

TEXTS = load_texts()
SPEAKERS, HARVESTER = (1, 2, 3), 9
WHO = st.sampled_from([*SPEAKERS, HARVESTER])
WORDS = st.sampled_from(["a thought {}", "I pass.", "", "   \n ", "more of it {} I pass to P2.", "x" * 50])
PHASES = ("inhale", "hold", "exhale")


def left(state: CeremonyState) -> float:
    """How much time a pause holds."""
    due = state.tenure.due if state.tenure else state.harvest_due
    return 0.0 if due is None or state.paused_at is None else due - state.paused_at


class Circle(RuleBasedStateMachine):
    """Anything that can happen, in any order; beside it stands what has to be true of all of it."""

    @initialize(
        rounds=st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 2)),
        beats=st.integers(1, 3),
        listening=st.sampled_from(["each", "digest"]),
    )
    def begin(self, rounds, beats, listening):
        plan = Plan(
            rhythm="weekly",
            breath=Breath(*rounds),
            beats_per_turn=beats,
            beat_interval_seconds=10.0,
            listening=listening,
            last_words_seconds=5.0,
            most_contributions=4,
            longest_tenure=120,
        )
        members = [Member(name=f"P{number}", number=number) for number in SPEAKERS]
        members.append(Member(name="H", number=HARVESTER, role="harvester"))
        self.ceremony = Ceremony("g", plan, members, TEXTS)
        self.now = 50.0
        self.effects: list[Effect] = []
        self.prompts: list[Prompt] = []
        self.withdrawn: set[str] = set()
        self.reached: set[str] = set()
        self.given: Counter[tuple[int, str]] = Counter()
        self.holder: int | None = None
        self.phase = ""
        self.left = 0.0
        self.gone: set[int] = set()
        self.stopped = False
        self.said: dict[int, list[str]] = {number: [] for number in (*SPEAKERS, HARVESTER)}
        self.spoken = 0
        self.take(self.ceremony.begin(self.now))

    # What can happen

    @rule(who=WHO, words=WORDS, whole=st.booleans(), latest=st.booleans())
    def say(self, who, words, whole, latest):
        self.spoken += 1
        text = words.format(self.spoken)
        answers = next((p.message_id for p in reversed(self.prompts) if p.to == who), "") if latest else ""
        if text.strip() and who not in self.gone and not self.ceremony.closed:
            self.said[who].append(text)
        self.happen(Said(who, text, whole, answers))

    @rule(who=WHO)
    def stop(self, who):
        self.happen(Stopped(who, next((p.message_id for p in reversed(self.prompts) if p.to == who), "")))

    @rule(data=st.data())
    def reach(self, data):
        prompt = data.draw(st.sampled_from(self.prompts[-3:]))
        if prompt.message_id not in self.withdrawn:
            self.reached.add(prompt.message_id)
            self.happen(Reached(prompt.to, prompt.message_id))

    @rule(who=WHO)
    def use_the_tool(self, who):
        if who == self.holder:
            self.happen(Passed(who))
        else:
            with pytest.raises(PieceNotHeld):
                self.ceremony.handle(Passed(who), self.now)

    @rule(who=WHO)
    @precondition(lambda self: len(self.gone) < 2)
    def leave(self, who):
        paused = self.ceremony.state.paused_at is not None
        self.happen(Left(who, "pane_gone"))
        if not paused:
            self.gone.add(who)

    @rule()
    def sense(self):
        self.happen(Sensed("two builds are red"))

    @rule(seconds=st.sampled_from([0.1, 1.0, 5.0, 10.0, 61.0]))
    def wait(self, seconds):
        self.now += seconds
        self.take(self.ceremony.advance(self.now))

    @rule()
    def wait_until_due(self):
        due = self.ceremony.deadline()
        if due is not None:
            self.now = due
            self.take(self.ceremony.advance(due))

    @rule()
    def pause(self):
        due, paused = self.ceremony.deadline(), self.ceremony.state.paused_at
        self.take(self.ceremony.pause(self.now))
        assert self.ceremony.deadline() is None
        if paused is None and due is not None:
            self.left = due - self.now

    @rule()
    def resume(self):
        state = self.ceremony.state
        if state.paused_at is not None and not state.held and not self.ceremony.closed:
            self.take(self.ceremony.resume(self.now))
            assert self.ceremony.deadline() == pytest.approx(self.now + self.left), "the time that was left is left"
        self.take(self.ceremony.resume(self.now))
        self.gone |= set(self.ceremony.state.gone)

    @rule()
    @precondition(lambda self: self.spoken > 25)
    def close(self):
        self.stopped = True
        self.take(self.ceremony.close(self.now))
        self.gone |= set(self.ceremony.state.gone)

    @rule(new_clock=st.booleans())
    def restart(self, new_clock):
        kept = msgspec.json.encode((self.ceremony.stored(), list(self.ceremony.record)))
        stored, record = msgspec.json.decode(kept, type=tuple[StoredGathering, list[RecordEntry]])
        due, before = self.ceremony.deadline(), stored.state.now
        if new_clock:
            self.now = 7.0
        self.ceremony = Ceremony.restored(stored, record, TEXTS, self.now if new_clock else None)
        if due is not None:
            assert self.ceremony.deadline() == pytest.approx(due + (self.now - before if new_clock else 0.0))
        assert self.ceremony.deadline() is not None or due is None
        assert left(self.ceremony.state) == pytest.approx(left(stored.state)), "the time that was left is left"

    # What has to be true

    def happen(self, happening):
        self.take(self.ceremony.handle(happening, self.now))

    def take(self, effects):
        self.effects += effects
        for effect in effects:
            match effect:
                case Prompt():
                    self.prompts.append(effect)
                    assert effect.to not in self.ceremony.state.gone or self.ceremony.state.paused_at is None
                    assert effect.kind in (
                        {"seed", "harvest"} if effect.to == HARVESTER else {"seed", "turn", "beat", "last"}
                    )
                case WithdrawPrompts():
                    self.withdrawn |= set(effect.message_ids)
                case Contribute():
                    assert effect.speaker not in {HARVESTER, *effect.to}
                    assert effect.speaker == self.holder, "only who holds the piece is heard"
                case PublishGatheringEvent(event=Contribution(phase=phase, speaker=speaker)):
                    assert phase == "close" or speaker == f"P{self.holder} ({self.holder})"
                    assert (speaker == f"H ({HARVESTER})") == (phase == "close")
                case PublishGatheringEvent(event=Piece(state="given", speaker=speaker)):
                    assert self.holder is None, "one holds the piece at most"
                    self.holder = int(speaker.rpartition("(")[2][:-1])
                    assert self.holder in SPEAKERS
                    self.given[self.holder, self.phase] += 1
                case PublishGatheringEvent(event=GatheringPhase(phase=phase)):
                    self.phase = phase
                case PublishGatheringEvent(event=Piece(state="passed")):
                    self.holder = None

    @invariant()
    def nobody_has_more_tenures_than_rounds(self):
        for (_, phase), count in self.given.items():
            assert count <= self.ceremony.plan.breath.rounds(phase)

    @invariant()
    def who_stays_has_had_its_tenures(self):
        state = self.ceremony.state
        if self.stopped or state.closing:
            return
        done = PHASES[: PHASES.index(state.phase)] if state.phase in PHASES else PHASES
        for phase in done:
            for number in SPEAKERS:
                if number not in state.gone:
                    assert self.given[number, phase] == self.ceremony.plan.breath.rounds(phase)

    @invariant()
    def every_word_is_accounted_for_once(self):
        told = [effect.event for effect in self.effects if isinstance(effect, PublishGatheringEvent)]
        for number in (*SPEAKERS, HARVESTER):
            label = f"{'H' if number == HARVESTER else f'P{number}'} ({number})"
            heard = [e.text.partition("\n[… ")[0] for e in told if isinstance(e, Contribution) and e.speaker == label]
            withheld = [e.text for e in told if isinstance(e, RelayWithheld) and e.speaker == label]
            waiting = [h.text for h in self.ceremony.state.held if isinstance(h, Said) and h.number == number]
            count = len(heard) + len(withheld) + sum(bool(text.strip()) for text in waiting)
            if not self.ceremony.closed and number not in self.gone:
                assert count == len(self.said[number])

    @invariant()
    def something_is_due_unless_it_rests(self):
        state = self.ceremony.state
        if not self.ceremony.closed and state.paused_at is None:
            assert self.ceremony.deadline() is not None

    def teardown(self):
        """Left alone, it comes to its end, in the time that its plan allows."""
        if not hasattr(self, "ceremony"):
            return
        ceremony, plan = self.ceremony, self.ceremony.plan
        self.take(ceremony.resume(self.now))
        rounds = sum(plan.breath.rounds(phase) for phase in PHASES)
        latest = self.now + rounds * len(SPEAKERS) * (plan.reach_seconds + plan.tenure_seconds) + plan.harvest_seconds
        while (due := ceremony.deadline()) is not None:
            assert due <= latest + 1e-6
            self.take(ceremony.advance(max(due, self.now)))
        assert ceremony.closed
        assert self.holder is None
        assert sum(isinstance(effect, Closed) for effect in self.effects) == 1
        assert [entry.kind for entry in ceremony.record].count("closed") == 1
        self.who_stays_has_had_its_tenures()
        self.digests_tell_everything_once()
        ids = [e.message_id for e in self.effects if isinstance(e, Prompt | Announce | Contribute)]
        assert len(ids) == len(set(ids))

    def digests_tell_everything_once(self):
        """With a digest, who has stayed has heard every contribution of the others once, in order."""
        if self.ceremony.plan.listening == "each":
            return
        for number in (*SPEAKERS, HARVESTER):
            if number in self.ceremony.state.gone:
                continue
            digests = [
                effect.text.removeprefix(effect.head)
                for effect in self.effects
                if (isinstance(effect, Announce) and number in effect.to and effect.head)
                or (isinstance(effect, Prompt) and effect.to == number and effect.kind == "turn" and effect.head)
                # One that has reached its member, though the circle learns it behind a pause, cannot be taken back.
                if effect.message_id not in self.withdrawn - self.reached
            ]
            others = [e for e in self.ceremony.record if e.kind == "said" and e.number != number]
            assert "".join(digests) == "".join(f"\n\nP{e.number} ({e.number}):\n\n{e.text}" for e in others)


TestCircle = pytest.mark.requirement("GAT-16b")(Circle.TestCase)
TestCircle.settings = settings(max_examples=examples(120), stateful_step_count=40, deadline=None)


@pytest.mark.requirement("GAT-16b")
def test_a_pause_loses_nothing_and_costs_nobody_time(circle):
    def answers(prompt):
        if prompt.kind == "turn":
            yield 1.0, Reached(prompt.to, prompt.message_id)
            yield 20.0, Said(prompt.to, f"thought of {prompt.to}")
            yield 30.0, Said(prompt.to, "I pass.")
        elif prompt.kind == "harvest":
            yield 5.0, Said(prompt.to, "harvest")

    plain, paused = circle(answers), circle(answers)
    plain.run()
    # Paused in a tenure for longer than it lasts: what is said meanwhile waits, and the time that was left is left.
    paused.at(10.0, paused.ceremony.pause)
    paused.at(500.0, paused.ceremony.resume)
    paused.run()
    assert [e.text for e in paused.ceremony.record if e.kind in {"said", "harvest"}] == [
        e.text for e in plain.ceremony.record if e.kind in {"said", "harvest"}
    ]
    assert [(h.to, h.kind) for h in paused.heard] == [(h.to, h.kind) for h in plain.heard]
    assert [h.t for h in paused.heard if 10.0 < h.t < 500.0] == []
    assert [event.paused for event in paused.told(GatheringPaused)] == [True, False]
