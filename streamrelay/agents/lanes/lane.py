"""The contract of a native lane: a documented way to hand a message to an agent without its composer.

The paste is the other lane: delivery/writer.py carries out both, and the paste needs no API of the agent. A native lane

1. finds the conversation that the pane shows, from the pane's own process, and never guesses (`find`);
2. hands a message over, with an id that the agent keeps (`hand_over`);
3. tells from the agent's record what became of it (`was_taken`, `states`).

Only `not_sent` allows another lane: the agent has certainly not got the message. After `unknown` nothing is sent again.

No method raises for what an agent, its server or its files do.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

Absence = Literal["no_process", "no_server", "protected", "several", "no_session", "unreadable"]
"""Why a lane is closed: the agent's process is not accessible; it serves no API; the API wants a password; several
servers or sessions are possible; the pane shows no session that the API names; the API did not answer as expected."""

HandOver = Literal["taken", "not_sent", "unknown"]
"""What became of a message that was handed over: the agent has it; it has not got it; neither is certain."""

Answering = Literal["held", "started", "answered"]
"""What an agent does with a message: it keeps it for later; it answers; its answer is complete."""


@dataclass(frozen=True, slots=True)
class LaneAddress:
    """One conversation of an agent, as the agent's API names it."""

    lane: str
    url: str
    session: str
    is_busy: bool = False
    """Whether the agent was answering, so that it holds a message."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A message that was handed over, by the id that the agent keeps; its text form is stored in the pane."""

    lane: str
    url: str
    session: str
    reference: str

    def __str__(self) -> str:
        return f"{self.lane} {self.url} {self.session} {self.reference}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return what a stored text form says; None for anything else."""
        words = text.split(" ")
        return cls(*words) if len(words) == 4 and all(words) else None


class Lane(Protocol):
    """A native lane of one agent in one pane."""

    @property
    def name(self) -> str:
        """The name of the lane."""

    async def server(self) -> tuple[str, str] | Absence:
        """Return the URL and the version of the API of the agent in the pane, or why there is none."""

    async def find(self, title: str) -> LaneAddress | Absence:
        """Return the conversation that the pane with this terminal title shows, or why there is none to be had."""

    def reference(self, address: LaneAddress) -> Handed:
        """Return the id of the next message to a conversation; each call returns a higher one."""

    async def hand_over(self, handed: Handed, text: str) -> HandOver:
        """Hand a text over under that id."""

    async def was_taken(self, handed: Handed) -> bool | None:
        """Return whether the agent has a message; None if its API does not answer."""

    async def states(self, messages: Collection[Handed]) -> Mapping[str, Answering] | None:
        """Return what the agent does with messages, by reference; None if its API does not answer."""

    async def close(self) -> None:
        """Close the connections."""
