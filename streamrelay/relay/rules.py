"""What a relay is about, as plain values: who takes part, by which rules, how it stands, and what is to be done.

All of it can be stored and restored with msgspec, but for effects, which are carried out at once.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from streamrelay.delivery.message import Policy
from streamrelay.errors import UsageError
from streamrelay.events import Event, Traffic
from streamrelay.relay.attribution import ATTRIBUTED
from streamrelay.relay.loop_guard import LoopGuard
from streamrelay.relay.output_units import OutputUnit

ACKNOWLEDGEMENTS = 2
HOPS = 1_000
MAX_COUNT = 1_000_000_000
"""The largest number that a limit may be."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]


class Participant(msgspec.Struct, frozen=True):
    """Who takes part: the session and pane it lives in, and the name and number the others know it by."""

    session: str
    pane: str
    name: str
    number: int
    session_name: str = ""

    @property
    def label(self) -> str:
        """How people read of it: `Ann (1)`."""
        return f"{self.name} ({self.number})"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What holds in one relay; 0 stands for no limit throughout."""

    budget: Count = 0
    """How many deliveries there are."""
    when_spent: Literal["close", "wait"] = "close"
    """Whether a spent budget is the end, or waits to be extended."""
    frame: str = ATTRIBUTED
    """What listeners get: a template of `{name}`, `{number}` and `{text}`."""
    checkpoints: tuple[str, ...] = ()
    """What answers to checkpoints begin with (see `is_checkpoint`)."""
    acknowledgements: Count = ACKNOWLEDGEMENTS
    """How many turns without news are delivered in a row (streamrelay.relay.loop_guard)."""
    phrases: tuple[str, ...] = ()
    """What else counts as an acknowledgement, as literal sentences."""
    hops: Count = HOPS
    """How many times an answer may follow an answer."""
    longest: Count = 0
    """Characters of one message; what is beyond is left out, and it says so."""
    per_minute: Count = 0
    """Deliveries within 60 seconds; more of them wait."""

    def check(self) -> None:
        """Raise UsageError for a limit that is none."""
        for name in ("budget", "acknowledgements", "hops", "longest", "per_minute"):
            if not 0 <= getattr(self, name) <= MAX_COUNT:
                raise UsageError(f"{name} is a number from 0, which stands for no limit, to {MAX_COUNT:,}")


class HeldOutput(msgspec.Struct, frozen=True):
    """Something said that waits to be delivered."""

    pane: str
    text: str
    hop: int
    heard_at: float


class RelayState(msgspec.Struct):
    """How a relay stands."""

    deliveries: int = 0
    budget: int = 0
    """At how many deliveries it is spent: that of the rules, and what was added since."""
    spent: bool = False
    paused: bool = False
    closed: str = ""
    """Why it ended."""
    muted: list[str] = msgspec.field(default_factory=list)
    gone: dict[str, str] = msgspec.field(default_factory=dict)
    """Panes that have left, and why."""
    suspended_by: str = ""
    held: list[HeldOutput] = msgspec.field(default_factory=list)
    withheld: dict[str, int] = msgspec.field(default_factory=dict)
    """How often something was not delivered, by reason."""
    traffic: dict[str, Traffic] = msgspec.field(default_factory=dict)
    loop_guard: LoopGuard = msgspec.field(name="manners", default_factory=LoopGuard)

    @property
    def stops(self) -> bool:
        """Whether what was said waits until a person, or the end of another relay, lets it go out."""
        return self.paused or self.spent or bool(self.suspended_by)


class StoredRelay(msgspec.Struct, frozen=True):
    """A relay as it is kept."""

    relay: str
    participants: tuple[Participant, ...]
    rules: Rules
    standing: RelayState
    saying: tuple[OutputUnit, ...] = ()
    """What is being said and not complete."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Put `text` into the panes of `listeners`."""

    relay: str
    message_id: str
    speaker: Participant
    listeners: tuple[Participant, ...]
    text: str
    head: str
    """What of the text says who speaks."""
    heard_at: float
    """When the last line of it was heard (stream time)."""
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Put a text that no budget counts into the panes of `listeners`: streamrelay's own, or one that was sent."""

    message_id: str
    listeners: tuple[Participant, ...]
    text: str
    head: str = ""
    policy: Policy | None = None
    sender: str = ""
    """The session that sends it; empty for a person, a script or streamrelay itself."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take back a message from the panes of `listeners` that is not typed there yet."""

    message_id: str
    listeners: tuple[Participant, ...]


@dataclass(frozen=True, slots=True)
class PublishEvent:
    """Let an event be known."""

    event: Event


@dataclass(frozen=True, slots=True)
class Spend:
    """The budget is spent, and waits to be extended."""


@dataclass(frozen=True, slots=True)
class Close:
    """The relay has ended."""

    reason: str
    deliveries: int


Effect = Deliver | Notice | Withdraw | PublishEvent | Spend | Close
CHECKPOINT_CHARACTERS = 50


def is_checkpoint(text: str, prefixes: tuple[str, ...]) -> bool:
    """Tell whether a text begins with one of the prefixes, as far as the first 50 characters of either go."""
    begins = text.lstrip()[:CHECKPOINT_CHARACTERS]
    return any(prefix and begins.startswith(prefix[:CHECKPOINT_CHARACTERS]) for prefix in prefixes)
