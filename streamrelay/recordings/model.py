"""The content of a recording, whatever its file format: the inputs of a pane's stream, in order of time.

A recording of bytes alone holds outputs, injections and resizes. One that was made of a live pane begins with `Began`
and holds besides all that its stream was told: then a replay tells its stream the very same, at the very same times,
and gives the very same events. There time passes where it passed for the live stream (`Waited`), not where the replay
would have looked at its clock.
"""

from collections.abc import Iterator
from typing import Protocol

from streamrelay.delta.inputs import Input


class Recording(Protocol):
    """A recording that can be replayed: the size every pane begins with, and what happened."""

    @property
    def columns(self) -> int:
        """Width at the beginning, in cells."""

    @property
    def lines(self) -> int:
        """Height at the beginning, in rows."""

    def entries(self) -> Iterator[Input]:
        """Yield what happened, by time; raises RecordingError where the file makes no sense."""
