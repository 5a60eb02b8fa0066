"""The calls of gatherings. A call about a gathering that another machine holds goes to that machine."""

from streamrelay.service import gatherings as local_gatherings
from streamrelay.service import remote_gatherings
from streamrelay.service.api import Gathering, GatheringTranscript, StartGathering
from streamrelay.service.call import call
from streamrelay.service.parts import ServiceParts


@call("POST", "/gatherings")
async def start_gathering(parts: ServiceParts, request: StartGathering) -> Gathering:
    """Start the sessions of a gathering, then the gathering; if one session fails, end the others again.

    Raises UsageError for an invalid gathering, SessionTaken for a session that is in a relay or gathering already,
    and NestedGathering for a caller that is in one.
    """
    if request.caller:
        await parts.councils.check_not_member(request.caller)
    return await local_gatherings.start(parts.core, request)


@call("GET", "/gatherings", early=True)
async def gatherings(parts: ServiceParts) -> list[Gathering]:
    """List the gatherings in progress and the latest finished ones, newest first."""
    return [*await remote_gatherings.all_of(parts.core), *local_gatherings.all_of(parts.core)]


@call("GET", "/gatherings/{gathering}")
async def gathering(parts: ServiceParts, gathering: str) -> Gathering:
    """Return the state of a gathering; raises TargetNotFound for an unknown id."""
    if there := remote_gatherings.home_of(parts.core, gathering):
        return await remote_gatherings.view(parts.core, there)
    return local_gatherings.view(parts.core, gathering)


@call("POST", "/gatherings/{gathering}/pass")
async def pass_piece(parts: ServiceParts, gathering: str, number: int | None = None, session: str = "") -> Gathering:
    """Pass the talking piece on.

    With neither `number` nor `session`, its current holder passes it; raises UsageError for a participant who does
    not hold it. An empty `gathering` is the one that the session is in.
    """
    if there := remote_gatherings.home_of(parts.core, gathering):
        return await remote_gatherings.pass_piece(parts.core, there, number, session)
    return await local_gatherings.pass_piece(parts.core, gathering, number, session)


@call("POST", "/gatherings/{gathering}/say")
async def say_in_gathering(parts: ServiceParts, gathering: str, number: int, text: str) -> Gathering:
    """Speak for a person in the circle; raises UsageError if that person does not hold the piece."""
    if there := remote_gatherings.home_of(parts.core, gathering):
        return await remote_gatherings.say(parts.core, there, number, text)
    return await local_gatherings.say(parts.core, gathering, number, text)


@call("POST", "/gatherings/{gathering}/pause")
async def pause_gathering(parts: ServiceParts, gathering: str, paused: bool = True) -> Gathering:
    """Pause a gathering, or resume it."""
    if there := remote_gatherings.home_of(parts.core, gathering):
        return await remote_gatherings.wish(parts.core, there, "pause" if paused else "resume")
    return await local_gatherings.pause(parts.core, gathering, paused=paused)


@call("POST", "/gatherings/{gathering}/close")
async def close_gathering(parts: ServiceParts, gathering: str, end_sessions: bool = False) -> Gathering:
    """Close a gathering before its last round, after its harvest; a second call does not wait for the harvest."""
    if there := remote_gatherings.home_of(parts.core, gathering):
        return await remote_gatherings.wish(parts.core, there, "close")
    return await local_gatherings.close(parts.core, gathering, end_sessions=end_sessions)


@call("GET", "/gatherings/{gathering}/transcript")
async def gathering_transcript(parts: ServiceParts, gathering: str) -> GatheringTranscript:
    """Return the transcript of a gathering."""
    if there := remote_gatherings.home_of(parts.core, gathering):
        return await remote_gatherings.transcript(parts.core, there)
    return local_gatherings.transcript(parts.core, gathering)
