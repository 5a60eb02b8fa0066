"""The links, listeners, relays and gatherings of one service, as one pure machine of requests, events and time.

* A session is in at most one relay or gathering; meanwhile its links deliver nothing
  (`streamrelay.relay.registry.SessionAssignments`).
* A pause of everything, and a muted session, also apply to conversations that begin later.
* `changes` returns the changed values, to be committed together with their events; `restored` starts from them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

import msgspec

from streamrelay.delivery.message import FINAL
from streamrelay.errors import ProgramLeft, TargetNotFound
from streamrelay.events import DeliveryState, Event, PaneClosed, Receipt, RelayOpened, TurnEnded
from streamrelay.federation.names import is_far
from streamrelay.federation.seats import Guest
from streamrelay.gathering.circle import Circle
from streamrelay.gathering.prompts import PromptTexts
from streamrelay.links.link import Link, LinkPolicy, Listener, NoticeTexts, Party, StoredLinks
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.registry import SessionAssignments
from streamrelay.relay.rules import Close, Effect, Participant, PublishEvent, Rules
from streamrelay.service.gatherings_store import GatheringsStore
from streamrelay.service.messages import MessageOutcome, OutgoingMessage, check, check_last_words, notice
from streamrelay.service.relays import Relays
from streamrelay.service.settings import UserDecisions

COUNCIL, LINK, LISTENERS, SETTINGS = "council/", "link/", "listeners", "settings"
GONE = frozenset({"pane_gone", "session_gone", "server_lost", "ended"})
"""The reasons for leaving with which the pane is gone; with any other reason, only its program has ended."""


class CouncilTurn(msgspec.Struct, frozen=True):
    """A session that answers a council: its pane, and the message that it answers."""

    pane: str
    message_id: str


class ServiceMachine:
    """Links, listeners, relays and gatherings of one service."""

    def __init__(self, texts: NoticeTexts | None = None, links: LinkRegistry | None = None) -> None:
        self.settings = UserDecisions()
        self.links = links or LinkRegistry(texts)
        self._texts = texts or NoticeTexts()
        self._seats = SessionAssignments()
        self.relays = Relays(self._seats)
        self.circles = GatheringsStore(self._seats)
        self._in_turns: set[str] = set()
        self.council_turns: dict[str, CouncilTurn] = {}
        """The sessions that answer a council now."""
        self._restored_turns: dict[str, bool] = {}
        """Those of them whose council ended with an earlier service, with whether the message is submitted: then the
        end of a turn is the end of the answer."""
        self._changed_turns: set[str] = set()
        self._listeners: tuple[Listener, ...] = self.links.listeners
        self._settings_changed = False

    @classmethod
    def restored(
        cls,
        kept: Mapping[str, bytes],
        texts: NoticeTexts | None = None,
        *,
        words: PromptTexts | None = None,
        now: float = 0.0,
        life: str = "",
    ) -> Self:
        """Restore from the kept values, with a clock that shows `now`; without `words`, drop the gatherings.

        `life` is in the ids of messages, so that a state that went back gives none of them again (`relay.message_ids`).
        """
        links = [msgspec.json.decode(value, type=Link) for key, value in kept.items() if key.startswith(LINK)]
        listeners = msgspec.json.decode(kept.get(LISTENERS, b"[]"), type=tuple[Listener, ...])
        machine = cls(texts, LinkRegistry.restored(StoredLinks(tuple(links), listeners), texts, life))
        if SETTINGS in kept:
            machine.settings = msgspec.json.decode(kept[SETTINGS], type=UserDecisions)
        machine.relays = Relays.restored(kept, machine._seats, life)
        for relay_id in machine.relays.all:
            for session in machine._seats.sessions_of(relay_id):
                machine.links.suspend(session, relay_id)
        if words is not None:
            machine.circles = GatheringsStore.restored(kept, machine._seats, words, now, life)
        for circle in machine.circles.held:
            for seat in circle.present:
                machine.links.suspend(seat.session, circle.gathering_id)
        for key, value in kept.items():
            if key.startswith(COUNCIL):
                machine._restore_council_turn(key.removeprefix(COUNCIL), msgspec.json.decode(value, type=CouncilTurn))
        machine.links.changes()
        return machine

    def changes(self) -> dict[str, bytes | None]:
        """Return the values changed since the last call, by key; None for a deleted one."""
        changes: dict[str, bytes | None] = {
            LINK + link_id: None if link is None else msgspec.json.encode(link)
            for link_id, link in self.links.changes().items()
        }
        if (listeners := self.links.listeners) != self._listeners:
            self._listeners = listeners
            changes[LISTENERS] = msgspec.json.encode(listeners)
        for session in self._changed_turns:
            turn = self.council_turns.get(session)
            changes[COUNCIL + session] = None if turn is None else msgspec.json.encode(turn)
        self._changed_turns.clear()
        if self._settings_changed:
            self._settings_changed = False
            changes[SETTINGS] = msgspec.json.encode(self.settings)
        return changes | self.relays.changes() | self.circles.changes()

    @property
    def panes(self) -> set[str]:
        """The panes that must be observed."""
        parties = [party for link in self.links.links() for party in link.parties]
        parties += [party for each in self.links.listeners for party in (each.caller, each.target)]
        return (
            {party.pane for party in parties}
            | {member.pane for member in self.relays.present}
            | self.circles.panes
            | {turn.pane for turn in self.council_turns.values()}
            | self.settings.watched
        )

    def relay_of(self, session: str) -> str:
        """Return the relay or gathering a session takes part in; empty for none."""
        return self._seats.relay_of(session) or ""

    # What is heard

    @property
    def closed(self) -> bool:
        """A service is never done."""
        return False

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # the flag is the message
        """Set whether a pane's output is delivered by whole turns from here on."""
        (self._in_turns.add if whole else self._in_turns.discard)(pane)
        self.links.speaks_in_turns(pane, whole)
        for relay in self.relays.all.values():
            relay.speaks_in_turns(pane, whole)
        for circle in self.circles.held:
            circle.speaks_in_turns(pane, whole)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event of a pane."""
        if isinstance(event, PaneClosed):
            return self.leave(event.pane, event.reason, now)
        effects = [
            effect for circle, made in self.circles.handle(event, now) for effect in self._in_circle(circle, made)
        ]
        if isinstance(event, Receipt):
            for session, turn in list(self.council_turns.items()):
                if turn.message_id == event.message_id and session in self._restored_turns:
                    effects += self.resume_council_turn(session, event.state)
            return effects
        effects += self.links.handle(event, now)
        for relay in self.relays.with_pane(event.pane):
            effects += self._in_relay(relay, relay.handle(event, now))
        if isinstance(event, TurnEnded):
            for session, is_submitted in list(self._restored_turns.items()):
                if is_submitted and (turn := self.council_turns[session]).pane == event.pane:
                    effects += self.end_council_turn(session, turn.message_id)
        return effects

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """Take the end of a pane or its program."""
        if reason in GONE and self.settings.muted:
            self.settings.muted -= self._sessions_in(pane)
            self._settings_changed = True
        effects = self.links.leave(pane, reason, now)
        for relay in self.relays.with_pane(pane):
            effects += self._in_relay(relay, relay.leave(pane, reason, now))
        for circle in self.circles.with_pane(pane):
            effects += self._in_circle(circle, circle.leave(pane, reason, now))
        for session, turn in list(self.council_turns.items()):
            if turn.pane == pane:
                effects += self.end_council_turn(session, turn.message_id)
        if self.is_watched(pane) and reason != ProgramLeft.code:
            self.watch(pane, watched=False)
        return effects

    def _sessions_in(self, pane: str) -> set[str]:
        seats = [(party.pane, party.session) for link in self.links.links() for party in link.parties]
        seats += [(member.pane, member.session) for member in self.relays.present]
        seats += [(seat.pane, seat.session) for circle in self.circles.held for seat in circle.present]
        return {pane} | {session for where, session in seats if where == pane}

    def deadline(self) -> float | None:
        """Return when `advance` is due; None while nothing is waited for."""
        relays = [relay.deadline() for relay in self.relays.all.values()]
        due = [self.links.deadline(), self.circles.deadline(), *relays]
        return min((each for each in due if each is not None), default=None)

    def advance(self, now: float) -> list[Effect]:
        """Let time pass."""
        effects = self.links.advance(now)
        for relay in list(self.relays.all.values()):
            if (due := relay.deadline()) is not None and due <= now:
                effects += self._in_relay(relay, relay.advance(now))
        for circle, made in self.circles.advance(now):
            effects += self._in_circle(circle, made)
        return effects

    # What is asked

    def send(
        self, sending: OutgoingMessage, *, link_id: str, at: float, now: float, listener_id: str = ""
    ) -> tuple[MessageOutcome, list[Effect]]:
        """Deliver a message, and make its link or listener under the given ids; `at` is Unix time.

        Between linked sessions, the message counts as a delivery of their link, and no listener is made. Raises
        NotAllowed for a message that a session may not send (streamrelay.service.messages).
        """
        caller, target, sent = sending.caller, sending.target, MessageOutcome()
        if caller is None:
            return sent, [notice(sending, self._texts.frame)]
        sent.link = self.links.between(caller.session, target.session)
        if sending.again:
            sent.listening = any(each.target == target and each.caller == caller for each in self.links.listeners)
            sent.closed = sending.then == "close" and sent.link is None
            return sent, []
        check(sending, caller, self.links, self.settings, now)
        if sending.then == "close":
            return self._send_last(sending, caller, sent)
        if sent.link is not None:
            effects = self.links.deliver(
                caller.session,
                target.session,
                sending.text,
                message_id=sending.message_id,
                now=now,
                typing=sending.typing,
            )
            sent.link = self.links.between(caller.session, target.session)
            return sent, effects
        effects = [notice(sending, self._texts.frame)]
        if sending.then == "link":
            sent.link, made = self.link(caller, target, link_id=link_id, at=at, policy=sending.policy, now=now)
            effects += made
        elif sending.then == "listen":
            sent.listening = self.links.listen(caller, target, listener_id=listener_id)
        return sent, effects

    def _send_last(
        self, sending: OutgoingMessage, caller: Party, sent: MessageOutcome
    ) -> tuple[MessageOutcome, list[Effect]]:
        """Deliver last words and close the link."""
        effects: list[Effect] = [notice(sending, self._texts.frame)]
        if (link := sent.link) is not None:
            sent.link, sent.closed = None, True
            effects += self.close_link(link.link_id, caller.session)
        return sent, effects

    def link(
        self, a: Party, b: Party, *, link_id: str, at: float, now: float, policy: LinkPolicy | None = None
    ) -> tuple[Link, list[Effect]]:
        """Link two sessions unless they are linked, for a person: also a pair that agents may not link again."""
        if self.settings.are_apart(a.session, b.session):
            self.settings.join(a.session, b.session)
            self._settings_changed = True
        link, effects = self.links.create(a, b, link_id=link_id, at=at, policy=policy)
        if effects and self.settings.paused:
            effects += self.links.pause(now, link_id=link_id)
        for party in (a, b) if effects else ():
            if party.session in self.settings.muted:
                effects += self.links.mute(party.session)
        return link, effects

    def extend(self, link_id: str, deliveries: int, now: float) -> list[Effect]:
        """Add to the budget of a link; raises TargetNotFound for an unknown id."""
        a, b = self.found(link_id).parties
        return self.links.extend(a.session, b.session, deliveries, now)

    def close_link(self, link_id: str, by: str = "", last_words: str = "") -> list[Effect]:
        """End a link for one of its sides, or for a person; raises TargetNotFound for an unknown id.

        If a side closes a link that waits for a person (spent or paused), only a person can link the two again. Raises
        NotAllowed for last words that the link may not deliver (`messages`).
        """
        link = self.found(link_id)
        a, b = link.parties
        if by:
            check_last_words(link, by, last_words, self.settings)
            self.part(link)
        reason = "closed" if by else "stopped"
        return self.links.close_link(a.session, b.session, by=by, last_words=last_words, reason=reason)

    def part(self, link: Link) -> None:
        """Keep two sessions from linking again by themselves, if their closed link waited for a person."""
        if link.relay.state.spent or link.relay.state.paused:
            self.settings.part(*(party.session for party in link.parties))
            self._settings_changed = True

    def found(self, link_id: str) -> Link:
        """Return a link by its id; raises TargetNotFound for an unknown id."""
        for link in self.links.links():
            if link.link_id == link_id:
                return link
        raise TargetNotFound(f"there is no link {link_id}", hint="list the links: streamrelay status")

    def open_relay(self, relay_id: str, participants: Sequence[Participant], rules: Rules, now: float) -> list[Effect]:
        """Open a relay; raises SessionTaken for a session in another one, and UsageError for invalid participants."""
        relay = self.relays.open(relay_id, participants, rules)
        labels = tuple(participant.label for participant in participants)
        effects: list[Effect] = [PublishEvent(RelayOpened(relay=relay_id, participants=labels))]
        for member in participants:
            relay.speaks_in_turns(member.pane, member.pane in self._in_turns)
            effects += self.links.suspend(member.session, relay_id)
            if member.session in self.settings.muted:
                effects += relay.mute(member.pane)
        return [*effects, *(relay.pause(now) if self.settings.paused else [])]

    def stop_relay(self, relay_id: str) -> list[Effect]:
        """End a relay; raises TargetNotFound for an unknown id."""
        relay = self.relays.found(relay_id)
        return self._in_relay(relay, relay.close())

    def pause(self, of: str, now: float, *, paused: bool) -> list[Effect]:
        """Pause or resume one link, relay or gathering (`of`), or all; raises TargetNotFound for an unknown id."""
        if not of:
            self.settings.paused = paused
            self._settings_changed = True
        elif of not in {*self.relays.all, *self.circles.all, *(link.link_id for link in self.links.links())}:
            raise TargetNotFound(
                f"there is no link, relay or gathering {of}",
                hint="list them: streamrelay status (gatherings: streamrelay gather list)",
                data={"target": of},
            )
        others = {*self.relays.all, *self.circles.all}
        effects = self.links.pause(now, paused=paused, link_id=of) if of not in others else []
        for circle in [circle for circle in self.circles.held if of in {"", circle.gathering_id}]:
            effects += self._in_circle(circle, circle.pause(now, paused=paused))
        for relay in [relay for relay in self.relays.all.values() if of in {"", relay.relay_id}]:
            effects += self._in_relay(relay, relay.pause(now, paused=paused))
        return effects

    def mute(self, session: str, *, muted: bool) -> list[Effect]:
        """Mute a session or unmute it."""
        (self.settings.muted.add if muted else self.settings.muted.discard)(session)
        self._settings_changed = True
        effects = self.links.mute(session, muted=muted)
        for relay in list(self.relays.all.values()):
            for member in relay.participants:
                if member.session == session:
                    effects += self._in_relay(relay, relay.mute(member.pane, muted=muted))
        if (circle := self.circles.of(session)) is not None:
            circle.mute(session, muted=muted)
            self.circles.touch(circle)
        return effects

    def watch(self, pane: str, *, watched: bool) -> None:
        """Observe a pane although it takes part in no conversation, or stop that."""
        (self.settings.watched.add if watched else self.settings.watched.discard)(pane)
        self._settings_changed = True

    def is_watched(self, pane: str) -> bool:
        """Whether a pane stays observed although its program changes."""
        return pane in self.settings.watched

    def forget_sessions(self) -> None:
        """Forget mutes and forbidden links: the tmux server has ended, so the ids now mean other sessions."""
        self.settings.apart.clear()
        self.settings.muted.clear()
        self._settings_changed = True

    def stop_all(self, now: float) -> tuple[int, list[Effect]]:
        """End all links and relays, and all gatherings without a harvest; return their number."""
        links, relays, circles = self.links.links(), list(self.relays.all), self.circles.held
        effects = [effect for link in links for effect in self.close_link(link.link_id)]
        effects += [effect for relay_id in relays for effect in self.stop_relay(relay_id)]
        effects += [effect for circle in circles for effect in self.close_gathering(circle, now, at_once=True)]
        return len(links) + len(relays) + len(circles), effects

    # Gatherings

    def open_gathering(self, circle: Circle, now: float, pulse: str = "") -> list[Effect]:
        """Begin a gathering; raises SessionTaken for a session that is in another relay or gathering.

        While everything is paused, only its opening is delivered, because the person who starts it wrote that.
        """
        self.circles.add(circle)
        effects: list[Effect] = []
        for seat in circle.present:
            circle.speaks_in_turns(seat.pane, seat.pane in self._in_turns)
            effects += self.links.suspend(seat.session, circle.gathering_id)
            if seat.session in self.settings.muted:
                circle.mute(seat.session, muted=True)
        effects += circle.begin(now, pulse)
        if self.settings.paused:
            effects += circle.pause(now, paused=True)
        return self._in_circle(circle, effects)

    def in_gathering(self, gathering_id: str, decide: Callable[[Circle], list[Effect]]) -> list[Effect]:
        """Apply a decision to a gathering; raises TargetNotFound for an unknown id."""
        circle = self.circles.found(gathering_id)
        return self._in_circle(circle, decide(circle))

    def sense(self, signals: str, now: float) -> list[Effect]:
        """Take a one-line summary of the current work, for the beats of all gatherings."""
        return [e for circle in self.circles.held for e in self._in_circle(circle, circle.sense(signals, now))]

    def close_gathering(self, circle: Circle, now: float, *, at_once: bool = False) -> list[Effect]:
        """Close a gathering early, after its harvest; a second call, or `at_once`, skips the harvest."""
        effects = circle.close(now)
        if at_once and not circle.closed:
            effects += circle.close(now)
        return self._in_circle(circle, effects)

    # Councils

    def begin_council_turn(self, session: str, pane: str, message_id: str) -> list[Effect]:
        """Suspend the links of a session while it answers a council: what it says is for that alone.

        Raises SessionTaken. A session of another machine has no links here.
        """
        self._seats.take(message_id, [session])
        if not is_far(pane):
            self.council_turns[session] = CouncilTurn(pane, message_id)
            self._changed_turns.add(session)
        self._restored_turns.pop(session, None)
        return self.links.suspend(session, message_id)

    def end_council_turn(self, session: str, message_id: str) -> list[Effect]:
        """Resume the links of a session that has answered a council, or answers it no more."""
        if (turn := self.council_turns.get(session)) is not None and turn.message_id == message_id:
            del self.council_turns[session]
            self._changed_turns.add(session)
        self._restored_turns.pop(session, None)
        return self.leave_seat(session, message_id)

    def resume_council_turn(self, session: str, state: DeliveryState) -> list[Effect]:
        """Take the state of the message that a session of an earlier service's council answers."""
        if (turn := self.council_turns.get(session)) is None:
            return []
        if state in FINAL:
            return self.end_council_turn(session, turn.message_id)
        self._restored_turns[session] = state in {"submitted", "turn_started"}
        return []

    def _restore_council_turn(self, session: str, turn: CouncilTurn) -> None:
        if self.relay_of(session):
            self._changed_turns.add(session)
            return
        self.begin_council_turn(session, turn.pane, turn.message_id)
        self._changed_turns.discard(session)
        self._restored_turns[session] = False

    # Sessions of other machines

    def guests(self) -> list[Guest]:
        """Return the sessions of other machines that take part in a relay, gathering or listener here."""
        relays = [
            Guest(relay_id, "relay", member.session, member.pane)
            for relay_id, relay in self.relays.all.items()
            for member in relay.participants
            if is_far(member.pane) and member.pane not in relay.state.gone
        ]
        circles = [
            Guest(circle.gathering_id, "gathering", seat.session, seat.pane, seat.is_human)
            for circle in self.circles.held
            for seat in circle.present
            if is_far(seat.pane)
        ]
        people = [
            Guest(circle.gathering_id, "person", f"{seat.name}@{seat.node}", f"#{seat.number}@{seat.node}", True)
            for circle in self.circles.held
            for seat in circle.people_elsewhere
        ]
        listeners = [
            Guest(listener.listener_id, "listener", listener.target.session, listener.target.pane)
            for listener in self.links.listeners
            if is_far(listener.target.pane)
        ]
        return [*relays, *circles, *people, *listeners]

    def take_seat(self, session: str, of: str) -> list[Effect]:
        """Reserve a session of here for a relay or gathering of another machine; raises SessionTaken."""
        self._seats.take(of, [session])
        return self.links.suspend(session, of)

    def leave_seat(self, session: str, of: str) -> list[Effect]:
        """Release a session that was reserved for `of`."""
        if self.relay_of(session) != of:
            return []
        self._seats.leave(session)
        return self.links.suspend(session, "")

    def drop(self, of: str, pane: str, reason: str, now: float) -> list[Effect]:
        """Let a pane leave one relay or gathering, or one listener."""
        if (relay := self.relays.all.get(of)) is not None:
            return self._in_relay(relay, relay.leave(pane, reason, now))
        circle = self.circles.all.get(of)
        if circle is not None and circle.has(pane):
            return self._in_circle(circle, circle.leave(pane, reason, now))
        if circle is not None:
            people = [seat.number for seat in circle.people_elsewhere if pane == f"#{seat.number}@{seat.node}"]
            return self._in_circle(circle, [e for number in people for e in circle.dismiss(number, reason, now)])
        return self.links.drop_listener(of, reason)

    def say(self, of: str, number: int, text: str, now: float) -> list[Effect]:
        """Contribute for a person in a gathering; raises PieceNotHeld, UsageError and TargetNotFound."""
        return self.in_gathering(of, lambda circle: circle.say(number, text, now))

    def is_held(self, of: str) -> bool:
        """Whether there is a gathering of that id that is not over."""
        circle = self.circles.all.get(of)
        return circle is not None and not circle.closed

    def is_running(self, of: str) -> bool:
        """Whether it is held and not paused."""
        return self.is_held(of) and self.circles.all[of].ceremony.state.paused_at is None

    def stop(self, of: str, now: float) -> list[Effect]:
        """End a relay, or close a gathering early; raises TargetNotFound."""
        if of in self.relays.all:
            return self.stop_relay(of)
        return self.close_gathering(self.circles.found(of), now)

    # What follows

    def _in_relay(self, relay: RelayMachine, effects: Iterable[Effect]) -> list[Effect]:
        """Add to a relay's effects: the links of sessions that have left it resume."""
        result, left = self.relays.follow(relay, effects)
        return [*result, *(effect for session in left for effect in self.links.suspend(session, ""))]

    def _in_circle(self, circle: Circle, effects: Iterable[Effect]) -> list[Effect]:
        """Add to a gathering's effects: the links of sessions that have left it resume."""
        self.circles.touch(circle)
        result: list[Effect] = [effect for effect in effects if not isinstance(effect, Close)]
        staying = set() if circle.closed else {seat.session for seat in circle.present}
        for seat in circle.seats.values():
            if seat.session not in staying and self.relay_of(seat.session) == circle.gathering_id:
                self._seats.leave(seat.session)
                result += self.links.suspend(seat.session, "")
        return result
