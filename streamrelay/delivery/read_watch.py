"""Whether a program reads what is typed to it, by what its terminal holds of it."""

import asyncio
from collections.abc import Callable

from streamrelay.delivery.tty_input import unread_input

_LOOK_AGAIN = 0.25


async def until_left_unread(tty: Callable[[], str], patience: float) -> int:
    """Return how many bytes a program has not read for `patience` seconds; waits as long as it reads.

    `tty` returns its terminal, empty while nothing was typed to it.
    """
    loop = asyncio.get_running_loop()
    unread_since: float | None = None
    before = 0
    while True:
        await asyncio.sleep(_LOOK_AGAIN if unread_since is not None else patience / 4)
        if not (path := tty()):
            continue
        unread = unread_input(path)
        if not unread or unread < before:
            unread_since = None
        elif unread_since is None:
            unread_since = loop.time()
        elif loop.time() - unread_since > patience:
            return unread
        before = unread or 0
