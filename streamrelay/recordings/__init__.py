"""Recorded sessions, and their replay through the pipeline that live bytes go through."""

from streamrelay.recordings.model import Entry, Output, Pasted, Recording, Resized, Submitted
from streamrelay.recordings.replay import is_recording, open_recording, replay
from streamrelay.recordings.writing import RecordingWriter

__all__ = [
    "Entry",
    "Output",
    "Pasted",
    "Recording",
    "RecordingWriter",
    "Resized",
    "Submitted",
    "is_recording",
    "open_recording",
    "replay",
]
