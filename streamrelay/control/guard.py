"""Ends a tmux client when this process is gone without having taken leave, `kill -9` above all.

A client whose reader died with output still to come cannot be left by closing its standard input: the server waits to
be rid of that output first, for ever, and the client stays attached, holds its session, and keeps the server from
exiting (tmux 3.3a to 3.8, control.c, control_all_done). Only the end of the client's process helps. So a shell waits
beside it, on a pipe from here; it is told when all is over, and kills the client where the pipe ends without a word.

asyncio is not asked to start that shell: where the loop ends amid a start, its end is waited for in vain, for ever
(CPython 3.11, asyncio.base_subprocess).
"""

import contextlib
import os
import subprocess

from streamrelay.children import reaped

_WATCH = 'read -r over || kill -9 "$0"'


class ClientGuard:
    """The shell that waits for the end of a child of this process.

    Made before that child, so that none is started where descriptors have run out; then `watch` it, `end` that when it
    is gone, and `close` in any case: the child is killed if `end` was not called.
    """

    def __init__(self) -> None:
        self._read_end, self._lifeline = os.pipe()
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, pid: int) -> None:
        """Start the shell that waits for the end of this process, to end the child `pid`."""
        # Where there is no shell there is no guard.
        with contextlib.suppress(OSError):
            # In a session of its own, so that what ends this process by a signal to its group does not end it first.
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH, str(pid)],
                stdin=self._read_end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    async def end(self) -> None:
        """Call it off."""
        with contextlib.suppress(OSError):
            os.write(self._lifeline, b"over\n")
        if self._process is not None:
            await reaped(self._process)

    def close(self) -> None:
        """Let go of what is open."""
        os.close(self._lifeline)
        os.close(self._read_end)
