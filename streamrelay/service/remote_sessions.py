"""The service's calls for sessions on other machines."""

import secrets
import time
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import structs

from streamrelay.counts import counted
from streamrelay.delivery.message import check_message_id
from streamrelay.errors import NotAllowed, PeerAway, RedisLost, TargetNotFound, UsageError
from streamrelay.events import Receipt
from streamrelay.federation.compression import kind_of
from streamrelay.federation.messages import Body, End, Message, Wish
from streamrelay.federation.names import RemoteName
from streamrelay.federation.sent_messages import SentAway
from streamrelay.links.link import Link, LinkPolicy, Party
from streamrelay.relay.rules import Effect, PublishEvent
from streamrelay.service.api import Delivery, Peer, SendMessage, SendResult
from streamrelay.service.callers import Caller, calling
from streamrelay.service.core import Core, new_id, party
from streamrelay.service.federation import Federation
from streamrelay.service.messages import OutgoingMessage, check_chosen_id, check_last_words, check_may_speak

MAX_TEXT_LENGTH = 1_000_000
"""Characters of one message to another machine."""
MAX_WAITING = 10_000
"""Messages that may wait for one other machine."""


def split(core: Core, name: str) -> RemoteName | None:
    """Return the remote name of a session on another machine; None for a local one."""
    return None if core.federation is None else core.federation.node.far(name)


def federation_of(core: Core) -> Federation:
    """Return the federation of a service; raises UsageError for none."""
    if core.federation is None:
        raise UsageError("this service has no peers", hint="docs/federation.md")
    return core.federation


# Links


async def create_link(
    core: Core, a: str, b: str, policy: LinkPolicy | None, *, allow_shell: bool = False
) -> Link | None:
    """Link a local session, which may be a shell with `allow_shell`, with a remote one; None if both are local."""
    there_a, there_b = split(core, a), split(core, b)
    if there_a is None and there_b is None:
        return None
    if there_a is not None and there_b is not None:
        raise UsageError(f"neither {a} nor {b} is on this machine", hint="make the link on the machine of one of them")
    own = await core.find(a if there_a is None else b)
    await core.admit(own, allow_shell=allow_shell)
    there = there_a or there_b
    assert there is not None  # noqa: S101  # one of them is
    other = await federation_of(core).find(there, "link")
    await core.do(lambda now: _linked(core, party(own), other, policy, now, reverse=there_a is not None))
    link = federation_of(core).node.link_between(own.session, other.session)
    if link is None:
        raise TargetNotFound("one of the two has gone meanwhile")
    return link


def _linked(
    core: Core, own: Party, other: Party, policy: LinkPolicy | None, now: float, *, reverse: bool = False
) -> list[Effect]:
    """Link two sessions, unless this machine or the peer's has a link between them already."""
    node = federation_of(core).node
    if node.link_between(own.session, other.session) is not None:
        return []
    a, b = (other, node.party(own)) if reverse else (node.party(own), other)
    return core.machine.link(a, b, link_id=new_id("link"), at=time.time(), now=now, policy=policy or core.policy)[1]


async def wish(core: Core, wished: Wish) -> bool:
    """Close, extend or pause a link that another machine keeps; return False if this machine keeps it.

    Raises NotAllowed for last words that the link may not deliver.
    """
    if core.federation is None or wished.link not in core.federation.node.images:
        return False
    node = core.federation.node
    by = (await core.find(wished.by)).session if wished.by else ""

    def decide(_now: float) -> list[Effect]:
        if wished.link not in node.images:
            return []
        if by and wished.what == "close":
            link = node.images[wished.link].link
            check_last_words(link, by, wished.last_words, core.machine.settings)
            core.machine.part(link)
        return node.wish(wished.link, structs.replace(wished, by=by))

    await core.do(decide)
    return True


async def pause(core: Core, of: str, *, paused: bool) -> bool:
    """Have what other machines keep paused there: one link, relay or gathering, or all; True where that is all."""
    what: Literal["pause", "resume"] = "pause" if paused else "resume"
    links = [] if core.federation is None else list(core.federation.node.images)
    for link in links:
        if of in {"", link}:
            await wish(core, Wish(link=link, what=what))
    seats = await wish_for_seats(core, of, what)
    return bool(of) and (seats > 0 or of in links)


async def close_all(core: Core) -> int:
    """Close the links, relays and gatherings that other machines keep; return how many there were."""
    links = [] if core.federation is None else list(core.federation.node.images)
    for link in links:
        await wish(core, Wish(link=link, what="close"))
    return len(links) + await wish_for_seats(core, "", "close")


async def wish_for_seats(core: Core, of: str, what: Literal["pause", "resume", "close"]) -> int:
    """Send a wish to the home of one relay or gathering, or to the homes of all; return their number."""
    if core.federation is None:
        return 0
    node = core.federation.node
    seats = [seat for seat in node.seats.values() if seat.is_exclusive and of in {"", seat.of, seat.name}]
    homes = sorted({(seat.home, seat.of) for seat in seats})

    def decide(_now: float) -> list[Effect]:
        for home, name in homes:
            node.post(home, Wish(link=name, what=what))
        return []

    if homes:
        await core.do(decide)
    return len(homes)


async def start_agent(core: Core, there: RemoteName, *, arguments: Sequence[str], title: str, cwd: str) -> Party:
    """Start an agent on another machine for a gathering of this one; raises NotAllowed and PeerAway."""
    return await federation_of(core).start(there, arguments=arguments, title=title, cwd=cwd)


async def end_agent(core: Core, session: str) -> None:
    """End a session that another machine started for this one, as soon as it knows."""
    there = split(core, session)
    if there is not None:
        await core.do(lambda _: _posted(core, there.node, End(session=there.name)))


def _posted(core: Core, peer: str, body: Body) -> list[Effect]:
    federation_of(core).node.post(peer, body)
    return []


def person_elsewhere(core: Core, session: str) -> str:
    """Return the other machine that `@NODE` names, on whose page a person takes part; empty for anything else."""
    node = session.removeprefix("@")
    return node if core.federation is not None and session != node and node in core.federation.node.peers else ""


async def check_person(core: Core, peer: str) -> None:
    """Check that a person can take part on that machine's page; raises NotAllowed, PeerAway and RedisLost."""
    await federation_of(core).check_seat(peer)


async def participant(core: Core, name: str, *, allow_shell: bool = False) -> Party:
    """Return a session that is to take part in a relay or gathering, of here or elsewhere; one of here is heard."""
    there = split(core, name)
    if there is not None:
        return await federation_of(core).find(there, "seat")
    session = await core.find(name)
    await core.admit(session, allow_shell=allow_shell)
    return party(session)


def problems(core: Core) -> list[str]:
    """Return the problems of the federation, as text."""
    federation = core.federation
    if federation is None:
        return []
    away = sorted(set(federation.node.peers) - federation.present)
    found = [f"federation: {federation.problem}"] if federation.problem else [f"node {peer} is away" for peer in away]
    refused = (
        f"{counted(refusal.count, 'envelope')} from {refusal.sender or 'an unknown sender'} "
        f"refused ({refusal.reason}): {refusal.why}"
        for refusal in federation.admission.refusals
    )
    waiting = [f"{of} waits until {peer} is back" for of, peer in federation.node.waiting_gatherings.items()]
    gone = {*federation.node.peers} - federation.present
    waiting += [
        f"{seat.name} waits until {seat.home} is back"
        for seat in federation.node.seats.values()
        if seat.is_in_gathering and seat.home in gone
    ]
    lost = (
        f"{counted(channel.lost, 'envelope')} from {peer} lost: the database here went back, as after a loss of power"
        for peer, channel in federation.node.channels.items()
        if channel.lost
    )
    return [*found, *dict.fromkeys(waiting), *refused, *lost]


def peers(core: Core) -> list[Peer]:
    """Return the other machines, with what waits for each and why."""
    federation = core.federation
    return [] if federation is None else [_peer(federation, peer) for peer in federation.node.peers]


def _peer(federation: Federation, name: str) -> Peer:
    state: Literal["present", "away", "unreachable"] = "present" if name in federation.present else "away"
    state = "unreachable" if federation.problem else state
    channel = federation.node.channels[name]
    sent = f"{name} takes at most {channel.limit}" if channel.limit else "sent, and not acknowledged yet"
    why = {"present": sent, "away": f"{name} is away", "unreachable": federation.problem}
    return Peer(
        name=name,
        state=state,
        waiting=Counter(map(kind_of, channel.waiting_bodies)),
        lag=federation.lag(name),
        why=why[state] if channel.waiting else "",
        refused={refusal.reason: refusal.count for refusal in federation.admission.refusals if refusal.sender == name},
        keys=federation.keys.fingerprints(name),
        slowed=federation.node.allowances[name].slowed,
    )


# Messages


async def send(core: Core, request: SendMessage, there: RemoteName) -> SendResult:
    """Send a message to another machine; it waits here, on disk, until that machine takes it."""
    federation = federation_of(core)
    node = federation.node
    message_id = request.message_id or f"send-{secrets.token_hex(6)}"
    check_message_id(f"{message_id}@{node.name}")
    check_chosen_id(message_id)
    if len(request.text) > MAX_TEXT_LENGTH:
        raise NotAllowed(
            f"the message has {len(request.text):,} characters; at most {MAX_TEXT_LENGTH:,} may go to another machine"
        )
    if node.channels[there.node].waiting >= MAX_WAITING:
        raise PeerAway(f"{MAX_WAITING:,} messages already wait for {there.node}", data={"node": there.node})
    who, other, warning = await _between(core, request, there)
    caller = None if who.session is None else party(who.session)
    connects: Literal["link", "listen"] = "link" if request.direct else "listen"
    again = _is_known(node.away.get(message_id), there, other)
    if request.message_id:
        server, node_key = core.server_key, f"@{there.node}"
        await core.outbox.claim(message_id, request.text, server=server, pane=node_key, is_sent=again)
    sending = OutgoingMessage(
        message_id=message_id,
        text=request.text,
        target=other or Party(str(there), str(there), str(there)),
        caller=None if caller is None else node.party(caller),
        then="close" if request.close_link else connects if who.is_heard else "nothing",
        policy=request.policy or core.policy,
        typing=core.typing_of(request),
        again=again,
    )
    closed = listening = False

    def decide(now: float) -> list[Effect]:
        nonlocal closed, listening
        if caller is not None and other is not None and node.image_between(caller.session, other.session) is None:
            sent, effects = core.machine.send(
                sending, link_id=new_id("link"), listener_id=new_id("stop"), at=time.time(), now=now
            )
            closed, listening = sent.closed, sent.listening
            return effects
        effects, closed = _sent_to_home(core, sending, there)
        return effects

    await core.do(decide)
    if request.close_link and not closed:
        warning = warning or f"there is no link with {there} to be closed"
    link = None if caller is None or other is None else node.link_between(caller.session, other.session)
    delivery = deliveries(core, message_id)[0]
    return SendResult(
        message_id=message_id,
        delivery=delivery,
        link="" if link is None else link.link_id,
        listening=listening,
        warning=warning,
    )


def _is_known(sent: SentAway | None, there: RemoteName, other: Party | None) -> bool:
    """Return whether a message was sent before; raises UsageError if it was sent to another session.

    If the peer cannot resolve the target now, a message to the same machine counts as the same message.
    """
    if sent is None:
        return False
    names = {str(there)} | ({other.session, other.pane, other.title} if other is not None else {sent.pane})
    if sent.node != there.node or sent.pane not in names:
        raise UsageError(
            f"the message id {sent.message_id} was used for a message to {sent.pane}",
            hint="choose another id, or omit it",
        )
    return True


def _sent_to_home(core: Core, sending: OutgoingMessage, there: RemoteName) -> tuple[list[Effect], bool]:
    """Post a message unchanged, for the peer to decide what to do with it; return whether a link is closed."""
    node = federation_of(core).node
    if sending.again:
        return [], False
    caller = sending.caller
    if caller is not None:
        check_may_speak(caller.session, core.machine.settings)
    image = None if caller is None else node.image_between(caller.session, sending.target.session)
    last = image is not None and sending.then == "close"
    node.away.note(SentAway(sending.message_id, str(there), there.node))
    message = Message(
        message_id=sending.message_id,
        name=there.name,
        text=sending.text,
        caller=caller,
        last=last,
        typing=sending.typing,
    )
    node.post(there.node, message)
    queued = PublishEvent(Receipt(message_id=sending.message_id, pane=str(there), state="queued"))
    if image is None or not last:
        return [queued], False
    core.machine.part(image.link)
    # The home may refuse the message; the link is closed all the same. Behind a message that closed it this is nothing.
    link, by = image.link.link_id, image.own.session
    return [queued, *node.wish(link, Wish(link=link, what="close", by=by))], True


async def _between(core: Core, request: SendMessage, there: RemoteName) -> tuple[Caller, Party | None, str]:
    """Return the caller, the target if it is known now, and a warning about everything but the delivery.

    Raises TargetNotFound for a session that the other machine does not know. The message waits for a machine that is
    unreachable.
    """
    caller = await calling(core, request.caller, unknown_agent=request.unknown_agent)
    try:
        other = await federation_of(core).find(there)
    except (PeerAway, RedisLost) as error:
        left_out = " No link is made." if request.direct else " No link is closed." if request.close_link else ""
        left_out = left_out or (" No notice follows when it stops." if caller.is_heard else "")
        waits = f"{there.node} is unreachable, and the message waits for it: {error.message}.{left_out}"
        return caller, None, "; ".join(filter(None, (caller.warning, waits)))
    core.machine.circles.check_may_send(other.session, to=True)
    return caller, other, caller.warning


def deliveries(core: Core, message_id: str) -> list[Delivery]:
    """Return the state of a message to another machine, one entry a pane; empty for a local message."""
    return [] if core.federation is None else [_delivery(sent) for sent in core.federation.node.away.all_of(message_id)]


def all_deliveries(core: Core) -> list[Delivery]:
    """Return the states of the messages to other machines, oldest first."""
    return [] if core.federation is None else [_delivery(sent) for sent in core.federation.node.away.all]


def _delivery(sent: SentAway) -> Delivery:
    return Delivery(message_id=sent.message_id, pane=sent.pane, state=sent.state, reason=sent.reason, file=sent.file)
