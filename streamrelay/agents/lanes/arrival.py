"""Whether a message that an agent may have got arrives in its record."""

import asyncio
import time
from typing import Final

from streamrelay.agents.lanes.lane import Handed, Lane

SEEN_WITHIN: Final = 5.0
"""Seconds in which a message that an agent has got appears in its record."""
_LOOK: Final = 0.05


async def appears(lane: Lane, handed: Handed) -> bool:
    """Return whether the agent's record shows a message within `SEEN_WITHIN` seconds."""
    until = time.monotonic() + SEEN_WITHIN
    while not await lane.was_taken(handed):
        if time.monotonic() >= until:
            return False
        await asyncio.sleep(_LOOK)
    return True
