"""What reading an agent's record gives."""

from typing import Literal, NamedTuple, Protocol

from streamrelay.delta.inputs import WitnessPassage

Reason = Literal["", "no_process", "no_record", "several", "not_trusted", "unreadable"]


class Reading(NamedTuple):
    """What a record says since it was read last, or why nothing can be read."""

    passages: tuple[WitnessPassage, ...] = ()
    reason: Reason = ""


class AgentRecord(Protocol):
    """The record of the agent in one pane."""

    def read(self) -> Reading:
        """Return what was added since the last call; never raises."""
