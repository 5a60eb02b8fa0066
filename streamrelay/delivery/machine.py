"""The delivery machine of one pane, pure: events, views and time in, effects out.

    queued -> pasted -> painted -> submitted -> turn_started -> answered          failed(reason), unconfirmed(reason)

The machine reports each state once, in order, when it has proof:

* `pasted`, `submitted`: tmux has run the line, which also compares the foreground program.
* `painted`: the pane's stream saw the text in the composer or at the prompt. Programs that show nothing skip it.
* `turn_started`, `answered`: the stream reported it of the turn that the Enter began.
* `unconfirmed`: the pane closed during that turn, or the writer stopped before it: the program may have ended first.

The machine types one message at a time. While an obstacle stands in the way (readiness.py), the message waits and the
machine reports the reason. After the paste it waits until the program has painted and rested for `PAINT_REST`, because
some programs turn an Enter during a paste into a line feed. Then it sends Enter, unless a question has come up.

If the composer still holds the text `CONFIRM` seconds later and no turn has begun, the machine sends Enter once more,
but never a third time. A program that has not taken a message yet may still be starting, so it gets `STARTING` seconds.
A text that stays in the composer may still be submitted, by a slow program or by a person, so the machine follows it
for `UNSUBMITTED` more seconds and then reports `unconfirmed`, never `failed`. A question that came up after the Enter
may have taken it as its answer, and looks like the start of a turn; in that case only the composer counts. While the
machine follows a submitted message to its answer, it already types the next one, unless the program must finish first.

The text of a message that stays in the composer unchanged after its last report is no draft of a person, and neither is
one that an earlier machine of the pane left there (`composer_text`, `recall`). To make room,
the message that waits behind it sends the Enter that was never sent, or one more after `UNSUBMITTED` seconds.

A program with a native lane (agents/lanes) gets a message by its own API, whatever its screen shows. The API then
reports the answer. A message that the API has certainly not got is typed like any other, if the user allows both.
"""

from collections import deque
from dataclasses import dataclass

from streamrelay.agents.lanes.lane import Answering
from streamrelay.agents.profile import AgentProfile, LaneChoice
from streamrelay.delivery.inflight import UNSUBMITTED, ComposerText, FollowedTurn, InFlight, ReportState
from streamrelay.delivery.message import NEEDS_PERSON, DeliveryPolicy, Message, Obstacle
from streamrelay.delivery.readiness import draft, obstacle
from streamrelay.delta.pane_state import PaneState
from streamrelay.delta.transcript.echoes import spelling
from streamrelay.delta.turns import TELLING
from streamrelay.events import DeliveryState, Event, Gap, Injected, TurnEnded, TurnStarted

PAINT_REST = 0.06
MIN_WAIT = 0.15
"""Seconds between text and Enter, at least: within 0.12 s of a burst, programs take an Enter for a new line."""
MAX_WAIT = 1.0
DIGESTED = 200_000
"""A program gets another second for each of these many characters."""
PICTURE_REST = 0.016
"""Seconds without output after which a painted screen can be judged: before, it may show half a dialog."""
RESUMED = 5.0
"""Seconds in which the stream must see the paste of an earlier process: a new stream knows little."""
CONFIRM = 2.0
"""Seconds between the two Enters for a program whose first message was taken."""
STARTING = 8.0
"""Seconds between the two Enters for a program that has not taken a message yet. An agent may keep the text in its
composer until its server has created a session, and ignore each Enter before it has loaded its models."""
UNHEARD = 10.0
"""Seconds in which a program that must finish first has to begin its answer."""
LOOK_AGAIN = 0.25
MAX_QUEUE = 64
UNREADABLE = "unreadable"
"""The reason for an unknown answer: the screen does not show which output answers the message."""
NOTHING_TOLD = "unheard"
"""The end of a turn that the program never signalled, although it signals turns: it may not have read the message."""
SUPERSEDED, CANCELLED = "superseded", "cancelled"
"""Reasons of a message withdrawn before its paste: a newer one replaces it, or it was cancelled."""
NO_LANE, NO_REPLY = "no_lane", "no_reply"
"""Reasons of a message that only the program's own API may take: it is closed, or it does not say what it has taken."""
HELD = "held"
"""The reason of a submitted message that the program keeps while it works."""
MAX_FOLLOWED = 64
_NO_TURN = -1
"""The turn of a message whose answer the stream does not report."""


@dataclass(frozen=True, slots=True)
class PaneView:
    """A view of the pane: its state, its program's profile, the time of its last output, and its cursor."""

    pane_state: PaneState
    profile: AgentProfile | None = None
    last_output: float | None = None
    cursor: tuple[int, int] | None = None
    lane: LaneChoice = "paste"


@dataclass(frozen=True, slots=True)
class HandOver:
    """Hand a message to the program's own API now; `handed_over`, `no_lane` or `refused` is to follow."""

    message: Message


@dataclass(frozen=True, slots=True)
class Paste:
    """Paste a message now; `pasted`, `refused` or `put_off` is to follow."""

    message: Message


@dataclass(frozen=True, slots=True)
class Enter:
    """Send the key that submits, for the first or the second time; `entered`, `refused` or `put_off` is to follow."""

    message: Message
    attempt: int


Effect = HandOver | Paste | Enter | ReportState


class DeliveryMachine:
    """Decides what to type into one pane, one message after the other."""

    def __init__(self, policy: DeliveryPolicy | None = None) -> None:
        self._policy = policy or DeliveryPolicy()
        self._queue: deque[InFlight] = deque()
        self._current: InFlight | None = None
        self._followed: deque[FollowedTurn] = deque(maxlen=MAX_FOLLOWED)
        self._due: float | None = None
        self._handed: set[str] = set()
        """The messages that go, or went, to the program's own API."""
        self._takes_messages = False
        """Whether the program has taken a message, so that it is no longer starting."""
        self._left: InFlight | None = None
        """The last message whose text stayed in the composer, or was never seen there, with its last state reported."""

    @property
    def idle(self) -> bool:
        """Whether no message is left to type."""
        return self._current is None and not self._queue

    @property
    def rests(self) -> bool:
        """Whether no message is left to type and no answer is pending."""
        return self.idle and not self._followed

    @property
    def message_ids(self) -> set[str]:
        """The messages whose state may still change, or for which an Enter may be sent."""
        typed = [each for each in (self._left, self._current, *self._queue) if each is not None]
        return {each.message.message_id for each in typed} | {each.message_id for each in self._followed}

    @property
    def unsettled_ids(self) -> set[str]:
        """The messages whose state may still change."""
        typed = [each for each in (self._current, *self._queue) if each is not None and not each.is_over]
        return {each.message.message_id for each in typed} | {each.message_id for each in self._followed}

    @property
    def composer_text(self) -> ComposerText | None:
        """The message whose text the composer may still hold although its Enter is sent or given up; None without one.

        A later machine of the pane learns of it by `recall`.
        """
        current, left = self._current, self._left
        if current is not None and current.stage in {"entering", "confirming"} and current.shown:
            return ComposerText(current.message.message_id, current.shown)
        return None if left is None else ComposerText(left.message.message_id, left.shown or left.message.text)

    def deadline(self) -> float | None:
        """Return when `look` is due at the latest; None without a pending deadline."""
        return self._due

    # What comes in

    def put(self, message: Message, now: float) -> list[Effect]:
        """Queue a message behind those that wait."""
        if len(self._queue) >= MAX_QUEUE:
            return [ReportState(message.message_id, "failed", "too_many_waiting")]
        self._queue.append(InFlight(message, "waiting", now))
        self._due = now
        return [ReportState(message.message_id, "queued")]

    def withdraw(self, message_id: str, reason: str = SUPERSEDED) -> list[Effect]:
        """Withdraw a message that is not pasted: it fails with `reason`. A message that is pasted goes on.

        While tmux carries out the paste, it is unknown which of the two applies. A later `put_off` then withdraws the
        message, and a later `pasted` ignores the request.
        """
        current = self._current
        if current is not None and current.message.message_id == message_id:
            if current.stage == "waiting":
                return self._end("failed", reason)
            if current.stage in {"handing", "pasting"}:
                current.withdrawn = reason
            return []
        for waiting in self._queue:
            if waiting.message.message_id == message_id and waiting.stage == "waiting":
                self._queue.remove(waiting)
                return [ReportState(message_id, "failed", reason)]
        return []

    def is_pasting(self, message_id: str) -> bool:
        """Return whether a message is about to be pasted or handed over, and the result is not known yet."""
        current = self._current
        is_current = current is not None and current.message.message_id == message_id
        return is_current and current is not None and current.stage in {"handing", "pasting"}

    def resume(self, message: Message, now: float) -> None:
        """Continue with a message that an earlier machine pasted without its Enter."""
        self._queue.append(InFlight(message, "settling", now, painted=now, resumed=True))
        self._due = now

    def recall(self, text: ComposerText, attempts: int, since: float) -> None:
        """Know the text that an earlier machine left in the composer, after so many Enters, the last one at `since`.

        Its last state is reported, so the text only makes room.
        """
        shown = text.shown if attempts else ""
        self._left = InFlight(
            Message(text.message_id, text.shown), "confirming", since, shown=shown, attempts=attempts, is_over=True
        )

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take an event of the pane's own stream."""
        match event:
            case Injected(message_id=message_id, state="painted"):
                return self._painted(message_id, now)
            case Injected(message_id=message_id, state="entering") if self._is_followed(message_id):
                self._followed.append(FollowedTurn(message_id, event.turn, now))
            case TurnStarted():
                return self._in_order(self._turn_started(event))
            case Gap(reason="unreadable"):
                for followed in (each for each in self._followed if not each.is_handed):
                    followed.is_unreadable = followed.is_unreadable or followed.turn == event.turn
            case TurnEnded():
                return self._in_order(self._turn_ended(event))
            case _:
                pass
        return []

    def _is_followed(self, message_id: str) -> bool:
        """Return whether the stream's reports about the answer to a message count."""
        left = self._left
        return message_id not in self._handed and (left is None or left.message.message_id != message_id)

    def pasted(self, now: float) -> list[Effect]:
        """Record that tmux has pasted the current message."""
        current, self._left = self._current, None
        if current is None:
            return []
        current.stage, current.since, self._due = "settling", now, now
        told: list[Effect] = [ReportState(current.message.message_id, "pasted")]
        if current.painted is not None:
            told.append(ReportState(current.message.message_id, "painted"))
        return told

    def entered(self, now: float) -> list[Effect]:
        """Record that tmux has sent the Enter after the current message."""
        current = self._current
        if current is None:
            return []
        current.stage, current.since, self._due = "confirming", now, now
        held, current.held = current.held, []
        is_first = current.attempts == 1 and current is not self._left
        first = [ReportState(current.message.message_id, "submitted")] if is_first else []
        return [*first, *held]

    def handed_over(self, now: float, *, is_held: bool) -> list[Effect]:
        """Record that the program's own API has taken the current message, and holds it if the program works."""
        current, self._current = self._current, None
        if current is None:
            return []
        message_id = current.message.message_id
        self._due = now
        self._followed.append(FollowedTurn(message_id, _NO_TURN, now, is_handed=True))
        return [ReportState(message_id, "submitted", HELD if is_held else "")]

    def no_lane(self, *, types: bool) -> list[Effect]:
        """Record that the program's own API has not got the current message, which is typed if `types`."""
        current = self._current
        if current is None or current.stage != "handing":
            return []
        self._handed.discard(current.message.message_id)
        current.stage, current.no_lane = "waiting", True
        if current.withdrawn:
            return self._end("failed", current.withdrawn)
        return [] if types else self._end("failed", NO_LANE)

    def lane_reports(self, message_id: str, answering: Answering) -> list[Effect]:
        """Record what the program's own API says of the answer to a message."""
        followed = next((each for each in self._followed if each.is_handed and each.message_id == message_id), None)
        if followed is None or answering == "held":
            return []
        effects: list[Effect] = [] if followed.started else [ReportState(message_id, "turn_started")]
        followed.started = True
        if answering == "answered":
            self._followed.remove(followed)
            self._handed.discard(message_id)
            effects.append(ReportState(message_id, "answered", "signal"))
        return effects

    def lane_lost(self) -> list[Effect]:
        """Record that the program's own API says no more what became of the messages that it took."""
        lost = [each for each in self._followed if each.is_handed]
        for followed in lost:
            self._followed.remove(followed)
            self._handed.discard(followed.message_id)
        return [ReportState(followed.message_id, "unconfirmed", NO_REPLY) for followed in lost]

    def refused(self, reason: str, state: DeliveryState = "failed") -> list[Effect]:
        """Record that tmux refused to type the current message or its Enter, because of the pane's state."""
        if self._current is self._left:
            self._left = None
        return self._end(state, reason)

    def put_off(self) -> list[Effect]:
        """Record that tmux has not typed the current message or its Enter yet, but can do so later."""
        current = self._current
        if current is not None and current.stage == "pasting":
            current.stage = "waiting"
            if current.withdrawn:
                return self._end("failed", current.withdrawn)
        elif current is not None and current.stage == "entering":
            current.stage, current.attempts = "settling", current.attempts - 1
        return []

    def taken_back(self) -> list[Effect]:
        """Record that unread text was discarded because its program was leaving; it may have been read in part."""
        return self._end("unconfirmed", "taken_back")

    def stop(self, reason: str) -> list[Effect]:
        """End all messages: a message in flight or without its answer is unconfirmed, a waiting one has failed."""
        typed = set() if self._current is None else {self._current.message.message_id}
        effects: list[Effect] = [
            ReportState(followed.message_id, "unconfirmed", reason)
            for followed in self._followed
            if followed.message_id not in typed
        ]
        while self._current is not None or self._queue:
            self._current = self._current or self._queue.popleft()
            effects += self._end("failed" if self._current.stage == "waiting" else "unconfirmed", reason)
        self._followed.clear()
        self._handed.clear()
        self._due = None
        return effects

    def look(self, look: PaneView, now: float) -> list[Effect]:
        """Decide what to do, given a view of the pane."""
        effects: list[Effect] = []
        self._due = None
        while True:
            if self._current is None:
                if not self._queue:
                    return effects
                self._current = self._queue.popleft()
            before = self._current
            match before.stage:
                case "waiting":
                    effects += self._wait(before, look, now)
                case "settling":
                    effects += self._settle(before, look, now)
                case "confirming":
                    effects += self._confirm(before, look, now)
                case _:
                    pass
            if self._current is before:
                return effects

    # Decisions

    def _wait(self, current: InFlight, look: PaneView, now: float) -> list[Effect]:
        message_id = current.message.message_id
        by_lane = look.lane != "paste" and not current.no_lane
        found = obstacle(look.pane_state, look.profile, answering=self._is_answering(now))
        if by_lane and (found != "needs_human" or (current.message.policy or self._policy).needs_human == "hold"):
            current.stage = "handing"
            self._handed.add(message_id)
            return [HandOver(current.message)]
        if found is None and (rests_at := self._rests_at(current, look, now)) is not None:
            self._due = rests_at
            return []
        if found is None:
            current.stage = "pasting"
            return [Paste(current.message)]
        if found == "draft" and (left := self._left) is not None and self._stands(left, look):
            found = obstacle(look.pane_state, look.profile, answering=self._is_answering(now), is_own_text=True)
            if found is None and (rests_at := self._rests_at(current, look, now)) is not None:
                self._due = rests_at
                return []
            if found is None and left.may_make_room(message_id, now):
                left.made_room_for = message_id
                self._queue.appendleft(current)
                self._current = left
                return self._enter(left, look)
            found = found or "not_ready"
        policy = current.message.policy or self._policy
        patience = policy.patience
        if found == "needs_human" and policy.needs_human == "fail":
            return self._end("failed", found)
        if patience is not None and now >= current.since + patience:
            return self._end("failed", found)
        self._due = now + LOOK_AGAIN
        told: list[Effect] = [] if found == current.obstacle else [ReportState(message_id, "queued", found)]
        current.obstacle = found
        return [*told, *self._hold_others(found, now)]

    def _hold_others(self, found: Obstacle, now: float, *, tells: bool = False) -> list[Effect]:
        """Give queued messages the current one's reason if it needs a person or `tells`; fail those whose time is up.

        The reason `at_work` goes to the current message only, because it changes with every turn.
        """
        effects: list[Effect] = []
        for waiting in [each for each in self._queue if each.stage == "waiting"]:
            policy = waiting.message.policy or self._policy
            over = policy.patience is not None and now >= waiting.since + policy.patience
            if over or (found == "needs_human" and policy.needs_human == "fail"):
                self._queue.remove(waiting)
                effects.append(ReportState(waiting.message.message_id, "failed", found))
            elif found != waiting.obstacle and (tells or not NEEDS_PERSON.isdisjoint({found, waiting.obstacle})):
                waiting.obstacle = found
                effects.append(ReportState(waiting.message.message_id, "queued", found))
        return effects

    def _settle(self, current: InFlight, look: PaneView, now: float) -> list[Effect]:
        due = self._settled_at(current, look)
        if now < due:
            self._due = due
            return []
        if look.pane_state.needs_human is not None:
            self._due = now + LOOK_AGAIN
            fails = (current.message.policy or self._policy).needs_human == "fail"
            return self._end("failed", "needs_human") if fails else self._hold_others("needs_human", now)
        if look.pane_state.withdrawn:
            # The program is leaving, so its shell would get the Enter.
            self._due = now + LOOK_AGAIN
            return []
        if (rests_at := self._rests_at(current, look, now)) is not None:
            self._due = rests_at
            return []
        if current.resumed and look.pane_state.converses and not draft(look.pane_state, look.profile):
            self._due = now + LOOK_AGAIN
            return [] if now < current.since + RESUMED else self._leave(current, "text_gone", now)
        return self._enter(current, look)

    @staticmethod
    def _rests_at(current: InFlight, look: PaneView, now: float) -> float | None:
        """Return when the screen of a painting program can be judged; None if it can now, or never rests."""
        if not look.pane_state.converses or look.last_output is None or now >= look.last_output + PICTURE_REST:
            current.unjudged = None
            return None
        current.unjudged = now if current.unjudged is None else current.unjudged
        return None if now >= current.unjudged + MAX_WAIT else look.last_output + PICTURE_REST

    def _settled_at(self, current: InFlight, look: PaneView) -> float:
        delay = look.profile.delivery.submit_delay if look.profile is not None else MIN_WAIT
        least = current.since + max(MIN_WAIT, delay)
        most = max(least, current.since + MAX_WAIT + len(current.message.text) / DIGESTED)
        if look.pane_state.converses and current.painted is None:
            return most
        rest = [] if current.painted is None else [current.painted]
        # A spinner's changes do not show whether the program has read the paste.
        turns = look.pane_state.converses and look.pane_state.answers
        if look.last_output is not None and look.last_output >= current.since and not turns:
            rest.append(look.last_output)
        return min(most, max(least, *(moment + PAINT_REST for moment in rest))) if rest else most

    def _enter(self, current: InFlight, look: PaneView) -> list[Effect]:
        current.shown = draft(look.pane_state, look.profile)
        current.attempts += 1
        current.stage = "entering"
        return [Enter(current.message, current.attempts)]

    def _confirm(self, current: InFlight, look: PaneView, now: float) -> list[Effect]:
        followed = next((f for f in self._followed if f.message_id == current.message.message_id), None)
        stands = bool(current.shown) and draft(look.pane_state, look.profile) == current.shown
        started = followed is not None and followed.started
        if look.pane_state.needs_human is not None and (current.asked or not started):
            current.asked = True
            self._due = now + LOOK_AGAIN
            return self._hold_others("needs_human", now)
        if not stands or (started and not current.asked):
            self._takes_messages = self._takes_messages or started or bool(current.shown)
            self._current = self._left = None
            self._due = now
            return []
        until = current.since + (CONFIRM if self._takes_messages or current.asked else STARTING)
        if current.attempts == 1 and now >= until:
            return self._enter(current, look)
        if current.attempts == 1:
            self._due = until
            return []
        if now >= current.since + UNSUBMITTED:
            return self._leave(current, "not_submitted", now)
        self._due = now + LOOK_AGAIN
        return self._hold_others("not_ready", now, tells=True)

    def _leave(self, current: InFlight, reason: str, now: float) -> list[Effect]:
        """End a message whose text stays in the composer, or may still come to stand there."""
        effects = self._end("unconfirmed", reason)
        current.is_over, current.since = True, now
        self._left = current
        return effects

    @staticmethod
    def _stands(left: InFlight, look: PaneView) -> bool:
        """Return whether the composer holds what it showed of a message; if that is unknown, all of the message.

        A part of it may be what a person has begun to type.
        """
        held = draft(look.pane_state, look.profile)
        return held == left.shown if left.shown else spelling(held) == spelling(left.message.text)

    def _is_answering(self, now: float) -> bool:
        """Return whether an answer to a sent message is in progress or still expected."""
        return any(followed.started or now < followed.since + UNHEARD for followed in self._followed)

    def _painted(self, message_id: str, now: float) -> list[Effect]:
        current = self._current
        if current is None or current.message.message_id != message_id or current.painted is not None:
            return []
        if current.stage not in {"pasting", "settling"}:
            return []
        current.painted = self._due = now
        # Until tmux answers, the paste is not confirmed.
        return [] if current.stage == "pasting" else [ReportState(message_id, "painted")]

    def _in_order(self, effects: list[Effect]) -> list[Effect]:
        """Hold back reports about a message while tmux has not confirmed its Enter."""
        current = self._current
        if current is None or current.stage not in {"settling", "entering"}:
            return effects
        own = [
            effect
            for effect in effects
            if isinstance(effect, ReportState) and effect.message_id == current.message.message_id
        ]
        current.held += own
        return [effect for effect in effects if effect not in own]

    def _turn_started(self, event: TurnStarted) -> list[Effect]:
        for followed in (each for each in self._followed if not each.is_handed):
            if not followed.started and (event.message_id == followed.message_id or event.turn == followed.turn):
                followed.started = True
                return [ReportState(followed.message_id, "turn_started")]
        return []

    def _turn_ended(self, event: TurnEnded) -> list[Effect]:
        silent = event.reason == "quiet" and any(vote.by in TELLING for vote in event.votes)
        how = NOTHING_TOLD if silent else event.reason
        effects: list[Effect] = []
        over = [each for each in self._followed if each.turn <= event.turn and not each.is_handed]
        for followed in over:
            if followed.turn == event.turn and not followed.started:
                # This signal may end the previous answer, while the program still queues this message.
                if event.certain:
                    continue
                effects.append(ReportState(followed.message_id, "turn_started"))
                followed.started = True
            if followed.is_unreadable:
                effects.append(ReportState(followed.message_id, "unconfirmed", UNREADABLE))
            elif event.reason == "closed":
                effects.append(ReportState(followed.message_id, "unconfirmed", event.reason))
            elif followed.started:
                effects.append(ReportState(followed.message_id, "answered", how))
            self._followed.remove(followed)
            current = self._current
            if current is not None and current.message.message_id == followed.message_id:
                current.is_over = current.stage == "confirming"
        return effects

    def _end(self, state: DeliveryState, reason: str) -> list[Effect]:
        """End the current message without success."""
        current, self._current = self._current, None
        if current is None:
            return []
        self._due = 0.0
        self._handed.discard(current.message.message_id)
        if current.is_over:
            return []
        # A later answer is not attributed to this message: the state is final.
        for followed in [each for each in self._followed if each.message_id == current.message.message_id]:
            self._followed.remove(followed)
        return [ReportState(current.message.message_id, state, reason)]
