"""How the bytes of control mode travel: what a transport is, and the reading and writing both kinds share.

Reading is straight from the event loop, and takes what is there: nothing stands between tmux and the protocol but that
a flood is handed on in lots (`control.flow_batches`). Writing never blocks and never loses: what the
descriptor does not take waits here until it does; how much may wait is decided above, where commands are counted.

A child is left in four steps, each bounded: asked in its own way, then closed, then SIGTERM, then SIGKILL, and always
by its own pid. Until it is gone its output is read and thrown away, since a client with an unread backlog
would keep the tmux server from exiting.
"""

import asyncio
import contextlib
import fcntl
import os
import stat
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol

from streamrelay.control.flow_batches import BATCH_SIZE, FlowBatches

TransportName = Literal["pipes", "cc"]

READ_SIZE = 1 << 16
"""Larger buffers are mapped anew for every read: 9.9 against 0.7 us for a read of 4 KiB."""
MAX_READ = 1 << 19
"""Bytes that are handed on at once, at most: reads follow each other while they are full. What is in the pipe stands
before every other pane; what was read does not (`panes.scheduler`): beside a flood a line comes after 12 ms instead of
17 to 24 (99th percentile, tmux 3.8)."""
MIN_READ = READ_SIZE + BATCH_SIZE
"""Bytes that may be handed on whatever there is room for."""
_LARGE_PIPE = 1 << 20
"""What a pipe holds where its reader keeps up; the most that Linux gives to anybody. tmux reads all panes, 4 KiB of
each, and then writes all of it before it reads any again: of 64 panes half a megabyte, and twice that of CJK, after a
tenth of a second of silence. What the pipe does not hold of it tmux waits for, as we have waited for it before."""
_SMALL_PIPE = 1 << 14
"""What a pipe holds while its reader is slow."""
_WINDOW = 0.1
"""Seconds: who does not read for half of them is slow. Reading pauses for an instant when many panes come at once."""
_SET_PIPE_SIZE: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)
GRACE = 1.0
"""Seconds a child is given for each step of its leaving."""


class Intake(Protocol):
    """How much the receiver of a connection takes at once, and how soon."""

    @property
    def room(self) -> int:
        """How many bytes are welcome in the next read; up to `MIN_READ` come in any case."""

    @property
    def pause(self) -> float:
        """For how many seconds after a read the next one may wait; asked after each."""


class Eager:
    """The intake of a receiver that takes everything, at once."""

    @property
    def room(self) -> int:
        """Any number of bytes."""
        return MAX_READ

    @property
    def pause(self) -> float:
        """No pause."""
        return 0.0


class Transport(Protocol):
    """A child process that speaks control mode."""

    @property
    def pid(self) -> int:
        """The child's process id."""

    @property
    def descriptors(self) -> tuple[int, int]:
        """The file descriptors from which the stream is read, and to which lines are written."""

    @property
    def unsent(self) -> int:
        """Bytes that were written and that the child has not taken."""

    @property
    def status(self) -> int | None:
        """With which status the child ended; None where it has not, or was ended by a signal."""

    @property
    def stderr(self) -> str:
        """The beginning of what the child said besides the stream; empty where it cannot be told from the stream."""

    def write(self, data: bytes) -> None:
        """Send bytes, in order, without blocking. Does nothing where the child is gone: the reader hears of that."""

    def pause_reading(self) -> None:
        """Call `on_data` no more, and have the child wait, until `resume_reading`. May be called again."""

    def resume_reading(self) -> None:
        """Go on reading."""

    async def close(self) -> None:
        """Leave the server, and return when the child is gone and nothing is open. May be called again."""


class OpenTransport(Protocol):
    """Starts a child and calls back with what it says: `on_data(bytes)` for each read, `on_eof()` once at the end.

    `intake` tells how much it takes and how soon. Raises OSError where the child cannot be started. No callback comes
    before the coroutine has returned, and none after `close` was called.
    """

    async def __call__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        on_data: Callable[[bytes], None],
        on_eof: Callable[[], None],
        intake: Intake,
    ) -> Transport:
        """Start `argv` with the environment `env`."""


class ControlChannel:
    """A readable and a writable descriptor (or one that is both) on the running event loop. Owns neither."""

    def __init__(
        self,
        reader: int,
        writer: int,
        on_data: Callable[[bytes], None],
        on_eof: Callable[[], None],
        intake: Intake,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.descriptors = (reader, writer)
        self._reader = reader
        self._writer: int | None = writer
        self._batches = FlowBatches(on_data)
        self._on_eof = on_eof
        self._intake = intake
        self._next_read: asyncio.TimerHandle | None = None
        """The timer of the next read; None while the event loop watches the descriptor instead."""
        self._unsent: deque[memoryview] = deque()
        self._listening = True
        self._reading = True
        self._is_pipe = stat.S_ISFIFO(os.fstat(reader).st_mode)
        self._slow = self._small = False
        self._paused_at = self._paused_for = self._window_ends = 0.0
        self.ended = asyncio.Event()
        self.sent = asyncio.Event()
        self.sent.set()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        self._hold_in_pipe(_LARGE_PIPE)
        self._loop.add_reader(reader, self._readable)

    @property
    def unsent(self) -> int:
        """Bytes that wait for the descriptor to take them."""
        return sum(map(len, self._unsent))

    def write(self, data: bytes) -> None:
        """Send bytes in order, now or when the descriptor takes them."""
        if self._writer is None or not data:
            return
        self._unsent.append(memoryview(data))
        self._end_pause()
        if self.sent.is_set():
            self.sent.clear()
            self._flush()
            if self._unsent:
                self._loop.add_writer(self._writer, self._flush)

    def pause_reading(self) -> None:
        """Leave what comes where it is."""
        if self._reading and self._listening:
            self._reading = False
            self._paused_at = self._loop.time()
            self._batches.pause()
            self._unwatch()

    def resume_reading(self) -> None:
        """Go on reading what comes."""
        if not self._reading and not self.ended.is_set():
            self._reading = True
            self._note_pause(self._loop.time())
            self._batches.resume()
            self._loop.add_reader(self._reader, self._readable)

    def stop_listening(self) -> None:
        """Throw away what is read from here on."""
        self._listening = False
        self._batches.drop()
        self.resume_reading()

    def stop_writing(self) -> None:
        """Forget what is unsent, and let go of the writable descriptor."""
        if self._writer is not None:
            self._loop.remove_writer(self._writer)
            self._writer = None
        self._unsent.clear()
        self.sent.set()

    def stop(self) -> None:
        """Let go of both descriptors."""
        self.stop_writing()
        self._batches.drop()
        self._unwatch()
        self.ended.set()

    def _unwatch(self) -> None:
        if self._next_read is None:
            self._loop.remove_reader(self._reader)
        else:
            self._next_read.cancel()
            self._next_read = None

    def _end_pause(self) -> None:
        """Watch the descriptor again: nothing came in the pause, or an answer is expected."""
        if self._next_read is not None:
            self._unwatch()
            self._loop.add_reader(self._reader, self._readable)

    def _readable(self) -> None:
        """Read what is there, and go on after the pause that the receiver allows."""
        began = self._loop.time()
        has_read = self._take_what_is_there()
        if not self._reading or self.ended.is_set():
            return
        pause = self._intake.pause if has_read and self._listening else 0.0
        if pause:
            self._unwatch()
            self._next_read = self._loop.call_at(began + pause, self._readable)
        else:
            self._end_pause()

    def _take_what_is_there(self) -> bool:
        """Read, and pass on what was read; False where there was nothing."""
        try:
            data = self._read()
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            # A terminal whose other side is closed fails to read (EIO) where a pipe would say end of file.
            data = b""
        if data:
            self._fit(len(data))
            if self._listening:
                self._batches.put(data)
            return True
        self._unwatch()
        self.ended.set()
        self._batches.flush()
        if self._listening:
            self._listening = False
            self._on_eof()
        return False

    def _read(self) -> bytes:
        data = os.read(self._reader, READ_SIZE)
        if len(data) < READ_SIZE:
            return data
        welcome = min(MAX_READ, self._intake.room) if self._listening else MAX_READ
        pieces, room = [data], welcome - self._batches.size - READ_SIZE
        # Whatever stops it is met again by the next read.
        with contextlib.suppress(OSError):
            while len(pieces[-1]) == READ_SIZE <= room:
                pieces.append(os.read(self._reader, READ_SIZE))
                room -= READ_SIZE
        return b"".join(pieces)

    def _note_pause(self, now: float) -> None:
        if now > self._window_ends:
            self._window_ends, self._paused_for = now + _WINDOW, 0.0
        self._paused_for += now - self._paused_at
        self._slow = self._slow or self._paused_for > _WINDOW / 2

    def _fit(self, size: int) -> None:
        """Have the pipe hold little while its reader is slow; called when `size` bytes were just taken out of it.

        What waits in the pipe stands before every other pane: of 64 KiB that are rendered at 2 MB/s that is 30 ms, and
        tmux reads no pane meanwhile. A small pipe costs many times the reads, so it lasts until a read finds it
        nearly empty.
        """
        if self._slow and size < _SMALL_PIPE // 4:
            self._slow = False
        if self._slow is not self._small and self._hold_in_pipe(_SMALL_PIPE if self._slow else _LARGE_PIPE):
            self._small = self._slow

    def _hold_in_pipe(self, size: int) -> bool:
        """Have the pipe hold so many bytes; False where it cannot, as it holds more, or the kernel's limit is lower."""
        if not self._is_pipe or _SET_PIPE_SIZE is None:
            return False
        with contextlib.suppress(OSError):
            return fcntl.fcntl(self._reader, _SET_PIPE_SIZE, size) >= size
        return False

    def _flush(self) -> None:
        writer = self._writer
        if writer is None:
            return
        try:
            while self._unsent:
                piece = self._unsent[0]
                written = os.write(writer, piece)
                if written < len(piece):
                    self._unsent[0] = piece[written:]
                    return
                self._unsent.popleft()
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.stop_writing()
            return
        self._loop.remove_writer(writer)
        self.sent.set()


class ChannelTransport:
    """The base of the transports: passes bytes in both directions through a channel."""

    def __init__(self, channel: ControlChannel) -> None:
        self._channel = channel

    @property
    def descriptors(self) -> tuple[int, int]:
        """The file descriptors from which the stream is read, and to which lines are written."""
        return self._channel.descriptors

    @property
    def unsent(self) -> int:
        """Bytes that were written and that the child has not taken."""
        return self._channel.unsent

    def write(self, data: bytes) -> None:
        """Send bytes, in order, without blocking."""
        self._channel.write(data)

    def pause_reading(self) -> None:
        """Stop reading; the child waits."""
        self._channel.pause_reading()

    def resume_reading(self) -> None:
        """Continue to read."""
        self._channel.resume_reading()


async def happens(event: asyncio.Event, within: float) -> bool:
    """Wait for an event, at most `within` seconds; return whether it came."""
    try:
        async with asyncio.timeout(within):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def leave(steps: Sequence[Callable[[], None]], gone: Callable[[float], Awaitable[bool]]) -> None:
    """Take one step after the other until the child is gone; `gone` waits for that as long as it is told."""
    for step in steps:
        step()
        if await gone(GRACE):
            return
