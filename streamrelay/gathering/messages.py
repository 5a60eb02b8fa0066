"""Makes the messages and events of a gathering: numbers, counts and records each of them. Pure.

It writes into the gathering's `CeremonyState` and its record.
"""

from collections.abc import Sequence
from typing import Literal

from streamrelay.events import (
    Contribution,
    GatheringClosed,
    GatheringLeft,
    GatheringOpened,
    GatheringPaused,
    GatheringPhase,
    Piece,
    RelayWithheld,
    WithheldReason,
)
from streamrelay.gathering.members import Member, harvester
from streamrelay.gathering.plan import BREATH, Plan, counted
from streamrelay.gathering.prompts import GatheringPrompts, PromptTexts
from streamrelay.gathering.state import CeremonyState, EntryKind, RecordEntry
from streamrelay.gathering.steps import (
    Announce,
    Closed,
    Contribute,
    Effect,
    Prompt,
    PromptKind,
    PublishGatheringEvent,
    Said,
)
from streamrelay.gathering.transcript import conversation
from streamrelay.relay.message_ids import numbered_id

MAX_SHOWN_LENGTH = 80


class GatheringMessages:
    """Makes and counts the messages of one gathering."""

    def __init__(
        self, gathering: str, plan: Plan, members: Sequence[Member], texts: PromptTexts, state: CeremonyState
    ) -> None:
        self.state = state
        self.life = ""
        """The mark in the ids of messages; empty in the process that began the gathering."""
        self.record: list[RecordEntry] = []
        self._gathering = gathering
        self._plan = plan
        self._members = members
        self._harvester = harvester(members)
        self._by_number = {member.number: member for member in members}
        self._prompts = GatheringPrompts(gathering, plan, members, texts)

    @property
    def present(self) -> tuple[Member, ...]:
        """The members who have not left."""
        return tuple(member for member in self._members if member.number not in self.state.gone)

    def label(self, number: int) -> str:
        """Return a member's name and number, as people see it."""
        return self._by_number[number].label if number in self._by_number else str(number)

    # To one

    def seed(self, member: Member, pulse: str) -> Prompt:
        """Tell a member its role and the plan of the gathering."""
        return self._prompt(member, "seed", self._prompts.seed(member, pulse))

    def turn(self, member: Member) -> Prompt:
        """Give a speaker the piece, with the contributions that it has not got yet."""
        state = self.state
        head = self._prompts.turn(member, state.phase, state.round, self._since(member))
        return self._prompt(member, "turn", head, self._digest(member))

    def beat(self, member: Member, beat: int) -> Prompt:
        """Ask a speaker whether it still has something to say."""
        state = self.state
        text = self._prompts.beat(member, state.phase, state.round, beat, self._signals())
        return self._prompt(member, "beat", text)

    def last_words(self, member: Member) -> Prompt:
        """Ask a speaker for its last words."""
        text = self._prompts.last_words(member, self.state.phase, self.state.round)
        return self._prompt(member, "last", text)

    def harvest_prompt(self) -> Prompt:
        """Give the harvester the whole conversation."""
        head = self._prompts.harvest(self._harvester)
        return self._prompt(self._harvester, "harvest", head, conversation(self.record, self._members))

    # To all

    def opened(self) -> PublishGatheringEvent:
        """Report the start of the gathering."""
        return PublishGatheringEvent(
            GatheringOpened(
                gathering=self._gathering,
                rhythm=self._plan.rhythm,
                structure=str(self._plan.breath),
                participants=tuple(member.label for member in self._members),
                harvester=self._harvester.label,
                question=self._plan.question,
            )
        )

    def announce(self) -> list[Effect]:
        """Announce a round to all members, with the earlier contributions for those who get them only now."""
        state = self.state
        phase, number = state.phase, state.round
        self.enter("phase")
        rounds = self._plan.breath.rounds(phase)
        told = PublishGatheringEvent(
            GatheringPhase(gathering=self._gathering, phase=phase, round=number, rounds=rounds)
        )
        text = self._prompts.announcement(phase, number)
        effects: list[Effect] = []
        alike: list[Member] = []
        for member in self.present:
            digest = self._digest(member) if phase == "close" or member is self._harvester else ""
            if digest:
                effects.append(self._announcement((member,), f"{text}\n\n{digest}", head=text))
            else:
                alike.append(member)
        return [told, *([self._announcement(alike, text)] if alike else []), *effects]

    def contribution(self, number: int, text: str) -> list[Effect]:
        """Deliver a contribution to the others, now or with the piece."""
        speaker = self._by_number[number]
        effects = self._say("said", speaker, text)
        others = [member for member in self.present if member is not speaker]
        if self._plan.listening == "each" and others:
            self._count(others, text)
            message_id = self.record[-1].message_id
            effects.append(Contribute(message_id, number, tuple(member.number for member in others), text))
        return effects

    def harvest(self, text: str) -> list[Effect]:
        """Take a part of the harvest."""
        return self._say("harvest", self._harvester, text)

    # Events without a message

    def piece(
        self, state: Literal["given", "begun", "beat", "last_words", "passed"], how: str = ""
    ) -> PublishGatheringEvent:
        """Report a change of the tenure; a member must hold the piece."""
        tenure = self.state.tenure
        assert tenure is not None  # noqa: S101  # called only during a tenure
        return PublishGatheringEvent(
            Piece(
                gathering=self._gathering,
                speaker=self.label(tenure.speaker),
                state=state,
                beat=tenure.beat,
                beats=self._plan.beats_per_turn,
                due_in=None if state == "passed" else tenure.due - self.state.now,
                how=how,
            )
        )

    def withheld(self, said: Said, reason: WithheldReason, why: str) -> PublishGatheringEvent:
        """Report an output that is not delivered."""
        counts = self.state.withheld
        counts[reason] = counts.get(reason, 0) + 1
        event = RelayWithheld(
            relay=self._gathering, speaker=self.label(said.number), reason=reason, why=why, count=counts[reason],
            text=said.text[:MAX_SHOWN_LENGTH],
        )  # fmt: skip
        return PublishGatheringEvent(event)

    def left(self, number: int, reason: str) -> PublishGatheringEvent:
        """Report that a member has left."""
        self.enter("left", number, reason)
        return PublishGatheringEvent(
            GatheringLeft(gathering=self._gathering, participant=self.label(number), reason=reason)
        )

    def paused(self, paused: bool) -> PublishGatheringEvent:  # the flag is the message
        """Report a pause or its end."""
        self.enter("paused" if paused else "resumed")
        return PublishGatheringEvent(GatheringPaused(gathering=self._gathering, paused=paused))

    def closed(self) -> list[Effect]:
        """Report the end of the gathering."""
        state = self.state
        self.enter("closed", text=state.closed)
        closed = GatheringClosed(
            gathering=self._gathering,
            reason=state.closed,
            contributions=sum(entry.kind == "said" for entry in self.record),
            harvested=any(entry.kind == "harvest" for entry in self.record),
            traffic=state.traffic,
        )
        return [PublishGatheringEvent(closed), Closed(state.closed)]

    def enter(self, kind: EntryKind, number: int = 0, text: str = "", message_id: str = "") -> None:
        """Append an entry to the record."""
        state = self.state
        entry = RecordEntry(
            t=round(state.now - state.began, 3), kind=kind, phase=state.phase, round=state.round,
            number=number, text=text, message_id=message_id,
        )  # fmt: skip
        self.record.append(entry)

    # Parts of messages

    def _say(self, kind: Literal["said", "harvest"], speaker: Member, text: str) -> list[Effect]:
        state = self.state
        message_id = self._number()
        self.enter(kind, speaker.number, text, message_id)
        state.traffic[speaker.label].spoke(len(text))
        contribution = Contribution(
            gathering=self._gathering, message_id=message_id, speaker=speaker.label, phase=state.phase,
            round=state.round, text=text,
        )  # fmt: skip
        return [PublishGatheringEvent(contribution)]

    def _announcement(self, members: Sequence[Member], text: str, head: str = "") -> Announce:
        self._count(members, text)
        return Announce(self._number(), tuple(member.number for member in members), text, head)

    def _prompt(self, member: Member, kind: PromptKind, head: str, digest: str = "") -> Prompt:
        text = f"{head}\n\n{digest}" if digest else head
        self._count((member,), text)
        return Prompt(self._number(), member.number, kind, text, head if digest else "")

    def _count(self, members: Sequence[Member], text: str) -> None:
        for member in members:
            self.state.traffic[member.label].heard(len(text))

    def _number(self) -> str:
        self.state.messages += 1
        return numbered_id(self._gathering, self.life, self.state.messages)

    def _digest(self, member: Member) -> str:
        """Return the others' contributions that a member has not got, and mark them as delivered."""
        if self._plan.listening == "each":
            return ""
        begin = self.state.heard.get(member.number, 0)
        self.state.heard[member.number] = len(self.record)
        return conversation([entry for entry in self.record[begin:] if entry.number != member.number], self._members)

    def _since(self, member: Member) -> str:
        """Return a sentence about who held the piece since a member did."""
        passed = [entry.number for entry in self.record if entry.kind == "passed"]
        if not passed:
            return "You are the first to speak."
        own = max((at for at, number in enumerate(passed) if number == member.number), default=-1)
        since = ", ".join(self.label(number) for number in passed[own + 1 :])
        if not since:
            return "No other speaker has held it since."
        return f"{'Since you held it,' if own >= 0 else 'Before you'} it was with {since}."

    def _signals(self) -> str:
        """Return a line about the state of the circle and the current work."""
        state, breath = self.state, self._plan.breath
        later = BREATH[BREATH.index(state.phase) + 1 :] if state.phase != "close" else ()
        rounds = breath.rounds(state.phase)
        left = rounds - state.round + sum(breath.rounds(phase) for phase in later)
        here = f"{len(self.present)} in the circle; {state.phase}, round {state.round} of {rounds}"
        after = f"{counted(left, 'more round')} after it" if left else "the last one"
        sensed = " ".join(state.signals.split()).rstrip(".")
        return f"{here}, {after}.{f' {sensed}.' if sensed else ''}"
