"""Server-sent events (WHATWG HTML, section 9.2), written and read; no socket here.

One frame is one event: `id:` is its `seq`, `data:` its JSON form, and a blank line ends it. There is no `event:` line,
so that a browser's EventSource hands every frame to `onmessage`; the JSON says what it is.
"""

from typing import NamedTuple

from streamrelay.events import Event, encode

MEDIA_TYPE = "text/event-stream"


class EventFrame(NamedTuple):
    """One frame as it was read."""

    id: str
    """The latest id on the stream, possibly of an earlier frame."""
    data: bytes


def frame(event: Event) -> bytes:
    """Return the frame of an event; its id lets a reader resume after it."""
    return b"id: %d\ndata: %b\n\n" % (event.seq, encode(event))


class FrameReader:
    """Bytes in, frames out, however the bytes are cut; lines may end in LF or CR LF."""

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[EventFrame]:
        """Feed bytes; return the frames that they complete."""
        *lines, self._rest = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        frames: list[EventFrame] = []
        for line in lines:
            if line.startswith(b"data: "):
                self._data.append(line[6:].removesuffix(b"\r"))
            elif line in {b"", b"\r"}:
                if self._data:
                    frames.append(EventFrame(self._id, b"\n".join(self._data)))
                    self._data = []
            else:
                self._field(line.removesuffix(b"\r"))
        return frames

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"data":
            self._data.append(value)
