"""What a node has and keeps: channels to its peers, the links that reach over there, what was sent. Pure.

* A session of another node takes part in a link like any other, under the pane `%3@beta`; the machine of the service
  does not know the difference. What it decides for such a pane leaves a step and is posted instead of typed
  (`streamrelay.federation.outgoing`).
* Where the session lives, its words are sent to the homes of its links (`Heard`), as events, in order. The home's
  machine handles them as if they had been said there (`streamrelay.federation.incoming`).
* All that is posted, taken and shown is kept with the step it comes from, in one transaction (`changes`), and sent only
  then (`kept`). So a message is posted once, however often either side dies.
* A session that ends severs its links here at once, and there as soon as that is known there.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Protocol, Self

import msgspec

from streamrelay.errors import NotAllowed
from streamrelay.events import LinkClosed
from streamrelay.federation.allowance import Allowance, Limits
from streamrelay.federation.channel import Channel, ChannelState, Verdict
from streamrelay.federation.compression import size_of
from streamrelay.federation.envelope import Envelope, rewritten, written
from streamrelay.federation.messages import (
    Ack,
    AnyBody,
    Body,
    Deliver,
    Gone,
    Heard,
    Message,
    PersonSaid,
    Seated,
    Unseated,
    Wish,
)
from streamrelay.federation.names import RemoteName, far
from streamrelay.federation.remote_links import RemoteLink
from streamrelay.federation.seats import Guest, RemoteSeat
from streamrelay.federation.sent_messages import SentAwayLog
from streamrelay.links.link import Link, Party
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.rules import Effect, PublishEvent
from streamrelay.relay.steps import RelayEngine

PEER, POST, SPAN, IMAGE, SUSPENDED = "peer/", "post/", "span/", "image/", "suspended/"
SEAT, GUEST, ABSENT, STARTED = "seat/", "guest/", "absent/", "started/"
COUNTED = (Message, Deliver, Heard, PersonSaid)
"""The bodies that count as messages of a peer; the others are bookkeeping, and count in bytes only."""


class Decisions(Protocol):
    """What people decided that holds for everything."""

    @property
    def paused(self) -> bool:
        """Whether all links and relays are paused."""

    @property
    def muted(self) -> set[str]:
        """The muted sessions: no link or relay delivers their output."""


class Decider(RelayEngine, Protocol):
    """What decides here, links among it."""

    @property
    def links(self) -> LinkRegistry:
        """The links that are kept here."""

    def relay_of(self, session: str) -> str:
        """Return the relay or circle a session is in; empty for none."""

    @property
    def settings(self) -> Decisions:
        """What people decided."""

    def extend(self, link_id: str, deliveries: int, now: float) -> list[Effect]:
        """Add to a budget."""

    def close_link(self, link_id: str, by: str = "", last_words: str = "") -> list[Effect]:
        """End a link; raises NotAllowed for last words that may not cross it."""

    def pause(self, of: str, now: float, *, paused: bool) -> list[Effect]:
        """Let nothing cross a link, relay or gathering, or let it cross again."""

    def guests(self) -> Iterable[Guest]:
        """Return the sessions of other nodes that take part in a relay, gathering or listener here."""

    def take_seat(self, session: str, of: str) -> list[Effect]:
        """Reserve a session of here for the relay or gathering `of` of another node; raises SessionTaken."""

    def leave_seat(self, session: str, of: str) -> list[Effect]:
        """Release it again."""

    def drop(self, of: str, pane: str, reason: str, now: float) -> list[Effect]:
        """Let a pane leave one relay or gathering of here, or the listeners."""

    def is_held(self, of: str) -> bool:
        """Whether there is a gathering of that id that is not over."""

    def is_running(self, of: str) -> bool:
        """Whether it is held and not paused."""

    def say(self, of: str, number: int, text: str, now: float) -> list[Effect]:
        """Contribute for a person in a gathering; raises PieceNotHeld, UsageError and TargetNotFound."""

    def stop(self, of: str, now: float) -> list[Effect]:
        """End a relay, or close a gathering; raises TargetNotFound."""


class Node:
    """This node, among its peers."""

    def __init__(self, name: str, peers: Sequence[str], decider: Decider, in_turns: Callable[[str], bool]) -> None:
        """Take what decides here, and what tells whether the words of a pane go by whole turns."""
        self.name = name
        self.peers = tuple(peers)
        self.allowances = {peer: Allowance(Limits()) for peer in peers}
        """What each peer may still send; a minute's worth after a restart."""
        self.channels: dict[str, Channel] = {}
        self.images: dict[str, RemoteLink] = {}
        """The links that others keep, by id."""
        self.seats: dict[str, RemoteSeat] = {}
        """The sessions of here in relays, gatherings and listeners that others keep."""
        self.told_guests: dict[str, Guest] = {}
        """The sessions elsewhere in those of here, as their nodes were told."""
        self.started: dict[str, str] = {}
        """The sessions that were started here for another node, with the name of that node."""
        self.waiting_gatherings: dict[str, str] = {}
        """The gatherings of here that are paused because a node is away, with the name of that node."""
        self.away = SentAwayLog()
        self.decider = decider
        self.in_turns = in_turns
        self.spans: dict[str, str] = {}
        """The node of the other side, by the ids of our links that have one."""
        self.suspended: set[str] = set()
        """The sessions elsewhere that are known to take part in something there."""
        self.pending: dict[str, bytes | None] = {}
        self._moved: set[str] = set()
        """The peers whose channels have changed since `changes` was called last."""

    @classmethod
    def restored(
        cls,
        kept: Mapping[str, bytes],
        name: str,
        peers: Sequence[str],
        decider: Decider,
        in_turns: Callable[[str], bool],
        *,
        epoch: int,
    ) -> Self:
        """Go on with what was kept, in a life of the number `epoch`, which is higher in each process of the node.

        Where nothing was kept, numbers are of the series `epoch` too.
        """
        node = cls(name, peers, decider, in_turns)
        waiting: dict[str, dict[int, bytes]] = {}
        for key, value in kept.items():
            if key.startswith(POST):
                peer, _, number = key.removeprefix(POST).rpartition("/")
                waiting.setdefault(peer, {})[int(number)] = rewritten(value)
            elif key.startswith(SPAN):
                node.spans[key.removeprefix(SPAN)] = value.decode()
            elif key.startswith(IMAGE):
                node.images[key.removeprefix(IMAGE)] = msgspec.json.decode(value, type=RemoteLink)
            elif key.startswith(GUEST):
                node.told_guests[key.removeprefix(GUEST)] = msgspec.json.decode(value, type=Guest)
            elif key.startswith(STARTED):
                node.started[key.removeprefix(STARTED)] = value.decode()
            elif key.startswith(ABSENT):
                node.waiting_gatherings[key.removeprefix(ABSENT)] = value.decode()
            elif key.startswith(SEAT):
                node.seats[key.removeprefix(SEAT)] = msgspec.json.decode(value, type=RemoteSeat)
            elif key.startswith(SUSPENDED):
                # The node that suspended it does not know that this node died, and does not repeat it.
                node.suspended.add(key.removeprefix(SUSPENDED))
                decider.links.suspend(key.removeprefix(SUSPENDED), value.decode())
        for peer in peers:
            stored = kept.get(PEER + peer)
            state = ChannelState(epoch) if stored is None else msgspec.json.decode(stored, type=ChannelState)
            node.channels[peer] = Channel.restored(name, peer, state, waiting.get(peer, {}), life=epoch)
        node.away = SentAwayLog.restored(kept)
        # A node that is no peer any more gets no further messages.
        for link_id in [link_id for link_id, there in node.spans.items() if there not in peers]:
            node.unspan(link_id)
        node.forget_suspended()
        for link_id in [link_id for link_id, image in node.images.items() if image.home not in peers]:
            node.forget(link_id)
        for seat in list(node.seats.values()):
            if seat.home not in peers:
                node.leave_seat(seat)
            elif seat.is_exclusive:
                decider.take_seat(seat.own.session, seat.name)
        return node

    def changes(self) -> dict[str, bytes | None]:
        """Return what is to be kept anew since this was last asked, by key; None for what is gone."""
        changes, self.pending = self.pending, {}
        for peer in self._moved:
            changes[PEER + peer] = msgspec.json.encode(self.channels[peer].state)
        self._moved.clear()
        return changes | self.away.changes()

    def kept(self) -> None:
        """Know that all of that is kept: what was posted may go."""
        for channel in self.channels.values():
            channel.kept()

    @property
    def panes(self) -> set[str]:
        """The panes here that are heard for others."""
        return {own.pane for _, own in self.heard}

    def is_guest(self, of: str, pane: str) -> bool:
        """Whether a pane of another node takes part in something here."""
        return any(guest.of == of and guest.pane == pane for guest in self.told_guests.values())

    @property
    def heard(self) -> list[tuple[str, Party]]:
        """The sessions here that are heard for others, with the node that hears them."""
        images = [(image.home, image.own) for image in self.images.values()]
        return [*images, *((seat.home, seat.own) for seat in self.seats.values() if seat.kind != "person")]

    def own_party(self, home: str, of: str, pane: str) -> Party | None:
        """Return the session in a pane here that takes part in something that another node keeps; None for none."""
        image = self.images.get(of)
        if image is not None and image.home == home and image.own.pane == pane:
            return image.own
        seats = (seat.own for seat in self.seats.values() if (seat.home, seat.of, seat.own.pane) == (home, of, pane))
        return next(seats, None)

    def far(self, name: str) -> RemoteName | None:
        """Return what is meant where a session is another node's; None for one of here."""
        return far(name, self.peers)

    def party(self, party: Party) -> Party:
        """Return a side that is here as both sides are to read of it."""
        return msgspec.structs.replace(party, title=f"{party.title}@{self.name}")

    def link_between(self, session: str, other: str) -> Link | None:
        """Return the link of a session here with one elsewhere, wherever it is kept."""
        image = self.image_between(session, other)
        return self.decider.links.between(session, other) if image is None else image.link

    def image_between(self, session: str, other: str) -> RemoteLink | None:
        """Return that link, if the other node keeps it."""
        pair = {session, other}
        return next((one for one in self.images.values() if {p.session for p in one.link.parties} == pair), None)

    # What goes out

    def post(self, peer: str, body: Body) -> None:
        """Have a peer told, as soon as this is kept."""
        channel = self.channels[peer]
        data = written(body)
        number = channel.post(data)
        self.pending[f"{POST}{peer}/{number:020d}"] = data
        self._moved.add(peer)

    def acknowledge(self, peer: str, ack: Ack, now: float) -> None:
        """Take what a peer says is safe there.

        That it is done with is kept with the next step. A node that dies before sends it again, and it is known there.
        """
        for number in self.channels[peer].acknowledge(ack, now):
            self.pending[f"{POST}{peer}/{number:020d}"] = None

    # What comes in

    def admit(self, envelope: Envelope, body: AnyBody | None, now: float) -> Verdict:
        """Tell whether something was not taken before and is next in order; then it counts as taken.

        What exceeds the allowance of its sender is not taken; None is a body that cannot be used.
        """
        allowance = self.allowances[envelope.sender]
        counts = isinstance(body, COUNTED)
        wait = allowance.wait(now, counts=counts)
        verdict = self.channels[envelope.sender].take(envelope, wait=wait, limit=str(allowance.limits))
        if verdict == "new":
            allowance.spend(size_of(envelope.body), counts=counts)
            self._moved.add(envelope.sender)
        allowance.slowed += verdict == "slowed"
        return verdict

    def check_request(self, peer: str, now: float) -> None:
        """Count a request of a peer as a message; raises NotAllowed where that exceeds its allowance."""
        allowance = self.allowances[peer]
        if wait := allowance.wait(now):
            raise NotAllowed(
                f"{self.name} takes at most {allowance.limits} from {peer}; try again in {math.ceil(wait)} seconds",
                data={"node": peer, "seconds": wait},
            )
        allowance.spend(0)

    def due(self, peer: str, notes: Sequence[Body], now: float) -> list[Envelope]:
        """Return what goes to a peer now: notes, which may get lost, an acknowledgement, and what is next in order."""
        channel = self.channels[peer]
        envelopes = channel.sendable(now)
        ack = channel.acknowledgement(now, is_sending=bool(envelopes or notes))
        unnumbered = [*notes, *([] if ack is None else [ack])]
        epoch = channel.state.epoch
        return [
            *(Envelope(sender=self.name, to=peer, epoch=epoch, body=msgspec.Raw(written(body))) for body in unnumbered),
            *envelopes,
        ]

    # Links with sessions elsewhere

    def span(self, link_id: str, there: str) -> None:
        """Know that a link of ours has its other side on that node."""
        self.spans[link_id] = there
        self.pending[SPAN + link_id] = there.encode()

    def unspan(self, link_id: str) -> str:
        """Know that it is gone; return where its other side was."""
        self.pending[SPAN + link_id] = None
        return self.spans.pop(link_id)

    def suspended_for(self, home: str, session: str) -> str:
        """Return what suspends a session of here, as far as a home does not know that itself; empty for nothing."""
        by = self.decider.relay_of(session)
        return "" if by.endswith(f"@{home}") else by

    def note_suspended(self, session: str, by: str) -> None:
        """Know what a session elsewhere takes part in there."""
        (self.suspended.add if by else self.suspended.discard)(session)
        self.pending[SUSPENDED + session] = by.encode() or None

    def forget_suspended(self) -> None:
        """Forget remote sessions without a link here: no node reports their state any more."""
        for session in sorted(self.suspended):
            if not self.decider.links.of(session):
                self.note_suspended(session, "")
                self.decider.links.suspend(session, "")

    def show(self, image: RemoteLink) -> None:
        """Have a link here that another node keeps, as it stands there."""
        self.images[image.link.link_id] = image
        self.pending[IMAGE + image.link.link_id] = msgspec.json.encode(image)

    def forget(self, link_id: str) -> None:
        """Have it no more."""
        del self.images[link_id]
        self.pending[IMAGE + link_id] = None

    # Seats

    def seat(self, seat: RemoteSeat) -> list[Effect]:
        """Let a session of here take part in something that another node keeps; raises SessionTaken."""
        effects = self.decider.take_seat(seat.own.session, seat.name) if seat.is_exclusive else []
        key = _seat_key(seat.home, seat.of, seat.own.session)
        self.seats[key] = seat
        self.pending[SEAT + key] = msgspec.json.encode(seat)
        return effects

    def seat_of(self, home: str, of: str, session: str) -> RemoteSeat | None:
        """Return the seat of a session of here; None for none."""
        return self.seats.get(_seat_key(home, of, session))

    def seats_in(self, of: str) -> list[RemoteSeat]:
        """Return the seats of here in one relay or gathering of another node, by its id with or without `@NODE`."""
        return [seat for seat in self.seats.values() if of in {seat.of, seat.name}]

    def leave_seat(self, seat: RemoteSeat) -> list[Effect]:
        """Let it take part no more."""
        key = _seat_key(seat.home, seat.of, seat.own.session)
        if self.seats.pop(key, None) is None:
            return []
        self.pending[SEAT + key] = None
        return self.decider.leave_seat(seat.own.session, seat.name) if seat.is_exclusive else []

    def tell_new_guests(self) -> None:
        """Tell the nodes of sessions that now take part in something here."""
        for guest in self.decider.guests():
            there, session = self.far(guest.pane), self.far(guest.session)
            key = f"{guest.of}/{guest.session}"
            if there is None or session is None or key in self.told_guests:
                continue
            self.told_guests[key] = guest
            self.pending[GUEST + key] = msgspec.json.encode(guest)
            self.post(
                there.node,
                Seated(of=guest.of, seat=guest.kind, session=session.name, pane=there.name, is_human=guest.is_human),
            )

    def tell_gone_guests(self) -> None:
        """Tell the nodes of sessions that take part in something here no more."""
        if not self.told_guests:
            return
        present = {f"{guest.of}/{guest.session}" for guest in self.decider.guests()}
        for key in [key for key in self.told_guests if key not in present]:
            guest = self.told_guests.pop(key)
            self.pending[GUEST + key] = None
            there, session = self.far(guest.pane), self.far(guest.session)
            if there is not None and session is not None:
                self.post(there.node, Unseated(of=guest.of, session=session.name, pane=there.name))

    def note_started(self, session: str, peer: str) -> None:
        """Note that a session was started here for a peer, which may end it; an empty peer forgets that."""
        self.pending[STARTED + session] = peer.encode() or None
        if peer:
            self.started[session] = peer
        else:
            self.started.pop(session, None)

    def attend(self, present: Set[str], now: float) -> list[Effect]:
        """Pause the gatherings that a node takes part in that is away, and resume those whose nodes are all back."""
        away: dict[str, str] = {}
        for guest in self.decider.guests():
            there = self.far(guest.pane)
            if guest.is_in_gathering and there is not None and there.node not in present:
                away.setdefault(guest.of, there.node)
        effects: list[Effect] = []
        for of, peer in away.items():
            if of not in self.waiting_gatherings and self.decider.is_running(of):
                self.waiting_gatherings[of] = peer
                self.pending[ABSENT + of] = peer.encode()
                effects += self.decider.pause(of, now, paused=True)
        for of in [of for of in self.waiting_gatherings if of not in away]:
            del self.waiting_gatherings[of]
            self.pending[ABSENT + of] = None
            if self.decider.is_held(of):
                effects += self.decider.pause(of, now, paused=False)
        return effects

    def leave(self, pane: str, reason: str) -> list[Effect]:
        """Remove a local session that is gone, with its links and seats, on whichever node they are kept."""
        images = [image for image in self.images.values() if image.own.pane == pane]
        seats = [seat for seat in self.seats.values() if seat.own.pane == pane]
        for home in sorted({image.home for image in images} | {seat.home for seat in seats}):
            self.post(home, Gone(pane=pane, reason=reason))
        effects = [effect for image in images for effect in self.end(image, reason, image.own.session)]
        return [*effects, *(effect for seat in seats for effect in self.leave_seat(seat))]

    def end(self, image: RemoteLink, reason: str, by: str) -> list[Effect]:
        """Have a link ended here that its home is told of otherwise."""
        link = image.link
        self.forget(link.link_id)
        traffic = link.relay.state.traffic
        closed = LinkClosed(link=link.link_id, reason=reason, by=by, deliveries=link.deliveries, traffic=traffic)
        return [PublishEvent(closed)]

    def wish(self, link_id: str, wish: Wish) -> list[Effect]:
        """Have the home of a link told what is wanted here; a link that is closed is so here at once."""
        image = self.images[link_id]
        self.post(image.home, wish)
        return self.end(image, "closed" if wish.by else "stopped", wish.by) if wish.what == "close" else []


def _seat_key(home: str, of: str, session: str) -> str:
    return f"{home}/{of}/{session}"
