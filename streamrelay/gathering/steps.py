"""The inputs and outputs of a ceremony: happenings go in, effects come out.

They name members by number; the code that carries effects out knows their panes.
"""

from dataclasses import dataclass
from typing import Literal

import msgspec

from streamrelay.events import Event

PromptKind = Literal["seed", "turn", "beat", "last", "harvest"]


class Happening(msgspec.Struct, frozen=True, tag=True):
    """An input of a ceremony."""


class Said(Happening, frozen=True):
    """The output of a member; `whole` if it is a whole turn, `answers` the prompt that began the turn."""

    number: int
    text: str
    whole: bool = True
    answers: str = ""


class Stopped(Happening, frozen=True):
    """The end of a member's turn that the prompt `answers` began; its output, if any, came before as `Said`."""

    number: int
    answers: str = ""


class Reached(Happening, frozen=True):
    """A prompt has reached its member: streamrelay has submitted it, or the page shows it."""

    number: int
    prompt: str


class Passed(Happening, frozen=True):
    """The holder passes the piece by the tool, a command or a button."""

    number: int


class Left(Happening, frozen=True):
    """A member's session is gone."""

    number: int
    reason: str


class Sensed(Happening, frozen=True):
    """A one-line summary of the current work, for the coming beats."""

    signals: str


AnyHappening = Said | Stopped | Reached | Passed | Left | Sensed


@dataclass(frozen=True, slots=True)
class Prompt:
    """Send one member a private message."""

    message_id: str
    to: int
    kind: PromptKind
    text: str
    head: str = ""
    """The part to type at once if the whole text goes into a file."""


@dataclass(frozen=True, slots=True)
class Announce:
    """Send members an announcement of the circle."""

    message_id: str
    to: tuple[int, ...]
    text: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class Contribute:
    """Deliver a contribution to members: `text` is without the speaker's name, which the caller adds."""

    message_id: str
    speaker: int
    to: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class WithdrawPrompts:
    """Withdraw prompts that have not reached a member, if that is still possible."""

    to: int
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublishGatheringEvent:
    """Publish an event."""

    event: Event


@dataclass(frozen=True, slots=True)
class Closed:
    """End the gathering; no effect follows."""

    reason: str


Effect = Prompt | Announce | Contribute | WithdrawPrompts | PublishGatheringEvent | Closed
