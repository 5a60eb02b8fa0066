"""What a session of the council shows: values, in order, to its onlookers (the app, plain lines, the page)."""

import msgspec

from streamrelay.council.context import Entry
from streamrelay.council.coordinator import RoundKind, State
from streamrelay.council.members import Markers


class _Happening(msgspec.Struct, frozen=True, tag_field="happening", tag=str.lower):
    """Something that people are shown."""


class Joined(_Happening, frozen=True):
    """What an onlooker is given first: how the session stands, and the last of what was said."""

    session: str
    person: str
    members: tuple[str, ...]
    phases: tuple[str, ...]
    entries: tuple[Entry, ...]
    queued: tuple[Entry, ...]
    earlier: int
    """Messages before the `entries`."""
    status: "StatusChanged"


class MessageShown(_Happening, frozen=True):
    """A whole message; `queued` while a member speaks, until `MessagesTaken`."""

    entry: Entry
    queued: bool = False


class MessagesTaken(_Happening, frozen=True):
    """Queued messages are part of the conversation now."""

    ids: tuple[str, ...]


class AnswerBegan(_Happening, frozen=True):
    """A member has the turn; what it says in a blind round is `hidden` until the round is over."""

    id: str
    member: str
    round: int
    kind: RoundKind
    hidden: bool = False
    model: str = ""


class AnswerGrew(_Happening, frozen=True):
    """A piece of an answer."""

    id: str
    piece: str


class AnswerEnded(_Happening, frozen=True):
    """An answer is over; `entry.partial` where it was broken off, no entry where nothing was said."""

    id: str
    entry: Entry | None


class Revealed(_Happening, frozen=True):
    """The answers of a blind round, together."""

    entries: tuple[Entry, ...]


class Noticed(_Happening, frozen=True):
    """A sentence for the person; `urgent` where it waits for an answer."""

    text: str
    urgent: bool = False


class StatusChanged(_Happening, frozen=True):
    """How the session stands."""

    state: State
    phase: str
    markers: Markers
    speaker: str | None
    queued: int
    disabled: tuple[str, ...]
    unhealthy: tuple[str, ...]
    question: str
    """What the person is asked; empty where nothing is."""
    cost: float
    left_out: int
    """Messages that the last speaker was not given, for they did not fit."""


class SessionEnded(_Happening, frozen=True):
    """The session is over, and can be resumed by its id."""

    session: str


Happening = (
    Joined | MessageShown | MessagesTaken | AnswerBegan | AnswerGrew | AnswerEnded | Revealed | Noticed | StatusChanged
    | SessionEnded
)  # fmt: skip
