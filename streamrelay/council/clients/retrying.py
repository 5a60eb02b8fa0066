"""Three attempts, one and two seconds apart; the SDKs' own retries are off, so that nothing is tried nine times.

Only what has not begun is tried again: an answer that was cut off has been shown in part, and a second one would repeat
it. What became of a failed try is for the coordinator to decide.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import stamina
import stamina.instrumentation

from streamrelay.errors import AICutOff, AIError, AIUnavailable

# stamina reports each retry through structlog, which prints on standard output: into the app, or among the data.
stamina.instrumentation.set_on_retry_hooks([])

ATTEMPTS = 3
FIRST_WAIT = 1.0


async def stream_with_retries(
    open_stream: Callable[[], AsyncGenerator[str]], *, member: str, wait: float = FIRST_WAIT
) -> AsyncGenerator[str]:
    """Yield the pieces of the first attempt that begins; `wait` seconds before the second attempt, twice that after it.

    Raises what the last attempt raised, and AICutOff for an error behind the first piece.
    """
    async for attempt in stamina.retry_context(
        on=AIUnavailable, attempts=ATTEMPTS, timeout=None, wait_initial=wait, wait_max=4 * wait, wait_jitter=0
    ):
        with attempt:
            pieces = open_stream()
            first = await anext(pieces, None)
    async with aclosing(pieces):
        if first is None:
            return
        yield first
        try:
            async for piece in pieces:
                yield piece
        except AIError as error:
            raise AICutOff(f"{member} broke off: {error.message}", data=error.data) from error
