"""What a recording holds, whatever file it came from: entries in the order of their time.

A recording of bytes alone holds outputs, injections and resizes. One that was made of a live pane begins with `Began`
and holds besides all that its stream was told: then a replay tells its stream the very same, at the very same times,
and gives the very same events (see entering.py). There time passes where it passed for the live stream (`Waited`), not
where the replay would have looked at its clock.
"""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from streamrelay.events import ClosedReason
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.widths import Manners


class _Entry(msgspec.Struct, frozen=True, tag_field="entry", tag=str.lower):
    """What all entries have: `t` in seconds since the recording began, and the pane."""

    t: float
    pane: str


class Output(_Entry, frozen=True):
    """Bytes that the program of a pane printed."""

    data: bytes


class Pasted(_Entry, frozen=True):
    """Text that was put into a pane."""

    message_id: str
    text: str


class Submitted(_Entry, frozen=True):
    """The Enter behind a pasted text."""

    message_id: str


class Resized(_Entry, frozen=True):
    """A pane got another size, and nobody kept its screen."""

    columns: int
    lines: int


class Began(_Entry, frozen=True):
    """The watching of a live pane began, on this screen."""

    session: str
    command: str
    title: str
    screen: Snapshot
    widths: dict[str, int] = {}
    """Characters that are not as wide there as in the built-in table."""
    manners: Manners = Manners()
    """What the tmux there did otherwise than 3.3a."""


class Reseeded(_Entry, frozen=True):
    """The pane's screen was read again: after a resize, or where bytes were missed."""

    screen: Snapshot
    respawned: bool = False
    """Whether another program was started in the pane: tmux resets screen and modes then, and prints no byte of it."""


class Ran(_Entry, frozen=True):
    """Another program came to the foreground."""

    command: str


class Missed(_Entry, frozen=True):
    """Output may have been missed here."""

    reason: str
    lost_lines: int | None = None


class Looked(_Entry, frozen=True):
    """Somebody who was about to type looked whether a person is needed."""


class Told(_Entry, frozen=True):
    """The program's own hook told that its turn is over."""

    agent: str
    answer: str = ""


class Waited(_Entry, frozen=True):
    """Time passed, and something was due."""


class Ended(_Entry, frozen=True):
    """The pane was closed, or its recording ended."""

    reason: ClosedReason
    status: int | None = None
    tail_certain: bool = False


Entry = Output | Pasted | Submitted | Resized | Began | Reseeded | Ran | Missed | Looked | Told | Waited | Ended


class Recording(Protocol):
    """A recording that can be replayed: the size every pane begins with, and what happened."""

    @property
    def columns(self) -> int:
        """Width at the beginning, in cells."""

    @property
    def lines(self) -> int:
        """Height at the beginning, in rows."""

    def entries(self) -> Iterator[Entry]:
        """Yield what happened, by time; raises RecordingError where the file makes no sense."""
