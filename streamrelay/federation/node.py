"""One node: what others are told of each step here, and what follows from what they tell. Pure.

* A session of another node takes part in a link like any other, under the pane `%3@beta`; the machine of the service
  does not know the difference. What it decides for such a pane leaves a step (`take`) and is posted instead of typed.
* Where the session lives, its words are sent to the homes of its links (`Heard`), as events, in order. The home's
  machine handles them as if they had been said there.
* All that is posted, taken and shown is kept with the step it comes from, in one transaction (`changes`), and sent only
  then (`kept`). So a message is posted once, however often either side dies.
* A session that ends severs its links here at once, and there as soon as that is known there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, Self

import msgspec

from streamrelay.delivery.message import FINAL
from streamrelay.events import (
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    PaneClosed,
    Receipt,
    RelayDelivered,
    RelayPaused,
    Text,
    TurnEnded,
    TurnStarted,
)
from streamrelay.federation.channel import Channel, Standing, Verdict
from streamrelay.federation.envelope import Envelope, written
from streamrelay.federation.images import Image, created, image_of, sent
from streamrelay.federation.messages import (
    Ack,
    AnyBody,
    Body,
    Deliver,
    Gone,
    Heard,
    Linked,
    News,
    Receipted,
    Spoken,
    Suspended,
    Unlinked,
    Wish,
)
from streamrelay.federation.names import Far, far, is_far
from streamrelay.federation.sent import SentAway, SentAwayLog
from streamrelay.links.link import Link, Party
from streamrelay.links.registry import LinkRegistry
from streamrelay.relay.rules import Effect, Notice, Participant, Tell
from streamrelay.relay.steps import Machine, Outgoing, Step

PEER, POST, SPAN, IMAGE, SUSPENDED = "peer/", "post/", "span/", "image/", "suspended/"
LONGEST_PART = 500_000
"""Characters of what is heard that go into one envelope."""


class HasMuted(Protocol):
    """What people decided that holds for everything."""

    @property
    def muted(self) -> set[str]:
        """The sessions of which nothing crosses anything."""


class Decider(Machine, Protocol):
    """What decides here, links among it."""

    @property
    def links(self) -> LinkRegistry:
        """The links that are kept here."""

    def relay_of(self, session: str) -> str:
        """Return the relay or circle a session is in; empty for none."""

    @property
    def settings(self) -> "HasMuted":
        """What people decided."""

    def extend(self, link_id: str, deliveries: int, now: float) -> list[Effect]:
        """Add to a budget."""

    def close_link(self, link_id: str, by: str = "", last_words: str = "") -> list[Effect]:
        """End a link."""

    def pause(self, of: str, now: float, *, paused: bool) -> list[Effect]:
        """Let nothing cross a link, or let it cross again."""


class Node:
    """This node, among its peers."""

    def __init__(self, name: str, peers: Sequence[str], decider: Decider, in_turns: Callable[[str], bool]) -> None:
        """Take what decides here, and what tells whether the words of a pane go by whole turns."""
        self.name = name
        self.peers = tuple(peers)
        self.channels: dict[str, Channel] = {}
        self.images: dict[str, Image] = {}
        """The links that others keep, by id."""
        self.away = SentAwayLog()
        self._decider = decider
        self._in_turns = in_turns
        self._spans: dict[str, str] = {}
        """The node of the other side, by the ids of our links that have one."""
        self._changes: dict[str, bytes | None] = {}

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
        """Go on with what was kept; where nothing was, numbers are of the series `epoch`."""
        node = cls(name, peers, decider, in_turns)
        waiting: dict[str, dict[int, bytes]] = {}
        for key, value in kept.items():
            if key.startswith(POST):
                peer, _, number = key.removeprefix(POST).rpartition("/")
                waiting.setdefault(peer, {})[int(number)] = value
            elif key.startswith(SPAN):
                node._spans[key.removeprefix(SPAN)] = value.decode()
            elif key.startswith(IMAGE):
                node.images[key.removeprefix(IMAGE)] = msgspec.json.decode(value, type=Image)
            elif key.startswith(SUSPENDED):
                # Whoever suspended it does not know of our death, and does not say it again.
                decider.links.suspend(key.removeprefix(SUSPENDED), value.decode())
        for peer in peers:
            stored = kept.get(PEER + peer)
            standing = Standing(epoch) if stored is None else msgspec.json.decode(stored, type=Standing)
            node.channels[peer] = Channel.restored(name, peer, standing, waiting.get(peer, {}))
        node.away = SentAwayLog.restored(kept)
        return node

    def changes(self) -> dict[str, bytes | None]:
        """Return what is to be kept anew since this was last asked, by key; None for what is gone."""
        changes, self._changes = self._changes, {}
        return changes | self.away.changes()

    def kept(self) -> None:
        """Know that all of that is kept: what was posted may go."""
        for channel in self.channels.values():
            channel.kept()

    @property
    def panes(self) -> set[str]:
        """The panes here that are heard for others."""
        return {image.own.pane for image in self.images.values()}

    def far(self, name: str) -> Far | None:
        """Return what is meant where a session is another node's; None for one of here."""
        return far(name, self.peers)

    def party(self, party: Party) -> Party:
        """Return a side that is here as both sides are to read of it."""
        return msgspec.structs.replace(party, title=f"{party.title}@{self.name}")

    def link_between(self, session: str, other: str) -> Link | None:
        """Return the link of a session here with one elsewhere, wherever it is kept."""
        image = self.image_between(session, other)
        return self._decider.links.between(session, other) if image is None else image.link

    def image_between(self, session: str, other: str) -> Image | None:
        """Return that link, if the other node keeps it."""
        pair = {session, other}
        return next((one for one in self.images.values() if {p.session for p in one.link.parties} == pair), None)

    # What goes out

    def post(self, peer: str, body: Body) -> None:
        """Have a peer told, as soon as this is kept."""
        channel = self.channels[peer]
        data = written(body)
        number = channel.post(data)
        self._changes[f"{POST}{peer}/{number:020d}"] = data
        self._note(channel)

    def _note(self, channel: Channel) -> None:
        self._changes[PEER + channel.peer] = msgspec.json.encode(channel.standing)

    def acknowledge(self, peer: str, epoch: int, up_to: int, now: float, *, missing: bool) -> None:
        """Take what a peer says is safe there."""
        for number in self.channels[peer].acknowledge(epoch, up_to, now, missing=missing):
            self._changes[f"{POST}{peer}/{number:020d}"] = None

    def take(self, step: Step) -> None:
        """Take what has happened here; what of it goes elsewhere is posted, and is not typed."""
        self._tell_of_new_links(step)
        self._send_away(step)
        self._hear_for_others(step)
        self._tell_of_links(step)
        self._return_receipts(step)

    def _send_away(self, step: Step) -> None:
        delivered = {event.message_id: event for event in step.events if isinstance(event, RelayDelivered)}
        staying: list[Outgoing] = []
        for outgoing in step.outgoing:
            message = outgoing.message
            event = delivered.get(message.message_id)
            for pane in filter(is_far, outgoing.panes):
                there = self.far(pane)
                if there is None:
                    step.events.append(
                        Receipt(message_id=message.message_id, pane=pane, state="failed", reason="pane_gone")
                    )
                    continue
                self.away.note(SentAway(message.message_id, pane, there.node))
                deliver = Deliver(
                    link=self._link_of(message.message_id) if event is None else event.relay,
                    message_id=message.message_id,
                    pane=there.name,
                    text=message.text,
                    head=message.head,
                    speaker="" if event is None else event.speaker,
                    listeners=() if event is None else event.listeners,
                    typing=message.policy,
                )
                self.post(there.node, deliver)
                step.events.append(Receipt(message_id=message.message_id, pane=pane, state="queued"))
            here = tuple(pane for pane in outgoing.panes if not is_far(pane))
            if here:
                staying.append(outgoing if here == outgoing.panes else Outgoing(message, here, outgoing.heard_at))
        step.outgoing[:] = staying

    def _link_of(self, message_id: str) -> str:
        """Return the link that a notice is of: it is known by the link's id and something behind that."""
        return next((link for link in self._spans if message_id.startswith(f"{link}-")), "")

    def _hear_for_others(self, step: Step) -> None:
        homes: dict[str, set[str]] = {}
        for image in self.images.values():
            homes.setdefault(image.own.pane, set()).add(image.home)
        said: dict[str, list[Spoken]] = {}
        for event in list(step.events):
            if event.pane in homes and isinstance(event, Text | TurnStarted | TurnEnded):
                said.setdefault(event.pane, []).extend(self._passed_on(event))
        for pane, events in said.items():
            for part in _parts(events):
                for home in sorted(homes[pane]):
                    self.post(home, Heard(pane=pane, in_turns=self._in_turns(pane), events=part))
        self._tell_of_suspensions()
        ended = {event.pane: event.reason for event in step.events if isinstance(event, PaneClosed)}
        for pane in [pane for pane in homes if pane in ended or pane in step.gone]:
            step.follow(self.leave(pane, ended.get(pane, "program_left")))

    def _passed_on(self, event: Spoken) -> list[Spoken]:
        session = next(image.own.session for image in self.images.values() if image.own.pane == event.pane)
        if isinstance(event, Text):
            if event.origin not in {"program", "typed"} or session in self._decider.settings.muted:
                return []
            # What a person types begins a chain of answers anew; what it is concerns nobody.
            return [Text(text=event.text if event.origin == "program" else "", origin=event.origin)]
        return [
            TurnStarted() if isinstance(event, TurnStarted) else TurnEnded(reason=event.reason, certain=event.certain)
        ]

    def _tell_of_suspensions(self) -> None:
        told: set[tuple[str, str]] = set()
        for image in list(self.images.values()):
            session = image.own.session
            by = self._decider.relay_of(session)
            if image.suspended_by == by:
                continue
            self._show(msgspec.structs.replace(image, suspended_by=by))
            if (image.home, session) not in told:
                told.add((image.home, session))
                self.post(image.home, Suspended(session=session, by=by))

    def _tell_of_new_links(self, step: Step) -> None:
        """What is said on a link comes after the link."""
        made = {event.link for event in step.events if isinstance(event, LinkCreated)}
        for link in self._decider.links.links() if made else ():
            there = next((self.far(party.pane) for party in link.parties if is_far(party.pane)), None)
            if link.link_id in made and there is not None:
                self._spans[link.link_id] = there.node
                self._changes[SPAN + link.link_id] = there.node.encode()
                self.post(there.node, Linked(link=sent(link)))

    def _tell_of_links(self, step: Step) -> None:
        news: dict[str, list[News]] = {}
        for event in step.events:
            match event:
                case LinkSpent() | LinkExtended() | LinkSuspended():
                    news.setdefault(event.link, []).append(event)
                case RelayPaused():
                    news.setdefault(event.relay, []).append(event)
                case RelayDelivered():
                    news.setdefault(event.relay, [])
                case LinkClosed() if event.link in self._spans:
                    news.pop(event.link, None)
                    self.post(self._spans.pop(event.link), Unlinked(closed=event))
                    self._changes[SPAN + event.link] = None
                case _:
                    pass
        links = {link.link_id: link for link in self._decider.links.links()} if news else {}
        for link_id, events in news.items():
            if link_id in self._spans and link_id in links:
                self.post(self._spans[link_id], Linked(link=sent(links[link_id]), news=tuple(events)))

    def _return_receipts(self, step: Step) -> None:
        for event in step.events:
            if isinstance(event, Receipt) and not is_far(event.pane):
                there = self.far(event.message_id)
                if there is not None:
                    self.post(there.node, _receipted(event, there.name))

    # What comes in

    def admit(self, envelope: Envelope) -> Verdict:
        """Tell whether something was not taken before and is next in order; then it counts as taken."""
        channel = self.channels[envelope.sender]
        verdict = channel.take(envelope)
        if verdict == "new":
            self._note(channel)
        return verdict

    def received(self, envelope: Envelope, *, missing: bool) -> Ack:
        """Return what its sender is told of what is safe here."""
        standing = self.channels[envelope.sender].standing
        up_to = standing.received if standing.their_epoch == envelope.epoch else 0
        return Ack(epoch=envelope.epoch, up_to=up_to, missing=missing)

    def handle(self, peer: str, body: AnyBody, now: float) -> list[Effect]:
        """Take what a peer tells."""
        match body:
            case Heard():
                return self._heard(f"{body.pane}@{peer}", body, now)
            case Gone():
                return self._decider.leave(f"{body.pane}@{peer}", body.reason, now)
            case Suspended():
                session = f"{body.session}@{peer}"
                self._changes[SUSPENDED + session] = body.by.encode() or None
                return self._decider.links.suspend(session, body.by)
            case Deliver():
                return self._deliver(peer, body)
            case Receipted():
                return self._receipt(peer, body)
            case Linked():
                return self._linked(peer, body)
            case Unlinked():
                return self._unlinked(peer, body.closed)
            case Wish():
                return self._grant(peer, body, now)
            case _:
                return []

    def _heard(self, pane: str, body: Heard, now: float) -> list[Effect]:
        self._decider.speaks_in_turns(pane, body.in_turns)
        effects: list[Effect] = []
        for event in body.events:
            event.pane = pane
            effects += self._decider.handle(event, now)
        return effects

    def _deliver(self, peer: str, body: Deliver) -> list[Effect]:
        image = self.images.get(body.link)
        if image is None or image.home != peer or image.own.pane != body.pane:
            # It was closed here, and they do not know of it yet.
            failed = Receipt(message_id=body.message_id, state="failed", reason="link_closed")
            self.post(peer, _receipted(failed, body.message_id))
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
            effects.append(Tell(told))
        return effects

    def _receipt(self, peer: str, body: Receipted) -> list[Effect]:
        known = self.away.get(body.message_id)
        if known is None or known.node != peer or known.state == body.state or known.state in FINAL:
            return []
        self.away.note(msgspec.structs.replace(known, state=body.state, reason=body.reason, file=body.file))
        receipt = Receipt(
            message_id=body.message_id,
            pane=known.pane,
            state=body.state,
            reason=body.reason,
            removed=body.removed,
            file=body.file,
        )
        return [Tell(receipt)]

    # Links that others keep

    def _linked(self, peer: str, body: Linked) -> list[Effect]:
        link_id = body.link.link_id
        image, known = image_of(body.link, peer, self.name), self.images.get(link_id)
        if image is None or (known is not None and known.home != peer):
            return []
        if known is None:
            parties = [party.session for party in image.link.parties]
            # Both have made one: that of the node whose name comes first stays.
            superseded: list[Effect] = []
            if self._decider.links.between(*parties) is not None:
                if self.name < peer:
                    self.post(peer, Wish(link=link_id, what="close"))
                    return []
                superseded = self._decider.links.sever(*parties, reason="superseded")
            self._show(image)
            return [*superseded, Tell(created(image.link)), *map(Tell, body.news)]
        self._show(msgspec.structs.replace(image, suspended_by=known.suspended_by))
        return list(map(Tell, body.news))

    def _show(self, image: Image) -> None:
        self.images[image.link.link_id] = image
        self._changes[IMAGE + image.link.link_id] = msgspec.json.encode(image)

    def _forget(self, link_id: str) -> None:
        del self.images[link_id]
        self._changes[IMAGE + link_id] = None

    def _unlinked(self, peer: str, closed: LinkClosed) -> list[Effect]:
        image = self.images.get(closed.link)
        if image is None or image.home != peer:
            return []
        self._forget(closed.link)
        return [Tell(closed)]

    def leave(self, pane: str, reason: str) -> list[Effect]:
        """A session of here is gone: so are its links, whoever keeps them."""
        images = [image for image in self.images.values() if image.own.pane == pane]
        for home in sorted({image.home for image in images}):
            self.post(home, Gone(pane=pane, reason=reason))
        return [effect for image in images for effect in self.end(image, reason, image.own.session)]

    def end(self, image: Image, reason: str, by: str) -> list[Effect]:
        """Have a link ended here that its home is told of otherwise."""
        link = image.link
        self._forget(link.link_id)
        traffic = link.relay.standing.traffic
        closed = LinkClosed(link=link.link_id, reason=reason, by=by, deliveries=link.deliveries, traffic=traffic)
        return [Tell(closed)]

    def wish(self, link_id: str, wish: Wish) -> list[Effect]:
        """Have the home of a link told what is wanted here; a link that is closed is so here at once."""
        image = self.images[link_id]
        self.post(image.home, wish)
        return self.end(image, "closed" if wish.by else "stopped", wish.by) if wish.what == "close" else []

    def _grant(self, peer: str, wish: Wish, now: float) -> list[Effect]:
        link = next((link for link in self._decider.links.links() if link.link_id == wish.link), None)
        if link is None or self._spans.get(wish.link) != peer:
            return []
        match wish.what:
            case "close":
                # They have closed it already; what a pause holds back is not said any more.
                last_words = "" if link.relay.standing.paused else wish.last_words
                return self._decider.close_link(wish.link, f"{wish.by}@{peer}" if wish.by else "", last_words)
            case "extend":
                return self._decider.extend(wish.link, wish.deliveries, now)
            case "pause" | "resume":
                return self._decider.pause(wish.link, now, paused=wish.what == "pause")


def _parts(events: Iterable[Spoken]) -> list[tuple[Spoken, ...]]:
    """Return what is heard in parts that fit into an envelope each."""
    parts: list[list[Spoken]] = []
    length = 0
    for event in events:
        characters = len(event.text) if isinstance(event, Text) else 0
        if not parts or length + characters > LONGEST_PART:
            parts.append([])
            length = 0
        parts[-1].append(event)
        length += characters + 1
    return [tuple(part) for part in parts]


def _receipted(receipt: Receipt, message_id: str) -> Receipted:
    return Receipted(
        message_id=message_id,
        pane=receipt.pane,
        state=receipt.state,
        reason=receipt.reason,
        removed=receipt.removed,
        file=receipt.file,
    )
