"""Values of a delivery: a message, its policy and its progress."""

import re
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from streamrelay.errors import UsageError
from streamrelay.events import DeliveryState, Receipt

Obstacle = Literal["needs_human", "draft", "at_work", "not_ready"]
"""Why a message waits: a dialog or question is open; the composer holds a person's draft; the program works and must
not be interrupted; its screen does not show that it accepts messages."""

NEEDS_PERSON: frozenset[Obstacle] = frozenset({"needs_human", "draft"})
"""The obstacles that only a person can remove."""

FINAL: frozenset[DeliveryState] = frozenset({"answered", "failed", "unconfirmed"})
"""The last states of a delivery: no other state follows."""

_ID = re.compile(r"[\w.:@-]{1,128}", re.ASCII)


def check_message_id(message_id: str) -> None:
    """Raise UsageError for an invalid id."""
    if not _ID.fullmatch(message_id):
        raise UsageError(f"invalid message id: {message_id!r}", hint="use letters, digits and _.:@-")


def other_text(message_id: str) -> UsageError:
    """Return the error for an id that was used for another text."""
    return UsageError(
        f"the message id {message_id} was used for another text; nothing was sent",
        hint=f"choose another id, or omit it; streamrelay delivery show {message_id} shows what became of that text",
        data={"message_id": message_id},
    )


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """How a sender wants a message to be delivered."""

    needs_human: Literal["hold", "fail"] = "hold"
    """What to do while the program waits for a person: hold the message, or let it fail."""
    commands: Literal["send", "refuse"] = "send"
    """What to do with a text that agents read as a command (it starts with `/`, `!`, `#` or `@`)."""
    patience: float | None = None
    """Seconds that a message may wait before it is typed; None for no limit."""

    def kept_to(self, own: "DeliveryPolicy") -> "DeliveryPolicy":
        """Return the policy for a peer's message: it refuses commands if `own` refuses them."""
        return replace(self, commands="refuse") if own.commands == "refuse" else self


COMMAND_SIGNS: Final = ("/", "!", "#", "@")
"""What a text begins with that agents take for a command."""

OWN_TEXT: Final = DeliveryPolicy()
"""The policy of streamrelay's own notices, and of the texts of gatherings and councils: each is sent once."""


@dataclass(frozen=True, slots=True)
class Message:
    """One text for one pane.

    A text that is too long to paste is written to a file, and `head` and the file's path are pasted instead.
    """

    message_id: str
    text: str
    head: str = ""
    policy: DeliveryPolicy | None = None
    """The policy of this message; None for the default of the pane's writer."""
    sender: str = field(default="", compare=False)
    """The sending session; empty for a person, a script or streamrelay itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a message since `at` (loop time). `pasted` begins when the command to paste is written to tmux."""

    message_id: str
    pane: str
    state: DeliveryState
    at: float
    reason: str = ""
    removed: dict[str, int] = field(default_factory=dict)
    """In state `queued`: control characters that were removed from the text, how many by name."""
    file: str | None = None
    """The path of the file with the text, if it was too long to paste."""

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
