"""The parts of a pulse, as values that the journal can hold; pure."""

from collections.abc import Sequence
from typing import Literal

import msgspec

Part = Literal["system", "sessions", "repositories", "pipelines", "history"]
ALL_PARTS: tuple[Part, ...] = ("system", "sessions", "repositories", "pipelines", "history")
BEAT_PARTS: tuple[Part, ...] = ("system", "sessions", "repositories")
"""What is cheap enough to be asked at every beat."""


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """Room on the file system of a folder, in bytes."""

    folder: str
    free: int
    total: int


class SystemState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the machine; None for unknown values."""

    load: float
    """The load average of the last minute."""
    processors: int
    memory_free: int | None = None
    """Bytes that programs may have."""
    memory_total: int | None = None
    disks: Sequence[Disk] = ()


class SessionNow(msgspec.Struct, frozen=True, kw_only=True):
    """What a session does."""

    title: str
    program: str = ""
    state: str = ""
    folder: str = ""
    """The folder that the program works in."""
    quiet: float | None = None
    """Seconds since it last said something, None where that is long ago."""
    said: str = ""
    """The end of that."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A git repository that a session works in."""

    folder: str
    branch: str
    """The branch, or the beginning of a commit's id if no branch is checked out."""
    commits: Sequence[str] = ()
    """Recent subjects, the newest first."""
    newest: float = 0.0
    """When the newest one was made, Unix time."""

    @property
    def name(self) -> str:
        """The last part of its folder."""
        return self.folder.rstrip("/").rpartition("/")[2]


class PipelineNow(msgspec.Struct, frozen=True, kw_only=True):
    """What a configured command said of a pipeline."""

    name: str
    repository: str = ""
    """The name of the repository, for a pipeline that runs once for each."""
    status: int = 0
    """The command's exit status; below 0 for the signal that ended it."""
    output: str = ""


class HistorySignals(msgspec.Struct, frozen=True, kw_only=True):
    """Earlier output about the current work."""

    found: int
    summary: str
    """One signal a line."""
    by: Literal["extraction", "model"] = "extraction"


class MissingSignal(msgspec.Struct, frozen=True, kw_only=True):
    """What is left out, or some of it, and why."""

    part: Part
    why: str
