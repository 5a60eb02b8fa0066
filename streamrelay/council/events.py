"""The events of a council session, as its subscribers get them: the app, the plain lines, the web page."""

import msgspec

from streamrelay.council.context import Entry
from streamrelay.council.coordinator import RoundKind, State
from streamrelay.council.members import Markers


class _Event(msgspec.Struct, frozen=True, tag_field="happening", tag=str.lower):
    """The base of the events; JSON names the kind in `happening`."""


class Joined(_Event, frozen=True):
    """The first event of a subscriber: the state of the session and its latest messages."""

    session: str
    person: str
    members: tuple[str, ...]
    phases: tuple[str, ...]
    entries: tuple[Entry, ...]
    queued: tuple[Entry, ...]
    earlier: int
    """The number of messages before the `entries`."""
    status: "StatusChanged"


class MessageShown(_Event, frozen=True):
    """A complete message; it is `queued` while a member speaks, until `MessagesTaken`."""

    entry: Entry
    queued: bool = False


class MessagesTaken(_Event, frozen=True):
    """Queued messages are part of the conversation now."""

    ids: tuple[str, ...]


class AnswerBegan(_Event, frozen=True):
    """A member has the turn; in a blind round its answer is `hidden` until the round is over."""

    id: str
    member: str
    round: int
    kind: RoundKind
    hidden: bool = False
    model: str = ""


class AnswerGrew(_Event, frozen=True):
    """The next piece of an answer."""

    id: str
    piece: str


class AnswerEnded(_Event, frozen=True):
    """An answer has ended; `entry.partial` if it was interrupted, no entry if it is empty."""

    id: str
    entry: Entry | None


class Revealed(_Event, frozen=True):
    """The answers of a blind round, together."""

    entries: tuple[Entry, ...]


class Noticed(_Event, frozen=True):
    """A notice for the person; `urgent` if it waits for a reply."""

    text: str
    urgent: bool = False


class StatusChanged(_Event, frozen=True):
    """The state of the session."""

    state: State
    phase: str
    markers: Markers
    speaker: str | None
    queued: int
    disabled: tuple[str, ...]
    unhealthy: tuple[str, ...]
    question: str
    """The open question to the person; empty without one."""
    cost: float
    left_out: int
    """The number of messages that did not fit into the last speaker's context."""


class SessionEnded(_Event, frozen=True):
    """The session is over, and can be resumed by its id."""

    session: str


CouncilEvent = (
    Joined | MessageShown | MessagesTaken | AnswerBegan | AnswerGrew | AnswerEnded | Revealed | Noticed | StatusChanged
    | SessionEnded
)  # fmt: skip
