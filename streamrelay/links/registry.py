"""The registry of the links and listeners of one service. Pure.

* Two sessions have at most one link; a second request, from either side, changes nothing. A session can have links with
  several others; each of them gets its output, within the budget of that link.
* A relay of two (`streamrelay.relay.machine`) decides what a link delivers. The registry adds the notices: both sides
  get one when the budget is spent, and the link then waits for a person to extend it; a side gets one when the other
  closes the link or ends. While one of the two is in a relay or gathering, the link is suspended.
* A listener is one-way: its caller gets one message when the target stops, without the target's output. Linked sessions
  need no listener, so a pair never has both.
* When a session ends, its links and listeners end at once.
"""

from collections.abc import Iterable
from typing import Self

from streamrelay.delivery.message import OWN_TEXT, DeliveryPolicy
from streamrelay.errors import UsageError
from streamrelay.events import (
    Event,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    PaneClosed,
    StopNotified,
    TurnEnded,
)
from streamrelay.links.link import (
    Link,
    LinkPolicy,
    Listener,
    NoticeTexts,
    Party,
    StoredLinks,
    notice_text,
    participants,
)
from streamrelay.relay.attribution import filled
from streamrelay.relay.machine import Refusal, RelayMachine
from streamrelay.relay.rules import Close, Effect, Notice, Participant, PublishEvent, Spend


class _Entry:
    """A link and its relay machine."""

    def __init__(
        self, parties: tuple[Party, Party], policy: LinkPolicy, created_at: float, machine: RelayMachine
    ) -> None:
        self.parties = parties
        self.policy = policy
        self.created_at = created_at
        self.machine = machine

    @property
    def link_id(self) -> str:
        return self.machine.relay_id

    def has(self, pane: str) -> bool:
        return any(party.pane == pane for party in self.parties)

    def pane_of(self, session: str) -> str:
        return next(party.pane for party in self.parties if party.session == session)

    def is_due(self, now: float) -> bool:
        due = self.machine.deadline()
        return due is not None and due <= now

    def link(self) -> Link:
        return Link(self.parties, self.policy, self.created_at, self.machine.stored())


class LinkRegistry:
    """The links and listeners between sessions."""

    def __init__(self, texts: NoticeTexts | None = None) -> None:
        """Take the texts; raises UsageError for an invalid template."""
        self._texts = texts or NoticeTexts()
        self._texts.check()
        self._entries: dict[frozenset[str], _Entry] = {}
        self._listeners: dict[tuple[str, str], Listener] = {}
        self._suspended: dict[str, str] = {}
        self._in_turns: set[str] = set()
        self._changed: set[str] = set()

    @classmethod
    def restored(cls, stored: StoredLinks, texts: NoticeTexts | None = None, life: str = "") -> Self:
        """Restore the stored links, in a life of its own (`streamrelay.relay.message_ids`).

        Suspensions are not stored: a running relay or gathering suspends them again.
        """
        registry = cls(texts)
        for link in stored.links:
            machine = RelayMachine.restored(link.relay, life)
            machine.suspend("")
            registry._entries[_pair(*link.parties)] = _Entry(link.parties, link.policy, link.created_at, machine)
        registry._listeners = {(each.caller.session, each.target.session): each for each in stored.listeners}
        return registry

    def stored(self) -> StoredLinks:
        """Return the state from which `restored` continues."""
        return StoredLinks(tuple(self.links()), tuple(self._listeners.values()))

    def changes(self) -> dict[str, Link | None]:
        """Return the links changed since the last call, by id; None for a closed one."""
        changed, self._changed = self._changed, set()
        now = {entry.link_id: entry for entry in self._entries.values()} if changed else {}
        return {link_id: now[link_id].link() if link_id in now else None for link_id in changed}

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """All listeners."""
        return tuple(self._listeners.values())

    @property
    def closed(self) -> bool:
        """Whether no link and no listener is left."""
        return not self._entries and not self._listeners

    # Links

    def create(
        self, a: Party, b: Party, *, link_id: str, at: float, policy: LinkPolicy | None = None
    ) -> tuple[Link, list[Effect]]:
        """Link two sessions; if they are linked already, return that link unchanged. `at` is Unix time."""
        if a.session == b.session:
            raise UsageError(
                "a session cannot be linked with itself",
                hint="name two different sessions",
                data={"session": a.session},
            )
        entry = self._entries.get(_pair(a, b))
        if entry is not None:
            return entry.link(), []
        policy = policy or LinkPolicy()
        machine = RelayMachine(link_id, participants(a, b), policy.rules(self._texts.frame))
        for party, direction in ((a, "from_b"), (b, "from_a")):
            machine.speaks_in_turns(party.pane, party.pane in self._in_turns)
            if policy.direction == direction:
                machine.mute(party.pane)
        entry = self._entries[_pair(a, b)] = _Entry((a, b), policy, at, machine)
        self._changed.add(link_id)
        for caller, target in ((a, b), (b, a)):
            self._listeners.pop((caller.session, target.session), None)
        created = LinkCreated(
            link=link_id, parties=(a.session, b.session), titles=(a.title, b.title), budget=policy.budget
        )
        return entry.link(), [PublishEvent(created), *self._update_suspension(entry)]

    def links(self) -> list[Link]:
        """Return all links."""
        return [entry.link() for entry in self._entries.values()]

    def between(self, session: str, other: str) -> Link | None:
        """Return the link between two sessions, in either order."""
        entry = self._entries.get(frozenset((session, other)))
        return None if entry is None else entry.link()

    def refusal(self, session: str, other: str, text: str, now: float) -> tuple[Refusal, str] | None:
        """Return why the link may not deliver a message of one side to the other now (see `RelayMachine.refusal`)."""
        entry = self._entries.get(frozenset((session, other)))
        return None if entry is None else entry.machine.refusal(entry.pane_of(session), text, now)

    def deliver(
        self, session: str, other: str, text: str, *, message_id: str, now: float, typing: DeliveryPolicy | None = None
    ) -> list[Effect]:
        """Deliver a message of one side to the other over their link; do nothing without a link."""
        entry = self._entries.get(frozenset((session, other)))
        if entry is None:
            return []
        return self._link_effects(
            entry, entry.machine.send(entry.pane_of(session), text, message_id, now, policy=typing)
        )

    def of(self, session: str) -> list[Link]:
        """Return the links of one session."""
        return [entry.link() for entry in self._of(session)]

    # Decisions of people and sessions

    def extend(self, session: str, other: str, deliveries: int, now: float) -> list[Effect]:
        """Add to a link's budget, and reopen a spent link; do nothing without a link or a budget."""
        entry = self._entries.get(frozenset((session, other)))
        if entry is None or not entry.machine.state.budget:
            return []
        made = entry.machine.deliveries
        released = entry.machine.extend(deliveries, now)
        extended = LinkExtended(link=entry.link_id, deliveries=made, budget=entry.machine.state.budget)
        notices = self._notify(entry, "extended", self._texts.extended, entry.machine.participants)
        return [PublishEvent(extended), *notices, *self._link_effects(entry, released)]

    def close_link(
        self, session: str, other: str, *, by: str = "", last_words: str = "", reason: str = "closed"
    ) -> list[Effect]:
        """End a link and notify each side that did not ask for it, after delivering the `last_words` of the side `by`.

        The last words are a separate message that ignores the budget.
        """
        entry = self._entries.get(frozenset((session, other)))
        if entry is None:
            return []
        effects: list[Effect] = []
        speaker = next((p for p in entry.machine.participants if p.session == by), None)
        if last_words.strip() and speaker is not None:
            text = filled(self._texts.frame, name=speaker.name, number=speaker.number, text=last_words)
            others = tuple(p for p in entry.machine.participants if p is not speaker)
            effects.append(Notice(entry.machine.message_id("last"), others, text))
        return [*effects, *self._link_effects(entry, entry.machine.close(reason), by=by)]

    def end_session(self, session: str, reason: str, now: float) -> list[Effect]:
        """End a session's links and listeners, and notify its peers and callers."""
        effects: list[Effect] = []
        for entry in self._of(session):
            left = entry.machine.leave(entry.pane_of(session), reason, now)
            effects += self._link_effects(entry, left, by=session)
        self._suspended.pop(session, None)
        effects += self._notify_callers(session, reason, self._texts.gone)
        for key in [key for key in self._listeners if key[0] == session]:
            del self._listeners[key]
        return effects

    def suspend(self, session: str, by: str) -> list[Effect]:
        """Suspend a session's links while it is in the relay or gathering `by`; an empty `by` resumes them."""
        if by:
            self._suspended[session] = by
        else:
            self._suspended.pop(session, None)
        return [effect for entry in self._of(session) for effect in self._update_suspension(entry)]

    def pause(self, now: float, *, paused: bool = True, link_id: str = "") -> list[Effect]:
        """Pause or resume all links, or one."""
        effects: list[Effect] = []
        for entry in [entry for entry in self._entries.values() if link_id in {"", entry.link_id}]:
            effects += self._link_effects(entry, entry.machine.pause(now, paused=paused))
        return effects

    def mute(self, session: str, *, muted: bool = True) -> list[Effect]:
        """Mute a session on all its links, or unmute it."""
        effects: list[Effect] = []
        for entry in self._of(session):
            for party, unheard in zip(entry.parties, ("from_b", "from_a"), strict=True):
                if party.session == session and entry.policy.direction != unheard:
                    effects += self._link_effects(entry, entry.machine.mute(party.pane, muted=muted))
        return effects

    def listen(self, caller: Party, target: Party, *, listener_id: str) -> bool:
        """Send the caller one message when the target stops; return False if a link makes that superfluous.

        The message has the id `listener_id`.
        """
        if self.between(caller.session, target.session) is not None:
            return False
        self._listeners[caller.session, target.session] = Listener(listener_id, caller, target)
        return True

    def drop_listener(self, listener_id: str, reason: str) -> list[Effect]:
        """End one listener, and notify its caller that the target has ended."""
        keys = [key for key, listener in self._listeners.items() if listener.listener_id == listener_id]
        return [
            effect for key in keys for effect in self._notify_callers(key[1], reason, self._texts.gone, caller=key[0])
        ]

    # Events of the sessions

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # the flag is the message
        """Set whether links deliver a pane's output by whole turns from here on."""
        (self._in_turns.add if whole else self._in_turns.discard)(pane)
        for entry in self._entries.values():
            entry.machine.speaks_in_turns(pane, whole)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take one event of a session's stream."""
        if isinstance(event, PaneClosed):
            return self.leave(event.pane, event.reason, now)
        effects: list[Effect] = []
        for entry in [entry for entry in self._entries.values() if entry.has(event.pane)]:
            effects += self._link_effects(entry, entry.machine.handle(event, now))
        if isinstance(event, TurnEnded) and event.reason != "superseded":
            for session in {each.target.session for each in self._listeners.values() if each.target.pane == event.pane}:
                effects += self._notify_callers(session, event.reason, self._texts.stopped)
        return effects

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """End what a pane's session takes part in, because the session or its program has ended."""
        parties = [party for entry in self._entries.values() for party in entry.parties]
        parties += [party for each in self._listeners.values() for party in (each.caller, each.target)]
        effects: list[Effect] = []
        for session in dict.fromkeys(party.session for party in parties if party.pane == pane):
            effects += self.end_session(session, reason, now)
        return effects

    def deadline(self) -> float | None:
        """Return when `advance` is due; None without a pending deadline."""
        due = [entry.machine.deadline() for entry in self._entries.values()]
        return min((each for each in due if each is not None), default=None)

    def advance(self, now: float) -> list[Effect]:
        """Advance the clock."""
        effects: list[Effect] = []
        for entry in [entry for entry in self._entries.values() if entry.is_due(now)]:
            effects += self._link_effects(entry, entry.machine.advance(now))
        return effects

    # Effects

    def _of(self, session: str) -> list[_Entry]:
        return [entry for pair, entry in self._entries.items() if session in pair]

    def _link_effects(self, entry: _Entry, effects: Iterable[Effect], by: str = "") -> list[Effect]:
        """Turn the effects of a link's relay into effects of the link, with its notices and events."""
        self._changed.add(entry.link_id)
        result: list[Effect] = []
        for effect in effects:
            match effect:
                case Spend():
                    made = entry.machine.deliveries
                    result.append(PublishEvent(LinkSpent(link=entry.link_id, deliveries=made)))
                    result += self._notify(entry, "spent", self._texts.spent, entry.machine.participants)
                case Close(reason=reason, deliveries=made):
                    self._entries.pop(_pair(*entry.parties), None)
                    state = entry.machine.state
                    closed = LinkClosed(
                        link=entry.link_id, reason=reason, by=by, deliveries=made, traffic=state.traffic
                    )
                    others = [p for p in entry.machine.participants if p.session != by and p.pane not in state.gone]
                    template = self._texts.ended if state.gone else self._texts.closed if by else ""
                    result += [PublishEvent(closed), *self._notify(entry, "closed", template, others)]
                case _:
                    result.append(effect)
        return result

    def _update_suspension(self, entry: _Entry) -> list[Effect]:
        """Suspend a link if one of its sides is in a relay or gathering, or resume it."""
        by = next((self._suspended[party.session] for party in entry.parties if party.session in self._suspended), "")
        if entry.machine.state.suspended_by == by:
            return []
        entry.machine.suspend(by)
        self._changed.add(entry.link_id)
        return [PublishEvent(LinkSuspended(link=entry.link_id, by=by))]

    def _notify(self, entry: _Entry, kind: str, template: str, listeners: Iterable[Participant]) -> list[Effect]:
        """Return a notice for each recipient, with an id that is unique within this link."""
        machine = entry.machine
        effects: list[Effect] = []
        for listener in listeners if template and entry.policy.notices else ():
            peer = next(p for p in machine.participants if p is not listener)
            message_id = machine.message_id(f"{kind}-{machine.state.budget}-{listener.number}")
            text = notice_text(template, title=peer.name, deliveries=machine.deliveries)
            effects.append(Notice(message_id, (listener,), text, policy=OWN_TEXT))
        return effects

    def _notify_callers(self, target: str, reason: str, template: str, *, caller: str = "") -> list[Effect]:
        """End the listeners to a target, of one caller or of all, and send each caller its notice."""
        effects: list[Effect] = []
        for key in [key for key in self._listeners if key[1] == target and caller in {"", key[0]}]:
            listener = self._listeners.pop(key)
            participant = Participant(
                listener.caller.session, listener.caller.pane, listener.caller.title, 1, listener.caller.session_name
            )
            effects.append(PublishEvent(StopNotified(caller=participant.session, target=target, reason=reason)))
            if template:
                text = notice_text(template, title=listener.target.title, deliveries=0)
                effects.append(Notice(listener.listener_id, (participant,), text, policy=OWN_TEXT))
        return effects


def _pair(a: Party, b: Party) -> frozenset[str]:
    return frozenset((a.session, b.session))
