"""What happens to a ceremony, and what follows from it: the values that go in and come out.

Members are known by their numbers; whoever carries effects out knows where they live.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from streamrelay.events import Event

PromptKind = Literal["seed", "turn", "beat", "last", "harvest"]


class Happening(msgspec.Struct, frozen=True, tag=True):
    """Something that a ceremony is told of."""


class Said(Happening, frozen=True):
    """A member said something; `whole` where that is a whole turn, `answers` the prompt that its turn began with."""

    number: int
    text: str
    whole: bool = True
    answers: str = ""


class Stopped(Happening, frozen=True):
    """A member's turn, begun with the prompt `answers`, is over; what it said in it, if anything, was told before."""

    number: int
    answers: str = ""


class Reached(Happening, frozen=True):
    """A prompt has reached its member: it was submitted, or is shown on its page."""

    number: int
    prompt: str


class Passed(Happening, frozen=True):
    """Whoever holds the piece passes it: by the tool, a command or a button."""

    number: int


class Left(Happening, frozen=True):
    """A member's session is gone."""

    number: int
    reason: str


class Sensed(Happening, frozen=True):
    """What is going on, in one line, for the beats to come."""

    signals: str


AnyHappening = Said | Stopped | Reached | Passed | Left | Sensed


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tell one member something, privately."""

    message_id: str
    to: int
    kind: PromptKind
    text: str
    head: str = ""
    """What of it is to be read at once where the rest is put into a file."""


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell members something on the circle's own account."""

    message_id: str
    to: tuple[int, ...]
    text: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class Contribute:
    """Let members hear what the speaker said: `text` is that alone, who says it is to be put in front."""

    message_id: str
    speaker: int
    to: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take back prompts that have not reached a member, if that is still possible."""

    to: int
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublishGatheringEvent:
    """Let an event be known."""

    event: Event


@dataclass(frozen=True, slots=True)
class Closed:
    """The gathering is over; nothing more comes."""

    reason: str


Effect = Prompt | Announce | Contribute | Withdraw | PublishGatheringEvent | Closed
