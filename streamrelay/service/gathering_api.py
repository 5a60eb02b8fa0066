"""The requests and results of gatherings: structs that cross a socket."""

from collections.abc import Sequence
from typing import Literal

import msgspec

Role = Literal["speaker", "harvester"]
GatheringState = Literal["running", "paused", "harvesting", "closed"]
PhaseName = Literal["inhale", "hold", "exhale", "close"]


class Invited(msgspec.Struct, frozen=True, kw_only=True):
    """A participant to invite: a running session, an agent to start, or a person."""

    name: str
    number: int
    """The place in the order of speaking."""
    role: Role = "speaker"
    is_human: bool = False
    agent: str = ""
    """The agent to start: the name of a profile, or a command; `NAME@NODE` starts it on another machine."""
    arguments: Sequence[str] = ()
    cwd: str = ""
    """The folder to start it in; empty for the folder of the others."""
    session: str = ""
    """A running session: its id, its title, or a pane as tmux writes it. A person without a session takes part by the
    web page or the command line; with `@NODE`, by those of another machine."""


class StartGathering(msgspec.Struct, frozen=True, kw_only=True):
    """A request to start a gathering; its rhythm supplies the omitted values."""

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
    """Seconds that a speaker's time limit waits until the prompt with the piece has reached the speaker."""
    harvest_seconds: float | None = None
    opening_question: str = ""
    listening: Literal["each", "digest"] | None = None
    caller: str = ""
    """The caller's session id; an invited person without a session takes part by it."""
    unknown_agent: bool = False
    """Whether the caller is an agent in an unknown session; `caller` is empty then, although no person asks."""
    cwd: str = ""
    """The folder to start sessions in; empty for the caller's folder, or home."""
    search_path: str = ""
    """The PATH of the calling process, for finding agents; empty for the daemon's."""
    end_sessions: bool = False
    """Whether sessions started for the gathering end with it."""


class GatheringMember(msgspec.Struct, frozen=True, kw_only=True):
    """A participant of a gathering."""

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
    """Why it has left; empty while it takes part."""
    contributions: int = 0
    prompts: int = 0
    """The number of messages typed to it; an agent answers each, which costs tokens."""
    asked: str = ""
    """The latest prompt (the piece, a beat, the last words) for a person without a pane."""
    node: str = ""
    """The other machine on whose page a person takes part; empty for this one."""


class Gathering(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a gathering."""

    gathering: str
    """Its id; `ID@NODE` for one that another machine keeps."""
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
    """The number of rounds in this phase."""
    speaker: int | None = None
    """The number of the participant who holds the piece."""
    beat: int = 0
    next_beat_at: float | None = None
    """Unix time."""
    started_at: float = 0.0
    closed_at: float | None = None
    harvest: str = ""
    participants: Sequence[GatheringMember] = ()


class TranscriptEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a transcript."""

    at: float
    """Unix time."""
    kind: str
    """`phase`, `said`, `aside` (without the piece), `passed`, `left`, `paused`, `resumed`, `harvest`, `closed`."""
    phase: PhaseName
    round: int
    number: int | None = None
    name: str = ""
    text: str = ""
    """The output; for an entry without output, the reason."""


class GatheringTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """The transcript of a gathering, with its harvest."""

    gathering: Gathering
    entries: Sequence[TranscriptEntry]
    markdown: str
    """The transcript as a Markdown document."""
