"""What streamrelay does for people and agents, as one set of calls: a service does it, the daemon serves it over HTTP,
its client and the MCP tools ask for it. All types are msgspec structs, so all of them cross a socket.

A session is named by an opaque id. One that was started here has an id of its own, for life; of any other the id is
its pane's (`%3`), and good for as long as the pane is.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from streamrelay.agents.stop_report import HookReport
from streamrelay.council.happenings import Happening
from streamrelay.events import AnyEvent, DeliveryState, Traffic
from streamrelay.history.results import History, Output, SearchHistory
from streamrelay.links.link import Link, Policy
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
from streamrelay.service.gathering_api import Gathering, Invited, Member, Said, StartGathering, Transcript
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
    "History",
    "HookReport",
    "Invited",
    "Listed",
    "Member",
    "OpenCouncil",
    "Output",
    "Pulse",
    "Relay",
    "RelayMember",
    "RelayParticipant",
    "Said",
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
    "Transcript",
]


class SendMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a session."""

    to: str
    """A session id, a title that only one has, or a pane as tmux writes it."""
    text: str
    caller: str = ""
    """Who says it, by its session id; empty for a person or a script, then it is only delivered."""
    unknown_agent: bool = False
    """Whether an agent says it of which nobody knows the session: it has no caller, and is no person."""
    direct: bool = False
    """Whether it begins a conversation (a link); otherwise the caller is told once when the other one stops."""
    close_link: bool = False
    """Whether these are the last words on the link with the other one."""
    message_id: str = ""
    """Known by this id, it is delivered once, however often it is sent."""
    needs_human: Literal["hold", "fail"] = "hold"
    commands: Literal["send", "refuse"] = "send"
    allow_shell: bool = False
    patience: float | None = None
    """Seconds in which it has to be typed; None for as long as it takes."""
    policy: Policy | None = None
    """Of a link that is made; None for the default."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """How a message to one session stands."""

    message_id: str
    pane: str
    state: DeliveryState
    reason: str = ""
    removed: Mapping[str, int] = {}
    """Control characters that were left out, by name."""
    file: str | None = None
    """Where the text was put, when it was too long to be typed."""
    sender: str = ""
    """The session that sends it; empty for a person or a script."""
    queued_at: float = 0.0
    """When it was taken up (Unix time); 0 where that is not known, as for another machine."""
    text: str = ""
    """In a list, what is to be typed, until it is submitted."""


class SendResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was done with a message."""

    message_id: str
    delivery: Delivery
    link: str = ""
    """The id of the link there is now."""
    listening: bool = False
    """Whether the caller is told when the other one stops."""
    warning: str = ""
    """What could not be done although the message is delivered, in words."""


class RelayParticipant(msgspec.Struct, frozen=True, kw_only=True):
    """Who is to take part in a relay: names and numbers are given where they are empty."""

    session: str
    name: str = ""


class CreateRelay(msgspec.Struct, frozen=True, kw_only=True):
    """A relay to be opened."""

    participants: Sequence[RelayParticipant]
    budget: Count = 0
    allow_shell: bool = False


class RelayMember(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes part in a relay."""

    session: str
    pane: str
    name: str
    number: int
    muted: bool = False
    gone: bool = False
    traffic: Traffic


class Relay(msgspec.Struct, frozen=True, kw_only=True):
    """One relay as it stands."""

    relay: str
    members: Sequence[RelayMember]
    deliveries: int
    budget: int = 0
    paused: bool = False


class TakePulse(msgspec.Struct, frozen=True, kw_only=True):
    """A pulse to be taken."""

    scope: Sequence[str] = ()
    """Words to search history for, before all others."""
    parts: Sequence[Part] = ALL_PARTS
    among: Sequence[str] = ()
    """The sessions that count, by their ids; all, if none is named."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How the service is."""

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
    """How many messages are in which state."""
    subscribers: int
    problems: Sequence[str] = ()
    gatherings: int = 0
    """How many are held now."""


class Service(Protocol):
    """The calls. All raise a StreamrelayError with its code, whoever answers them."""

    async def status(self) -> Status:
        """Say how it is."""
        ...

    async def sessions(self) -> list[Session]:
        """List the sessions of the server: those started here, and every other pane with a program in it."""
        ...

    async def start_session(self, request: StartSession) -> Session:
        """Start a session; returns when its program is there. What it needs a person for follows as an event."""
        ...

    async def end_session(self, session: str) -> None:
        """End a session and all its links; raises UsageError for one that was not started here."""
        ...

    async def hear_hook(self, report: HookReport) -> bool:
        """Take what an agent's stop hook tells; return whether it was of use: of a stop, where somebody watches."""
        ...

    async def send_message(self, request: SendMessage) -> SendResult:
        """Take a message: once this returns it is in the outbox, and its receipts follow as events."""
        ...

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Say how a message stands, one entry a target; empty for one that nobody knows."""
        ...

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List the messages that are not submitted yet, oldest first, to one session or to all; or the latest of all.

        Raises TargetNotFound for a session that is not there.
        """
        ...

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet, for the session `by` or a person; return how it stands.

        Cancelling twice is as good as once. Raises TargetNotFound for an unknown id, CancelTooLate where it is pasted
        or done everywhere, NotAllowed where another session or a person sent it, and PaneTaken where another process
        types into the pane.
        """
        ...

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        ...

    async def create_link(self, a: str, b: str, policy: Policy | None = None) -> Link:
        """Link two sessions; where they are linked already, return that link as it is."""
        ...

    async def extend_link(self, link: str, deliveries: int) -> Link:
        """Add to a budget, and open the link if it is spent."""
        ...

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link, for one of its sides or for a person; the other side is told."""
        ...

    async def relays(self) -> list[Relay]:
        """List the relays."""
        ...

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Let sessions hear each other; raises SessionTaken for one that is in another relay or circle."""
        ...

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        ...

    async def start_gathering(self, request: StartGathering) -> Gathering:
        """Start the sessions of a gathering, and the gathering; where one cannot be, nothing is left of it.

        Raises UsageError for a circle that makes no sense, SessionTaken for a session that is in a relay or circle
        already, and NestedGathering for a caller that is in one.
        """
        ...

    async def gatherings(self) -> list[Gathering]:
        """List the gatherings that are held, and the last ones that were, the newest first."""
        ...

    async def gathering(self, gathering: str) -> Gathering:
        """Say how a gathering stands; raises TargetNotFound for one that nobody knows."""
        ...

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> Gathering:
        """Pass the piece on, for whoever holds it; raises UsageError for somebody (number or session) who does not.

        An empty `gathering` is the one that the session is in.
        """
        ...

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> Gathering:
        """Say something for a person in the circle; raises UsageError for one who does not hold the piece."""
        ...

    async def pause_gathering(self, gathering: str, paused: bool) -> Gathering:
        """Let the piece rest where it is, or go on."""
        ...

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> Gathering:
        """Close a gathering before its last round: it is harvested; a second time, without waiting for that."""
        ...

    async def gathering_transcript(self, gathering: str) -> Transcript:
        """Return what was said in a gathering."""
        ...

    async def open_council(self, request: OpenCouncil) -> Council:
        """Begin a session of the council, resume one, or join one that is open.

        Raises ConfigError, AIKeyRefused, ExtraMissing, UsageError for an unknown session or one that another process
        holds, and NotAllowed where too many are open.
        """
        ...

    async def councils(self) -> list[Council]:
        """List the open sessions of the council, and the latest ones that were."""
        ...

    async def council_transcript(self, council: str) -> CouncilTranscript:
        """Return what was said in a session of the council; raises TargetNotFound."""
        ...

    async def enter_council(self, council: str, text: str) -> CouncilReply:
        """Carry out what a person types in an open session: a message, or a command that begins with a slash.

        Raises TargetNotFound for a session that is not open, and UsageError.
        """
        ...

    async def rest_council(self, council: str, seconds: float = 60.0) -> bool:
        """Wait until no member speaks in a session, so many seconds at most; return whether none does."""
        ...

    def follow_council(self, council: str) -> AsyncGenerator[Happening]:
        """What happens in an open session of the council, how it stands first; raises TargetNotFound."""
        ...

    async def ask_council(self, request: AskCouncil) -> CouncilAnswers:
        """Put a question to the user's council, and return the members' answers and their dissent.

        Raises NotAllowed for a caller that may not speak, NestedGathering for one that takes part in a council or
        gathering, and what `open_council` raises.
        """
        ...

    async def pause(self, paused: bool, of: str = "") -> None:
        """Let nothing cross the link or relay of that id, or any, until it is taken back."""
        ...

    async def mute(self, session: str, muted: bool) -> None:
        """Let nothing of what a session says cross any link or relay, or let it cross again."""
        ...

    async def stop_all(self) -> int:
        """End all links and relays; return how many there were."""
        ...

    async def watch(self, session: str, watched: bool) -> None:
        """Have what a session says journaled whether or not it takes part in anything."""
        ...

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        """Return journaled events behind a place, oldest first, of all sessions or of one, ended or not."""
        ...

    async def latest(self, limit: int = 50) -> list[Output]:
        """Return the newest output of the sessions that are there, newest first, and at least the last of each."""
        ...

    async def search_history(self, search: SearchHistory) -> History:
        """Search the journal and agents' own transcripts, the best match first."""
        ...

    async def pulse(self, request: TakePulse) -> Pulse:
        """Gather how system, sessions, repositories and pipelines are, and what was said before of what goes on now."""
        ...

    def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Every event that is journaled, in order, from behind a place or from now on; provisional ones are not."""
        ...
