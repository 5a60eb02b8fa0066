"""The calls that list, open and stop relays."""

from msgspec import structs

from streamrelay.errors import TargetNotFound
from streamrelay.relay.rules import Participant
from streamrelay.relay.session import check_different, checked_name
from streamrelay.service import remote_sessions
from streamrelay.service.api import CreateRelay, Relay, RelayMember
from streamrelay.service.call import call
from streamrelay.service.core import Core, new_id
from streamrelay.service.parts import ServiceParts


@call("GET", "/relays", early=True)
async def relays(parts: ServiceParts) -> list[Relay]:
    """List the relays."""
    return [_relay(parts.core, relay_id) for relay_id in parts.core.machine.relays.all]


@call("POST", "/relays")
async def create_relay(parts: ServiceParts, request: CreateRelay) -> Relay:
    """Relay the output of sessions to each other.

    Raises SessionTaken for a session in another relay or gathering, and UsageError for two equal names.
    """
    core = parts.core
    check_different(each.name for each in request.participants)
    sessions = [
        await remote_sessions.participant(core, each.session, allow_shell=request.allow_shell)
        for each in request.participants
    ]
    participants = [
        Participant(s.session, s.pane, checked_name(each.name or s.title), number, s.session_name)
        for number, (each, s) in enumerate(zip(request.participants, sessions, strict=True), 1)
    ]
    relay_id, rules = new_id("relay"), structs.replace(core.rules, budget=request.budget)
    await core.do(lambda now: core.machine.open_relay(relay_id, participants, rules, now))
    return _relay(parts.core, relay_id)


@call("DELETE", "/relays/{relay}")
async def stop_relay(parts: ServiceParts, relay: str) -> None:
    """End a relay."""
    if not await remote_sessions.wish_for_seats(parts.core, relay, "close"):
        await parts.core.do(lambda _: parts.core.machine.stop_relay(relay))


def _relay(core: Core, relay_id: str) -> Relay:
    relay = core.machine.relays.all.get(relay_id)
    if relay is None:
        raise TargetNotFound(f"relay {relay_id} has ended meanwhile")
    state = relay.state
    members = [
        RelayMember(
            session=member.session,
            pane=member.pane,
            name=member.name,
            number=member.number,
            muted=member.pane in state.muted,
            gone=member.pane in state.gone,
            traffic=state.traffic[member.label],
        )
        for member in relay.participants
    ]
    return Relay(
        relay=relay_id,
        members=members,
        deliveries=state.deliveries,
        budget=state.budget,
        paused=state.paused,
    )
