"""Who sends a message: the session that it is sent from, or nobody."""

from typing import NamedTuple

from streamrelay.errors import StreamrelayError
from streamrelay.service.core import Core
from streamrelay.service.messages import check_may_speak
from streamrelay.sessions.model import Session


class Caller(NamedTuple):
    """The session that a message is sent from; None for a person's, and where no session has that name."""

    session: Session | None
    is_heard: bool
    """Whether it can be linked, and listen."""
    warning: str = ""
    """What hinders that: the message is delivered all the same."""


async def calling(core: Core, name: str, target: str = "", *, unknown_agent: bool = False) -> Caller:
    """Return the session of that name, heard if it can be: who cannot be heard is bound by what binds all sessions.

    `target` is whom it is for, where that is a session of here. Raises InGathering for a session that may not send now,
    and NotAllowed for one that nobody knows where no session may.
    """
    if not name:
        if unknown_agent:
            check_may_speak("", core.machine.settings)
        return Caller(None, is_heard=False)
    try:
        session = await core.find(name)
    except StreamrelayError as error:
        check_may_speak("", core.machine.settings)
        return Caller(None, is_heard=False, warning=_unheard(name, error))
    core.machine.circles.check_may_send(session.session, to=False)
    if session.session == target:
        return Caller(session, is_heard=False, warning="a session cannot be linked with itself")
    try:
        await core.admit(session)
    except StreamrelayError as error:
        return Caller(session, is_heard=False, warning=_unheard(name, error))
    return Caller(session, is_heard=True)


def _unheard(name: str, error: StreamrelayError) -> str:
    return f"the calling session {name} cannot be heard: {error.message}"
