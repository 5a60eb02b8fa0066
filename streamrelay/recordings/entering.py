"""How entries go into a stream: the one way for live panes and for replays, so that a replay is the live run."""

from streamrelay.batch import Batch
from streamrelay.delta.stream import DeltaStream
from streamrelay.recordings.model import (
    Began,
    Ended,
    Entry,
    Looked,
    Missed,
    Output,
    Pasted,
    Ran,
    Reseeded,
    Resized,
    Submitted,
    Told,
    Waited,
)


def enter(stream: DeltaStream, entry: Entry) -> Batch:
    """Tell a pane's stream what happened to the pane, and return what it says."""
    match entry:
        case Output():
            return stream.feed(entry.data, entry.t)
        case Waited():
            return stream.advance(entry.t)
        case Pasted():
            return stream.inject(entry.message_id, entry.text, entry.t)
        case Submitted():
            return stream.submit(entry.message_id, entry.t)
        case Resized():
            return stream.resize(entry.t, entry.columns, entry.lines)
        case Began():
            stream.seed(entry.screen)
            return stream.opened(entry.t, command=entry.command, title=entry.title)
        case Reseeded():
            return stream.reseed(entry.t, entry.screen, respawned=entry.respawned)
        case Ran():
            return stream.program_changed(entry.t, entry.command)
        case Missed():
            return stream.gap(entry.t, entry.reason, lost_lines=entry.lost_lines)
        case Looked():
            return stream.look(entry.t)
        case Told():
            return stream.stopped(entry.t, entry.agent, entry.answer)
        case Ended():
            return stream.close(entry.t, entry.reason, status=entry.status, tail_certain=entry.tail_certain)
