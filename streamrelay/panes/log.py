"""The log of a pane: the entries of its stream on disk, so that another process can continue after this one ends.

Each entry is written before the stream gets it. So a replay of the log repeats all events of the stream. The next
process asks tmux for output after the last entry, as after a lost connection. A log is an uncompressed control-mode
recording (`streamrelay.recordings`) that only the user can read.

If the disk takes no more, the stream goes on, and the log keeps the entries in memory until the disk takes them. What
follows from an entry may be committed only after `flush`: otherwise the next process would repeat other events than
those that were committed.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from streamrelay.delta.inputs import Began, Ended, Input, Missed
from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.errors import RecordingError, StorageError
from streamrelay.events import Event, PaneClosed
from streamrelay.panes.tasks import in_slices
from streamrelay.recordings.control_stream import ControlRecording
from streamrelay.recordings.writer import encode_entry
from streamrelay.vt import TmuxScreen
from streamrelay.vt.widths import Widths

logger = logging.getLogger(__name__)

_BLOCK = 1 << 16
"""Bytes that are read at once in search of the last whole entry."""
MAX_UNWRITTEN = 8 << 20
"""Bytes that wait in memory for the disk; a log that is further behind is never whole again."""


class Past(NamedTuple):
    """The entries of a stream in an earlier process, and when it began (loop time; the clock of one boot)."""

    began: float
    entries: Iterator[Input]


async def last_events(past: Past, profiles: Sequence[Profile], widths: Widths | None, now: float) -> list[Event]:
    """Return all events of a past stream up to its end, for a pane that is gone at `now` (loop time)."""
    stream: DeltaStream | None = None
    events: list[Event] = []
    async for entry in in_slices(past.entries):
        if isinstance(entry, Began):
            screen = TmuxScreen(entry.screen.columns, entry.screen.lines, widths=widths)
            stream = DeltaStream(screen, session=entry.session, pane=entry.pane, profiles=profiles)
        if stream is not None:
            events += stream.apply(entry)
    if stream is not None and not (events and isinstance(events[-1], PaneClosed)):
        events += stream.apply(Missed(now - past.began, stream.pane, "detached"))
        events += stream.apply(Ended(now - past.began, stream.pane, "pane_gone"))
    return events


_FULL = "free space on the disk; the daemon continues from what is stored"


class _Clock(msgspec.Struct, tag="clock", tag_field="dir"):
    began: float
    t: float = 0.0


class PaneLog:
    """The log of one pane, written between `open` and `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        """Bytes written so far."""
        self._descriptor = -1
        self._unwritten = bytearray()
        self._failure: OSError | None = None
        """Why the disk does not take what is unwritten."""
        self._is_behind = False
        """Whether entries were dropped, so that none may follow on those that are on disk."""

    def open(self) -> None:
        """Open the log for appending; raises RecordingError."""
        try:
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            self.size = os.fstat(self._descriptor).st_size
        except OSError as error:
            raise RecordingError(
                f"cannot write {self.path}: {error.strerror}",
                hint="check the folder's permissions and the free space of its disk",
            ) from error

    def past(self) -> Past | None:
        """Return the entries of an earlier process; None if there are none, or the log is damaged.

        Raises RecordingError for a log that cannot be read now, because it may still be whole.
        """
        if not self.size:
            return None
        try:
            with self.path.open("rb") as file:
                clock = msgspec.json.decode(file.readline(), type=_Clock)
            # Cut off in the middle of an entry: an appended entry would look like its end.
            self._end_line()
            return Past(clock.began, self._entries())
        except OSError as error:
            raise RecordingError(
                f"cannot read {self.path}: {error.strerror}", hint="check the permissions of the file"
            ) from error
        except msgspec.MsgspecError:
            return None

    def _entries(self) -> Iterator[Input]:
        try:
            yield from ControlRecording(self.path).entries()
        except RecordingError as error:
            if isinstance(error.__cause__, OSError):
                raise
            logger.warning("%s is damaged, and read up to there: %s", self.path, error.message)

    def begin(self, began: float) -> None:
        """Start the log of a stream that began at that loop time."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            self.size = 0
            self._unwritten.clear()
            self._write(msgspec.json.encode(_Clock(began)) + b"\n")

    def take(self, entry: Input) -> None:
        """Write an entry; logging goes on when the last listener leaves."""
        if self._descriptor >= 0 and not (isinstance(entry, Ended) and entry.reason == "recording_ended"):
            self._write(encode_entry(entry))

    def flush(self) -> None:
        """Return when the disk has all entries; raises StorageError if it does not take them."""
        if self._unwritten:
            self._write(b"")
        if (self._unwritten or self._is_behind) and self._failure is not None:
            raise StorageError(
                f"cannot write {self.path}: {self._failure.strerror}", data={"path": str(self.path)}, hint=_FULL
            ) from self._failure

    def discard(self) -> None:
        """Delete the log."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _end_line(self) -> None:
        if self.size and self._descriptor >= 0:
            with self.path.open("rb") as file:
                end = self.size
                while end:
                    begin = max(0, end - _BLOCK)
                    file.seek(begin)
                    if (newline := file.read(end - begin).rfind(b"\n")) >= 0:
                        end = begin + newline + 1
                        break
                    end = begin
            os.ftruncate(self._descriptor, end)

    def _write(self, data: bytes) -> None:
        """Write what is unwritten, and `data` behind it, as far as the disk takes it."""
        waiting = bytes(self._unwritten) + data if self._unwritten else data
        written = 0
        try:
            while written < len(waiting):
                written += os.write(self._descriptor, waiting[written:] if written else waiting)
        except OSError as error:
            if not self._unwritten:
                logger.warning("%s waits for the disk: %s", self.path, error.strerror)
            self._failure = error
        self.size += written
        if self._unwritten or written < len(waiting):
            # A part of an entry may be written: the rest follows it.
            self._unwritten[:] = waiting[written:]
        if len(self._unwritten) > MAX_UNWRITTEN:
            self._is_behind = True
            self._unwritten.clear()
            os.close(self._descriptor)
            self._descriptor = -1

    def close(self) -> None:
        """Close the file; what the disk does not take is lost with the process."""
        if self._descriptor >= 0:
            if self._unwritten:
                self._write(b"")
            self._unwritten.clear()
            os.close(self._descriptor)
            self._descriptor = -1
