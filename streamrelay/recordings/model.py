"""What a recording holds, whatever file it came from: entries in the order of their time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Output:
    """Bytes that the program of a pane printed; `t` in seconds since the recording began."""

    t: float
    pane: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Pasted:
    """Text that was put into a pane."""

    t: float
    pane: str
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """The Enter behind a pasted text."""

    t: float
    pane: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Resized:
    """A pane got another size."""

    t: float
    pane: str
    columns: int
    lines: int


Entry = Output | Pasted | Submitted | Resized


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
