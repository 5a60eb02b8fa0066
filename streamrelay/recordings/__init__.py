"""Recorded sessions, and their replay through the pipeline that live bytes go through."""

from streamrelay.recordings.model import Entry, Output, Pasted, Recording, Resized, Submitted
from streamrelay.recordings.replay import open_recording, replay

__all__ = ["Entry", "Output", "Pasted", "Recording", "Resized", "Submitted", "open_recording", "replay"]
