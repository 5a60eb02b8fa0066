"""`tmux -CC` over a pseudoterminal: for where only a terminal is to be had, for example through `ssh -t`.

The client makes its terminal raw before the server writes the stream's prefix, so nothing may be written before that
prefix was read: an early line would be subject to the 4,096 bytes of a canonical line, and to being flushed. An empty
line detaches it. What the client says besides the stream comes in the stream, before its beginning.
"""

import asyncio
import os
import signal
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from ptyprocess import PtyProcess

from streamrelay.control.transport import ChannelTransport, ControlChannel, Intake, leave

_POLL = 0.005


class PtyTransport(ChannelTransport):
    """A control client on a pseudoterminal."""

    stderr = ""

    def __init__(self, process: PtyProcess, channel: ControlChannel) -> None:
        super().__init__(channel)
        self._process = process
        self._closed = False

    @classmethod
    async def open(
        cls,
        argv: Sequence[str],
        env: Mapping[str, str],
        on_data: Callable[[bytes], None],
        on_eof: Callable[[], None],
        intake: Intake,
    ) -> Self:
        """Start `argv`; see OpenTransport."""
        with warnings.catch_warnings():
            # Python 3.12 warns of forking beside threads; the child does nothing but exec.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = PtyProcess.spawn(list(argv), env=dict(env), echo=False)
        # close() would sleep to let the child end; by then it has ended, and been waited for.
        process.delayafterclose = 0
        return cls(process, ControlChannel(process.fd, process.fd, on_data, on_eof, intake))

    @property
    def pid(self) -> int:
        """The child's process id."""
        pid: int = self._process.pid
        return pid

    @property
    def status(self) -> int | None:
        """With which status the child ended."""
        status: int | None = self._process.exitstatus
        return status

    async def close(self) -> None:
        """Send an empty line, and wait until the child is gone."""
        if self._closed:
            return
        self._closed = True
        self._channel.stop_listening()
        try:
            await leave((self._detach, self._terminate, self._kill), self._gone)
        finally:
            self._channel.stop()
            if self._alive():
                self._kill()
            self._process.close(force=False)

    def _detach(self) -> None:
        self._channel.write(b"\n")

    def _terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        # Only ever sent to a child that has not been waited for, so the id cannot be another's.
        if self._alive():
            os.kill(self._process.pid, number)

    def _alive(self) -> bool:
        return not self._process.terminated and bool(self._process.isalive())

    async def _gone(self, within: float) -> bool:
        # A terminal's child has no asyncio watcher; its end is seen by asking, and only while it is left.
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while self._alive():
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(_POLL)
        return True
