"""Replay: a recording through the same pipeline as live bytes, as fast as it goes.

Time and injections come from the recording, and nothing is known of what comes later: before each entry the pipeline
is advanced to every deadline that falls before it. In the recording of a live pane time has passed already: there the
pipeline is advanced where the live one was, and to what is due behind the last entry only if the recording was cut off.
An earlier version of the pipeline had other deadlines: one that lies `OVERDUE` back was none of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from streamrelay.batch import Batch
from streamrelay.delta.inputs import Began, Ended, Input, Waited
from streamrelay.delta.profiles import Profile
from streamrelay.delta.reasons import Reasons
from streamrelay.delta.stream import DeltaStream
from streamrelay.errors import RecordingError
from streamrelay.events import Event
from streamrelay.recordings.asciicast import Asciicast
from streamrelay.recordings.control_stream import ControlRecording
from streamrelay.recordings.model import Recording
from streamrelay.vt import TmuxScreen
from streamrelay.vt.widths import unicode14

CONTROL_SUFFIXES: Final = frozenset({".gz", ".jsonl"})
ASCIICAST_SUFFIX: Final = ".cast"

OVERDUE: Final = 1.0
"""Seconds by which no live pipeline was late."""


def is_recording(path: Path) -> bool:
    """Tell by its name whether a file or folder is a recording; `open_recording` takes asciicasts of any name."""
    return path.is_dir() or path.suffix in {*CONTROL_SUFFIXES, ASCIICAST_SUFFIX}


def open_recording(path: Path) -> Recording:
    """Open a folder with a recorded session, a control-mode recording, or an asciicast.

    Raises RecordingError when there is nothing, or nothing that can be read.
    """
    if not path.exists():
        raise RecordingError(
            f"{path} is not there", hint="name a folder of a recorded session, a .jsonl(.gz) or a .cast file"
        )
    if path.is_dir() or path.suffix in CONTROL_SUFFIXES:
        return ControlRecording(path)
    return Asciicast(path)


def replay(recording: Recording, profiles: Sequence[Profile] = (), *, retimed: bool = False) -> Iterator[Event]:
    """Yield the events of a recording, numbered, with the recording's own times; `profiles` are the programs known.

    With `retimed`, time passes where the pipeline looks at its clock, although the recording tells where a live one
    did: its inputs were changed since, so that other things are due.
    """
    seq = 0
    for step in steps(recording, profiles, retimed=retimed):
        for seq, event in enumerate(step.events, seq + 1):  # noqa: B020  # the count goes on from where it stands
            event.seq = seq
            yield event


class Step(NamedTuple):
    """What one entry of the recording made of a pane's stream; without an entry, what time did."""

    pane: str
    entry: Input | None
    events: Batch
    stream: DeltaStream
    """The pane's stream after this step."""


def steps(
    recording: Recording,
    profiles: Sequence[Profile],
    reasons: Callable[[str], Reasons] | None = None,
    *,
    retimed: bool = False,
) -> Iterator[Step]:
    """Yield what a replay does, step by step; `reasons` gives each pane what takes up the reasons for its events."""
    streams: dict[str, DeltaStream] = {}
    clocked: dict[str, DeltaStream] = {}
    live: dict[str, DeltaStream] = {}
    now = 0.0
    for entry in recording.entries():
        if retimed and isinstance(entry, Waited):
            continue
        yield from _advance(live, until=entry.t - OVERDUE)
        yield from _advance(clocked, until=entry.t)
        now, pane = max(now, entry.t), entry.pane
        taking = reasons(pane) if reasons is not None and pane not in streams else None
        if isinstance(entry, Began):
            streams[pane] = _watched(entry, profiles, taking)
            clocked.pop(pane, None)
            (clocked if retimed else live)[pane] = streams[pane]
        elif pane not in streams:
            screen = TmuxScreen(recording.columns, recording.lines)
            streams[pane] = DeltaStream(screen, pane=pane, newborn=True, profiles=profiles, reasons=taking)
            clocked[pane] = streams[pane]
            yield Step(pane, None, streams[pane].opened(entry.t), streams[pane])
        yield Step(pane, entry, streams[pane].apply(entry), streams[pane])
        if isinstance(entry, Ended):
            del streams[pane]
            clocked.pop(pane, None)
            live.pop(pane, None)
    yield from _advance(streams, until=None)
    for pane, stream in streams.items():
        yield Step(pane, None, stream.apply(Ended(max(now, stream.now), pane, "recording_ended")), stream)


def _watched(began: Began, profiles: Sequence[Profile], reasons: Reasons | None) -> DeltaStream:
    screen = screen_of(began)
    return DeltaStream(screen, session=began.session, pane=began.pane, profiles=profiles, reasons=reasons)


def screen_of(began: Began) -> TmuxScreen:
    """Return an empty screen of the size that a recorded pane had, with the character widths of its tmux."""
    table = unicode14()
    differs = began.widths or began.quirks != table.quirks
    widths = table.replaced(began.widths, began.quirks) if differs else table
    return TmuxScreen(began.screen.columns, began.screen.lines, widths=widths)


def _advance(streams: dict[str, DeltaStream], until: float | None) -> Iterator[Step]:
    """Let time pass in every stream, deadline by deadline; without `until`, as long as anything is due."""
    while True:
        due = [(deadline, pane) for pane, stream in streams.items() if (deadline := stream.deadline()) is not None]
        if not due or (until is not None and min(due)[0] > until):
            return
        deadline, pane = min(due)
        stream = streams[pane]
        yield Step(pane, None, stream.apply(Waited(max(deadline, stream.now), pane)), stream)
