"""A message to deliver, its policy and its progress. Values only."""

import re
from dataclasses import dataclass, field
from typing import Literal

from streamrelay.errors import UsageError
from streamrelay.events import DeliveryState, Receipt

Obstacle = Literal["needs_human", "draft", "at_work", "not_ready"]
"""Why a message waits: a dialog or question is open; the composer holds a person's draft; the program works and must
not be interrupted; its screen does not show that it accepts messages."""

NEEDS_PERSON: frozenset[Obstacle] = frozenset({"needs_human", "draft"})
"""The obstacles that only a person can remove."""

FINAL: frozenset[DeliveryState] = frozenset({"answered", "failed", "unconfirmed"})
"""States after which a delivery has no other."""

_ID = re.compile(r"[\w.:@-]{1,128}", re.ASCII)


def check_message_id(message_id: str) -> None:
    """Raise UsageError for an invalid id."""
    if not _ID.fullmatch(message_id):
        raise UsageError(f"invalid message id: {message_id!r}", hint="use letters, digits and _.:@-")


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """The choices of a sender for a delivery."""

    needs_human: Literal["hold", "fail"] = "hold"
    """Whether a message waits or fails while the program waits for a person."""
    commands: Literal["send", "refuse"] = "send"
    """Whether to send a text that an agent reads as a command, because it starts with `/`, `!`, `#` or `@`."""
    patience: float | None = None
    """Seconds that a message may wait to be typed; None for no limit."""


@dataclass(frozen=True, slots=True)
class Message:
    """One text for one pane; if the text goes into a file, `head` stays in front of the pointer to it."""

    message_id: str
    text: str
    head: str = ""
    policy: DeliveryPolicy | None = None
    """Its own policy; None for the writer's."""
    sender: str = field(default="", compare=False)
    """The session that sends it; empty for a person, a script or streamrelay itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a message, and since when (loop time); `pasted` counts from the writing of the line."""

    message_id: str
    pane: str
    state: DeliveryState
    at: float
    reason: str = ""
    removed: dict[str, int] = field(default_factory=dict)
    """With `queued`: what sanitising took out of the text."""
    file: str | None = None
    """Where the text is, if it was too long to paste."""

    @property
    def receipt(self) -> Receipt:
        """Return the progress as an event."""
        return Receipt(
            message_id=self.message_id,
            pane=self.pane,
            state=self.state,
            reason=self.reason,
            removed=self.removed,
            file=self.file,
        )
