"""Request slots: tasks wait here, in order of arrival, until there is room for their request.

The queue asks `has_room()` and keeps no token count, so a cancelled task cannot leak a slot: each task that enters or
gives up checks whether the next one may enter.
"""

import asyncio
from collections import deque
from collections.abc import Callable


class RequestSlots:
    """A queue of tasks that wait for `has_room()`. Call `admit_next` after making room."""

    def __init__(self, has_room: Callable[[], bool]) -> None:
        self._has_room = has_room
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self, act: Callable[[], None]) -> None:
        """Call `act` as soon as there is room and no earlier task waits."""
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
            self.admit_next()

    def admit_next(self) -> None:
        """Let the first waiting task enter, if there is room."""
        if self._waiting and not self._waiting[0].done() and self._has_room():
            self._waiting[0].set_result(None)
