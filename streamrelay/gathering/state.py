"""How a gathering stands, and what was said in it, as values that are kept.

The record only grows, so that a keeper can write each entry once; the rest is small, and is written anew.
"""

from typing import Literal

import msgspec

from streamrelay.events import Traffic
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Phase, Plan
from streamrelay.gathering.steps import AnyHappening

PassedHow = Literal["phrase", "tool", "time", "last_words", "left", "closed"]
"""What made the piece go on: the speaker's words, the tool, the end of its time, its last words said, its session's
end, the end of the gathering."""

EntryKind = Literal["phase", "said", "passed", "left", "paused", "resumed", "harvest", "closed"]


class RecordEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened, for the transcript."""

    t: float
    """Seconds since the gathering began."""
    kind: EntryKind
    phase: Phase
    round: int
    number: int = 0
    """Whose it is; 0 for the circle's."""
    text: str = ""
    """What was said; for anything but words the reason."""
    message_id: str = ""


class Tenure(msgspec.Struct):
    """One speaker's time with the piece."""

    speaker: int
    due: float
    """When the next thing happens by itself; before it has begun, when it begins at the latest."""
    begun: bool = False
    """Whether its time runs."""
    beat: int = 0
    """The last beat that was."""
    turn_prompt: str = ""
    """The prompt that gives it the piece, while it has not reached it."""
    heard_before: int = 0
    """Up to which entry it had been told before that one."""
    beat_prompt: str = ""
    """That of the last beat, while it has not reached it."""
    last_prompt: str = ""
    """The one that asked for its last words."""
    contributions: int = 0
    characters: int = 0


class CeremonyState(msgspec.Struct):
    """How a gathering stands."""

    now: float = 0.0
    """The time of the last step."""
    began: float = 0.0
    phase: Phase = "inhale"
    round: int = 0
    """0 before it has begun."""
    to_speak: list[int] = msgspec.field(default_factory=list)
    """Who has not held the piece in this round."""
    tenure: Tenure | None = None
    harvest_due: float | None = None
    """Until when the harvest is waited for; None unless it is."""
    harvest_rests: float | None = None
    """When what the harvester has said counts as all of it."""
    paused_at: float | None = None
    held: list[AnyHappening] = msgspec.field(default_factory=list)
    """What happened in a pause."""
    signals: str = ""
    messages: int = 0
    """How many were numbered."""
    gone: dict[int, str] = msgspec.field(default_factory=dict)
    heard: dict[int, int] = msgspec.field(default_factory=dict)
    """Up to which entry of the record each member was told."""
    taken_back: dict[str, int] = msgspec.field(default_factory=dict)
    """Prompts with a digest that were withdrawn, and up to which entry they told; one of them may reach its member."""
    withheld: dict[str, int] = msgspec.field(default_factory=dict)
    traffic: dict[str, Traffic] = msgspec.field(default_factory=dict)
    """What it costs each member, by its label: every message that it gets is a prompt to it."""
    closing: str = ""
    """Why it came to its close early; empty otherwise."""
    closed: str = ""
    """Why it is over; empty while it is not."""

    def shift(self, seconds: float) -> None:
        """Have everything that is due happen that much later."""
        if self.tenure is not None:
            self.tenure.due += seconds
        if self.harvest_due is not None:
            self.harvest_due += seconds
        if self.harvest_rests is not None:
            self.harvest_rests += seconds

    def move(self, seconds: float) -> None:
        """Have all times be those of a clock that shows so much more."""
        self.shift(seconds)
        self.began += seconds
        self.now += seconds
        if self.paused_at is not None:
            self.paused_at += seconds


class StoredGathering(msgspec.Struct, frozen=True):
    """A gathering as it is kept; `entries` is how many entries its record has."""

    gathering: str
    plan: Plan
    members: tuple[Member, ...]
    standing: CeremonyState
    entries: int
