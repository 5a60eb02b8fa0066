"""The caller of a message: the session that sends it, if a session does."""

from typing import NamedTuple

from streamrelay.errors import StreamrelayError
from streamrelay.service.core import Core
from streamrelay.service.messages import check_may_speak
from streamrelay.sessions.model import Session


class Caller(NamedTuple):
    """The session that sends a message; None for a person, and if no session has the given name."""

    session: Session | None
    is_heard: bool
    """Whether its pane is observed, so that it can be linked and listen."""
    warning: str = ""
    """Why it is not; the message is delivered anyway."""


async def calling(core: Core, name: str, target: str = "", *, unknown_agent: bool = False) -> Caller:
    """Return the session of that name, and observe it if possible. An unobserved session has the same limits.

    `target` is the message's target if that is a local session. Raises InGathering for a session that may not send now,
    and NotAllowed for an unknown agent while a person has paused everything.
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
