"""The calls of the service. `LocalService` implements them and the daemon serves them over HTTP; its client and the MCP
tools use them. All types are msgspec structs, so that each value can be sent over a socket.

A session has an opaque id. A session that streamrelay started keeps its own id for life; any other session has the id
of its pane (`%3`), valid as long as the pane exists.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from streamrelay.agents.stop_report import HookReport
from streamrelay.council.events import CouncilEvent
from streamrelay.events import AnyEvent, DeliveryState, NeedKind, Traffic
from streamrelay.history.results import History, Output, SearchHistory
from streamrelay.links.link import Link, LinkPolicy
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
    "Service",
    "Session",
    "SessionState",
    "StartGathering",
    "StartSession",
    "Status",
    "TakePulse",
    "TranscriptEntry",
]


class SendMessage(msgspec.Struct, frozen=True, kw_only=True):
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
    """The message's id; a message sent twice under one id is delivered once."""
    needs_human: Literal["hold", "fail"] = "hold"
    commands: Literal["send", "refuse"] = "send"
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
    """The number of messages in each state."""
    subscribers: int
    problems: Sequence[str] = ()
    gatherings: int = 0
    """The number of gatherings in progress."""


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


class Service(Protocol):
    """The calls. Each implementation raises the same StreamrelayError, with its code."""

    async def status(self) -> Status:
        """Return the state of the service."""
        ...

    async def peers(self) -> list[Peer]:
        """List the other machines, with the envelopes that wait for each and why."""
        ...

    async def sessions(self) -> list[Session]:
        """List the sessions of the server: those started here, and every other pane with a program in it."""
        ...

    async def start_session(self, request: StartSession) -> Session:
        """Start a session and return it when its program is ready; if the program needs a person, an event says so."""
        ...

    async def end_session(self, session: str) -> None:
        """End a session and all its links; raises UsageError for one that was not started here."""
        ...

    async def hear_hook(self, report: HookReport) -> bool:
        """Take the report of an agent's stop hook; return whether a watched pane used it."""
        ...

    async def send_message(self, request: SendMessage) -> SendResult:
        """Queue a message: once this returns, the outbox holds it, and its receipts follow as events."""
        ...

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Return the state of a message, one entry per target; empty for an unknown id."""
        ...

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List messages to one session or to all, oldest first: those not submitted yet, or the latest in any state.

        Raises TargetNotFound for an unknown session.
        """
        ...

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet, for the session `by` or a person; return its state.

        Cancelling twice has no further effect. Raises TargetNotFound for an unknown id, CancelTooLate if the message is
        pasted or finished everywhere, NotAllowed if another session or a person sent it, and PaneTaken if another
        process types into the pane.
        """
        ...

    async def dialogs(self, session: str = "") -> list[OpenDialog]:
        """List the open dialogs of the watched sessions, or of one session; a password prompt is not listed."""
        ...

    async def answer_dialog(self, session: str, dialog: str, choice: int) -> None:
        """Press the key of the choice that a person made in a dialog, if the dialog is still open.

        The first choice is 0. Raises DialogChanged if the dialog is gone or ignores its keys, and UsageError for a
        choice that it does not have.
        """
        ...

    async def interrupt(self, session: str, message: str = "") -> list[str]:
        """Press the keys that interrupt an answer, as the program's profile defines them; return the keys.

        `message` is the text of the message that the program works on. If the program puts that text back into its
        composer, the composer is cleared, so that no draft remains; a person's draft stays. Raises NotAllowed for a
        program whose profile has no such keys.
        """
        ...

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        ...

    async def create_link(self, a: str, b: str, policy: LinkPolicy | None = None) -> Link:
        """Link two sessions; if they are linked already, return that link unchanged."""
        ...

    async def extend_link(self, link: str, deliveries: int) -> Link:
        """Add deliveries to a link's budget, and reopen the link if its budget was spent."""
        ...

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link, for one of its sides or for a person; the other side gets a notice."""
        ...

    async def relays(self) -> list[Relay]:
        """List the relays."""
        ...

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Relay the output of sessions to each other; raises SessionTaken for one in another relay or gathering."""
        ...

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        ...

    async def start_gathering(self, request: StartGathering) -> Gathering:
        """Start the sessions of a gathering, then the gathering; if one session fails, end the others again.

        Raises UsageError for an invalid gathering, SessionTaken for a session that is in a relay or gathering already,
        and NestedGathering for a caller that is in one.
        """
        ...

    async def gatherings(self) -> list[Gathering]:
        """List the gatherings in progress and the latest finished ones, newest first."""
        ...

    async def gathering(self, gathering: str) -> Gathering:
        """Return the state of a gathering; raises TargetNotFound for an unknown id."""
        ...

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> Gathering:
        """Pass the talking piece on.

        With neither `number` nor `session`, its current holder passes it; raises UsageError for a participant who does
        not hold it. An empty `gathering` is the one that the session is in.
        """
        ...

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> Gathering:
        """Speak for a person in the circle; raises UsageError if that person does not hold the piece."""
        ...

    async def pause_gathering(self, gathering: str, paused: bool) -> Gathering:
        """Pause a gathering, or resume it."""
        ...

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> Gathering:
        """Close a gathering before its last round, after its harvest; a second call does not wait for the harvest."""
        ...

    async def gathering_transcript(self, gathering: str) -> GatheringTranscript:
        """Return the transcript of a gathering."""
        ...

    async def open_council(self, request: OpenCouncil) -> Council:
        """Begin a council session, resume one, or join an open one.

        Raises ConfigError, AIKeyRefused, ExtraMissing, UsageError for an unknown session or one that another process
        holds, and NotAllowed if too many are open.
        """
        ...

    async def councils(self) -> list[Council]:
        """List the open council sessions and the latest closed ones."""
        ...

    async def council_transcript(self, council: str) -> CouncilTranscript:
        """Return the transcript of a council session; raises TargetNotFound."""
        ...

    async def enter_council(self, council: str, text: str) -> CouncilReply:
        """Handle what a person types in an open council session: a message, or a command that begins with a slash.

        Raises TargetNotFound for a session that is not open, and UsageError.
        """
        ...

    async def rest_council(self, council: str, seconds: float = 60.0) -> bool:
        """Wait at most `seconds` until no member of a council session speaks; return whether none does."""
        ...

    def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound."""
        ...

    async def ask_council(self, request: AskCouncil) -> CouncilAnswers:
        """Ask the user's council a question; return the members' answers and their dissent.

        Raises NotAllowed for a caller that may not speak, NestedGathering for one that takes part in a council or
        gathering, and what `open_council` raises.
        """
        ...

    async def pause(self, paused: bool, of: str = "") -> None:
        """Pause or resume the deliveries of one link or relay (`of`), or of all."""
        ...

    async def mute(self, session: str, muted: bool) -> None:
        """Mute a session, so that no link or relay delivers its output, or unmute it."""
        ...

    async def stop_all(self) -> int:
        """End all links and relays; return how many there were."""
        ...

    async def watch(self, session: str, watched: bool) -> None:
        """Journal a session's output even if it is in no link, relay or gathering, or stop that."""
        ...

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        """Return the journaled events after a `seq`, oldest first, of all sessions or of one, running or ended."""
        ...

    async def latest(self, limit: int = 50) -> list[Output]:
        """Return the newest output of the running sessions, newest first, with at least the last one of each."""
        ...

    async def search_history(self, search: SearchHistory) -> History:
        """Search the journal and agents' own transcripts, the best match first."""
        ...

    async def pulse(self, request: TakePulse) -> Pulse:
        """Summarise system, sessions, repositories and pipelines, with earlier output about the current work."""
        ...

    def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Yield every journaled event in order, after a `seq` or from now on; provisional events are not journaled."""
        ...
