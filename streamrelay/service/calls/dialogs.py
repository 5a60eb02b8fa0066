"""The calls by which a person answers a dialog or interrupts a program."""

from streamrelay.history.results import Whole
from streamrelay.service import interrupts
from streamrelay.service.api import OpenDialog
from streamrelay.service.call import call
from streamrelay.service.dialogs import answer, listed
from streamrelay.service.parts import ServiceParts


@call("GET", "/dialogs")
async def dialogs(parts: ServiceParts, session: str = "") -> list[OpenDialog]:
    """List the open dialogs of the watched sessions, or of one session; a password prompt is not listed."""
    return await listed(parts.core, session)


@call("POST", "/dialogs/{dialog}/answer")
async def answer_dialog(parts: ServiceParts, session: str, dialog: str, choice: Whole) -> None:
    """Press the key of the choice that a person made in a dialog, if the dialog is still open.

    The first choice is 0. Raises DialogChanged if the dialog is gone or ignores its keys, and UsageError for a
    choice that it does not have.
    """
    await answer(parts.core, session, dialog, choice)


@call("POST", "/interrupt")
async def interrupt(parts: ServiceParts, session: str, message: str = "") -> list[str]:
    """Press the keys that interrupt an answer, as the program's profile defines them; return the keys.

    `message` is the text of the message that the program works on. If the program puts that text back into its
    composer, the composer is cleared, so that no draft remains; a person's draft stays. Raises NotAllowed for a
    program whose profile has no such keys.
    """
    return await interrupts.interrupt(parts.core, session, message)
