"""The calls that read the journal, search it, and summarise the present."""

import contextlib
from typing import Annotated

import msgspec

from streamrelay.errors import TargetNotFound
from streamrelay.events import AnyEvent
from streamrelay.history.results import MAX_FOUND, MAX_READ, History, Output, SearchHistory, Whole
from streamrelay.pulse import Pulse
from streamrelay.service import pulse as taking
from streamrelay.service.api import TakePulse
from streamrelay.service.call import call
from streamrelay.service.parts import ServiceParts


@call("GET", "/journal", early=True)
async def read_since(
    parts: ServiceParts,
    seq: Whole,
    session: str = "",
    limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_READ)] = MAX_READ,
) -> list[AnyEvent]:
    """Return the journaled events after a `seq`, oldest first, of all sessions or of one, running or ended."""
    place = await parts.core.place(session) if session else None
    return await parts.core.journal.since(seq, limit=limit, place=place)


@call("GET", "/latest", early=True)
async def latest(parts: ServiceParts, limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_FOUND)] = 50) -> list[Output]:
    """Return the newest output of the running sessions, newest first, with at least the last one of each."""
    sessions = [session.session for session in await parts.core.sessions.all()]
    return await parts.core.journal.latest(sessions, limit=limit)


@call("GET", "/history", early=True)
async def search_history(parts: ServiceParts, search: SearchHistory) -> History:
    """Search the journal and agents' own transcripts, the best match first."""
    place = None
    if search.session:
        # A hit from an agent's transcript belongs to no session.
        with contextlib.suppress(TargetNotFound):
            place = await parts.core.place(search.session)
    return await parts.core.history.search(search, place)


@call("POST", "/pulse")
async def pulse(parts: ServiceParts, request: TakePulse) -> Pulse:
    """Summarise system, sessions, repositories and pipelines, with earlier output about the current work."""
    return await taking.pulse(parts.core, scope=request.scope, parts=request.parts, among=request.among)
