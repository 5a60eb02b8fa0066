"""Replay: a recording through the same pipeline as live bytes, as fast as it goes.

Time and injections come from the recording, and nothing is known of what comes later: before each entry the pipeline
is advanced to every deadline that falls before it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from streamrelay.delta.profiles import Profile
from streamrelay.delta.stream import DeltaStream
from streamrelay.errors import RecordingError
from streamrelay.events import Event
from streamrelay.recordings.asciicast import Asciicast
from streamrelay.recordings.control_stream import ControlRecording
from streamrelay.recordings.model import Entry, Output, Pasted, Recording, Resized, Submitted
from streamrelay.vt import TmuxScreen


def open_recording(path: Path) -> Recording:
    """Open a folder with a recorded session, a control-mode recording, or an asciicast.

    Raises RecordingError when there is nothing, or nothing that can be read.
    """
    if not path.exists():
        raise RecordingError(
            f"{path} is not there", hint="name a folder of a recorded session, a .jsonl(.gz) or a .cast file"
        )
    if path.is_dir() or path.suffix in {".gz", ".jsonl"}:
        return ControlRecording(path)
    return Asciicast(path)


def replay(recording: Recording, profiles: Sequence[Profile] = ()) -> Iterator[Event]:
    """Yield the events of a recording, numbered, with the recording's own times; `profiles` are the programs known."""
    for seq, event in enumerate(_events(recording, profiles), 1):
        event.seq = seq
        yield event


def _events(recording: Recording, profiles: Sequence[Profile]) -> Iterator[Event]:
    streams: dict[str, DeltaStream] = {}
    now = 0.0
    for entry in recording.entries():
        yield from _advance(streams, until=entry.t)
        now = entry.t
        stream = streams.get(entry.pane)
        if stream is None:
            screen = TmuxScreen(recording.columns, recording.lines)
            stream = streams[entry.pane] = DeltaStream(screen, pane=entry.pane, newborn=True, profiles=profiles)
            yield from stream.opened(now)
        yield from _take(stream, entry)
    yield from _advance(streams, until=None)
    for stream in streams.values():
        yield from stream.close(max(now, stream.now), "recording_ended")


def _advance(streams: dict[str, DeltaStream], until: float | None) -> Iterator[Event]:
    """Let time pass in every stream, deadline by deadline; without `until`, as long as anything is due."""
    while True:
        due = [(deadline, pane) for pane, stream in streams.items() if (deadline := stream.deadline()) is not None]
        if not due or (until is not None and min(due)[0] > until):
            return
        deadline, pane = min(due)
        yield from streams[pane].advance(deadline)


def _take(stream: DeltaStream, entry: Entry) -> list[Event]:
    match entry:
        case Output():
            return stream.feed(entry.data, entry.t)
        case Pasted():
            return stream.inject(entry.message_id, entry.text, entry.t)
        case Submitted():
            return stream.submit(entry.message_id, entry.t)
        case Resized():
            return stream.resize(entry.t, entry.columns, entry.lines)
