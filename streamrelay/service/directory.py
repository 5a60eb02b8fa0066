"""Which sessions there are, and which of them is meant by a name."""

from collections.abc import Sequence

from streamrelay.errors import TargetNotFound, UsageError
from streamrelay.links.link import Party
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.server import Server
from streamrelay.sessions.model import Session, SessionState


def listed(infos: Sequence[PaneInfo], server: Server) -> list[Session]:
    """Return the sessions that panes are: those of dead programs left out."""
    names = [info.session_name for info in infos]
    return [
        Session(
            session=info.pane,
            pane=info.pane,
            title=info.session_name if names.count(info.session_name) == 1 else info.address,
            session_name=info.session_name,
            program=info.command,
            agent=_agent(server, info.pane),
            state=_state(server, info.pane),
        )
        for info in infos
        if not info.dead
    ]


def chosen(sessions: Sequence[Session], name: str) -> Session | None:
    """Return the session with this id, this pane or this title; raises UsageError where several have the title."""
    for session in sessions:
        if name in {session.session, session.pane}:
            return session
    titled = [session for session in sessions if session.title == name]
    if len(titled) > 1:
        raise UsageError(f"{len(titled)} sessions are called {name!r}", hint="name one by its id: `streamrelay ls`")
    return titled[0] if titled else None


async def found(sessions: Sequence[Session], server: Server, name: str) -> Session:
    """Return the session that is meant, by a pane as tmux writes it too; raises TargetNotFound."""
    if not name:
        raise UsageError("an empty name means no session", hint="`streamrelay ls` lists them")
    if (session := chosen(sessions, name)) is not None:
        return session
    info = await server.find(name)
    if (session := chosen(sessions, info.pane)) is not None:
        return session
    raise TargetNotFound(f"{name!r} is no session", data={"target": name})


def party(session: Session) -> Party:
    """Return a session as a link takes it."""
    return Party(session.session, session.pane, session.title, session.session_name)


def _agent(server: Server, pane: str) -> str:
    return server.pipeline(pane).profile if server.is_watched(pane) else ""


def _state(server: Server, pane: str) -> SessionState:
    if not server.is_watched(pane):
        return "unknown"
    standing = server.pipeline(pane).standing
    if standing.needs_human is not None:
        return "needs_human"
    if standing.answers:
        return "busy"
    return "idle" if standing.converses else "unknown"
