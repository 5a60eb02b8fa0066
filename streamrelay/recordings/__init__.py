"""Recorded sessions, and their replay through the pipeline that live bytes go through."""

from streamrelay.delta.inputs import Input, Output, Pasted, Resized, Submitted
from streamrelay.recordings.model import Recording
from streamrelay.recordings.replay import is_recording, open_recording, replay
from streamrelay.recordings.writer import RecordingWriter

__all__ = [
    "Input",
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
