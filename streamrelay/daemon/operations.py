"""The HTTP operations: one table behind the server's routes, the OpenAPI document and the client.

Each operation is the call of `Service` with the same name; its arguments are one struct. Names in braces in the path
are fields of the struct. GET and DELETE read the other fields from the query, POST from a JSON object.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from streamrelay.events import AnyEvent
from streamrelay.history.results import MAX_FOUND, History, Output, SearchHistory, Whole
from streamrelay.links.link import Link, LinkPolicy
from streamrelay.pulse import Pulse
from streamrelay.relay.rules import MAX_COUNT
from streamrelay.service.api import (
    AskCouncil,
    Council,
    CouncilAnswers,
    CouncilReply,
    CouncilTranscript,
    CreateRelay,
    Delivery,
    Gathering,
    GatheringTranscript,
    HookReport,
    Listed,
    OpenCouncil,
    OpenDialog,
    Peer,
    Relay,
    SendMessage,
    SendResult,
    Service,
    StartGathering,
    Status,
    TakePulse,
)
from streamrelay.service.council_api import MAX_WAIT
from streamrelay.sessions.model import Session, StartSession

API = "/v1"

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Answer = TypeVar("Answer")


class Nothing(msgspec.Struct, frozen=True):
    """No arguments."""


class OneSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session, by its id."""

    session: str


class OneMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message, by its id."""

    message_id: str


class ListDeliveries(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages are listed: to one session or to all, those that wait or all."""

    session: str = ""
    state: Listed = "waiting"


class CancelDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """A message to be cancelled, by one of the sessions or by a person."""

    message_id: str
    by: str = ""


class WhoseDialogs(msgspec.Struct, frozen=True, kw_only=True):
    """One session's dialog, or those of all."""

    session: str = ""


class AnswerDialog(msgspec.Struct, frozen=True, kw_only=True):
    """A choice of a dialog, by its place from 0, that a person has made."""

    session: str
    dialog: str
    choice: Whole


class Interrupt(msgspec.Struct, frozen=True, kw_only=True):
    """A session whose program is interrupted, and the text of the message that it works on, if that is known."""

    session: str
    message: str = ""


class OneRelay(msgspec.Struct, frozen=True, kw_only=True):
    """A relay, by its id."""

    relay: str


class OneGathering(msgspec.Struct, frozen=True, kw_only=True):
    """A gathering, by its id."""

    gathering: str


class PassPiece(msgspec.Struct, frozen=True, kw_only=True):
    """Pass the piece on: for a participant (number or session), or for its current holder."""

    gathering: str
    number: int | None = None
    session: str = ""


class SayInGathering(msgspec.Struct, frozen=True, kw_only=True):
    """A contribution of a person in the circle."""

    gathering: str
    number: int
    text: str


class PauseGathering(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the piece is to rest."""

    gathering: str
    paused: bool = True


class CloseGathering(msgspec.Struct, frozen=True, kw_only=True):
    """A gathering to be closed before its last round, with the sessions that were started for it or without."""

    gathering: str
    end_sessions: bool = False


class OneCouncil(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the council, by its id."""

    council: str


class EnterCouncil(msgspec.Struct, frozen=True, kw_only=True):
    """What a person types in a session of the council."""

    council: str
    text: str


class RestCouncil(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds a session of the council is waited for."""

    council: str
    seconds: Annotated[float, msgspec.Meta(ge=0, le=MAX_WAIT)] = 60.0


class WhoseLinks(msgspec.Struct, frozen=True, kw_only=True):
    """One session's links, or all."""

    session: str = ""


class CreateLink(msgspec.Struct, frozen=True, kw_only=True):
    """Two sessions to be linked; without a policy, by the default one."""

    a: str
    b: str
    policy: LinkPolicy | None = None


class ExtendLink(msgspec.Struct, frozen=True, kw_only=True):
    """Deliveries to be added to a budget."""

    link: str
    deliveries: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)]


class CloseLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link to be closed, by one of its sessions or by a person."""

    link: str
    by: str = ""
    last_words: str = ""


class SetPause(msgspec.Struct, frozen=True, kw_only=True):
    """Whether nothing is to cross the link or relay of that id, or any."""

    paused: bool = True
    of: str = ""


class SetMute(msgspec.Struct, frozen=True, kw_only=True):
    """Whether no link or relay delivers the session's output."""

    session: str
    muted: bool = True


class SetWatch(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the session's output is journaled even if it is in no link, relay or gathering."""

    session: str
    watched: bool = True


class ReadSince(msgspec.Struct, frozen=True, kw_only=True):
    """Events after a `seq` of the journal, of one session or of all."""

    seq: Whole
    session: str = ""
    limit: Whole = 1000


class ReadLatest(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the newest output is wanted, of all sessions together."""

    limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_FOUND)] = 50


@dataclass(frozen=True)
class Operation(Generic[Arguments, Answer]):
    """One route."""

    name: str
    """Of the call of the service, and in the OpenAPI document."""
    method: Literal["GET", "POST", "DELETE"]
    path: str
    arguments: type[Arguments]
    answer: Any
    """The type of the answer; None for an empty one."""
    call: Callable[[Service, Arguments], Awaitable[Answer]]
    in_path: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_path", frozenset(re.findall(r"\{(\w+)\}", self.path)))

    @property
    def summary(self) -> str:
        """What it does, in the words of the service."""
        return (getattr(Service, self.name).__doc__ or "").strip()


STATUS = Operation("status", "GET", f"{API}/status", Nothing, Status, lambda s, _: s.status())
PEERS = Operation("peers", "GET", f"{API}/peers", Nothing, list[Peer], lambda s, _: s.peers())
SESSIONS = Operation("sessions", "GET", f"{API}/sessions", Nothing, list[Session], lambda s, _: s.sessions())
START_SESSION = Operation(
    "start_session", "POST", f"{API}/sessions", StartSession, Session, lambda s, a: s.start_session(a)
)
END_SESSION = Operation(
    "end_session", "DELETE", f"{API}/sessions/{{session}}", OneSession, None, lambda s, a: s.end_session(a.session)
)
HEAR_HOOK = Operation("hear_hook", "POST", f"{API}/hooks", HookReport, bool, lambda s, a: s.hear_hook(a))
SEND_MESSAGE = Operation(
    "send_message", "POST", f"{API}/messages", SendMessage, SendResult, lambda s, a: s.send_message(a)
)
GET_DELIVERY = Operation(
    "get_delivery", "GET", f"{API}/messages/{{message_id}}", OneMessage, list[Delivery],
    lambda s, a: s.get_delivery(a.message_id),
)  # fmt: skip
LIST_DELIVERIES = Operation(
    "list_deliveries", "GET", f"{API}/messages", ListDeliveries, list[Delivery],
    lambda s, a: s.list_deliveries(a.session, a.state),
)  # fmt: skip
CANCEL_DELIVERY = Operation(
    "cancel_delivery", "DELETE", f"{API}/messages/{{message_id}}", CancelDelivery, list[Delivery],
    lambda s, a: s.cancel_delivery(a.message_id, a.by),
)  # fmt: skip
DIALOGS = Operation(
    "dialogs", "GET", f"{API}/dialogs", WhoseDialogs, list[OpenDialog], lambda s, a: s.dialogs(a.session)
)
ANSWER_DIALOG = Operation(
    "answer_dialog", "POST", f"{API}/dialogs/{{dialog}}/answer", AnswerDialog, None,
    lambda s, a: s.answer_dialog(a.session, a.dialog, a.choice),
)  # fmt: skip
INTERRUPT = Operation(
    "interrupt", "POST", f"{API}/interrupt", Interrupt, list[str], lambda s, a: s.interrupt(a.session, a.message)
)
LINKS = Operation("links", "GET", f"{API}/links", WhoseLinks, list[Link], lambda s, a: s.links(a.session))
CREATE_LINK = Operation(
    "create_link", "POST", f"{API}/links", CreateLink, Link, lambda s, a: s.create_link(a.a, a.b, a.policy)
)
EXTEND_LINK = Operation(
    "extend_link", "POST", f"{API}/links/{{link}}/extend", ExtendLink, Link,
    lambda s, a: s.extend_link(a.link, a.deliveries),
)  # fmt: skip
CLOSE_LINK = Operation(
    "close_link", "POST", f"{API}/links/{{link}}/close", CloseLink, None,
    lambda s, a: s.close_link(a.link, a.by, a.last_words),
)  # fmt: skip
RELAYS = Operation("relays", "GET", f"{API}/relays", Nothing, list[Relay], lambda s, _: s.relays())
CREATE_RELAY = Operation("create_relay", "POST", f"{API}/relays", CreateRelay, Relay, lambda s, a: s.create_relay(a))
STOP_RELAY = Operation(
    "stop_relay", "DELETE", f"{API}/relays/{{relay}}", OneRelay, None, lambda s, a: s.stop_relay(a.relay)
)
START_GATHERING = Operation(
    "start_gathering", "POST", f"{API}/gatherings", StartGathering, Gathering, lambda s, a: s.start_gathering(a)
)
GATHERINGS = Operation("gatherings", "GET", f"{API}/gatherings", Nothing, list[Gathering], lambda s, _: s.gatherings())
GATHERING = Operation(
    "gathering",
    "GET",
    f"{API}/gatherings/{{gathering}}",
    OneGathering,
    Gathering,
    lambda s, a: s.gathering(a.gathering),
)
PASS_PIECE = Operation(
    "pass_piece", "POST", f"{API}/gatherings/{{gathering}}/pass", PassPiece, Gathering,
    lambda s, a: s.pass_piece(a.gathering, a.number, a.session),
)  # fmt: skip
SAY_IN_GATHERING = Operation(
    "say_in_gathering", "POST", f"{API}/gatherings/{{gathering}}/say", SayInGathering, Gathering,
    lambda s, a: s.say_in_gathering(a.gathering, a.number, a.text),
)  # fmt: skip
PAUSE_GATHERING = Operation(
    "pause_gathering", "POST", f"{API}/gatherings/{{gathering}}/pause", PauseGathering, Gathering,
    lambda s, a: s.pause_gathering(a.gathering, a.paused),
)  # fmt: skip
CLOSE_GATHERING = Operation(
    "close_gathering", "POST", f"{API}/gatherings/{{gathering}}/close", CloseGathering, Gathering,
    lambda s, a: s.close_gathering(a.gathering, a.end_sessions),
)  # fmt: skip
GATHERING_TRANSCRIPT = Operation(
    "gathering_transcript", "GET", f"{API}/gatherings/{{gathering}}/transcript", OneGathering, GatheringTranscript,
    lambda s, a: s.gathering_transcript(a.gathering),
)  # fmt: skip
OPEN_COUNCIL = Operation(
    "open_council", "POST", f"{API}/councils", OpenCouncil, Council, lambda s, a: s.open_council(a)
)
COUNCILS = Operation("councils", "GET", f"{API}/councils", Nothing, list[Council], lambda s, _: s.councils())
COUNCIL_TRANSCRIPT = Operation(
    "council_transcript", "GET", f"{API}/councils/{{council}}/transcript", OneCouncil, CouncilTranscript,
    lambda s, a: s.council_transcript(a.council),
)  # fmt: skip
ENTER_COUNCIL = Operation(
    "enter_council", "POST", f"{API}/councils/{{council}}/enter", EnterCouncil, CouncilReply,
    lambda s, a: s.enter_council(a.council, a.text),
)  # fmt: skip
REST_COUNCIL = Operation(
    "rest_council", "POST", f"{API}/councils/{{council}}/rest", RestCouncil, bool,
    lambda s, a: s.rest_council(a.council, a.seconds),
)  # fmt: skip
ASK_COUNCIL = Operation(
    "ask_council", "POST", f"{API}/council/ask", AskCouncil, CouncilAnswers, lambda s, a: s.ask_council(a)
)
PAUSE = Operation("pause", "POST", f"{API}/pause", SetPause, None, lambda s, a: s.pause(a.paused, a.of))
MUTE = Operation("mute", "POST", f"{API}/mute", SetMute, None, lambda s, a: s.mute(a.session, a.muted))
STOP_ALL = Operation("stop_all", "POST", f"{API}/stop", Nothing, int, lambda s, _: s.stop_all())
WATCH = Operation("watch", "POST", f"{API}/watch", SetWatch, None, lambda s, a: s.watch(a.session, a.watched))
READ_SINCE = Operation(
    "read_since", "GET", f"{API}/journal", ReadSince, list[AnyEvent],
    lambda s, a: s.read_since(a.seq, a.session, a.limit),
)  # fmt: skip
LATEST = Operation(
    "latest", "GET", f"{API}/latest", ReadLatest, list[Output], lambda s, a: s.latest(a.limit)
)  # fmt: skip
PULSE = Operation("pulse", "POST", f"{API}/pulse", TakePulse, Pulse, lambda s, a: s.pulse(a))
SEARCH_HISTORY = Operation(
    "search_history", "GET", f"{API}/history", SearchHistory, History, lambda s, a: s.search_history(a)
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    STATUS, PEERS, SESSIONS, START_SESSION, END_SESSION, HEAR_HOOK, SEND_MESSAGE, GET_DELIVERY, LIST_DELIVERIES,
    CANCEL_DELIVERY, DIALOGS, ANSWER_DIALOG, INTERRUPT,
    LINKS, CREATE_LINK, EXTEND_LINK, CLOSE_LINK, RELAYS, CREATE_RELAY, STOP_RELAY, START_GATHERING,
    GATHERINGS, GATHERING_TRANSCRIPT, PASS_PIECE, SAY_IN_GATHERING, PAUSE_GATHERING, CLOSE_GATHERING, GATHERING,
    OPEN_COUNCIL, COUNCILS, COUNCIL_TRANSCRIPT, ENTER_COUNCIL, REST_COUNCIL, ASK_COUNCIL,
    PAUSE, MUTE, STOP_ALL, WATCH, READ_SINCE, LATEST, SEARCH_HISTORY, PULSE,
)  # fmt: skip
