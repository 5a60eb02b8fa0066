"""What follows from what a peer tells. Pure."""

import msgspec

from streamrelay.delivery.message import FINAL
from streamrelay.errors import NotAllowed, SessionTaken, StreamrelayError
from streamrelay.events import LinkClosed, Receipt, RelayDelivered
from streamrelay.federation.messages import (
    AnyBody,
    Deliver,
    GatheringNews,
    Gone,
    Heard,
    Linked,
    PersonSaid,
    Receipted,
    Seated,
    Suspended,
    Unlinked,
    Unseated,
    Wish,
    Withdrawn,
    receipted,
)
from streamrelay.federation.node import Node
from streamrelay.federation.remote_links import created, image_of
from streamrelay.federation.seats import Guest, RemoteSeat
from streamrelay.links.link import Party
from streamrelay.relay.rules import Effect, Notice, Participant, PublishEvent, Withdraw


def handle(node: Node, peer: str, body: AnyBody, now: float) -> list[Effect]:
    """Take what a peer tells."""
    match body:
        case Heard():
            return _heard(node, f"{body.pane}@{peer}", body, now)
        case Gone():
            return node.decider.leave(f"{body.pane}@{peer}", body.reason, now)
        case Suspended():
            session = f"{body.session}@{peer}"
            if not node.decider.links.of(session):
                # It was closed meanwhile; with a later link we are told again.
                return []
            node.note_suspended(session, body.by)
            return node.decider.links.suspend(session, body.by)
        case Deliver():
            return _deliver(node, peer, body)
        case Withdrawn():
            return _withdraw(node, peer, body)
        case Unseated():
            return _unseated(node, peer, body, now)
        case Receipted():
            return _receipt(node, peer, body, now)
        case Linked():
            return _linked(node, peer, body)
        case Unlinked():
            return _unlinked(node, peer, body.closed)
        case Wish():
            return _grant(node, peer, body, now)
        case GatheringNews():
            return _gathering_news(node, peer, body)
        case PersonSaid():
            return _said(node, peer, body, now)
        case _:
            return []


def _heard(node: Node, pane: str, body: Heard, now: float) -> list[Effect]:
    node.decider.speaks_in_turns(pane, body.in_turns)
    effects: list[Effect] = []
    for event in body.events:
        event.pane = pane
        effects += node.decider.handle(event, now)
    return effects


def seat(node: Node, peer: str, body: Seated, own: Party) -> list[Effect]:
    """Let a session of here take part in what a peer keeps, and be heard for it; tell the peer where it cannot."""
    if node.seat_of(peer, body.of, own.session) is not None:
        return []
    try:
        effects = node.seat(RemoteSeat(peer, body.of, body.seat, own, body.is_human))
    except SessionTaken as error:
        return refuse_seat(node, peer, body, error.code)
    if node.decider.settings.paused and body.seat != "listener":
        node.post(peer, Wish(link=body.of, what="pause"))
    return effects


def refuse_seat(node: Node, peer: str, body: Seated, reason: str) -> list[Effect]:
    """Tell a peer that a session of here takes no part in what it keeps."""
    node.post(peer, Unseated(of=body.of, session=body.session, pane=body.pane, reason=reason))
    return []


def _unseated(node: Node, peer: str, body: Unseated, now: float) -> list[Effect]:
    own = node.seat_of(peer, body.of, body.session)
    if own is not None:
        return node.leave_seat(own)
    guest = node.told_guests.get(f"{body.of}/{body.session}@{peer}")
    if guest is None or not body.reason:
        return []
    return node.decider.drop(body.of, guest.pane, body.reason, now)


def _gathering_news(node: Node, peer: str, body: GatheringNews) -> list[Effect]:
    """Publish what has happened in a gathering of a peer under the name that it has here."""
    effects: list[Effect] = []
    for event in body.events:
        name = f"{event.gathering}@{peer}"
        if node.seats_in(name):
            event.gathering = name
            effects.append(PublishEvent(event))
    return effects


def _said(node: Node, peer: str, body: PersonSaid, now: float) -> list[Effect]:
    """Contribute for a person on a peer's page; what comes too late is dropped, as the page shows."""
    if not node.is_guest(body.of, f"#{body.number}@{peer}"):
        return []
    try:
        return node.decider.say(body.of, body.number, body.text, now)
    except StreamrelayError:
        return []


def _deliver(node: Node, peer: str, body: Deliver) -> list[Effect]:
    parties = {pane: node.own_party(peer, body.link, pane) for pane in body.panes}
    for pane, party in parties.items():
        if party is None:
            # It was closed here, and they do not know of it yet.
            failed = Receipt(message_id=body.message_id, pane=pane, state="failed", reason="link_closed")
            node.post(peer, receipted(failed, body.message_id))
    listeners = tuple(
        Participant(party.session, party.pane, party.title, number, party.session_name)
        for number, party in enumerate(filter(None, parties.values()), 1)
    )
    if not listeners:
        return []
    message_id = f"{body.message_id}@{peer}"
    effects: list[Effect] = [Notice(message_id, listeners, body.text, body.head, body.typing)]
    if body.speaker:
        told = RelayDelivered(
            relay=body.link,
            message_id=message_id,
            speaker=body.speaker,
            listeners=body.listeners,
            text=body.text,
        )
        effects.append(PublishEvent(told))
    return effects


def _withdraw(node: Node, peer: str, body: Withdrawn) -> list[Effect]:
    seats = {seat.own.pane: seat.own for seat in node.seats.values() if seat.home == peer}
    listeners = tuple(
        Participant(seats[pane].session, pane, seats[pane].title, number, seats[pane].session_name)
        for number, pane in enumerate(filter(seats.__contains__, body.panes), 1)
    )
    return [Withdraw(f"{body.message_id}@{peer}", listeners)] if listeners else []


def _receipt(node: Node, peer: str, body: Receipted, now: float) -> list[Effect]:
    known = node.away.get(body.message_id, f"{body.pane}@{peer}")
    if known is None or known.node != peer or known.state == body.state or known.state in FINAL:
        return []
    node.away.note(msgspec.structs.replace(known, state=body.state, reason=body.reason, file=body.file))
    receipt = Receipt(
        message_id=body.message_id,
        pane=known.pane,
        state=body.state,
        reason=body.reason,
        removed=body.removed,
        file=body.file,
    )
    # A gathering gives a speaker its time from when the prompt has reached it.
    return [PublishEvent(receipt), *node.decider.handle(receipt, now)]


def _linked(node: Node, peer: str, body: Linked) -> list[Effect]:
    link_id = body.link.link_id
    image, known = image_of(body.link, peer, node.name), node.images.get(link_id)
    if image is None or (known is not None and known.home != peer):
        return []
    if known is None and not body.new:
        return []
    if known is None:
        parties = [party.session for party in image.link.parties]
        # Both have made one: that of the node whose name comes first stays.
        superseded: list[Effect] = []
        if node.decider.links.between(*parties) is not None:
            if node.name < peer:
                node.post(peer, Wish(link=link_id, what="close"))
                return []
            superseded = node.decider.links.close_link(*parties, reason="superseded")
        # What it takes part in they may know from a link before, and not that it is over.
        suspended_by = node.suspended_for(peer, image.own.session)
        node.post(peer, Suspended(session=image.own.session, by=suspended_by))
        node.show(msgspec.structs.replace(image, suspended_by=suspended_by))
        if node.decider.settings.paused:
            node.post(peer, Wish(link=link_id, what="pause"))
        return [*superseded, PublishEvent(created(image.link)), *map(PublishEvent, body.news)]
    node.show(msgspec.structs.replace(image, suspended_by=known.suspended_by))
    return list(map(PublishEvent, body.news))


def _unlinked(node: Node, peer: str, closed: LinkClosed) -> list[Effect]:
    image = node.images.get(closed.link)
    if image is None or image.home != peer:
        return []
    node.forget(closed.link)
    return [PublishEvent(closed)]


def _grant(node: Node, peer: str, wish: Wish, now: float) -> list[Effect]:
    if any(guest.of == wish.link and _is_of(node, guest, peer) for guest in node.told_guests.values()):
        return _grant_guest(node, wish, now)
    link = next((link for link in node.decider.links.links() if link.link_id == wish.link), None)
    if link is None or node.spans.get(wish.link) != peer:
        return []
    match wish.what:
        case "close":
            by = f"{wish.by}@{peer}" if wish.by else ""
            try:
                return node.decider.close_link(wish.link, by, wish.last_words)
            except NotAllowed:
                # They have closed it already; what may not cross it now is not said any more.
                return node.decider.close_link(wish.link, by)
        case "extend":
            return node.decider.extend(wish.link, wish.deliveries, now)
        case "pause" | "resume":
            return node.decider.pause(wish.link, now, paused=wish.what == "pause")


def _grant_guest(node: Node, wish: Wish, now: float) -> list[Effect]:
    """Do what the node of a participant wants of a relay or gathering of here."""
    match wish.what:
        case "close":
            return node.decider.stop(wish.link, now)
        case "pause" | "resume":
            return node.decider.pause(wish.link, now, paused=wish.what == "pause")
        case _:
            return []


def _is_of(node: Node, guest: Guest, peer: str) -> bool:
    there = node.far(guest.pane)
    return there is not None and there.node == peer
