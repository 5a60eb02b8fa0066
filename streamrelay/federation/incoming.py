"""What follows from what a peer tells. Pure."""

import msgspec

from streamrelay.delivery.message import FINAL
from streamrelay.errors import NotAllowed
from streamrelay.events import LinkClosed, Receipt, RelayDelivered
from streamrelay.federation.messages import (
    AnyBody,
    Deliver,
    Gone,
    Heard,
    Linked,
    Receipted,
    Suspended,
    Unlinked,
    Wish,
    receipted,
)
from streamrelay.federation.node import Node
from streamrelay.federation.remote_links import created, image_of
from streamrelay.relay.rules import Effect, Notice, Participant, PublishEvent


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
        case Receipted():
            return _receipt(node, peer, body)
        case Linked():
            return _linked(node, peer, body)
        case Unlinked():
            return _unlinked(node, peer, body.closed)
        case Wish():
            return _grant(node, peer, body, now)
        case _:
            return []


def _heard(node: Node, pane: str, body: Heard, now: float) -> list[Effect]:
    node.decider.speaks_in_turns(pane, body.in_turns)
    effects: list[Effect] = []
    for event in body.events:
        event.pane = pane
        effects += node.decider.handle(event, now)
    return effects


def _deliver(node: Node, peer: str, body: Deliver) -> list[Effect]:
    image = node.images.get(body.link)
    if image is None or image.home != peer or image.own.pane != body.pane:
        # It was closed here, and they do not know of it yet.
        failed = Receipt(message_id=body.message_id, state="failed", reason="link_closed")
        node.post(peer, receipted(failed, body.message_id))
        return []
    own = image.own
    listener = Participant(own.session, own.pane, own.title, 1, own.session_name)
    message_id = f"{body.message_id}@{peer}"
    effects: list[Effect] = [Notice(message_id, (listener,), body.text, body.head, body.typing)]
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


def _receipt(node: Node, peer: str, body: Receipted) -> list[Effect]:
    known = node.away.get(body.message_id)
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
    return [PublishEvent(receipt)]


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
            superseded = node.decider.links.sever(*parties, reason="superseded")
        # What it takes part in they may know from a link before, and not that it is over.
        suspended_by = node.decider.relay_of(image.own.session)
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
