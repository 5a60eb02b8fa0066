"""The calls of the council."""

from typing import Annotated

import msgspec

from streamrelay.service.api import AskCouncil, Council, CouncilAnswers, CouncilReply, CouncilTranscript, OpenCouncil
from streamrelay.service.call import call
from streamrelay.service.council_api import MAX_WAIT
from streamrelay.service.parts import ServiceParts


@call("POST", "/councils")
async def open_council(parts: ServiceParts, request: OpenCouncil) -> Council:
    """Begin a council session, resume one, or join an open one.

    Raises ConfigError, AIKeyRefused, ExtraMissing, UsageError for an unknown session or one that another process
    holds, and NotAllowed if too many are open.
    """
    return await parts.councils.open(request)


@call("GET", "/councils", early=True)
async def councils(parts: ServiceParts) -> list[Council]:
    """List the open council sessions and the latest closed ones."""
    return await parts.councils.all()


@call("GET", "/councils/{council}/transcript", early=True)
async def council_transcript(parts: ServiceParts, council: str) -> CouncilTranscript:
    """Return the transcript of a council session; raises TargetNotFound."""
    return await parts.councils.transcript(council)


@call("POST", "/councils/{council}/enter")
async def enter_council(parts: ServiceParts, council: str, text: str) -> CouncilReply:
    """Handle what a person types in an open council session: a message, or a command that begins with a slash.

    Raises TargetNotFound for a session that is not open, and UsageError.
    """
    return await parts.councils.enter(council, text)


@call("POST", "/councils/{council}/rest", waits="seconds")
async def rest_council(
    parts: ServiceParts, council: str, seconds: Annotated[float, msgspec.Meta(ge=0, le=MAX_WAIT)] = 60.0
) -> bool:
    """Wait at most `seconds` until no member of a council session speaks; return whether none does."""
    return await parts.councils.rest(council, seconds)


@call("POST", "/council/ask", waits="wait_seconds")
async def ask_council(parts: ServiceParts, request: AskCouncil) -> CouncilAnswers:
    """Ask the user's council a question; return the members' answers and their dissent.

    Raises NotAllowed for a caller that may not speak, NestedGathering for one that takes part in a council or
    gathering, and what `open_council` raises.
    """
    return await parts.councils.ask(request)
