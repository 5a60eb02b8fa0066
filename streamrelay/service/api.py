"""The values that the calls of the service take and return (`streamrelay.service.interface.Service`).

All of them are msgspec structs, so that each value can be sent over a socket.

A session has an opaque id. A session that streamrelay started keeps its own id for life; any other session has the id
of its pane (`%3`), valid as long as the pane exists.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from streamrelay.agents.stop_report import HookReport
from streamrelay.events import DeliveryState, NeedKind, Traffic
from streamrelay.history.results import History, Output, SearchHistory
from streamrelay.links.link import LinkPolicy
from streamrelay.pulse import ALL_PARTS, Part, Pulse
from streamrelay.relay.rules import Count
from streamrelay.service.council_api import (
    AskCouncil,
    Council,
    CouncilAnswers,
    CouncilReply,
    CouncilTranscript,
    OpenCouncil,
)
from streamrelay.service.gathering_api import (
    Gathering,
    GatheringMember,
    GatheringTranscript,
    Invited,
    StartGathering,
    TranscriptEntry,
)
from streamrelay.sessions.model import Session, SessionState, StartSession

Listed = Literal["waiting", "all"]
"""Which deliveries are listed: those that are not submitted yet, or all of the last seven days."""

__all__ = [
    "AskCouncil",
    "Council",
    "CouncilAnswers",
    "CouncilReply",
    "CouncilTranscript",
    "CreateRelay",
    "Delivery",
    "Gathering",
    "GatheringMember",
    "GatheringTranscript",
    "History",
    "HookReport",
    "Invited",
    "Listed",
    "OpenCouncil",
    "OpenDialog",
    "Output",
    "Peer",
    "Pulse",
    "Relay",
    "RelayMember",
    "RelayParticipant",
    "SearchHistory",
    "SendMessage",
    "SendResult",
    "Session",
    "SessionState",
    "StartGathering",
    "StartSession",
    "Status",
    "TakePulse",
    "TranscriptEntry",
]


class SendMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message to a session."""

    to: str
    """A session id, a title that only one session has, or a pane as tmux writes it."""
    text: str
    caller: str = ""
    """The sender's session id. Empty for a person or a script: the message is only delivered."""
    unknown_agent: bool = False
    """Whether the sender is an agent in an unknown session; `caller` is empty then, although no person sends it."""
    direct: bool = False
    """Whether to link the two sessions; otherwise the caller gets one message when the target stops."""
    close_link: bool = False
    """Whether to close the link with the target after this message."""
    message_id: str = ""
    """The message's id; a message sent twice under one id is delivered once, and the id is refused for another text."""
    needs_human: Literal["hold", "fail"] | None = None
    """Whether the message waits or fails while the program waits for a person; None for the configured default."""
    commands: Literal["send", "refuse"] | None = None
    """Whether to send or refuse a text that starts with `/ ! # @`; None for the configured default."""
    allow_shell: bool = False
    patience: float | None = None
    """Seconds until the message must be typed; None for no limit."""
    policy: LinkPolicy | None = None
    """The policy of a new link; None for the default."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a message to one session."""

    message_id: str
    pane: str
    state: DeliveryState
    reason: str = ""
    removed: Mapping[str, int] = {}
    """Removed control characters: how many, by name."""
    file: str | None = None
    """The file with the text, if it was too long to be typed."""
    sender: str = ""
    """The session that sent it; empty for a person or a script."""
    queued_at: float = 0.0
    """When it was queued (Unix time); 0 if unknown, as for another machine."""
    text: str = ""
    """The text to be typed; only in a list, and only until it is submitted."""


class SendResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of sending a message."""

    message_id: str
    delivery: Delivery
    link: str = ""
    """The id of the link between the two sessions, if one exists now."""
    listening: bool = False
    """Whether the caller gets a message when the target stops."""
    warning: str = ""
    """What failed although the message is delivered, such as a link; empty if nothing did."""


class OpenDialog(msgspec.Struct, frozen=True, kw_only=True):
    """An open dialog on the screen of a session."""

    session: str
    pane: str
    dialog: str
    """Its id: the same while the dialog is open, whichever choice is selected."""
    kind: NeedKind
    question: str
    context: Sequence[str] = ()
    """The rows above its choices, such as the command that waits for a permission."""
    choices: Sequence[str] = ()
    """Its choices from top to bottom; empty if they cannot be read."""


class RelayParticipant(msgspec.Struct, frozen=True, kw_only=True):
    """A participant for a new relay; the service fills in an empty name or number."""

    session: str
    name: str = ""


class CreateRelay(msgspec.Struct, frozen=True, kw_only=True):
    """A request to open a relay."""

    participants: Sequence[RelayParticipant]
    budget: Count = 0
    allow_shell: bool = False


class RelayMember(msgspec.Struct, frozen=True, kw_only=True):
    """A participant of a relay."""

    session: str
    pane: str
    name: str
    number: int
    muted: bool = False
    gone: bool = False
    traffic: Traffic


class Relay(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one relay."""

    relay: str
    members: Sequence[RelayMember]
    deliveries: int
    budget: int = 0
    paused: bool = False


class TakePulse(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a pulse."""

    scope: Sequence[str] = ()
    """Words to search history for, before all others."""
    parts: Sequence[Part] = ALL_PARTS
    among: Sequence[str] = ()
    """The ids of the sessions to include; empty for all."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the service."""

    version: str
    pid: int
    started_at: float
    """Unix time."""
    tmux: str
    """The server's socket."""
    seq: int
    """The last event's place in the journal."""
    paused: bool
    sessions: int
    watched: int
    links: int
    relays: int
    deliveries: Mapping[str, int]
    """The number of messages to panes of this tmux server in each state."""
    subscribers: int
    problems: Sequence[str] = ()
    gatherings: int = 0
    """The number of gatherings in progress."""
    muted: Sequence[str] = ()
    """The ids of the sessions that a person has muted."""
    restoring: int = 0
    """The number of panes of an earlier service that are not read again yet. Meanwhile the conversations are as that
    service left them, though a pane may be gone, and calls that need the panes wait."""
    journal_bytes: int = 0
    """The size of the journal, with the files of its large values."""
    journal_most_bytes: int = 0
    """The size above which its oldest entries are deleted; 0 for no limit."""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """Another machine, as this one sees it."""

    name: str
    state: Literal["present", "away", "unreachable"]
    """`unreachable` if the broker between the two machines cannot be reached from here."""
    waiting: Mapping[str, int] = {}
    """How many envelopes it has not acknowledged, by kind."""
    lag: float = 0.0
    """Age of the oldest of these, in seconds."""
    why: str = ""
    """Why they wait; empty if none waits."""
    refused: Mapping[str, int] = {}
    """How many envelopes that name it as their sender were refused since the daemon started, by reason."""
    keys: Sequence[str] = ()
    """The fingerprints of its public keys, the one in use first."""
    slowed: int = 0
    """How many of its envelopes were put off since the daemon started, because it sent more than its limits allow."""
