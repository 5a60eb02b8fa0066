"""Merges events into a stream with its own numbers and times."""

import asyncio
import socket
import time
from collections.abc import Callable

import msgspec

from streamrelay.events import Event

Publish = Callable[[Event], None]


class Publisher:
    """Passes events to `publish`, numbered from 1 and timed from its creation; events without a host get one."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._seq = 0
        self._began = asyncio.get_running_loop().time()

    def __call__(self, event: Event) -> None:
        """Pass one event on."""
        self._seq += 1
        event.seq = self._seq
        event.t = round(asyncio.get_running_loop().time() - self._began, 6)
        if event.at is msgspec.UNSET:
            event.at, event.host = time.time(), socket.gethostname()
        self._publish(event)
