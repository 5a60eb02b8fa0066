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
    """The shell that waits for the end of this process, and then kills a child of it.

    Create the guard before the child, so that no child runs unguarded if descriptors have run out. Call `watch` with
    the child, `end` when the child is gone, and `close` in any case; `close` without `end` kills the child.
    """

    def __init__(self) -> None:
        self._read_end, self._lifeline = os.pipe()
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, pid: int) -> None:
        """Start the shell that waits for the end of this process, to end the child `pid`."""
        # Without a shell there is no guard.
        with contextlib.suppress(OSError):
            # In its own session, so that a signal to the group of this process does not end the shell first.
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH, str(pid)],
                stdin=self._read_end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    async def end(self) -> None:
        """Stop watching, because the child is gone."""
        with contextlib.suppress(OSError):
            os.write(self._lifeline, b"over\n")
        if self._process is not None:
            await reaped(self._process)

    def close(self) -> None:
        """Close the pipe to the shell."""
        os.close(self._lifeline)
        os.close(self._read_end)
