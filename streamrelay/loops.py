"""The event loop of the commands and the daemon: uvloop if it is installed.

A program that uses the library brings its own. Why uvloop, and what it is good for: docs/decisions/0015.
"""

import asyncio

__all__ = ["new_event_loop"]


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop, which the caller closes; `asyncio.Runner` takes this function as its `loop_factory`."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
