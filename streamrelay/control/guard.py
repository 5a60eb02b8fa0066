"""Ends a tmux client when this process is gone without having taken leave, `kill -9` above all.

A client whose reader died with output still to come cannot be left by closing its standard input: the server waits to
be rid of that output first, for ever, and the client stays attached, holds its session, and keeps the server from
exiting (tmux 3.3a to 3.8, control.c, control_all_done). Only the end of the client's process helps. So a shell waits
beside it, on a pipe from here; it is told when all is over, and kills the client where the pipe ends without a word.
"""

import asyncio
import contextlib
import os

from streamrelay.children import ended, start_child

_WATCH = 'read -r over || kill -9 "$0"'


class Guard:
    """The shell that waits for the end of a child of this process; `end` has to be called when that is gone."""

    def __init__(self, pid: int) -> None:
        read_end, self._lifeline = os.pipe()
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.ensure_future(self._start(pid, read_end))
        self._starting.add_done_callback(lambda _: os.close(read_end))

    async def _start(self, pid: int, read_end: int) -> None:
        # Where there is no shell there is no guard.
        with contextlib.suppress(OSError):
            # In a session of its own, so that what ends this process by a signal to its group does not end it first.
            self._process = await start_child(
                "/bin/sh", "-c", _WATCH, str(pid),
                stdin=read_end, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    async def end(self) -> None:
        """Call it off."""
        with contextlib.suppress(OSError):
            os.write(self._lifeline, b"over\n")
        os.close(self._lifeline)
        await asyncio.wait([self._starting])
        if self._process is not None:
            await ended(self._process)
