"""Replay: a recording through the same pipeline as live bytes, as fast as it goes.

Time and injections come from the recording, and nothing is known of what comes later: before each entry the pipeline
is advanced to every deadline that falls before it.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from streamrelay.delta.profiles import Profile
from streamrelay.delta.reasons import Reasons
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
    seq = 0
    for step in steps(recording, profiles):
        for seq, event in enumerate(step.events, seq + 1):  # noqa: B020  # the count goes on from where it stands
            event.seq = seq
            yield event


class Step(NamedTuple):
    """What one entry of the recording made of a pane's stream; without an entry, what time did."""

    pane: str
    entry: Entry | None
    events: list[Event]


def steps(
    recording: Recording, profiles: Sequence[Profile], reasons: Callable[[str], Reasons] | None = None
) -> Iterator[Step]:
    """Yield what a replay does, step by step; `reasons` gives each pane what takes up the reasons for its events."""
    streams: dict[str, DeltaStream] = {}
    now = 0.0
    for entry in recording.entries():
        yield from _advance(streams, until=entry.t)
        now, pane = entry.t, entry.pane
        stream = streams.get(pane)
        if stream is None:
            stream = streams[pane] = DeltaStream(
                TmuxScreen(recording.columns, recording.lines),
                pane=pane,
                newborn=True,
                profiles=profiles,
                reasons=reasons(pane) if reasons is not None else None,
            )
            yield Step(pane, None, stream.opened(now))
        yield Step(pane, entry, _take(stream, entry))
    yield from _advance(streams, until=None)
    for pane, stream in streams.items():
        yield Step(pane, None, stream.close(max(now, stream.now), "recording_ended"))


def _advance(streams: dict[str, DeltaStream], until: float | None) -> Iterator[Step]:
    """Let time pass in every stream, deadline by deadline; without `until`, as long as anything is due."""
    while True:
        due = [(deadline, pane) for pane, stream in streams.items() if (deadline := stream.deadline()) is not None]
        if not due or (until is not None and min(due)[0] > until):
            return
        deadline, pane = min(due)
        yield Step(pane, None, streams[pane].advance(deadline))


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
