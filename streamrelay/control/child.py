"""Signals for a child that asyncio waits for.

Not by the child's own `kill`, which first looks whether it is still there: of one that has just ended that takes the
status away from asyncio, which then says `Unknown child process` on standard error. Once asyncio has the status nobody
is signalled, so the id cannot be another's.
"""

import asyncio
import contextlib
import os
import signal


def send_signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a child, if it has not ended."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
