"""The arguments and results of the service's calls for councils."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from streamrelay.council.config import CouncilConfig
from streamrelay.council.context import Entry, Pinned
from streamrelay.council.coordinator import State

MAX_WAIT = 3600.0
"""Seconds for which one call may wait for answers."""


class OpenCouncil(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the council to be begun, or with `resume` one that was stored, or is open already."""

    resume: str = ""
    config: CouncilConfig | None = None
    """Who takes part; the user's own council.toml if it is left out."""
    pinned: Sequence[Pinned] = ()
    """The documents that `config` names."""
    keys: Mapping[str, str] = {}
    """The vendors' keys by their variables, for a daemon whose environment lacks them. They stay in memory."""

    def __repr__(self) -> str:
        """Return a text of the request without the keys."""
        return f"OpenCouncil(resume={self.resume!r}, keys={sorted(self.keys)})"


class Council(msgspec.Struct, frozen=True, kw_only=True):
    """One session of the council."""

    council: str
    title: str
    created: float
    """Unix time."""
    members: Sequence[str]
    person: str
    messages: int
    cost: float
    is_open: bool
    """Whether it is open in this service, so that one can take part."""
    joined: bool = False
    """Whether the session was open before this request."""
    state: State = "ended"
    speaker: str = ""
    question: str = ""
    """What the person is asked."""


class CouncilTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """What was said in a session."""

    council: Council
    entries: Sequence[Entry]


class CouncilReply(msgspec.Struct, frozen=True, kw_only=True):
    """What comes of a line that a person entered."""

    shown: str = ""
    """What the person asked to see: help, cost, phases."""


class AskCouncil(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the user's council, to be answered by all its members."""

    question: str = ""
    """Empty to wait for missing answers; then `council` is needed."""
    council: str = ""
    """A session to go on with; a new one is begun if it is left out."""
    dissent: bool = True
    """Whether each member is asked afterwards what it disagrees with."""
    blind: bool = False
    """Whether the members answer without seeing each other's answers."""
    wait_seconds: Annotated[float, Meta(ge=0, le=MAX_WAIT)] = 300.0
    caller: str = ""
    """Who asks, by its session id."""
    unknown_agent: bool = False
    """Whether an agent asks whose session is not known."""


class CouncilAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one member answered."""

    member: str
    text: str
    is_whole: bool = True
    """False where the answer broke off."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that a member disagrees with."""

    claim: str
    made_by: str
    disputed_by: str
    why: str = ""


class CouncilAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to a question."""

    council: str
    state: Literal["answered", "answering"]
    """`answering` where the time was up before all members had answered: ask again with this `council`."""
    answers: Sequence[CouncilAnswer] = ()
    dissent: Sequence[Disagreement] = ()
    missing: Sequence[str] = ()
    """Members that have not answered."""
    question: str = ""
    """What the council asks the person, who answers on the page or in the terminal."""
    cost: float = 0.0
    """Dollars of the whole session, as far as prices are known."""
