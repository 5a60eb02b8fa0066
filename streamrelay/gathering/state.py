"""The state and the record of a gathering, as values to store.

The record only grows, so a store writes each entry once. The state is small, and the store rewrites it.
"""

from typing import Literal

import msgspec

from streamrelay.events import Traffic
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Phase, Plan
from streamrelay.gathering.steps import AnyHappening

PassedHow = Literal["phrase", "tool", "time", "last_words", "left", "closed"]
"""Why the piece went on: a passing phrase, the tool, the end of the speaker's time, its last words, the end of its
session, the end of the gathering."""

EntryKind = Literal["phase", "said", "passed", "left", "paused", "resumed", "harvest", "closed"]


class RecordEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry for the transcript."""

    t: float
    """Seconds since the gathering began."""
    kind: EntryKind
    phase: Phase
    round: int
    number: int = 0
    """The member's number; 0 for the circle itself."""
    text: str = ""
    """The output; for an entry without output, the reason."""
    message_id: str = ""


class Tenure(msgspec.Struct):
    """One speaker's time with the piece."""

    speaker: int
    due: float
    """When the next beat or the end is due; before the tenure has begun, when it begins at the latest."""
    turn_prompt: str
    """The id of the prompt with the piece, until it reaches the speaker."""
    heard_before: int
    """The number of record entries that the speaker had got before that prompt."""
    begun: bool = False
    """Whether the speaker's time runs."""
    beat: int = 0
    """The number of the latest beat."""
    beat_prompt: str = ""
    """The id of the latest beat's prompt, until it reaches the speaker."""
    last_prompt: str = ""
    """The id of the prompt that asked for the last words."""
    contributions: int = 0
    characters: int = 0


class CeremonyState(msgspec.Struct):
    """The state of a gathering."""

    now: float = 0.0
    """The time of the last step."""
    began: float = 0.0
    phase: Phase = "inhale"
    round: int = 0
    """0 before it has begun."""
    to_speak: list[int] = msgspec.field(default_factory=list)
    """The speakers who have not held the piece in this round."""
    tenure: Tenure | None = None
    harvest_due: float | None = None
    """When the wait for the harvest ends; None without one."""
    harvest_rests: float | None = None
    """When the harvest counts as complete unless the harvester prints more."""
    paused_at: float | None = None
    held: list[AnyHappening] = msgspec.field(default_factory=list)
    """Happenings that wait for the end of a pause."""
    signals: str = ""
    messages: int = 0
    """The number of the latest message."""
    gone: dict[int, str] = msgspec.field(default_factory=dict)
    heard: dict[int, int] = msgspec.field(default_factory=dict)
    """The number of record entries that each member has got."""
    taken_back: dict[str, int] = msgspec.field(default_factory=dict)
    """Withdrawn prompts with a digest, and its last entry; such a prompt may still reach its member."""
    withheld: dict[str, int] = msgspec.field(default_factory=dict)
    traffic: dict[str, Traffic] = msgspec.field(default_factory=dict)
    """The cost for each member, by its label: an agent answers every message as a prompt."""
    closing: str = ""
    """Why it went to its close early; empty otherwise."""
    closed: str = ""
    """Why it ended; empty while it is in progress."""

    def shift(self, seconds: float) -> None:
        """Delay all deadlines by these seconds."""
        if self.tenure is not None:
            self.tenure.due += seconds
        if self.harvest_due is not None:
            self.harvest_due += seconds
        if self.harvest_rests is not None:
            self.harvest_rests += seconds

    def move(self, seconds: float) -> None:
        """Move all times to a clock that is ahead by these seconds."""
        self.shift(seconds)
        self.began += seconds
        self.now += seconds
        if self.paused_at is not None:
            self.paused_at += seconds


class StoredGathering(msgspec.Struct, frozen=True):
    """The stored form of a gathering; `entries` is the number of entries in its record."""

    gathering: str
    plan: Plan
    members: tuple[Member, ...]
    state: CeremonyState = msgspec.field(name="standing")
    entries: int
