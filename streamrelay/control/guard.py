"""Ends a tmux client if this process dies without closing it, for example by `kill -9`.

Closing the standard input of a client does not end it while it has output left that its dead reader will never take:
the server waits for ever to write that output. The client stays attached, holds its session, and keeps the server from
exiting (tmux 3.3a to 3.8, control.c, control_all_done). Only killing the client helps. So a shell waits beside it on a
pipe from this process. A line in the pipe means that the client was closed; if the pipe ends without one, the shell
kills the client.

The shell is not started by asyncio: if the loop ended during the start, asyncio would wait for the shell for ever
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
