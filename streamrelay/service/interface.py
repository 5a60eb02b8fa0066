"""The interface of the service. Generated from streamrelay/service/calls: `python scripts/generate.py`.

`LocalService` carries the calls out in its process; the daemon's client makes them over a socket.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Annotated, Any, Protocol

import msgspec

from streamrelay.agents.stop_report import HookReport
from streamrelay.council.events import CouncilEvent
from streamrelay.events import AnyEvent
from streamrelay.history.results import MAX_FOUND, MAX_READ, History, Output, SearchHistory, Whole
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
    Listed,
    OpenCouncil,
    OpenDialog,
    Peer,
    Relay,
    SendMessage,
    SendResult,
    StartGathering,
    Status,
    TakePulse,
)
from streamrelay.service.call import CallRoute, ToolHints
from streamrelay.service.council_api import MAX_WAIT
from streamrelay.sessions.model import Session, StartSession


class Service(Protocol):
    """The calls of the service. Each implementation raises the same StreamrelayError, with its code.

    An implementation that inherits from it needs only `call` and the two streams.
    """

    async def call(self, name: str, /, *given: Any) -> Any:
        """Make a call with its arguments, in the order of its parameters."""
        ...

    def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Yield every journaled event in order, after a `seq` or from now on; provisional events are not journaled."""
        ...

    def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound."""
        ...

    async def pause(self, paused: bool = True, of: str = "") -> None:
        """Pause or resume one link, relay or gathering (`of`), or all."""
        await self.call("pause", paused, of)

    async def mute(self, session: str, muted: bool = True) -> None:
        """Mute a session, so that no link, relay or gathering delivers its output, or unmute it."""
        await self.call("mute", session, muted)

    async def stop_all(self) -> int:
        """End all links and relays, and all gatherings without their harvest; return how many there were."""
        answer: int = await self.call("stop_all")
        return answer

    async def watch(self, session: str, watched: bool = True) -> None:
        """Journal a session's output even if it is in no link, relay or gathering, or stop that."""
        await self.call("watch", session, watched)

    async def open_council(self, request: OpenCouncil) -> Council:
        """Begin a council session, resume one, or join an open one.

        Raises ConfigError, AIKeyRefused, ExtraMissing, UsageError for an unknown session or one that another process
        holds, and NotAllowed if too many are open.
        """
        answer: Council = await self.call("open_council", request)
        return answer

    async def councils(self) -> list[Council]:
        """List the open council sessions and the latest closed ones."""
        answer: list[Council] = await self.call("councils")
        return answer

    async def council_transcript(self, council: str) -> CouncilTranscript:
        """Return the transcript of a council session; raises TargetNotFound."""
        answer: CouncilTranscript = await self.call("council_transcript", council)
        return answer

    async def enter_council(self, council: str, text: str) -> CouncilReply:
        """Handle what a person types in an open council session: a message, or a command that begins with a slash.

        Raises TargetNotFound for a session that is not open, and UsageError.
        """
        answer: CouncilReply = await self.call("enter_council", council, text)
        return answer

    async def rest_council(
        self, council: str, seconds: Annotated[float, msgspec.Meta(ge=0, le=MAX_WAIT)] = 60.0
    ) -> bool:
        """Wait at most `seconds` until no member of a council session speaks; return whether none does."""
        answer: bool = await self.call("rest_council", council, seconds)
        return answer

    async def ask_council(self, request: AskCouncil) -> CouncilAnswers:
        """Ask the user's council a question; return the members' answers and their dissent.

        Raises NotAllowed for a caller that may not speak, NestedGathering for one that takes part in a council or
        gathering, and what `open_council` raises.
        """
        answer: CouncilAnswers = await self.call("ask_council", request)
        return answer

    async def dialogs(self, session: str = "") -> list[OpenDialog]:
        """List the open dialogs of the watched sessions, or of one session; a password prompt is not listed."""
        answer: list[OpenDialog] = await self.call("dialogs", session)
        return answer

    async def answer_dialog(self, session: str, dialog: str, choice: Whole) -> None:
        """Press the key of the choice that a person made in a dialog, if the dialog is still open.

        The first choice is 0. Raises DialogChanged if the dialog is gone or ignores its keys, and UsageError for a
        choice that it does not have.
        """
        await self.call("answer_dialog", session, dialog, choice)

    async def interrupt(self, session: str, message: str = "") -> list[str]:
        """Press the keys that interrupt an answer, as the program's profile defines them; return the keys.

        `message` is the text of the message that the program works on. If the program puts that text back into its
        composer, the composer is cleared, so that no draft remains; a person's draft stays. Raises NotAllowed for a
        program whose profile has no such keys.
        """
        answer: list[str] = await self.call("interrupt", session, message)
        return answer

    async def start_gathering(self, request: StartGathering) -> Gathering:
        """Start the sessions of a gathering, then the gathering; if one session fails, end the others again.

        Raises UsageError for an invalid gathering, SessionTaken for a session that is in a relay or gathering already,
        and NestedGathering for a caller that is in one.
        """
        answer: Gathering = await self.call("start_gathering", request)
        return answer

    async def gatherings(self) -> list[Gathering]:
        """List the gatherings in progress and the latest finished ones, newest first."""
        answer: list[Gathering] = await self.call("gatherings")
        return answer

    async def gathering(self, gathering: str) -> Gathering:
        """Return the state of a gathering; raises TargetNotFound for an unknown id."""
        answer: Gathering = await self.call("gathering", gathering)
        return answer

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> Gathering:
        """Pass the talking piece on.

        With neither `number` nor `session`, its current holder passes it; raises UsageError for a participant who does
        not hold it. An empty `gathering` is the one that the session is in.
        """
        answer: Gathering = await self.call("pass_piece", gathering, number, session)
        return answer

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> Gathering:
        """Speak for a person in the circle; raises UsageError if that person does not hold the piece."""
        answer: Gathering = await self.call("say_in_gathering", gathering, number, text)
        return answer

    async def pause_gathering(self, gathering: str, paused: bool = True) -> Gathering:
        """Pause a gathering, or resume it."""
        answer: Gathering = await self.call("pause_gathering", gathering, paused)
        return answer

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> Gathering:
        """Close a gathering before its last round, after its harvest; a second call does not wait for the harvest."""
        answer: Gathering = await self.call("close_gathering", gathering, end_sessions)
        return answer

    async def gathering_transcript(self, gathering: str) -> GatheringTranscript:
        """Return the transcript of a gathering."""
        answer: GatheringTranscript = await self.call("gathering_transcript", gathering)
        return answer

    async def read_since(
        self, seq: Whole, session: str = "", limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_READ)] = MAX_READ
    ) -> list[AnyEvent]:
        """Return the journaled events after a `seq`, oldest first, of all sessions or of one, running or ended."""
        answer: list[AnyEvent] = await self.call("read_since", seq, session, limit)
        return answer

    async def latest(self, limit: Annotated[int, msgspec.Meta(ge=0, le=MAX_FOUND)] = 50) -> list[Output]:
        """Return the newest output of the running sessions, newest first, with at least the last one of each."""
        answer: list[Output] = await self.call("latest", limit)
        return answer

    async def search_history(self, search: SearchHistory) -> History:
        """Search the journal and agents' own transcripts, the best match first."""
        answer: History = await self.call("search_history", search)
        return answer

    async def pulse(self, request: TakePulse) -> Pulse:
        """Summarise system, sessions, repositories and pipelines, with earlier output about the current work."""
        answer: Pulse = await self.call("pulse", request)
        return answer

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        answer: list[Link] = await self.call("links", session)
        return answer

    async def create_link(
        self,
        a: str,
        b: str,
        policy: LinkPolicy | None = None,
        names: tuple[str, str] = ("", ""),
        allow_shell: bool = False,
    ) -> Link:
        """Link two sessions; if they are linked already, return that link unchanged.

        `names` are those of the two in the link, empty for the title. Raises UsageError for an invalid name,
        for equal names, and for names in a link with another machine; ShellRefused for a shell without `allow_shell`.
        """
        answer: Link = await self.call("create_link", a, b, policy, names, allow_shell)
        return answer

    async def extend_link(self, link: str, deliveries: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)]) -> Link:
        """Add deliveries to a link's budget, and reopen the link if its budget was spent."""
        answer: Link = await self.call("extend_link", link, deliveries)
        return answer

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link, for one of its sides or for a person; the other side gets a notice."""
        await self.call("close_link", link, by, last_words)

    async def send_message(self, request: SendMessage) -> SendResult:
        """Queue a message: once this returns, the outbox holds it, and its receipts follow as events."""
        answer: SendResult = await self.call("send_message", request)
        return answer

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Return the state of a message, one entry per target; empty for an unknown id."""
        answer: list[Delivery] = await self.call("get_delivery", message_id)
        return answer

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List messages to one session or to all, oldest first: those not submitted yet, or the latest in any state.

        Raises TargetNotFound for an unknown session.
        """
        answer: list[Delivery] = await self.call("list_deliveries", session, state)
        return answer

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet, for the session `by` or a person; return its state.

        Cancelling twice has no further effect. Raises TargetNotFound for an unknown id, CancelTooLate if the message is
        pasted or finished everywhere, NotAllowed if another session or a person sent it, and PaneTaken if another
        process types into the pane.
        """
        answer: list[Delivery] = await self.call("cancel_delivery", message_id, by)
        return answer

    async def relays(self) -> list[Relay]:
        """List the relays."""
        answer: list[Relay] = await self.call("relays")
        return answer

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Relay the output of sessions to each other.

        Raises SessionTaken for a session in another relay or gathering, and UsageError for two equal names.
        """
        answer: Relay = await self.call("create_relay", request)
        return answer

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        await self.call("stop_relay", relay)

    async def sessions(self) -> list[Session]:
        """List the sessions of the server: those started here, and every other pane with a program in it."""
        answer: list[Session] = await self.call("sessions")
        return answer

    async def start_session(self, request: StartSession) -> Session:
        """Start a session and return it when its program is ready; if the program needs a person, an event says so."""
        answer: Session = await self.call("start_session", request)
        return answer

    async def end_session(self, session: str) -> None:
        """End a session and all its links; raises UsageError for one that was not started here."""
        await self.call("end_session", session)

    async def hear_hook(self, report: HookReport) -> bool:
        """Take the report of an agent's stop hook; return whether a watched pane used it."""
        answer: bool = await self.call("hear_hook", report)
        return answer

    async def status(self) -> Status:
        """Return the state of the service."""
        answer: Status = await self.call("status")
        return answer

    async def peers(self) -> list[Peer]:
        """List the other machines, with the envelopes that wait for each and why."""
        answer: list[Peer] = await self.call("peers")
        return answer


ROUTES: Mapping[str, CallRoute] = {
    "pause": CallRoute("POST", "/pause"),
    "mute": CallRoute("POST", "/mute"),
    "stop_all": CallRoute("POST", "/stop"),
    "watch": CallRoute("POST", "/watch"),
    "open_council": CallRoute("POST", "/councils"),
    "councils": CallRoute("GET", "/councils", early=True),
    "council_transcript": CallRoute("GET", "/councils/{council}/transcript", early=True),
    "enter_council": CallRoute("POST", "/councils/{council}/enter"),
    "rest_council": CallRoute("POST", "/councils/{council}/rest", waits="seconds"),
    "ask_council": CallRoute("POST", "/council/ask", waits="wait_seconds"),
    "dialogs": CallRoute("GET", "/dialogs"),
    "answer_dialog": CallRoute("POST", "/dialogs/{dialog}/answer"),
    "interrupt": CallRoute("POST", "/interrupt"),
    "start_gathering": CallRoute("POST", "/gatherings"),
    "gatherings": CallRoute("GET", "/gatherings", early=True),
    "gathering": CallRoute("GET", "/gatherings/{gathering}"),
    "pass_piece": CallRoute("POST", "/gatherings/{gathering}/pass"),
    "say_in_gathering": CallRoute("POST", "/gatherings/{gathering}/say"),
    "pause_gathering": CallRoute("POST", "/gatherings/{gathering}/pause"),
    "close_gathering": CallRoute("POST", "/gatherings/{gathering}/close"),
    "gathering_transcript": CallRoute("GET", "/gatherings/{gathering}/transcript"),
    "read_since": CallRoute("GET", "/journal", early=True),
    "latest": CallRoute("GET", "/latest", early=True),
    "search_history": CallRoute("GET", "/history", early=True),
    "pulse": CallRoute("POST", "/pulse"),
    "links": CallRoute("GET", "/links", early=True),
    "create_link": CallRoute("POST", "/links"),
    "extend_link": CallRoute("POST", "/links/{link}/extend"),
    "close_link": CallRoute("POST", "/links/{link}/close"),
    "send_message": CallRoute("POST", "/messages"),
    "get_delivery": CallRoute("GET", "/messages/{message_id}", early=True),
    "list_deliveries": CallRoute("GET", "/messages", early=True),
    "cancel_delivery": CallRoute("DELETE", "/messages/{message_id}"),
    "relays": CallRoute("GET", "/relays", early=True),
    "create_relay": CallRoute("POST", "/relays"),
    "stop_relay": CallRoute("DELETE", "/relays/{relay}"),
    "sessions": CallRoute("GET", "/sessions", early=True),
    "start_session": CallRoute("POST", "/sessions", waits="patience"),
    "end_session": CallRoute("DELETE", "/sessions/{session}"),
    "hear_hook": CallRoute("POST", "/hooks"),
    "status": CallRoute("GET", "/status", early=True),
    "peers": CallRoute("GET", "/peers", tool=ToolHints("List other machines", only_reads=True), early=True),
}
"""How each call is made."""
