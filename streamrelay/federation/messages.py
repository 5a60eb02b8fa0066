"""What nodes tell each other, as values.

A link is kept where it was made, its *home*. The node of its other side hears that session for the home (`Heard`,
`Gone`), types what the home says (`Deliver`), and has an image of the link to show (`Linked`, `Unlinked`); what people
decide there it wishes for (`Wish`). So a budget is counted in one place, by the code that counts it on one machine.
"""

from typing import Literal

import msgspec

from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.events import (
    Contribution,
    DeliveryState,
    GatheringClosed,
    GatheringLeft,
    GatheringOpened,
    GatheringPaused,
    GatheringPhase,
    Injected,
    LinkClosed,
    LinkExtended,
    LinkSpent,
    LinkSuspended,
    Piece,
    Receipt,
    RelayPaused,
    Text,
    TurnEnded,
    TurnStarted,
)
from streamrelay.federation.seats import SeatKind
from streamrelay.links.link import Link, Party

Spoken = Text | TurnStarted | TurnEnded | Injected
News = LinkSpent | LinkExtended | LinkSuspended | RelayPaused
GatheringEvent = (
    GatheringOpened | GatheringPhase | Piece | Contribution | GatheringPaused | GatheringLeft | GatheringClosed
)
Purpose = Literal["message", "link", "seat"]
"""What a node wants a session of another one for; a seat is a place in a relay or gathering."""


class Body(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What an envelope holds."""


class Ack(Body, frozen=True, kw_only=True, tag="ack"):
    """All up to that number is safe here; `missing`: something behind it came, and cannot be used without what it
    comes after.
    """

    epoch: int
    """The series of numbers that is acknowledged: that of the receiver of this message."""
    up_to: int
    missing: bool = False
    slow: float = 0.0
    """Seconds to wait before anything behind that number is sent again; 0 for none."""
    limit: str = ""
    """The limit that is exceeded, in words."""
    life: int = 0
    """The life of the receiver of this message whose envelopes are acknowledged."""


class Ask(Body, frozen=True, kw_only=True, tag="ask"):
    """Which session has that name at your place, and can we use it for that?"""

    request: str
    name: str
    purpose: Purpose = "message"


class Answer(Body, frozen=True, kw_only=True, tag="answer"):
    """The session of that name on this node, or why there is none."""

    request: str
    party: Party | None = None
    code: str = ""
    message: str = ""
    hint: str = ""
    content: str = ""
    """The JSON of what was asked for."""


class Start(Body, frozen=True, kw_only=True, tag="start"):
    """Start a session at your place for a gathering of ours; the answer is an Answer."""

    request: str
    agent: str
    arguments: tuple[str, ...] = ()
    title: str = ""
    cwd: str = ""


class End(Body, frozen=True, kw_only=True, tag="end"):
    """End a session that you started for us."""

    session: str


class Heard(Body, frozen=True, kw_only=True, tag="heard"):
    """What a session says that takes part in something of yours."""

    pane: str
    in_turns: bool
    events: tuple[Spoken, ...]


class Gone(Body, frozen=True, kw_only=True, tag="gone"):
    """It is not there any more."""

    pane: str
    reason: str


class Deliver(Body, frozen=True, kw_only=True, tag="deliver"):
    """Type this there: output or a notice of a link, relay or gathering (`link`); or, without one, a message."""

    link: str
    message_id: str
    panes: tuple[str, ...]
    text: str
    head: str = ""
    speaker: str = ""
    """Empty for a notice."""
    listeners: tuple[str, ...] = ()
    typing: DeliveryPolicy | None = None


class Message(Body, frozen=True, kw_only=True, tag="message"):
    """Deliver this to the session of that name on your node, over its link with the caller if there is one."""

    message_id: str
    name: str
    text: str
    caller: Party | None = None
    last: bool = False
    """Whether these are the last words on that link."""
    typing: DeliveryPolicy | None = None


class Receipted(Body, frozen=True, kw_only=True, tag="receipt"):
    """How something stands that you sent."""

    message_id: str
    pane: str
    state: DeliveryState
    reason: str = ""
    removed: dict[str, int] = {}
    file: str | None = None


class Linked(Body, frozen=True, kw_only=True, tag="linked"):
    """A link of ours with one of your sessions as it stands, and what has happened to it."""

    link: Link
    news: tuple[News, ...] = ()
    new: bool = False
    """Whether it was just made. News of a link that you do not know is of one that you have closed."""


class Unlinked(Body, frozen=True, kw_only=True, tag="unlinked"):
    """It is gone."""

    closed: LinkClosed


class Suspended(Body, frozen=True, kw_only=True, tag="suspended"):
    """A session of ours is in a relay or circle; with an empty `by` no longer."""

    session: str
    by: str


class Wish(Body, frozen=True, kw_only=True, tag="wish"):
    """What is to become of a link, relay or gathering of yours."""

    link: str
    what: Literal["close", "extend", "pause", "resume"]
    by: str = ""
    """The session of ours that closes it; empty for a person."""
    last_words: str = ""
    deliveries: int = 0


class Seated(Body, frozen=True, kw_only=True, tag="seated"):
    """A session of yours takes part in a relay, gathering or listener of ours: let us hear it."""

    of: str
    seat: SeatKind
    session: str
    pane: str
    is_human: bool = False


class Unseated(Body, frozen=True, kw_only=True, tag="unseated"):
    """A seat is over: to the session's node because it left, to the home because it cannot or does not take part."""

    of: str
    session: str
    pane: str
    reason: str = ""


class GatheringCall(Body, frozen=True, kw_only=True, tag="gathering_call"):
    """Show a gathering of yours, or pass its piece for a participant of ours; the answer is an Answer with the JSON."""

    request: str
    of: str
    what: Literal["view", "transcript", "pass"]
    number: int | None = None
    session: str = ""


class GatheringNews(Body, frozen=True, kw_only=True, tag="gathering_news"):
    """What has happened in a gathering of this node that a session of yours takes part in."""

    events: tuple[GatheringEvent, ...]


class PersonSaid(Body, frozen=True, kw_only=True, tag="person_said"):
    """What a person on our page contributes to a gathering of yours."""

    of: str
    number: int
    text: str


class Withdrawn(Body, frozen=True, kw_only=True, tag="withdrawn"):
    """A message of ours is not to be typed any more, where it is not typed yet."""

    message_id: str
    panes: tuple[str, ...]


AnyBody = (
    Ack | Ask | Answer | Heard | Gone | Deliver | Message | Receipted | Linked | Unlinked | Suspended | Wish
    | Seated | Unseated | Withdrawn | Start | End | GatheringCall | GatheringNews | PersonSaid
)  # fmt: skip


def receipted(receipt: Receipt, message_id: str) -> Receipted:
    """Return a receipt as its sender is told of it, by the id that it knows."""
    return Receipted(
        message_id=message_id,
        pane=receipt.pane,
        state=receipt.state,
        reason=receipt.reason,
        removed=receipt.removed,
        file=receipt.file,
    )
