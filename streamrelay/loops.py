"""The event loop of the commands and the daemon: uvloop if it is installed.

A program that uses the library brings its own. Why uvloop, and what it is good for: docs/decisions/0015.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

__all__ = ["new_event_loop"]


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop, which the caller closes; `asyncio.Runner` takes this function as its `loop_factory`."""
    loop: asyncio.AbstractEventLoop
    try:
        import uvloop
    except ImportError:
        loop = asyncio.new_event_loop()
    else:
        loop = uvloop.new_event_loop()
    loop.set_exception_handler(_report)
    return loop


def _report(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Report the exception of a callback as usual, and leave out one that a cancelled request of anyio causes.

    A request on a Unix socket waits for a future which the loop sets when the socket is readable (anyio 4,
    `UNIXSocketStream._wait_until_readable`). If the request is cancelled in the same turn of the loop, the loop sets a
    cancelled future. That changes nothing, but the traceback would be in the log of an agent's MCP server.
    """
    is_late = isinstance(context.get("exception"), asyncio.InvalidStateError)
    if not (is_late and "Future.set_result(" in str(context.get("message"))):
        loop.default_exception_handler(dict(context))
