"""What gatherings are asked for with, and how they are told of: values that cross a socket as they are."""

from collections.abc import Sequence
from typing import Literal

import msgspec

Role = Literal["speaker", "harvester"]
GatheringState = Literal["running", "paused", "harvesting", "closed"]
PhaseName = Literal["inhale", "hold", "exhale", "close"]


class Invited(msgspec.Struct, frozen=True, kw_only=True):
    """Who is to take part: a session that is there, or an agent that is started for it, or a person."""

    name: str
    number: int
    """The place in the order of speaking."""
    role: Role = "speaker"
    is_human: bool = False
    agent: str = ""
    """What is started: the name of a profile, or a command."""
    arguments: Sequence[str] = ()
    cwd: str = ""
    """Where it is started; empty for where the others are."""
    session: str = ""
    """An existing one: its id, its title, or a pane as tmux writes it. A person without one takes part by the web page
    or the command line."""


class StartGathering(msgspec.Struct, frozen=True, kw_only=True):
    """A gathering to be held; what is left out is as its rhythm says."""

    participants: Sequence[Invited]
    rhythm: str = "daily"
    structure: str = ""
    """Rounds of inhale, hold and exhale: `2-2-2`, or a name (`minimal`, `standard`, `extended`)."""
    inhale_rounds: int | None = None
    hold_rounds: int | None = None
    exhale_rounds: int | None = None
    beats_per_turn: int | None = None
    beat_interval_seconds: float | None = None
    last_words_seconds: float | None = None
    reach_seconds: float | None = None
    """How long a speaker's time waits for the prompt that gives it the piece to reach it."""
    harvest_seconds: float | None = None
    opening_question: str = ""
    listening: Literal["each", "digest"] | None = None
    caller: str = ""
    """Who asks, by its session id; a person with no session of its own takes part by it."""
    unknown_agent: bool = False
    """Whether an agent asks of which nobody knows the session: it has no caller, and is no person."""
    cwd: str = ""
    """Where sessions are started; empty for where the caller is, or home."""
    search_path: str = ""
    """The PATH of the process that asks, in which agents are looked up; empty for the daemon's."""
    end_sessions: bool = False
    """Whether the sessions that are started for it end with it."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes part."""

    number: int
    name: str
    role: Role
    is_human: bool = False
    session: str = ""
    pane: str = ""
    agent: str = ""
    started_here: bool = False
    """Whether it was started for this gathering."""
    gone: str = ""
    """Why it takes part no longer."""
    contributions: int = 0
    prompts: int = 0
    """How many messages were typed to it: each is one that an agent answers, and costs that."""
    asked: str = ""
    """What was said last to it alone, where that is a person without a pane: the piece, a beat, the last words."""


class Gathering(msgspec.Struct, frozen=True, kw_only=True):
    """A gathering as it stands."""

    gathering: str
    rhythm: str
    inhale_rounds: int
    hold_rounds: int
    exhale_rounds: int
    beats_per_turn: int
    beat_interval_seconds: float
    listening: Literal["each", "digest"]
    opening_question: str
    state: GatheringState
    reason: str = ""
    """Why it is closed."""
    phase: PhaseName
    round: int
    rounds: int
    """Of this phase."""
    speaker: int | None = None
    """Who holds the piece."""
    beat: int = 0
    next_beat_at: float | None = None
    """Unix time."""
    started_at: float = 0.0
    closed_at: float | None = None
    harvest: str = ""
    participants: Sequence[Member] = ()


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, as a transcript tells it."""

    at: float
    """Unix time."""
    kind: str
    """`phase`, `said`, `aside` (without the piece), `passed`, `left`, `paused`, `resumed`, `harvest`, `closed`."""
    phase: PhaseName
    round: int
    number: int | None = None
    name: str = ""
    text: str = ""
    """What was said; for what is no words the reason."""


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """All that was said in a gathering, and what was made of it."""

    gathering: Gathering
    entries: Sequence[Said]
    markdown: str
    """The same as one document."""
