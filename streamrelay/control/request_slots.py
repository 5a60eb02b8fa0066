"""First come, first served, while there is room.

Room is asked for, not counted in tokens, so nothing can leak when a waiting task is cancelled: whoever passes or gives
up looks whether the next may pass too.
"""

import asyncio
from collections import deque
from collections.abc import Callable


class RequestSlots:
    """Tasks that wait until `has_room()`; `look` has to be called after room was made."""

    def __init__(self, has_room: Callable[[], bool]) -> None:
        self._has_room = has_room
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self, act: Callable[[], None]) -> None:
        """Call `act` as soon as there is room and nobody who came before waits."""
        try:
            if self._waiting or not self._has_room():
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                try:
                    await turn
                finally:
                    self._waiting.remove(turn)
            act()
        finally:
            self.look()

    def look(self) -> None:
        """Let the first that waits pass, if there is room."""
        if self._waiting and not self._waiting[0].done() and self._has_room():
            self._waiting[0].set_result(None)
