"""The rules of a gathering (a moderated round table), as a pure machine: happenings and time in, effects out.

* Every member gets a seed prompt. Three phases follow: *inhale*, *hold* and *exhale*, each with its number of rounds;
  then the *close*. Each round is announced to all members, including the harvester. In a round each speaker gets the
  talking piece once, in ascending order of numbers; a name in a passing phrase does not change that order. The
  harvester never gets the piece.
* The next holder gets a private prompt. Its time starts when that prompt reaches it or when it speaks, and at the
  latest `reach_seconds` after the piece came to it, so that an unreachable speaker does not stop the circle.
* A tenure has N beats. Beats 1 to N-1 ask whether the holder still has something to say. Beat N asks for its last
  words, for which it has `last_words_seconds`. A prompt that has not reached the holder is withdrawn when the next one
  comes or when the piece goes on, so that no member gets an outdated prompt.
* The piece goes on once for each tenure: when its holder passes it, by a phrase (`gathering.pass_detection`) or the
  tool; after its last words, or a turn that ends without any; when its time is up; when its session is gone.
* Only the holder's output is delivered. With `each`, all others get it at once. With `digest`, each speaker gets it
  with the piece, the harvester with the announcement of a round, and all with the announcement of the close. Output of
  other members is reported as withheld and not delivered. A tenure has a limit of contributions and characters.
* At the close the harvester gets the whole conversation with the names. Its harvest ends with its turn, after a rest
  (for a program that prints lines), or after `harvest_seconds`.
* The circle does not wait for a member that leaves. It goes on while one speaker remains; without any, it closes.
* Time stops during a pause, and events wait until its end. The first early close ends the tenure at once and asks for
  the harvest; the second one ends the gathering without it.
* Beats count from the start of the tenure, not from the previous beat, so delays do not add up.
"""

from collections.abc import Sequence
from typing import Self

import msgspec

from streamrelay.errors import PieceNotHeld
from streamrelay.events import Traffic
from streamrelay.gathering.members import Member, check_members, harvester, speakers
from streamrelay.gathering.messages import GatheringMessages
from streamrelay.gathering.pass_detection import passes
from streamrelay.gathering.plan import BREATH, Phase, Plan, check_plan
from streamrelay.gathering.prompts import PromptTexts
from streamrelay.gathering.state import CeremonyState, PassedHow, RecordEntry, StoredGathering, Tenure
from streamrelay.gathering.steps import (
    AnyHappening,
    Effect,
    Left,
    Passed,
    Reached,
    Said,
    Sensed,
    Stopped,
    WithdrawPrompts,
)
from streamrelay.relay.attribution import content

HARVEST_REST = 5.0
"""Seconds of silence that end the harvest of a program that prints lines."""
MAX_HELD = 256


class Ceremony:
    """One gathering."""

    def __init__(self, gathering_id: str, plan: Plan, members: Sequence[Member], texts: PromptTexts) -> None:
        """Take plan, members and texts; raises InvalidGathering for invalid ones, and UsageError for a bad text."""
        check_members(members)
        check_plan(plan)
        self.gathering_id = gathering_id
        self.plan = plan
        self.members = (*speakers(members), harvester(members))
        self.state = CeremonyState(traffic={member.label: Traffic() for member in self.members})
        self._told = GatheringMessages(gathering_id, plan, self.members, texts, self.state)
        self._harvester = harvester(members)
        self._by_number = {member.number: member for member in self.members}

    @classmethod
    def restored(
        cls,
        stored: StoredGathering,
        record: Sequence[RecordEntry],
        texts: PromptTexts,
        now: float | None = None,
        life: str = "",
    ) -> Self:
        """Restore a gathering; with a new clock that shows `now`, the remaining times stay what they were.

        Without `now`, the old clock continues. The messages have a life of their own (`streamrelay.relay.message_ids`).
        """
        ceremony = cls(stored.gathering, stored.plan, stored.members, texts)
        state = msgspec.convert(msgspec.to_builtins(stored.state), CeremonyState)
        ceremony.state = ceremony._told.state = state
        ceremony._told.life = life
        ceremony._told.record = list(record[: stored.entries])
        if now is not None:
            state.move(now - state.now)
        return ceremony

    def stored(self) -> StoredGathering:
        """Return an independent copy of the state, without the record."""
        state = msgspec.convert(msgspec.to_builtins(self.state), CeremonyState)
        return StoredGathering(self.gathering_id, self.plan, self.members, state, len(self._told.record))

    @property
    def record(self) -> Sequence[RecordEntry]:
        """The entries so far; the record only grows."""
        return self._told.record

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return bool(self.state.closed)

    @property
    def holder(self) -> Member | None:
        """The member who holds the piece, if one does."""
        tenure = self.state.tenure
        return None if tenure is None else self._by_number[tenure.speaker]

    @property
    def present(self) -> tuple[Member, ...]:
        """The members who have not left."""
        return self._told.present

    # What happens

    def begin(self, now: float, pulse: str = "") -> list[Effect]:
        """Send all seeds, announce the first round, and give the piece to the first speaker; does so only once."""
        if self.state.round or self.closed:
            return []
        self.state.now = self.state.began = now
        seeds = [self._told.seed(member, pulse) for member in self.present]
        return [self._told.opened(), *seeds, *self._begin_round("inhale", 1, now)]

    def handle(self, happening: AnyHappening, now: float) -> list[Effect]:
        """Take a happening; raises PieceNotHeld if a member passes the piece without holding it."""
        state = self.state
        if isinstance(happening, Passed):
            self._check_holder(happening.number)
        if self.closed:
            return []
        if not state.round:
            return self._left(happening.number, happening.reason, now) if isinstance(happening, Left) else []
        state.now = now
        if isinstance(happening, Sensed):
            state.signals = happening.signals
            return []
        if state.paused_at is not None:
            return self._hold(happening)
        return self._take(happening, now)

    def deadline(self) -> float | None:
        """Return when `advance` is due; None without a pending deadline."""
        state = self.state
        if self.closed or state.paused_at is not None:
            return None
        due = state.tenure.due if state.tenure else state.harvest_due
        rests = state.harvest_rests
        return due if rests is None or due is None else min(due, rests)

    def advance(self, now: float) -> list[Effect]:
        """Advance the clock and return the effects that are due."""
        effects: list[Effect] = []
        while (due := self.deadline()) is not None and due <= now:
            self.state.now = now
            tenure = self.state.tenure
            effects += self._complete(self.state.closing) if tenure is None else self._due(tenure, now)
        return effects

    # What people decide

    def pause(self, now: float) -> list[Effect]:
        """Stop the clock and hold all happenings until `resume`."""
        state = self.state
        if self.closed or not state.round or state.paused_at is not None:
            return []
        state.now = state.paused_at = now
        return [self._told.paused(True)]

    def resume(self, now: float) -> list[Effect]:
        """Handle the held happenings, then continue with the time that was left."""
        state = self.state
        if state.paused_at is None:
            return []
        state.shift(now - state.paused_at)
        state.paused_at, state.now = None, now
        effects: list[Effect] = [self._told.paused(False)]
        held, state.held = state.held, []
        for happening in held:
            effects += [] if self.closed else self._take(happening, now)
        return effects

    def close(self, now: float, reason: str = "stopped") -> list[Effect]:
        """Go to the close and ask for the harvest; during the close, end without waiting for the harvest."""
        state = self.state
        if self.closed:
            return []
        effects = self.resume(now)
        if state.closed:
            return effects
        state.now = now
        if not state.round or state.phase == "close":
            return [*effects, *self._complete(reason)]
        state.closing = reason
        return [*effects, *self._let_go("closed"), *self._come_to_close(now)]

    # The circle

    def _take(self, happening: AnyHappening, now: float) -> list[Effect]:
        tenure = self.state.tenure
        holds = tenure is not None and getattr(happening, "number", 0) == tenure.speaker
        match happening:
            case Said():
                return self._said(happening, now)
            case Stopped(number=number, answers=answers):
                if tenure is not None and holds and answers and answers == tenure.last_prompt:
                    return self._pass("last_words", now)
                if number == self._harvester.number and self.state.harvest_rests is not None:
                    return self._complete(self.state.closing)
            case Reached(number=number, prompt=prompt):
                if prompt in self.state.taken_back:
                    self.state.heard[number] = self.state.taken_back.pop(prompt)
                return self._reached(prompt, now) if holds else []
            case Passed():
                return self._pass("tool", now) if holds else []
            case Left(number=number, reason=reason):
                return self._left(number, reason, now)
            case _:
                pass
        return []

    def _hold(self, happening: AnyHappening) -> list[Effect]:
        """Hold a happening until the pause ends, and at most `MAX_HELD` outputs."""
        held = self.state.held
        if isinstance(happening, Said) and len(held) >= MAX_HELD:
            why = f"{MAX_HELD} outputs already wait for the end of the pause"
            return [self._told.withheld(happening, "too_many_waiting", why)]
        held.append(happening)
        return []

    def _begin_round(self, phase: Phase, number: int, now: float) -> list[Effect]:
        state = self.state
        state.phase, state.round = phase, number
        state.to_speak = [member.number for member in self.present if member.role == "speaker"]
        return [*self._told.announce(), *self._give(now)]

    def _give(self, now: float) -> list[Effect]:
        """Give the piece to the next speaker, of this round or of the next."""
        state = self.state
        if not state.to_speak:
            return self._begin_next_round(now)
        member = self._by_number[state.to_speak.pop(0)]
        heard = state.heard.get(member.number, 0)
        prompt = self._told.turn(member)
        state.tenure = Tenure(
            member.number, now + self.plan.reach_seconds, turn_prompt=prompt.message_id, heard_before=heard
        )
        return [prompt, self._told.piece("given")]

    def _begin_next_round(self, now: float) -> list[Effect]:
        state = self.state
        if not any(member.role == "speaker" for member in self.present):
            state.closing = state.closing or "no_speakers"
            return self._come_to_close(now)
        if state.round < self.plan.breath.rounds(state.phase):
            return self._begin_round(state.phase, state.round + 1, now)
        following = BREATH[BREATH.index(state.phase) + 1 :] if state.phase != "close" else ()
        return self._begin_round(following[0], 1, now) if following else self._come_to_close(now)

    def _reached(self, prompt: str, now: float) -> list[Effect]:
        tenure = self.state.tenure
        if tenure is None or not prompt:
            return []
        if prompt == tenure.beat_prompt:
            tenure.beat_prompt = ""
        elif prompt == tenure.turn_prompt:
            tenure.turn_prompt = ""
            return self._begin_tenure(tenure, now)
        return []

    def _begin_tenure(self, tenure: Tenure, at: float) -> list[Effect]:
        if tenure.begun:
            return []
        tenure.begun, tenure.due = True, at + self.plan.beat_interval_seconds
        return [self._told.piece("begun")]

    def _due(self, tenure: Tenure, now: float) -> list[Effect]:
        """Return the effects that are due in a tenure: its start, its next beat, its end."""
        if not tenure.begun:
            return self._begin_tenure(tenure, tenure.due)
        if tenure.beat == self.plan.beats_per_turn:
            return self._pass("time", now)
        tenure.beat += 1
        member = self._by_number[tenure.speaker]
        effects: list[Effect] = [WithdrawPrompts(member.number, (tenure.beat_prompt,))] if tenure.beat_prompt else []
        if tenure.beat < self.plan.beats_per_turn:
            prompt = self._told.beat(member, tenure.beat)
            tenure.due += self.plan.beat_interval_seconds
        else:
            prompt = self._told.last_words(member)
            tenure.due += self.plan.last_words_seconds
            tenure.last_prompt = prompt.message_id
        tenure.beat_prompt = prompt.message_id
        return [*effects, prompt, self._told.piece("last_words" if tenure.last_prompt else "beat")]

    def _pass(self, how: PassedHow, now: float) -> list[Effect]:
        return [*self._let_go(how), *self._give(now)]

    def _let_go(self, how: PassedHow) -> list[Effect]:
        """Take the piece from its holder, and withdraw prompts that have not reached it."""
        tenure = self.state.tenure
        if tenure is None:
            return []
        if tenure.turn_prompt and (told := self.state.heard.get(tenure.speaker, 0)) > tenure.heard_before:
            # The holder has not got the digest in the withdrawn prompt.
            self.state.taken_back[tenure.turn_prompt] = told
            self.state.heard[tenure.speaker] = tenure.heard_before
        late = tuple(prompt for prompt in (tenure.turn_prompt, tenure.beat_prompt) if prompt)
        passed = self._told.piece("passed", how)
        self._told.enter("passed", tenure.speaker, how)
        self.state.tenure = None
        return [*([WithdrawPrompts(tenure.speaker, late)] if late else []), passed]

    def _left(self, number: int, reason: str, now: float) -> list[Effect]:
        state = self.state
        if number not in self._by_number or number in state.gone:
            return []
        state.gone[number] = reason
        state.to_speak = [each for each in state.to_speak if each != number]
        effects: list[Effect] = [self._told.left(number, reason)]
        if state.tenure is not None and state.tenure.speaker == number:
            return [*effects, *self._pass("left", now)]
        if state.phase == "close" and number == self._harvester.number:
            return [*effects, *self._complete(state.closing)]
        return effects

    # Output of members

    def _said(self, said: Said, now: float) -> list[Effect]:
        text = content(said.text.split("\n"))
        tenure = self.state.tenure
        if not text or said.number not in self._by_number:
            return []
        if self.state.harvest_due is not None and said.number == self._harvester.number:
            return self._harvest(text, said.whole, now)
        if tenure is None or said.number != tenure.speaker:
            return [self._told.withheld(said, "without_piece", "the speaker did not hold the piece")]
        effects = [*self._begin_tenure(tenure, now), *self._contribute(tenure, said, text)]
        if passes(text, [member.name for member in self.members], self._by_number):
            return [*effects, *self._pass("phrase", now)]
        if said.whole and said.answers and said.answers == tenure.last_prompt:
            return [*effects, *self._pass("last_words", now)]
        return effects

    def _contribute(self, tenure: Tenure, said: Said, text: str) -> list[Effect]:
        plan = self.plan
        room = plan.longest_tenure - tenure.characters
        if room <= 0 or tenure.contributions >= plan.most_contributions:
            why = f"a tenure holds {plan.most_contributions} contributions and {plan.longest_tenure:,} characters"
            return [self._told.withheld(said, "too_much", why)]
        if len(text) > room:
            text = f"{text[:room].rstrip()}\n[… {len(text) - room:,} more characters are left out]"
        tenure.contributions += 1
        tenure.characters += len(text)
        return self._told.contribution(said.number, text)

    # The close

    def _come_to_close(self, now: float) -> list[Effect]:
        state = self.state
        state.phase, state.round, state.to_speak = "close", 1, []
        effects = self._told.announce()
        if self._harvester.number in state.gone:
            return [*effects, *self._complete(state.closing)]
        state.harvest_due = now + self.plan.harvest_seconds
        return [*effects, self._told.harvest_prompt()]

    def _harvest(self, text: str, whole: bool, now: float) -> list[Effect]:
        self.state.harvest_rests = now + HARVEST_REST
        told = self._told.harvest(text)
        return [*told, *(self._complete(self.state.closing) if whole else [])]

    def _complete(self, reason: str) -> list[Effect]:
        state = self.state
        state.closed = reason or "complete"
        state.harvest_due = state.harvest_rests = None
        return self._told.closed()

    def _check_holder(self, number: int) -> None:
        holder = self.holder
        if holder is None or holder.number != number:
            who = f"{holder.label} does" if holder else "no member does"
            raise PieceNotHeld(
                f"{self._told.label(number)} does not hold the piece: {who}",
                data={"gathering": self.gathering_id, "holder": holder.label if holder else ""},
            )
