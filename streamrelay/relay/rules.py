"""The plain values of a relay: participants, rules, state and effects.

msgspec can store and restore all of them except effects, which the runner carries out at once.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.errors import UsageError
from streamrelay.events import Event, Traffic
from streamrelay.relay.attribution import ATTRIBUTED
from streamrelay.relay.loop_guard import LoopGuard
from streamrelay.relay.output_units import OutputUnit

ACKNOWLEDGEMENTS = 2
HOPS = 1_000
MAX_COUNT = 1_000_000_000
"""The largest value of a limit."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]


class Participant(msgspec.Struct, frozen=True):
    """A participant: its session and pane, and the name and number that the other participants see."""

    session: str
    pane: str
    name: str
    number: int
    session_name: str = ""

    @property
    def label(self) -> str:
        """The name and number together: `Ann (1)`."""
        return f"{self.name} ({self.number})"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one relay; 0 means no limit for every count."""

    budget: Count = 0
    """The number of deliveries allowed."""
    when_spent: Literal["close", "wait"] = "close"
    """Whether the relay closes when its budget is spent, or waits for an extension."""
    frame: str = ATTRIBUTED
    """The template of a delivered message, with `{name}`, `{number}` and `{text}`."""
    checkpoints: tuple[str, ...] = ()
    """Prefixes of answers to checkpoints (see `is_checkpoint`)."""
    acknowledgements: Count = ACKNOWLEDGEMENTS
    """How many turns without new content the relay delivers in a row (streamrelay.relay.loop_guard)."""
    phrases: tuple[str, ...] = ()
    """More sentences that count as acknowledgements, compared literally."""
    hops: Count = HOPS
    """The longest chain of answers to answers."""
    longest: Count = 0
    """Maximum length of a message, in characters; a longer one is cut and marked as cut."""
    per_minute: Count = 0
    """Deliveries within 60 seconds; further messages wait."""

    def check(self) -> None:
        """Raise UsageError for a limit out of range."""
        for name in ("budget", "acknowledgements", "hops", "longest", "per_minute"):
            if not 0 <= getattr(self, name) <= MAX_COUNT:
                raise UsageError(
                    f"invalid {name}: {getattr(self, name)}; it must be from 0 (no limit) to {MAX_COUNT:,}",
                    hint="choose a number in that range",
                )


class HeldOutput(msgspec.Struct, frozen=True):
    """An output that waits for its delivery."""

    pane: str
    text: str
    hop: int
    heard_at: float


class RelayState(msgspec.Struct):
    """The state of a relay."""

    deliveries: int = 0
    budget: int = 0
    """The delivery count at which the relay is spent: the budget of the rules plus all extensions."""
    spent: bool = False
    paused: bool = False
    closed: str = ""
    """Why the relay closed; empty while it is open."""
    muted: list[str] = msgspec.field(default_factory=list)
    gone: dict[str, str] = msgspec.field(default_factory=dict)
    """Panes that have left, with the reason."""
    suspended_by: str = ""
    held: list[HeldOutput] = msgspec.field(default_factory=list)
    withheld: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of withheld outputs by reason."""
    traffic: dict[str, Traffic] = msgspec.field(default_factory=dict)
    loop_guard: LoopGuard = msgspec.field(name="manners", default_factory=LoopGuard)

    @property
    def stops(self) -> bool:
        """Whether messages wait for a user, or for the end of another relay."""
        return self.paused or self.spent or bool(self.suspended_by)


class StoredRelay(msgspec.Struct, frozen=True):
    """A relay as it is stored."""

    relay: str
    participants: tuple[Participant, ...]
    rules: Rules
    state: RelayState = msgspec.field(name="standing")
    saying: tuple[OutputUnit, ...] = ()
    """Outputs that are not complete yet."""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Put `text` into the panes of `listeners`."""

    relay: str
    message_id: str
    speaker: Participant
    listeners: tuple[Participant, ...]
    text: str
    head: str
    """The part of the text that names the speaker."""
    heard_at: float
    """When the last line of it arrived (stream time)."""
    policy: DeliveryPolicy | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Put a text into the panes of `listeners` outside the budget: a notice of streamrelay, or an explicit message."""

    message_id: str
    listeners: tuple[Participant, ...]
    text: str
    head: str = ""
    policy: DeliveryPolicy | None = None
    sender: str = ""
    """The session that sends it; empty for a user, a script or streamrelay itself."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Withdraw a message from the panes of `listeners` where it is not typed yet."""

    message_id: str
    listeners: tuple[Participant, ...]


@dataclass(frozen=True, slots=True)
class PublishEvent:
    """Publish an event."""

    event: Event


@dataclass(frozen=True, slots=True)
class Spend:
    """The budget is spent; the relay waits for an extension."""


@dataclass(frozen=True, slots=True)
class Close:
    """The relay has ended."""

    reason: str
    deliveries: int


Effect = Deliver | Notice | Withdraw | PublishEvent | Spend | Close
CHECKPOINT_CHARACTERS = 50


def is_checkpoint(text: str, prefixes: tuple[str, ...]) -> bool:
    """Tell whether a text begins with one of the prefixes; only the first 50 characters of each are compared."""
    begins = text.lstrip()[:CHECKPOINT_CHARACTERS]
    return any(prefix and begins.startswith(prefix[:CHECKPOINT_CHARACTERS]) for prefix in prefixes)
