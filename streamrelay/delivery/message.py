"""What is to be delivered, under which policy, and the account of it. Values only."""

import re
from dataclasses import dataclass, field
from typing import Literal

from streamrelay.errors import UsageError
from streamrelay.events import DeliveryState, Receipt

Obstacle = Literal["needs_human", "draft", "at_work", "not_ready"]
"""Why a message waits: a dialog or question stands there; a person's draft is in the box; the program answers and must
not be interrupted; it does not look as it does when it takes messages."""

NEEDS_PERSON: frozenset[Obstacle] = frozenset({"needs_human", "draft"})
"""Why a message waits that only a person can do something about."""

FINAL: frozenset[DeliveryState] = frozenset({"answered", "failed", "unconfirmed"})
"""States after which a delivery has no other."""

_ID = re.compile(r"[\w.:@-]{1,128}", re.ASCII)


def check_message_id(message_id: str) -> None:
    """Raise UsageError for an id that is none."""
    if not _ID.fullmatch(message_id):
        raise UsageError(f"{message_id!r} is no message id", hint="letters, digits and _.:@- make one")


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """What is done where it is not a matter of right or wrong."""

    needs_human: Literal["hold", "fail"] = "hold"
    """What becomes of a message while the program waits for a person."""
    commands: Literal["send", "refuse"] = "send"
    """What becomes of a text that an agent would take for a command: one that starts with `/`, `!`, `#` or `@`."""
    patience: float | None = None
    """Seconds that a message may wait to be typed; None for as long as it takes."""


@dataclass(frozen=True, slots=True)
class Message:
    """One text for one pane; `head` is what of it stays in front of the pointer when it goes into a file."""

    message_id: str
    text: str
    head: str = ""
    policy: DeliveryPolicy | None = None
    """Its own, where it is not that of its writer."""
    sender: str = field(default="", compare=False)
    """The session that sends it; empty for a person, a script or streamrelay itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a message has come, and when (loop time): `pasted` when the line was written."""

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
        """The same as an event."""
        return Receipt(
            message_id=self.message_id,
            pane=self.pane,
            state=self.state,
            reason=self.reason,
            removed=self.removed,
            file=self.file,
        )
