"""The interface of an agent's record, and the result of reading it."""

from typing import Literal, NamedTuple, Protocol

from streamrelay.delta.inputs import WitnessPassage

Reason = Literal["", "no_process", "no_record", "keeps_none", "several", "not_trusted", "unreadable"]
"""`no_record`: none is found, or not yet; `keeps_none`: nor has the agent begun what it begins before any record."""


class Reading(NamedTuple):
    """The entries added since the last call, or the reason why the record is unreadable."""

    passages: tuple[WitnessPassage, ...] = ()
    reason: Reason = ""


class AgentRecord(Protocol):
    """The record of the agent in one pane."""

    def read(self) -> Reading:
        """Return the entries added since the last call; never raises."""
