"""The relay's rules, as a pure machine: events and time in, effects out. A link is one of these, with two participants.

* Everything a participant says (`streamrelay.relay.output_units`) goes to all others, never back to itself, once, in
  the order in which it was said, under one header.
* What does not go is told, with the reason and how often that was so: the speaker is `muted`; the relay is
  `suspended`, because its participants are in another one; it is a `checkpoint`, an `acknowledgement` or a
  `repetition`, or came from farther than the `hops` allow (`streamrelay.relay.loop_guard`); or it waits already with
  too many others. Nothing of that counts as a delivery.
* What is said while the relay is paused or spent, or faster than `per_minute`, waits, and goes out in order when it
  may. So an answer said into a pause is not lost, and no conversation is stuck after it. What the rate alone holds
  goes out when its relay ends because somebody leaves; of what waits for a person then, it is told that it does not.
* The delivery that spends the budget is made; then the relay closes or waits to be extended, as the rules say.
* A participant whose pane closes, or whose program has left, leaves. Of two that is the end of the relay; of more, the
  others go on for as long as there are two. A closed relay does nothing more.
"""

from collections import deque
from collections.abc import Sequence
from typing import Literal, Self

import msgspec

from streamrelay.delivery.message import Policy
from streamrelay.errors import UsageError
from streamrelay.events import (
    Event,
    PaneClosed,
    RelayLeft,
    RelayMuted,
    RelayPaused,
    RelayWithheld,
    Text,
    Traffic,
    WithheldReason,
)
from streamrelay.relay.attribution import content, filled
from streamrelay.relay.output_units import OutputCollector, OutputUnit
from streamrelay.relay.rules import (
    MAX_COUNT,
    Close,
    Deliver,
    Effect,
    HeldOutput,
    Participant,
    PublishEvent,
    RelayState,
    Rules,
    Spend,
    StoredRelay,
    is_checkpoint,
)

MAX_HELD = 64
MINUTE = 60.0
MAX_SHOWN_LENGTH = 80

Refusal = WithheldReason | Literal["paused", "spent", "rate"]
"""Why a message that a participant sends does not go out."""


class RelayMachine:
    """One relay of two or more participants."""

    def __init__(self, relay_id: str, participants: Sequence[Participant], rules: Rules | None = None) -> None:
        """Begin a relay; raises UsageError for participants that cannot be told apart, and rules that are none."""
        if len(participants) < 2:
            raise UsageError("a relay needs at least two participants")
        for what in ("pane", "number", "name"):
            values = [getattr(participant, what) for participant in participants]
            if len(set(values)) < len(values):
                raise UsageError(f"two participants of a relay have the same {what}", data={what: values})
        self.relay_id = relay_id
        self.participants = tuple(participants)
        self.rules = rules or Rules()
        self.rules.check()
        if "{text}" not in self.rules.frame:
            raise UsageError(f"the template {self.rules.frame!r} has no {{text}}")
        filled(self.rules.frame, name="", number=0, text="")
        self.standing = RelayState(
            budget=self.rules.budget, traffic={participant.label: Traffic() for participant in participants}
        )
        self._by_pane = {participant.pane: participant for participant in participants}
        self._utterances = OutputCollector()
        self._sent: deque[float] = deque()

    @classmethod
    def restored(cls, stored: StoredRelay) -> Self:
        """Go on with a relay as it was stored."""
        machine = cls(stored.relay, stored.participants, stored.rules)
        machine.standing = msgspec.convert(msgspec.to_builtins(stored.standing), RelayState)
        machine._utterances.restore(stored.saying)
        return machine

    def stored(self) -> StoredRelay:
        """Return all that is needed to go on later, as values of its own."""
        standing = msgspec.convert(msgspec.to_builtins(self.standing), RelayState)
        return StoredRelay(self.relay_id, self.participants, self.rules, standing, self._utterances.stored())

    @property
    def deliveries(self) -> int:
        """How many messages went out."""
        return self.standing.deliveries

    @property
    def closed(self) -> bool:
        """Whether the relay has ended."""
        return bool(self.standing.closed)

    # What is heard

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # what is told, not how
        """Note whether what is said in a pane from here on is to be passed on by whole turns."""
        self._utterances.speaks_in_turns(pane, whole)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event of a participant's stream."""
        if self.closed or event.pane not in self._by_pane or event.pane in self.standing.gone:
            return []
        if isinstance(event, Text) and event.origin == "typed":
            self.standing.loop_guard.begin_anew(event.pane)
        effects = self._say(self._utterances.hear(event, now), now)
        return [*effects, *self.leave(event.pane, event.reason, now)] if isinstance(event, PaneClosed) else effects

    def deadline(self) -> float | None:
        """Return when `advance` is due; None while nothing is waited for."""
        due = self._utterances.deadline()
        if not self.standing.held or self.standing.stops:
            return due
        # What was held by the rate before a restart may go at once.
        allowed = self._sent[0] + MINUTE if self._sent else 0.0
        return allowed if due is None else min(due, allowed)

    def advance(self, now: float) -> list[Effect]:
        """Let time pass: send what has come to rest, and what may go by now."""
        if self.closed:
            return []
        effects = self._release(now)
        for utterance in self._utterances.rested(now):
            effects += self._say(utterance, now)
        return effects

    # What people decide

    def pause(self, now: float, *, paused: bool = True) -> list[Effect]:
        """Let nothing go out until the pause is over, and then what was said meanwhile."""
        if self.closed or self.standing.paused == paused:
            return []
        self.standing.paused = paused
        told = PublishEvent(RelayPaused(relay=self.relay_id, paused=paused, waiting=len(self.standing.held)))
        if not paused:
            self.standing.loop_guard.begin_anew()
        return [told, *self._release(now)]

    def mute(self, pane: str, *, muted: bool = True) -> list[Effect]:
        """Pass on nothing of what one participant says; it still hears the others."""
        speaker = self._by_pane.get(pane)
        if self.closed or speaker is None or (pane in self.standing.muted) == muted:
            return []
        (self.standing.muted.append if muted else self.standing.muted.remove)(pane)
        return [PublishEvent(RelayMuted(relay=self.relay_id, participant=speaker.label, muted=muted))]

    def suspend(self, by: str) -> None:
        """Deliver nothing while the participants are in the relay `by`; empty for no longer."""
        self.standing.suspended_by = by

    def extend(self, deliveries: int, now: float) -> list[Effect]:
        """Add to the budget, up to the largest there is; what was said since it was spent goes out."""
        if self.closed or deliveries < 1 or not self.standing.budget:
            return []
        self.standing.budget = min(self.standing.budget + deliveries, MAX_COUNT)
        self.standing.spent = False
        self.standing.loop_guard.begin_anew()
        return self._release(now)

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """Go on without a participant, after its last words; without two of them, close."""
        if self.closed or pane not in self._by_pane or pane in self.standing.gone:
            return []
        effects = self._say(self._utterances.complete(pane), now)
        self.standing.gone[pane] = reason
        remaining = [participant for participant in self.participants if participant.pane not in self.standing.gone]
        if len(remaining) < 2:
            return [*effects, *self._say_last(now), *self.close(reason)]
        label = self._by_pane[pane].label
        left = RelayLeft(relay=self.relay_id, participant=label, reason=reason, remaining=len(remaining))
        return [*effects, PublishEvent(left)]

    def close(self, reason: str = "stopped") -> list[Effect]:
        """End the relay, once."""
        if self.closed:
            return []
        self.standing.closed = reason
        self.standing.held.clear()
        self._utterances.clear()
        return [Close(reason, self.deliveries)]

    # What a participant sends by itself

    def refusal(self, pane: str, text: str, now: float) -> tuple[Refusal, str] | None:
        """Return why a message that a participant sends may not go out now, and that in words; None if it may.

        What is said waits for a pause or a budget; a message is refused, so that its sender knows, and decides.
        """
        standing = self.standing
        if standing.suspended_by:
            return "suspended", f"one of its sides is in {standing.suspended_by}"
        if pane in standing.muted:
            return "muted", "nothing of what you say is to cross it"
        if standing.paused:
            return "paused", "it is paused by a person"
        if standing.spent:
            return "spent", f"it is spent after {self.deliveries} deliveries"
        if not self._in_time(now):
            return "rate", "as many deliveries have crossed it within a minute as may"
        return self._judge(OutputUnit(pane, (text,), whole_turn=True, heard_at=now), text)

    def send(self, pane: str, text: str, message_id: str, now: float, policy: Policy | None = None) -> list[Effect]:
        """Deliver a message that `refusal` lets pass; it counts as what is said does."""
        said = HeldOutput(pane, text, self.standing.loop_guard.hop_of(pane), now)
        return self._send(said, now, message_id=message_id, policy=policy)

    # What is made of it

    def _say(self, utterance: OutputUnit | None, now: float) -> list[Effect]:
        if self.closed or utterance is None or not (text := content(utterance.lines)):
            return []
        speaker = self._by_pane[utterance.pane]
        withheld = self._judge(utterance, text)
        if withheld is not None:
            return [self._withhold(speaker, text, *withheld)]
        hop = self.standing.loop_guard.hop_of(utterance.pane)
        if len(self.standing.held) >= MAX_HELD:
            return [self._withhold(speaker, text, "too_many_waiting", f"{MAX_HELD} messages wait already")]
        self.standing.held.append(HeldOutput(utterance.pane, text, hop, utterance.heard_at))
        return self._release(now)

    def _judge(self, utterance: OutputUnit, text: str) -> tuple[WithheldReason, str] | None:
        """Return why something said does not go out, now or later; None if it does."""
        standing, rules = self.standing, self.rules
        if utterance.pane in standing.muted:
            return "muted", "its speaker is muted"
        if standing.suspended_by:
            return "suspended", f"a participant is in {standing.suspended_by}"
        if is_checkpoint(text, rules.checkpoints):
            return "checkpoint", "it begins as an answer to a checkpoint does"
        loop_guard = standing.loop_guard
        if not utterance.whole_turn:
            loop_guard.in_a_row = 0
            return None
        hop = loop_guard.hop_of(utterance.pane)
        if rules.hops and hop > rules.hops:
            return (
                "hops",
                f"it is answer {hop} in a chain of which {rules.hops} go out; a person's word begins a new one",
            )
        no_news = loop_guard.judge(utterance.pane, text, rules.phrases)
        if no_news and hop > 1 and 0 < rules.acknowledgements < loop_guard.in_a_row:
            why = f"turn {loop_guard.in_a_row} in a row that says nothing new; {rules.acknowledgements} go out"
            return ("acknowledgement" if no_news == "acknowledgement" else "repetition"), why
        return None

    def _withhold(self, speaker: Participant, text: str, reason: WithheldReason, why: str) -> PublishEvent:
        count = self.standing.withheld[reason] = self.standing.withheld.get(reason, 0) + 1
        return PublishEvent(
            RelayWithheld(
                relay=self.relay_id,
                speaker=speaker.label,
                reason=reason,
                why=why,
                count=count,
                text=text[:MAX_SHOWN_LENGTH],
                session=speaker.session_name,
                pane=speaker.pane,
            )
        )

    def _release(self, now: float) -> list[Effect]:
        """Send what waits, for as long as it may go out."""
        effects: list[Effect] = []
        standing = self.standing
        while standing.held and not (standing.stops or self.closed) and self._in_time(now):
            effects += self._send(standing.held.pop(0), now)
        return effects

    def _say_last(self, now: float) -> list[Effect]:
        """Send what the rate alone holds back to whoever is left, and tell of the rest that it is lost."""
        effects: list[Effect] = []
        standing = self.standing
        held, standing.held = standing.held, []
        for said in held:
            if not (standing.stops or self.closed) and self._listeners(said.pane):
                effects += self._send(said, now)
            else:
                why = "it waited to go out when that ended"
                effects.append(self._withhold(self._by_pane[said.pane], said.text, "closed", why))
        return effects

    def _listeners(self, pane: str) -> tuple[Participant, ...]:
        return tuple(p for p in self.participants if p.pane not in {pane, *self.standing.gone})

    def _in_time(self, now: float) -> bool:
        while self._sent and now >= self._sent[0] + MINUTE:
            self._sent.popleft()
        return not self.rules.per_minute or len(self._sent) < self.rules.per_minute

    def _send(
        self, said: HeldOutput, now: float, *, message_id: str = "", policy: Policy | None = None
    ) -> list[Effect]:
        speaker, standing = self._by_pane[said.pane], self.standing
        if not (listeners := self._listeners(said.pane)):
            return []
        standing.deliveries += 1
        if self.rules.per_minute:
            self._sent.append(now)
        head = filled(self.rules.frame, name=speaker.name, number=speaker.number, text="").strip()
        text = filled(self.rules.frame, name=speaker.name, number=speaker.number, text=self._cut(said.text))
        for listener in listeners:
            standing.loop_guard.heard(listener.pane, said.hop)
        self._count(speaker, listeners, len(text))
        message_id = message_id or f"{self.relay_id}-{standing.deliveries}"
        effects: list[Effect] = [
            Deliver(self.relay_id, message_id, speaker, listeners, text, head, said.heard_at, policy),
        ]
        if standing.deliveries != standing.budget:
            return effects
        if self.rules.when_spent == "close":
            return [*effects, *self.close("budget_spent")]
        standing.spent = True
        return [*effects, Spend()]

    def _cut(self, text: str) -> str:
        longest = self.rules.longest
        if not longest or len(text) <= longest:
            return text
        return f"{text[:longest].rstrip()}\n[… {len(text) - longest:,} more characters are left out]"

    def _count(self, speaker: Participant, listeners: Sequence[Participant], characters: int) -> None:
        traffic = self.standing.traffic
        traffic[speaker.label].spoke(characters)
        for listener in listeners:
            traffic[listener.label].heard(characters)
