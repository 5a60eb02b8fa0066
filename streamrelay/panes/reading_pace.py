"""The pace of reading: while programs repaint their screens in many panes, the next read waits for a moment.

Twenty agents at work cause hundreds of reads a second, and as many timers when a screen rests. Each wakes the process
for a few hundred bytes, with cold caches, which costs more than the bytes do. With a pause between two reads, one wake
serves several panes. A repaint is looked at when the program rests (`delta.frames`), so it can wait. So can the answer
of an agent that prints, because a relay hears it by turns; other lines cannot, so they end the pauses for a moment.

While there are pauses, a pane counts as idle only until the last read, because what comes during a pause has no exact
time. Rests shorter than two pauses may be missed, and one pause more may pass for rest: two are shorter than the rest
that proves a line final (`lines.PROVED`). A program that repaints sixty times a second and does not say where a
snapshot ends would never be looked at, so a repaint that lasts ends the pauses, too.
"""

from typing import Final

PAUSE: Final = 0.04
"""Seconds between two reads."""
WINDOW: Final = 0.1
"""Seconds over which reads are counted."""
MIN_READS: Final = 5
"""Reads in a window from which on the next window has pauses."""
MIN_PAUSED_READS: Final = 2
"""Reads in a window with pauses, which has three at most, from which on the next one has pauses, too."""
MAX_BYTES: Final = 1 << 18
"""Bytes in a window above which there are no pauses: a flood is read at once."""
READ_LINES: Final = 0.006
"""Seconds without pauses after a printed line, so that the lines of a burst keep the gaps that a relay counts."""
READ_SNAPSHOT: Final = 0.015
"""Seconds without pauses after a long repaint: longer than the rest that ends it."""


class ReadingPace:
    """Counts reads, and decides on pauses."""

    def __init__(self) -> None:
        self.pause = 0.0
        """Seconds for which the next read may wait."""
        self.is_often = False
        """Whether there were many reads lately."""
        self._window_ends = 0.0
        self._read_at = 0.0
        self._reads = 0
        self._bytes = 0
        self._urgent_until = 0.0

    def note(self, size: int, read_at: float, *, urgency: float) -> None:
        """Note `size` bytes of a pane, read at that time (loop time); no pause for `urgency` seconds."""
        if read_at >= self._window_ends:
            enough = MIN_PAUSED_READS if self.is_often else MIN_READS
            self.is_often = self._reads >= enough and read_at < self._window_ends + WINDOW
            self._window_ends = read_at + WINDOW
            self._reads = self._bytes = 0
        if read_at != self._read_at:
            self._read_at = read_at
            self._reads += 1
        self._bytes += size
        if urgency:
            self._urgent_until = max(self._urgent_until, read_at + urgency)
        waits = self.is_often and self._bytes <= MAX_BYTES and read_at >= self._urgent_until
        self.pause = PAUSE if waits else 0.0
