"""Ends a tmux client when this process is gone without having taken leave, `kill -9` above all.

A client whose reader died with output still to come cannot be left by closing its standard input: the server waits to
be rid of that output first, for ever, and the client stays attached, holds its session, and keeps the server from
exiting (tmux 3.3a to 3.8, control.c, control_all_done). Only the end of the client's process helps. So a shell waits
beside it, on a pipe from here; it is told when all is over, and kills the client where the pipe ends without a word.
"""

import asyncio
import contextlib
import os
from typing import Self

from streamrelay.children import start_child

_WATCH = 'read -r over || kill -9 "$0"'


class Guard:
    """The shell that waits; `end` has to be called when the client is gone."""

    def __init__(self, process: asyncio.subprocess.Process, lifeline: int) -> None:
        self._process = process
        self._lifeline = lifeline

    @classmethod
    async def of(cls, pid: int) -> Self:
        """Watch over a child of this process."""
        read_end, write_end = os.pipe()
        try:
            # In a session of its own, so that what ends this process by a signal to its group does not end it first.
            process = await start_child(
                "/bin/sh", "-c", _WATCH, str(pid),
                stdin=read_end, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        except BaseException:
            os.close(write_end)
            raise
        finally:
            os.close(read_end)
        return cls(process, write_end)

    async def end(self) -> None:
        """Call it off."""
        with contextlib.suppress(OSError):
            os.write(self._lifeline, b"over\n")
        os.close(self._lifeline)
        await self._process.wait()
