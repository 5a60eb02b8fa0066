"""The service's calls for gatherings that another machine keeps, in which a session or person of this one takes part.

Such a gathering is `ID@NODE` here. Its home answers what it shows and whether the piece was passed, so these calls need
the home: while it is away, the last known state is shown as paused. A person's contribution is stored here first, and
waits for the home like everything else that goes there.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import structs

from streamrelay.errors import NotAllowed, PeerAway, PieceNotHeld, RedisLost, TargetNotFound, UsageError
from streamrelay.federation.messages import GatheringCall, PersonSaid, Wish
from streamrelay.federation.names import RemoteName, is_far, seen_from
from streamrelay.relay.rules import Effect
from streamrelay.service import remote_sessions
from streamrelay.service.core import Core
from streamrelay.service.gathering_api import Gathering, GatheringMember, GatheringTranscript


def home_of(core: Core, gathering_id: str) -> RemoteName | None:
    """Return the id and home of a gathering that another machine keeps; None for one of this machine."""
    return remote_sessions.split(core, gathering_id)


async def view(core: Core, there: RemoteName) -> Gathering:
    """Return the state of a gathering; raises TargetNotFound, and PeerAway and RedisLost if no state is known here."""
    federation = remote_sessions.federation_of(core)
    try:
        content = await federation.call_gathering(there, "view")
    except (PeerAway, RedisLost):
        if (known := federation.seen_gatherings.get(str(there))) is None:
            raise
        return structs.replace(_seen(core, there, msgspec.json.decode(known, type=Gathering)), state="paused")
    return _remembered(core, there, content)


async def all_of(core: Core) -> list[Gathering]:
    """Return the gatherings of other machines in which a session or person of this one takes part."""
    found = []
    for home, of in _attended(core):
        try:
            found.append(await view(core, RemoteName(of, home)))
        except (TargetNotFound, PeerAway, RedisLost):
            continue
    return found


async def transcript(core: Core, there: RemoteName) -> GatheringTranscript:
    """Return the transcript of a gathering; raises TargetNotFound, PeerAway and RedisLost."""
    content = await remote_sessions.federation_of(core).call_gathering(there, "transcript")
    told = msgspec.json.decode(content, type=GatheringTranscript)
    return structs.replace(told, gathering=_seen(core, there, told.gathering))


async def pass_piece(core: Core, there: RemoteName, number: int | None, session: str) -> Gathering:
    """Pass the piece for a participant of this machine; raises PieceNotHeld, PeerAway and RedisLost."""
    who = (await core.find(session)).session if session else ""
    federation = remote_sessions.federation_of(core)
    return _remembered(core, there, await federation.call_gathering(there, "pass", number=number, session=who))


async def say(core: Core, there: RemoteName, number: int, text: str) -> Gathering:
    """Contribute for a person on the page of this machine; raises PieceNotHeld and UsageError."""
    held = await view(core, there)
    member = next((member for member in held.participants if member.number == number), None)
    if member is None or not _is_person_here(member):
        raise UsageError(
            f"participant {number} of {there} is no person on this machine",
            hint="`streamrelay gather status` shows who takes part where",
        )
    is_harvest = member.role == "harvester" and held.phase == "close" and held.state != "closed"
    if held.speaker != number and not is_harvest:
        raise PieceNotHeld(f"{member.name} does not hold the piece now")
    said = PersonSaid(of=there.name, number=number, text=text)

    def decide(_now: float) -> list[Effect]:
        remote_sessions.federation_of(core).node.post(there.node, said)
        return []

    await core.do(decide)
    return await view(core, there)


async def wish(core: Core, there: RemoteName, what: Literal["pause", "resume", "close"]) -> Gathering:
    """Have a gathering paused, resumed or closed by its home; raises TargetNotFound for one that is not known here."""
    if (there.node, there.name) not in _attended(core):
        raise TargetNotFound(f"no session or person of this machine is in {there}")

    def decide(_now: float) -> list[Effect]:
        remote_sessions.federation_of(core).node.post(there.node, Wish(link=there.name, what=what))
        return []

    await core.do(decide)
    return await view(core, there)


def check_may_call(core: Core, peer: str, call: GatheringCall) -> None:
    """Raise TargetNotFound and NotAllowed for what a peer may not ask: it has to take part, and speaks for its own."""
    circle = core.machine.circles.found(call.of)
    own = [seat for seat in circle.seats.values() if seat.node == peer or seat.session.endswith(f"@{peer}")]
    if not own:
        raise TargetNotFound(f"no session or person of {peer} is in {call.of}")
    is_own_session = f"{call.session}@{peer}" in {seat.session for seat in own}
    is_own_number = not call.session and call.number in {seat.number for seat in own}
    if call.what == "pass" and not (is_own_session or is_own_number):
        raise NotAllowed(f"participant {call.session or call.number} is not on {peer}", data={"node": peer})


def _attended(core: Core) -> Sequence[tuple[str, str]]:
    seats = [] if core.federation is None else core.federation.node.seats.values()
    return sorted({(seat.home, seat.of) for seat in seats if seat.is_in_gathering})


def _is_person_here(member: GatheringMember) -> bool:
    return member.is_human and not member.session and not member.node


def _remembered(core: Core, there: RemoteName, content: bytes) -> Gathering:
    federation = remote_sessions.federation_of(core)
    names = {f"{of}@{home}" for home, of in _attended(core)}
    for name in federation.seen_gatherings.keys() - names:
        del federation.seen_gatherings[name]
    if str(there) in names:
        federation.seen_gatherings[str(there)] = content
    return _seen(core, there, msgspec.json.decode(content, type=Gathering))


def _seen(core: Core, there: RemoteName, held: Gathering) -> Gathering:
    """Return a gathering with the names that its participants have on this machine."""
    here = remote_sessions.federation_of(core).node.name

    def seen(name: str) -> str:
        if not name or (is_far(name) and not name.endswith(f"@{here}")):
            return name
        return seen_from(name, there.node, here)

    members = [
        structs.replace(
            member,
            session=seen(member.session),
            pane=seen(member.pane),
            node=_node_seen(member, there.node, here),
        )
        for member in held.participants
    ]
    return structs.replace(held, gathering=str(there), participants=members)


def _node_seen(member: GatheringMember, home: str, here: str) -> str:
    if not member.is_human or member.session:
        return ""
    node = member.node or home
    return "" if node == here else node
