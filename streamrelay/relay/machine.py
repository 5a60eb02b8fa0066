"""The relay's rules, as a pure machine: events and time in, effects out. A link is one of these, with two participants.

* The relay delivers each participant's output (`streamrelay.relay.output_units`) once, in order, under one header, to
  all other participants and never back to its speaker.
* The relay reports each output that it withholds, with the reason and a count per reason: the speaker is `muted`; the
  relay is `suspended` because its participants are in another relay; the output is a `checkpoint`, an
  `acknowledgement` or a `repetition`; it exceeds the `hops` (`streamrelay.relay.loop_guard`); or too many messages
  wait already. A withheld output does not count as a delivery.
* Output that arrives while the relay is paused or spent, or faster than `per_minute`, waits and goes out in order
  later. An answer given during a pause is therefore not lost, and the conversation continues after the pause.
  When a participant's leaving ends the relay, output that only the rate held back goes out; output that waited for a
  person is reported as withheld.
* The relay makes the delivery that spends the budget; then it closes or waits for an extension, as the rules say.
* A participant leaves when its pane closes or its program exits. A relay of two ends then; a larger relay goes on
  while two participants remain. A closed relay does nothing more.
"""

from collections import deque
from collections.abc import Sequence
from typing import Literal, Self

import msgspec

from streamrelay.counts import deliveries
from streamrelay.delivery.message import DeliveryPolicy
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
from streamrelay.relay.message_ids import numbered_id
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
        """Begin a relay; raises UsageError for participants that share a session, pane or label, or invalid rules."""
        if len(participants) < 2:
            raise UsageError(
                "a relay needs at least two participants", hint="name two panes or more: streamrelay relay A B"
            )
        for what in ("pane", "number", "name"):
            values = [getattr(participant, what) for participant in participants]
            for value in values:
                if values.count(value) > 1:
                    raise UsageError(
                        f"two participants of the relay have the {what} {value}",
                        hint=f"give each a different {what}",
                        data={"fault": f"duplicate_{what}", what: value},
                    )
        self.relay_id = relay_id
        self.participants = tuple(participants)
        self.rules = rules or Rules()
        self.rules.check()
        if "{text}" not in self.rules.frame:
            raise UsageError(
                f"invalid frame template {self.rules.frame!r}: it has no field {{text}}",
                hint="put {text} where the message is to stand",
            )
        filled(self.rules.frame, name="", number=0, text="")
        self.state = RelayState(
            budget=self.rules.budget, traffic={participant.label: Traffic() for participant in participants}
        )
        self._by_pane = {participant.pane: participant for participant in participants}
        self._life = ""
        self._collector = OutputCollector()
        self._sent: deque[float] = deque()

    @classmethod
    def restored(cls, stored: StoredRelay, life: str = "") -> Self:
        """Restore a relay from its stored state, in a life of its own (`message_ids`)."""
        machine = cls(stored.relay, stored.participants, stored.rules)
        machine._life = life
        machine.state = msgspec.convert(msgspec.to_builtins(stored.state), RelayState)
        machine._collector.restore(stored.saying)
        return machine

    def stored(self) -> StoredRelay:
        """Return the state from which `restored` continues, as an independent copy."""
        state = msgspec.convert(msgspec.to_builtins(self.state), RelayState)
        return StoredRelay(self.relay_id, self.participants, self.rules, state, self._collector.stored())

    def message_id(self, what: object) -> str:
        """Return the id of the message that a number or word names."""
        return numbered_id(self.relay_id, self._life, what)

    @property
    def deliveries(self) -> int:
        """How many messages went out."""
        return self.state.deliveries

    @property
    def closed(self) -> bool:
        """Whether the relay has ended."""
        return bool(self.state.closed)

    # Input

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # the flag is the information
        """Record whether the relay delivers a pane's later output by whole turns."""
        self._collector.speaks_in_turns(pane, whole)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event of a participant's stream."""
        if self.closed or event.pane not in self._by_pane or event.pane in self.state.gone:
            return []
        if isinstance(event, Text) and event.origin == "typed":
            self.state.loop_guard.begin_anew(event.pane)
        effects = self._say(self._collector.hear(event, now), now)
        return [*effects, *self.leave(event.pane, event.reason, now)] if isinstance(event, PaneClosed) else effects

    def deadline(self) -> float | None:
        """Return when `advance` is due; None if nothing is pending."""
        due = self._collector.deadline()
        if not self.state.held or self.state.stops:
            return due
        # After a restart, output that the rate held back before may go at once.
        allowed = self._sent[0] + MINUTE if self._sent else 0.0
        return allowed if due is None else min(due, allowed)

    def advance(self, now: float) -> list[Effect]:
        """Advance the clock: send the bursts that are complete and the messages whose rate allows it now."""
        if self.closed:
            return []
        effects = self._release(now)
        for output in self._collector.rested(now):
            effects += self._say(output, now)
        return effects

    # Decisions of the user

    def pause(self, now: float, *, paused: bool = True) -> list[Effect]:
        """Hold all deliveries during a pause and send the waiting messages afterwards."""
        if self.closed or self.state.paused == paused:
            return []
        self.state.paused = paused
        told = PublishEvent(RelayPaused(relay=self.relay_id, paused=paused, waiting=len(self.state.held)))
        if not paused:
            self.state.loop_guard.begin_anew()
        return [told, *self._release(now)]

    def mute(self, pane: str, *, muted: bool = True) -> list[Effect]:
        """Stop relaying one participant's output; the participant still receives the others' messages."""
        speaker = self._by_pane.get(pane)
        if self.closed or speaker is None or (pane in self.state.muted) == muted:
            return []
        (self.state.muted.append if muted else self.state.muted.remove)(pane)
        return [PublishEvent(RelayMuted(relay=self.relay_id, participant=speaker.label, muted=muted))]

    def suspend(self, by: str) -> None:
        """Suspend deliveries while the participants are in the relay `by`; an empty `by` ends the suspension."""
        self.state.suspended_by = by

    def extend(self, deliveries: int, now: float) -> list[Effect]:
        """Add to the budget, up to `MAX_COUNT`, and send the messages that waited since it was spent."""
        if self.closed or deliveries < 1 or not self.state.budget:
            return []
        self.state.budget = min(self.state.budget + deliveries, MAX_COUNT)
        self.state.spent = False
        self.state.loop_guard.begin_anew()
        return self._release(now)

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """Deliver a participant's last output and remove it; close the relay if fewer than two remain."""
        if self.closed or pane not in self._by_pane or pane in self.state.gone:
            return []
        effects = self._say(self._collector.complete(pane), now)
        self.state.gone[pane] = reason
        remaining = [participant for participant in self.participants if participant.pane not in self.state.gone]
        if len(remaining) < 2:
            return [*effects, *self._say_last(now), *self.close(reason)]
        label = self._by_pane[pane].label
        left = RelayLeft(relay=self.relay_id, participant=label, reason=reason, remaining=len(remaining))
        return [*effects, PublishEvent(left)]

    def close(self, reason: str = "stopped") -> list[Effect]:
        """End the relay, once."""
        if self.closed:
            return []
        self.state.closed = reason
        self.state.held.clear()
        self._collector.clear()
        return [Close(reason, self.deliveries)]

    # Messages that a participant sends explicitly

    def refusal(self, pane: str, text: str, now: float) -> tuple[Refusal, str] | None:
        """Return the reason, as code and text, why a participant's message may not go out now; None if it may.

        Output waits during a pause or for a budget. A message is refused instead, so that its sender can decide.
        """
        state = self.state
        if state.suspended_by:
            return "suspended", f"one of its participants is in {state.suspended_by}"
        if pane in state.muted:
            return "muted", "a person has muted you"
        if state.paused:
            return "paused", "it is paused by a person"
        if state.spent:
            return "spent", f"its budget is spent after {deliveries(self.deliveries)}"
        if not self._in_time(now):
            return "rate", "it has reached its limit of deliveries a minute"
        return self._judge(OutputUnit(pane, (text,), whole_turn=True, heard_at=now), text)

    def send(
        self, pane: str, text: str, message_id: str, now: float, policy: DeliveryPolicy | None = None
    ) -> list[Effect]:
        """Deliver a message that `refusal` allows; it counts like relayed output."""
        said = HeldOutput(pane, text, self.state.loop_guard.hop_of(pane), now)
        return self._send(said, now, message_id=message_id, policy=policy)

    # Decisions about output

    def _say(self, output: OutputUnit | None, now: float) -> list[Effect]:
        if self.closed or output is None or not (text := content(output.lines)):
            return []
        speaker = self._by_pane[output.pane]
        withheld = self._judge(output, text)
        if withheld is not None:
            return [self._withhold(speaker, text, *withheld)]
        hop = self.state.loop_guard.hop_of(output.pane)
        if len(self.state.held) >= MAX_HELD:
            return [self._withhold(speaker, text, "too_many_waiting", f"{MAX_HELD} messages already wait")]
        self.state.held.append(HeldOutput(output.pane, text, hop, output.heard_at))
        return self._release(now)

    def _judge(self, output: OutputUnit, text: str) -> tuple[WithheldReason, str] | None:
        """Return why the relay withholds an output for good; None if it delivers it now or later."""
        state, rules = self.state, self.rules
        if output.pane in state.muted:
            return "muted", "its speaker is muted"
        if state.suspended_by:
            return "suspended", f"a participant is in {state.suspended_by}"
        if is_checkpoint(text, rules.checkpoints):
            return "checkpoint", "it begins as an answer to a checkpoint does"
        loop_guard = state.loop_guard
        if not output.whole_turn:
            loop_guard.in_a_row = 0
            return None
        hop = loop_guard.hop_of(output.pane)
        if rules.hops and hop > rules.hops:
            return (
                "hops",
                f"it is answer {hop} in a chain of at most {rules.hops}; a person's message begins a new chain",
            )
        no_news = loop_guard.judge(output.pane, text, rules.phrases)
        if no_news and hop > 1 and 0 < rules.acknowledgements < loop_guard.in_a_row:
            why = f"turn {loop_guard.in_a_row} in a row without new content; at most {rules.acknowledgements} go out"
            return ("acknowledgement" if no_news == "acknowledgement" else "repetition"), why
        return None

    def _withhold(self, speaker: Participant, text: str, reason: WithheldReason, why: str) -> PublishEvent:
        count = self.state.withheld[reason] = self.state.withheld.get(reason, 0) + 1
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
        """Send waiting messages while the rules allow it."""
        effects: list[Effect] = []
        state = self.state
        while state.held and not (state.stops or self.closed) and self._in_time(now):
            effects += self._send(state.held.pop(0), now)
        return effects

    def _say_last(self, now: float) -> list[Effect]:
        """Send the messages that only the rate holds back to the remaining listeners; report the others as withheld."""
        effects: list[Effect] = []
        state = self.state
        held, state.held = state.held, []
        for said in held:
            if not (state.stops or self.closed) and self._listeners(said.pane):
                effects += self._send(said, now)
            else:
                why = "it waited to go out when that ended"
                effects.append(self._withhold(self._by_pane[said.pane], said.text, "closed", why))
        return effects

    def _listeners(self, pane: str) -> tuple[Participant, ...]:
        return tuple(p for p in self.participants if p.pane not in {pane, *self.state.gone})

    def _in_time(self, now: float) -> bool:
        while self._sent and now >= self._sent[0] + MINUTE:
            self._sent.popleft()
        return not self.rules.per_minute or len(self._sent) < self.rules.per_minute

    def _send(
        self, said: HeldOutput, now: float, *, message_id: str = "", policy: DeliveryPolicy | None = None
    ) -> list[Effect]:
        speaker, state = self._by_pane[said.pane], self.state
        if not (listeners := self._listeners(said.pane)):
            return []
        state.deliveries += 1
        if self.rules.per_minute:
            self._sent.append(now)
        head = filled(self.rules.frame, name=speaker.name, number=speaker.number, text="").strip()
        text = filled(self.rules.frame, name=speaker.name, number=speaker.number, text=self._cut(said.text))
        for listener in listeners:
            state.loop_guard.heard(listener.pane, said.hop)
        self._count(speaker, listeners, len(text))
        message_id = message_id or self.message_id(state.deliveries)
        effects: list[Effect] = [
            Deliver(self.relay_id, message_id, speaker, listeners, text, head, said.heard_at, policy),
        ]
        if state.deliveries != state.budget:
            return effects
        if self.rules.when_spent == "close":
            return [*effects, *self.close("budget_spent")]
        state.spent = True
        return [*effects, Spend()]

    def _cut(self, text: str) -> str:
        longest = self.rules.longest
        if not longest or len(text) <= longest:
            return text
        return f"{text[:longest].rstrip()}\n[… {len(text) - longest:,} more characters are left out]"

    def _count(self, speaker: Participant, listeners: Sequence[Participant], characters: int) -> None:
        traffic = self.state.traffic
        traffic[speaker.label].spoke(characters)
        for listener in listeners:
            traffic[listener.label].heard(characters)
