"""Run a program for its output: without a shell, within a time and a size.

It runs in a session of its own, so that whatever it started ends with it. A program that has ended while something
it started still holds its output is not waited for.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from streamrelay.children import uncut

MAX_OUTPUT_BYTES = 64_000
_DRAIN, _REAP = 0.2, 1.0
"""Seconds for the rest of its output after its end, and for its end after it was killed."""


class Ran(NamedTuple):
    """What came of a program: its exit status (below 0 for a signal) and what it printed, errors among it."""

    status: int
    output: str
    cut: bool = False
    """It printed more than may be, and was ended."""


async def run(
    command: Sequence[str],
    *,
    folder: str | None = None,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    most: int = MAX_OUTPUT_BYTES,
) -> Ran:
    """Run a program with `given` as standard input and return its result. A cancelled run leaves no process behind.

    One that prints more than `most` bytes is ended there. Without `environment` it has this process's. Raises OSError
    for one that cannot be started.
    """
    loop = asyncio.get_running_loop()
    pipe = asyncio.subprocess.PIPE
    transport, collecting = await uncut(
        loop.subprocess_exec(
            lambda: _Collecting(most),
            *command,
            stdin=pipe if given else asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    )
    try:
        if given and (stdin := cast(asyncio.WriteTransport | None, transport.get_pipe_transport(0))) is not None:
            stdin.write(given)
            stdin.write_eof()
        await collecting.ended.wait()
        if transport.get_returncode() is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN):
                    await collecting.closed.wait()
    finally:
        # The group lives on with what the program started, so the kernel has not reused its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        try:
            await _reaped(collecting.exited)
        finally:
            transport.close()
        await _reaped(collecting.gone)
    # One that printed too much may have ended by itself just before it was killed.
    status = None if collecting.is_full else transport.get_returncode()
    output = collecting.data.decode("utf-8", "replace")
    return Ran(-signal.SIGKILL if status is None else status, output, cut=collecting.is_full)


async def _reaped(event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_REAP):
            await event.wait()


class _Collecting(asyncio.SubprocessProtocol):
    def __init__(self, most: int) -> None:
        self.data = bytearray()
        self.ended = asyncio.Event()
        """It has ended, or printed too much."""
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.gone = asyncio.Event()
        self.is_full = False
        self._most = most

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        room = self._most - len(self.data)
        self.data += data[:room]
        if len(data) > room:
            self.is_full = True
            self.ended.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.closed.set()

    def process_exited(self) -> None:
        self.ended.set()
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
