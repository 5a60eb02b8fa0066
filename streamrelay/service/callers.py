"""Who sends a message: the session that it is sent from, or nobody."""

from streamrelay.errors import InGathering, StreamrelayError
from streamrelay.service.core import Core
from streamrelay.sessions.model import Session


async def calling(core: Core, name: str, target: str = "") -> tuple[Session | None, str]:
    """Return the session of that name, heard, or what hinders that it is: the message is delivered all the same.

    `target` is whom it is for, where that is a session of here. Raises InGathering for a session that may not send now.
    """
    if not name:
        return None, ""
    try:
        caller = await core.find(name)
        core.machine.circles.check_may_send(caller.session, to=False)
        if caller.session == target:
            return None, "a session cannot be linked with itself"
        await core.admit(caller)
    except InGathering:
        raise
    except StreamrelayError as error:
        return None, f"the calling session {name} cannot be heard: {error.message}"
    return caller, ""
