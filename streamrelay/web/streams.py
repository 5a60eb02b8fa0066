"""Server-sent events that end on purpose, with heartbeats that show each side whether the other is there.

A telephone that leaves its network says nothing: what is written to it shows that it is gone, and what it hears shows
it that we are not. So something is written at least every `BEAT` seconds, a comment where there is nothing else.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import cast

from starlette.responses import StreamingResponse
from starlette.types import Send

MEDIA_TYPE = "text/event-stream"
BEAT = 15.0
_COMMENT = b":\n\n"


class EventStream(StreamingResponse):
    """A response that lets go of what it was made of as soon as its reader is gone."""

    def __init__(self, frames: AsyncGenerator[bytes]) -> None:
        super().__init__(frames, media_type=MEDIA_TYPE, headers={"cache-control": "no-store"})

    async def stream_response(self, send: Send) -> None:
        """Send what there is until either side has enough."""
        async with contextlib.aclosing(cast(AsyncGenerator[bytes], self.body_iterator)):
            await super().stream_response(send)


async def beating(
    frames: AsyncGenerator[bytes], ended: asyncio.Event, *, every: float = BEAT
) -> AsyncGenerator[bytes, None]:
    """Yield the frames, and a comment after a while without one; end with them, or when `ended` is set."""
    ending = asyncio.ensure_future(ended.wait())
    waiting: asyncio.Future[bytes | None] | None = None
    try:
        yield _COMMENT
        while True:
            waiting = waiting or asyncio.ensure_future(anext(frames, None))
            await asyncio.wait((waiting, ending), timeout=every, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                data, waiting = waiting.result(), None
                if data is None:
                    return
                yield data
            elif ending.done():
                return
            else:
                yield _COMMENT
    finally:
        left = [task for task in (ending, waiting) if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await frames.aclose()
