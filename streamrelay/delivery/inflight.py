"""How far a delivery machine is with its messages, and what it tells of them. Values only."""

from dataclasses import dataclass, field
from typing import Literal

from streamrelay.delivery.message import Message, Obstacle
from streamrelay.events import DeliveryState

Stage = Literal["waiting", "pasting", "settling", "entering", "confirming"]


@dataclass(frozen=True, slots=True)
class ReportState:
    """A delivery stands so now."""

    message_id: str
    state: DeliveryState
    reason: str = ""


@dataclass(slots=True)
class InFlight:
    """A message that is to be typed, or is being typed, and since when (seconds) it is at its stage."""

    message: Message
    stage: Stage
    since: float
    obstacle: Obstacle | None = None
    painted: float | None = None
    shown: str = ""
    attempts: int = 0
    resumed: bool = False
    asked: bool = False
    """Whether a question came up behind the Enter, which may have taken it for its answer."""
    unjudged: float | None = None
    """Since when the picture is waited for to rest, where nothing else stands in the way."""
    withdrawn: str = ""
    """Why it fails instead of waiting again, where tmux puts its paste off."""
    held: list[ReportState] = field(default_factory=list)
    """What the stream said of the answer before tmux had answered."""


@dataclass(slots=True)
class FollowedTurn:
    """A message that was submitted, and the turn that answers it."""

    message_id: str
    turn: int
    since: float
    started: bool = False
    is_unreadable: bool = False
    """Whether the program's screen did not tell what answers it."""
