"""The calls that list, start and end sessions, and take the reports of their hooks."""

import msgspec

from streamrelay.agents.stop_report import HookReport
from streamrelay.service import sending
from streamrelay.service.call import call
from streamrelay.service.parts import ServiceParts
from streamrelay.sessions import hook_events
from streamrelay.sessions.model import Session, StartSession


@call("GET", "/sessions", early=True)
async def sessions(parts: ServiceParts) -> list[Session]:
    """List the sessions of the server: those started here, and every other pane with a program in it."""
    relay_of = parts.core.machine.relay_of
    return [
        msgspec.structs.replace(session, in_relay=relay_of(session.session))
        for session in await parts.core.sessions.all()
    ]


@call("POST", "/sessions", waits="patience")
async def start_session(parts: ServiceParts, request: StartSession) -> Session:
    """Start a session and return it when its program is ready; if the program needs a person, an event says so."""
    return await sending.start(parts.core, request)


@call("DELETE", "/sessions/{session}")
async def end_session(parts: ServiceParts, session: str) -> None:
    """End a session and all its links; raises UsageError for one that was not started here."""
    await sending.end(parts.core, session)


@call("POST", "/hooks")
async def hear_hook(parts: ServiceParts, report: HookReport) -> bool:
    """Take the report of an agent's stop hook; return whether a watched pane used it."""
    return await hook_events.hear_hook(parts.core.server, report)
