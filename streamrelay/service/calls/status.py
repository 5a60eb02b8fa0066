"""The calls that return the state of the service and of the other machines."""

import os

from streamrelay.history.retention import most_bytes
from streamrelay.service import remote_sessions
from streamrelay.service.api import Peer, Status
from streamrelay.service.call import ToolHints, call
from streamrelay.service.parts import ServiceParts
from streamrelay.version import VERSION


@call("GET", "/status", early=True)
async def status(parts: ServiceParts) -> Status:
    """Return the state of the service."""
    core = parts.core
    sessions = await core.sessions.all()
    await core.outbox.flush()
    return Status(
        version=VERSION,
        pid=os.getpid(),
        started_at=core.started_at,
        tmux=core.server.info.socket_path,
        seq=core.feed.last,
        paused=core.machine.settings.paused,
        sessions=len(sessions),
        watched=sum(core.server.is_watched(session.pane) for session in sessions),
        links=len(core.links()),
        relays=len(core.machine.relays.all),
        gatherings=len(core.machine.circles.held),
        deliveries={str(state): count for state, count in (await core.outbox.counts(core.server_key)).items()},
        subscribers=core.feed.readers,
        muted=sorted(core.machine.settings.muted),
        restoring=core.progress.left,
        journal_bytes=await core.journal.size(),
        journal_most_bytes=most_bytes(core.retention),
        problems=(*core.problems, *remote_sessions.problems(core)),
    )


@call("GET", "/peers", tool=ToolHints("List other machines", only_reads=True), early=True)
async def peers(parts: ServiceParts) -> list[Peer]:
    """List the other machines, with the envelopes that wait for each and why."""
    return remote_sessions.peers(parts.core)
