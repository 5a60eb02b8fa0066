"""Retries: three attempts, one and two seconds apart. The SDKs' own retries are off, else there would be nine.

An answer that has begun is not requested again: its beginning has been shown, and a second answer would repeat it. The
coordinator decides what follows a failure.
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

    Raises the error of the last attempt, and AICutOff for an error after the first piece.
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
