"""What other nodes are told of a step here: words, deliveries, links, receipts. Pure."""

from collections.abc import Iterable

import msgspec

from streamrelay.events import (
    Contribution,
    GatheringClosed,
    GatheringLeft,
    GatheringOpened,
    GatheringPaused,
    GatheringPhase,
    Injected,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    PaneClosed,
    Piece,
    Receipt,
    RelayDelivered,
    RelayPaused,
    Text,
    TurnEnded,
    TurnStarted,
)
from streamrelay.federation.messages import (
    Deliver,
    GatheringEvent,
    GatheringNews,
    Heard,
    Linked,
    News,
    Spoken,
    Suspended,
    Unlinked,
    Withdrawn,
    receipted,
)
from streamrelay.federation.names import is_far
from streamrelay.federation.node import Node
from streamrelay.federation.remote_links import sent
from streamrelay.federation.sent_messages import SentAway
from streamrelay.relay.steps import Outgoing, RelayStep

MAX_PART_LENGTH = 500_000
"""Characters of what is heard that go into one envelope."""


def take(node: Node, step: RelayStep) -> None:
    """Take what has happened here; what of it goes elsewhere is posted, and is not typed."""
    _tell_of_new_links(node, step)
    node.tell_new_guests()
    _send_away(node, step)
    _withdraw_away(node, step)
    _hear_for_others(node, step)
    _tell_of_links(node, step)
    _tell_of_gatherings(node, step)
    node.tell_gone_guests()
    _return_receipts(node, step)


def _tell_of_new_links(node: Node, step: RelayStep) -> None:
    """What is said on a link comes after the link."""
    made = {event.link for event in step.events if isinstance(event, LinkCreated)}
    for link in node.decider.links.links() if made else ():
        there = next((node.far(party.pane) for party in link.parties if is_far(party.pane)), None)
        if link.link_id in made and there is not None:
            node.span(link.link_id, there.node)
            node.post(there.node, Linked(link=sent(link), new=True))


def _send_away(node: Node, step: RelayStep) -> None:
    delivered = {event.message_id: event for event in step.events if isinstance(event, RelayDelivered)}
    staying: list[Outgoing] = []
    for outgoing in step.outgoing:
        message = outgoing.message
        event = delivered.get(message.message_id)
        away: dict[str, list[str]] = {}
        for pane in filter(is_far, outgoing.panes):
            there = node.far(pane)
            if there is None:
                step.events.append(
                    Receipt(message_id=message.message_id, pane=pane, state="failed", reason="pane_gone")
                )
                continue
            node.away.note(SentAway(message.message_id, pane, there.node))
            away.setdefault(there.node, []).append(there.name)
            step.events.append(Receipt(message_id=message.message_id, pane=pane, state="queued"))
        for peer, panes in away.items():
            deliver = Deliver(
                link=_kept_as(node, message.message_id) if event is None else event.relay,
                message_id=message.message_id,
                panes=tuple(panes),
                text=message.text,
                head=message.head,
                speaker="" if event is None else event.speaker,
                listeners=() if event is None else event.listeners,
                typing=message.policy,
            )
            node.post(peer, deliver)
        here = tuple(pane for pane in outgoing.panes if not is_far(pane))
        if here:
            staying.append(outgoing if here == outgoing.panes else Outgoing(message, here, outgoing.heard_at))
    step.outgoing[:] = staying


def _kept_as(node: Node, message_id: str) -> str:
    """Return the link or gathering that a notice is of: its message id begins with that id and a hyphen."""
    ids = {*node.spans, *(guest.of for guest in node.told_guests.values())}
    return next((of for of in ids if message_id.startswith(f"{of}-")), "")


def _withdraw_away(node: Node, step: RelayStep) -> None:
    for withdrawn in step.withdrawn:
        away: dict[str, list[str]] = {}
        for listener in withdrawn.listeners:
            if is_far(listener.pane) and (there := node.far(listener.pane)) is not None:
                away.setdefault(there.node, []).append(there.name)
        for peer, panes in away.items():
            node.post(peer, Withdrawn(message_id=withdrawn.message_id, panes=tuple(panes)))


def _hear_for_others(node: Node, step: RelayStep) -> None:
    homes: dict[str, set[str]] = {}
    sessions: dict[str, str] = {}
    for home, own in node.heard:
        homes.setdefault(own.pane, set()).add(home)
        sessions[own.pane] = own.session
    said: dict[tuple[str, str], list[Spoken]] = {}
    for event in list(step.events):
        if event.pane in homes and isinstance(event, Text | TurnStarted | TurnEnded | Injected):
            for home in sorted(homes[event.pane]):
                heard = said.setdefault((event.pane, home), [])
                heard += _passed_on(node, event, home, sessions[event.pane])
    for (pane, home), events in said.items():
        for part in _parts(events):
            node.post(home, Heard(pane=pane, in_turns=node.in_turns(pane), events=part))
    _tell_of_suspensions(node)
    ended = {event.pane: event.reason for event in step.events if isinstance(event, PaneClosed)}
    for pane in [pane for pane in homes if pane in ended or pane in step.gone or pane in step.succeeded]:
        step.follow(node.leave(pane, ended.get(pane, "program_left")))


def _passed_on(node: Node, event: Spoken, home: str, session: str) -> list[Spoken]:
    """Return what a home is told of an event: the same with less in it; what a person typed only where they sit."""
    match event:
        case Text(origin="program" | "typed"):
            if session in node.decider.settings.muted:
                return []
            is_shown = event.origin == "program" or any(
                seat.is_human for seat in node.seats.values() if (seat.home, seat.own.session) == (home, session)
            )
            # What a person types begins a new chain of answers; the text itself is for a gathering alone.
            return [Text(text=event.text if is_shown else "", origin=event.origin, turn=event.turn)]
        case TurnStarted():
            return [TurnStarted(turn=event.turn)]
        case TurnEnded():
            return [TurnEnded(reason=event.reason, certain=event.certain, turn=event.turn)]
        case Injected(state="entering"):
            # A gathering knows by this which turn answers its prompt.
            message_id = event.message_id.removesuffix(f"@{home}")
            is_theirs = message_id != event.message_id
            return [Injected(message_id=message_id, state=event.state, turn=event.turn)] if is_theirs else []
        case _:
            return []


def _tell_of_suspensions(node: Node) -> None:
    told: set[tuple[str, str]] = set()
    for image in list(node.images.values()):
        session = image.own.session
        by = node.suspended_for(image.home, session)
        if image.suspended_by == by:
            continue
        node.show(msgspec.structs.replace(image, suspended_by=by))
        if (image.home, session) not in told:
            told.add((image.home, session))
            node.post(image.home, Suspended(session=session, by=by))


def _tell_of_links(node: Node, step: RelayStep) -> None:
    news: dict[str, list[News]] = {}
    for event in step.events:
        match event:
            case LinkSpent() | LinkExtended() | LinkSuspended():
                news.setdefault(event.link, []).append(event)
            case RelayPaused():
                news.setdefault(event.relay, []).append(event)
            case RelayDelivered():
                news.setdefault(event.relay, [])
            case LinkClosed() if event.link in node.spans:
                news.pop(event.link, None)
                node.post(node.unspan(event.link), Unlinked(closed=event))
            case _:
                pass
    if any(isinstance(event, LinkClosed) for event in step.events):
        node.forget_suspended()
    links = {link.link_id: link for link in node.decider.links.links()} if news else {}
    for link_id, events in news.items():
        if link_id in node.spans and link_id in links:
            node.post(node.spans[link_id], Linked(link=sent(links[link_id]), news=tuple(events)))


def _tell_of_gatherings(node: Node, step: RelayStep) -> None:
    """Tell the nodes of participants what has happened in gatherings of here."""
    attending: dict[str, set[str]] = {}
    for guest in node.told_guests.values():
        there = node.far(guest.pane)
        if guest.is_in_gathering and there is not None:
            attending.setdefault(guest.of, set()).add(there.node)
    news: dict[str, list[GatheringEvent]] = {}
    for event in step.events if attending else ():
        match event:
            case (
                GatheringOpened() | GatheringPhase() | Piece() | Contribution()
                | GatheringPaused() | GatheringLeft() | GatheringClosed()
            ):  # fmt: skip
                for peer in sorted(attending.get(event.gathering, ())):
                    news.setdefault(peer, []).append(event)
            case _:
                pass
    for peer, events in news.items():
        node.post(peer, GatheringNews(events=tuple(events)))


def _return_receipts(node: Node, step: RelayStep) -> None:
    for event in step.events:
        if isinstance(event, Receipt) and not is_far(event.pane):
            there = node.far(event.message_id)
            if there is not None:
                node.post(there.node, receipted(event, there.name))


def _parts(events: Iterable[Spoken]) -> list[tuple[Spoken, ...]]:
    """Return what is heard in parts that fit into an envelope each."""
    parts: list[list[Spoken]] = []
    length = 0
    for event in events:
        characters = len(event.text) if isinstance(event, Text) else 0
        if not parts or length + characters > MAX_PART_LENGTH:
            parts.append([])
            length = 0
        parts[-1].append(event)
        length += characters + 1
    return [tuple(part) for part in parts]
