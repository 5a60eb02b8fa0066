"""Records a pane: writes the entries of its pipeline into a file, in the background.

The pipeline never waits for the disk. The queue of entries is bounded: if the disk is too slow or fails, the recording
ends and reports that, so a recording never has a hole.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from streamrelay.delta.inputs import HandedOver, Input, Output, Submitted
from streamrelay.errors import RecordingError
from streamrelay.panes.subscription import Subscription
from streamrelay.recordings.writer import RecordingWriter

WRITE_EVERY = 0.25
"""Seconds between two writes."""
MAX_PENDING_BYTES = 64 << 20
"""Bytes of output that may wait to be written."""


class Recorder:
    """Queues the entries of one pane and writes them."""

    def __init__(self, writer: RecordingWriter) -> None:
        self.bytes = 0
        """Bytes of output taken so far."""
        self.messages = 0
        """Messages submitted to the program so far."""
        self.error: RecordingError | None = None
        self.on_failure: Callable[[], None] | None = None
        """Called when the recording cannot go on."""
        self.has_entries = False
        """Whether any entry was taken; a recording without one is deleted."""
        self._writer = writer
        self._waiting: list[Input] = []
        self._waiting_bytes = 0
        self._ended = asyncio.Event()

    def take(self, entry: Input) -> None:
        """Take an entry; never waits."""
        self.has_entries = True
        if self.error is not None:
            return
        if isinstance(entry, Output):
            self.bytes += len(entry.data)
            self._waiting_bytes += len(entry.data)
        self.messages += isinstance(entry, Submitted | HandedOver)
        self._waiting.append(entry)
        if self._waiting_bytes > MAX_PENDING_BYTES:
            self._fail(
                RecordingError(
                    f"{self._writer.path}: the disk is slower than the pane",
                    hint="record to a faster disk, or a pane that prints less",
                )
            )

    def end(self) -> None:
        """Stop taking entries."""
        self._ended.set()

    async def run(self) -> None:
        """Write the entries until the end."""
        ended = False
        while not ended:
            try:
                async with asyncio.timeout(WRITE_EVERY):
                    ended = await self._ended.wait()
            except TimeoutError:
                if not self._waiting:
                    continue
            entries, self._waiting, self._waiting_bytes = self._waiting, [], 0
            if self.error is None:
                try:
                    await asyncio.to_thread(self._writer.write, entries)
                except RecordingError as error:
                    self._fail(error)

    def _fail(self, error: RecordingError) -> None:
        self.error = error
        self._waiting = []
        if self.on_failure is not None:
            self.on_failure()


class LiveRecording:
    """A recording in progress, for its caller: the pane's events as they happen, and counts."""

    def __init__(self, stream: Subscription, recorder: Recorder) -> None:
        self.stream = stream
        self._recorder = recorder

    @property
    def bytes(self) -> int:
        """Bytes of the program recorded so far."""
        return self._recorder.bytes

    @property
    def messages(self) -> int:
        """Messages that streamrelay sent to the program so far."""
        return self._recorder.messages


@asynccontextmanager
async def recording_into(writer: RecordingWriter) -> AsyncIterator[Recorder]:
    """Write the recorder's entries inside the context; raises RecordingError at the end if that failed."""
    with writer:
        recorder = Recorder(writer)
        writing = asyncio.ensure_future(recorder.run())
        try:
            yield recorder
        finally:
            recorder.end()
            await writing
            if not recorder.has_entries:
                writer.discard()
        if recorder.error is not None:
            raise recorder.error
