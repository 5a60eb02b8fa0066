"""The ceremony's rules, as a pure machine: happenings and time in, effects out.

* Everybody gets a seed. Then the circle breathes: *inhale*, *hold*, *exhale*, each of so many rounds, then the *close*.
  Each round is announced to all, the harvester included. In a round the piece goes to each speaker once, in ascending
  order of numbers, whoever is named in passing. The harvester is in no order.
* Who gets the piece is prompted privately. Its time runs from when that prompt has reached it, or it speaks; at the
  latest `reach_seconds` after the piece came to it, so that nobody who cannot be reached stops the circle.
* Of its N beats, 1 to N-1 ask whether its thread is alive, and at the Nth nothing is said but that its turn is up; for
  its last words it has `last_words_seconds`. A beat or last question that has not reached it is withdrawn when the next
  one comes, and all that has not when the piece goes on: what is late is said to nobody.
* The piece goes on when its holder passes, by phrase (`gathering.pass_detection`) or tool; when its last words are
  said, or its turn ends without any; when its time is up; when its session is gone. It goes on once.
* Only the holder is heard. With `each` what it says goes to all others at once; with `digest` to each speaker with the
  piece, to the harvester with the announcement of a round, to all with that of the close. What others say meanwhile is
  told as withheld and goes to nobody, and nobody is answered. Of a flood, so much of a tenure is heard and no more.
* In the close the harvester gets the whole conversation with who said what, and is waited for until its turn is over,
  it rests (one that prints), or `harvest_seconds` are. That is the harvest.
* Who leaves is not waited for; while there is one speaker, the circle goes on. Without any it comes to its close.
* What happens in a pause happens when it is over, in order; no time passes in it. Closed early, the piece rests at once
  and the harvest is made of what there is; closed again, there is none.
* Beats count from where the tenure began, not from when the last one was carried out: lateness does not add up.
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
from streamrelay.gathering.prompts import Texts
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
    Withdraw,
)
from streamrelay.relay.attribution import content

HARVEST_REST = 5.0
"""Seconds of silence after which what a harvester that prints has said is the harvest."""
MAX_HELD = 256


class Ceremony:
    """One gathering."""

    def __init__(self, gathering_id: str, plan: Plan, members: Sequence[Member], texts: Texts) -> None:
        """Take who is in the circle; raises InvalidGathering for what cannot be held, UsageError for a bad text."""
        check_members(members)
        check_plan(plan)
        self.gathering_id = gathering_id
        self.plan = plan
        self.members = (*speakers(members), harvester(members))
        self.standing = CeremonyState(traffic={member.label: Traffic() for member in self.members})
        self._told = GatheringMessages(gathering_id, plan, self.members, texts, self.standing)
        self._harvester = harvester(members)
        self._by_number = {member.number: member for member in self.members}

    @classmethod
    def restored(
        cls, stored: StoredGathering, record: Sequence[RecordEntry], texts: Texts, now: float | None = None
    ) -> Self:
        """Go on with what was kept; on a clock that shows `now` what was left at the last step is left.

        Without `now` it is the clock from before.
        """
        ceremony = cls(stored.gathering, stored.plan, stored.members, texts)
        standing = msgspec.convert(msgspec.to_builtins(stored.standing), CeremonyState)
        ceremony.standing = ceremony._told.standing = standing
        ceremony._told.record = list(record[: stored.entries])
        if now is not None:
            standing.move(now - standing.now)
        return ceremony

    def stored(self) -> StoredGathering:
        """Return all but the record, as values of its own."""
        standing = msgspec.convert(msgspec.to_builtins(self.standing), CeremonyState)
        return StoredGathering(self.gathering_id, self.plan, self.members, standing, len(self._told.record))

    @property
    def record(self) -> Sequence[RecordEntry]:
        """What happened so far; it only grows."""
        return self._told.record

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return bool(self.standing.closed)

    @property
    def holder(self) -> Member | None:
        """Who holds the piece."""
        tenure = self.standing.tenure
        return None if tenure is None else self._by_number[tenure.speaker]

    @property
    def present(self) -> tuple[Member, ...]:
        """Who is still there."""
        return self._told.present

    # What happens

    def begin(self, now: float, pulse: str = "") -> list[Effect]:
        """Seed everybody, announce the first round, give the piece to the first speaker; once."""
        if self.standing.round or self.closed:
            return []
        self.standing.now = self.standing.began = now
        seeds = [self._told.seed(member, pulse) for member in self.present]
        return [self._told.opened(), *seeds, *self._begin_round("inhale", 1, now)]

    def handle(self, happening: AnyHappening, now: float) -> list[Effect]:
        """Take what has happened; raises PieceNotHeld for who passes what it does not hold."""
        standing = self.standing
        if isinstance(happening, Passed):
            self._check_holder(happening.number)
        if self.closed:
            return []
        if not standing.round:
            return self._left(happening.number, happening.reason, now) if isinstance(happening, Left) else []
        standing.now = now
        if isinstance(happening, Sensed):
            standing.signals = happening.signals
            return []
        if standing.paused_at is not None:
            return self._hold(happening)
        return self._take(happening, now)

    def deadline(self) -> float | None:
        """Return when `advance` is due; None while nothing is waited for."""
        standing = self.standing
        if self.closed or standing.paused_at is not None:
            return None
        due = standing.tenure.due if standing.tenure else standing.harvest_due
        rests = standing.harvest_rests
        return due if rests is None or due is None else min(due, rests)

    def advance(self, now: float) -> list[Effect]:
        """Let time pass, and do what is due."""
        effects: list[Effect] = []
        while (due := self.deadline()) is not None and due <= now:
            self.standing.now = now
            tenure = self.standing.tenure
            effects += self._complete(self.standing.closing) if tenure is None else self._due(tenure, now)
        return effects

    # What people decide

    def pause(self, now: float) -> list[Effect]:
        """Let no time pass, and nothing happen, until it goes on."""
        standing = self.standing
        if self.closed or not standing.round or standing.paused_at is not None:
            return []
        standing.now = standing.paused_at = now
        return [self._told.paused(True)]

    def resume(self, now: float) -> list[Effect]:
        """Go on: with the time that was left, after what happened meanwhile."""
        standing = self.standing
        if standing.paused_at is None:
            return []
        standing.shift(now - standing.paused_at)
        standing.paused_at, standing.now = None, now
        effects: list[Effect] = [self._told.paused(False)]
        held, standing.held = standing.held, []
        for happening in held:
            effects += [] if self.closed else self._take(happening, now)
        return effects

    def close(self, now: float, reason: str = "stopped") -> list[Effect]:
        """Come to the close at once, and have the harvest made; in the close, end without waiting for it."""
        standing = self.standing
        if self.closed:
            return []
        effects = self.resume(now)
        if standing.closed:
            return effects
        standing.now = now
        if not standing.round or standing.phase == "close":
            return [*effects, *self._complete(reason)]
        standing.closing = reason
        return [*effects, *self._let_go("closed"), *self._come_to_close(now)]

    # The circle

    def _take(self, happening: AnyHappening, now: float) -> list[Effect]:
        tenure = self.standing.tenure
        holds = tenure is not None and getattr(happening, "number", 0) == tenure.speaker
        match happening:
            case Said():
                return self._said(happening, now)
            case Stopped(number=number, answers=answers):
                if tenure is not None and holds and answers and answers == tenure.last_prompt:
                    return self._pass("last_words", now)
                if number == self._harvester.number and self.standing.harvest_rests is not None:
                    return self._complete(self.standing.closing)
            case Reached(number=number, prompt=prompt):
                if prompt in self.standing.taken_back:
                    self.standing.heard[number] = self.standing.taken_back.pop(prompt)
                return self._reached(prompt, now) if holds else []
            case Passed():
                return self._pass("tool", now) if holds else []
            case Left(number=number, reason=reason):
                return self._left(number, reason, now)
            case _:
                pass
        return []

    def _hold(self, happening: AnyHappening) -> list[Effect]:
        """Keep what happens in a pause; of what is said, no more than a pause holds."""
        held = self.standing.held
        if isinstance(happening, Said) and len(held) >= MAX_HELD:
            why = f"{MAX_HELD} things wait already for the pause to be over"
            return [self._told.withheld(happening, "too_many_waiting", why)]
        held.append(happening)
        return []

    def _begin_round(self, phase: Phase, number: int, now: float) -> list[Effect]:
        standing = self.standing
        standing.phase, standing.round = phase, number
        standing.to_speak = [member.number for member in self.present if member.role == "speaker"]
        return [*self._told.announce(), *self._give(now)]

    def _give(self, now: float) -> list[Effect]:
        """Give the piece to the next speaker, of this round or of the next."""
        standing = self.standing
        if not standing.to_speak:
            return self._begin_next_round(now)
        member = self._by_number[standing.to_speak.pop(0)]
        heard = standing.heard.get(member.number, 0)
        prompt = self._told.turn(member)
        standing.tenure = Tenure(
            member.number, now + self.plan.reach_seconds, turn_prompt=prompt.message_id, heard_before=heard
        )
        return [prompt, self._told.piece("given")]

    def _begin_next_round(self, now: float) -> list[Effect]:
        standing = self.standing
        if not any(member.role == "speaker" for member in self.present):
            standing.closing = standing.closing or "no_speakers"
            return self._come_to_close(now)
        if standing.round < self.plan.breath.rounds(standing.phase):
            return self._begin_round(standing.phase, standing.round + 1, now)
        following = BREATH[BREATH.index(standing.phase) + 1 :] if standing.phase != "close" else ()
        return self._begin_round(following[0], 1, now) if following else self._come_to_close(now)

    def _reached(self, prompt: str, now: float) -> list[Effect]:
        tenure = self.standing.tenure
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
        """Do what time brings to a tenure: that it begins, its next beat, its end."""
        if not tenure.begun:
            return self._begin_tenure(tenure, tenure.due)
        if tenure.beat == self.plan.beats_per_turn:
            return self._pass("time", now)
        tenure.beat += 1
        member = self._by_number[tenure.speaker]
        effects: list[Effect] = [Withdraw(member.number, (tenure.beat_prompt,))] if tenure.beat_prompt else []
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
        """Take the piece from its holder, and back what it was not told yet."""
        tenure = self.standing.tenure
        if tenure is None:
            return []
        if tenure.turn_prompt and (told := self.standing.heard.get(tenure.speaker, 0)) > tenure.heard_before:
            # What it was to be told with that prompt, it has not heard.
            self.standing.taken_back[tenure.turn_prompt] = told
            self.standing.heard[tenure.speaker] = tenure.heard_before
        late = tuple(prompt for prompt in (tenure.turn_prompt, tenure.beat_prompt) if prompt)
        passed = self._told.piece("passed", how)
        self._told.enter("passed", tenure.speaker, how)
        self.standing.tenure = None
        return [*([Withdraw(tenure.speaker, late)] if late else []), passed]

    def _left(self, number: int, reason: str, now: float) -> list[Effect]:
        standing = self.standing
        if number not in self._by_number or number in standing.gone:
            return []
        standing.gone[number] = reason
        standing.to_speak = [each for each in standing.to_speak if each != number]
        effects: list[Effect] = [self._told.left(number, reason)]
        if standing.tenure is not None and standing.tenure.speaker == number:
            return [*effects, *self._pass("left", now)]
        if standing.phase == "close" and number == self._harvester.number:
            return [*effects, *self._complete(standing.closing)]
        return effects

    # Who is heard

    def _said(self, said: Said, now: float) -> list[Effect]:
        text = content(said.text.split("\n"))
        tenure = self.standing.tenure
        if not text or said.number not in self._by_number:
            return []
        if self.standing.harvest_due is not None and said.number == self._harvester.number:
            return self._harvest(text, said.whole, now)
        if tenure is None or said.number != tenure.speaker:
            return [self._told.withheld(said, "without_piece", "somebody else holds the piece, or nobody does")]
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
        standing = self.standing
        standing.phase, standing.round, standing.to_speak = "close", 1, []
        effects = self._told.announce()
        if self._harvester.number in standing.gone:
            return [*effects, *self._complete(standing.closing)]
        standing.harvest_due = now + self.plan.harvest_seconds
        return [*effects, self._told.harvest_prompt()]

    def _harvest(self, text: str, whole: bool, now: float) -> list[Effect]:
        self.standing.harvest_rests = now + HARVEST_REST
        told = self._told.harvest(text)
        return [*told, *(self._complete(self.standing.closing) if whole else [])]

    def _complete(self, reason: str) -> list[Effect]:
        standing = self.standing
        standing.closed = reason or "complete"
        standing.harvest_due = standing.harvest_rests = None
        return self._told.closed()

    def _check_holder(self, number: int) -> None:
        holder = self.holder
        if holder is None or holder.number != number:
            who = f"{holder.label} does" if holder else "nobody does"
            raise PieceNotHeld(
                f"{self._told.label(number)} does not hold the piece: {who}",
                data={"gathering": self.gathering_id, "holder": holder.label if holder else ""},
            )
