"""The messages in flight of a delivery machine, and its reports about them. Values only."""

from dataclasses import dataclass, field
from typing import Literal

from streamrelay.delivery.message import Message, Obstacle
from streamrelay.events import DeliveryState

UNSUBMITTED = 30.0
"""Seconds after the second Enter in which a text in the composer may still be submitted."""
Stage = Literal["waiting", "handing", "pasting", "settling", "entering", "confirming"]


@dataclass(frozen=True, slots=True)
class ReportState:
    """Report the state of a delivery."""

    message_id: str
    state: DeliveryState
    reason: str = ""


@dataclass(slots=True)
class InFlight:
    """A queued or pasted message, and since when (loop time) it is at its stage."""

    message: Message
    stage: Stage
    since: float
    obstacle: Obstacle | None = None
    painted: float | None = None
    shown: str = ""
    attempts: int = 0
    resumed: bool = False
    asked: bool = False
    """Whether a question came up after the Enter; it may have taken the Enter as its answer."""
    no_lane: bool = False
    """Whether the program's own API was closed when its turn came, so that it is typed."""
    unjudged: float | None = None
    """Since when the machine waits for the screen to rest, if nothing else is in the way."""
    withdrawn: str = ""
    """The reason with which it fails if tmux puts its paste off; empty to wait again."""
    is_over: bool = False
    """Whether the turn that answers it has ended, so that its last state is reported."""
    made_room_for: str = ""
    """The message that waited behind its text when the last Enter after its end was sent."""
    held: list[ReportState] = field(default_factory=list)
    """Reports about the answer that arrived before tmux confirmed the Enter."""

    def may_make_room(self, message_id: str, now: float) -> bool:
        """Return whether its text, left in the composer, gets an Enter for the message that waits behind it."""
        return self.attempts == 0 or (now >= self.since + UNSUBMITTED and self.made_room_for != message_id)


@dataclass(frozen=True, slots=True)
class ComposerText:
    """A message whose text the composer may still hold, and what the composer shows of it."""

    message_id: str
    shown: str


@dataclass(slots=True)
class FollowedTurn:
    """A message that was submitted, and the turn that answers it."""

    message_id: str
    turn: int
    since: float
    started: bool = False
    is_unreadable: bool = False
    """Whether the screen did not show which output answers it."""
    is_handed: bool = False
    """Whether the program's own API reports its answer, and not the stream."""
