"""The client of a daemon: each call of `Service` is a request on the daemon's unix socket.

    async with DaemonClient(address.socket) as service:
        await service.send_message(...)

An error that the service raises in the daemon is raised again here. The client itself raises DaemonMissing when no
daemon listens, and DaemonLost when the connection breaks during a call or a stream.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from streamrelay.council.events import CouncilEvent
from streamrelay.daemon import operations
from streamrelay.daemon.openapi import COUNCIL_EVENTS, EVENTS, HEALTH, LIVE, METRICS
from streamrelay.daemon.operations import Operation
from streamrelay.daemon.problems import Problem, error_of
from streamrelay.daemon.sse import FrameReader
from streamrelay.errors import DaemonLost, DaemonMissing, StreamrelayError
from streamrelay.events import AnyEvent, decode
from streamrelay.history.results import History, Output, SearchHistory
from streamrelay.links.link import Link, LinkPolicy
from streamrelay.pulse import Pulse
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
    StartGathering,
    Status,
    TakePulse,
)
from streamrelay.service.encoding import check_encodes
from streamrelay.sessions.model import Session, StartSession
from streamrelay.web.access import PAGE, Access, OpenPage

CONNECT_TIMEOUT = 5.0
TIMEOUT = 120.0
"""Seconds for an answer; the program of a new session may start slowly."""

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Answer = TypeVar("Answer")


class DaemonClient:
    """Implements `streamrelay.service.api.Service` by requests to a daemon; an async context manager.

    `timeout` is the limit for one answer, in seconds.
    """

    def __init__(self, socket: Path, *, timeout: float = TIMEOUT) -> None:
        self._socket = socket
        self._timeout = timeout
        # The environment's proxies and .netrc do not apply to our own socket.
        self._http = httpx.AsyncClient(
            # Loading the system's certificates would take longer than all the rest.
            transport=httpx.AsyncHTTPTransport(
                verify=False, uds=str(socket), limits=httpx.Limits(max_connections=None)
            ),
            base_url="http://localhost",
            timeout=httpx.Timeout(timeout, connect=CONNECT_TIMEOUT),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def status(self) -> Status:
        """Return the state of the service."""
        return await self._ask(operations.STATUS, operations.Nothing())

    async def peers(self) -> list[Peer]:
        """List the other machines, with the envelopes that wait for each and why."""
        return await self._ask(operations.PEERS, operations.Nothing())

    async def sessions(self) -> list[Session]:
        """List the sessions of the server: those started here, and every other pane with a program in it."""
        return await self._ask(operations.SESSIONS, operations.Nothing())

    async def start_session(self, request: StartSession) -> Session:
        """Start a session and return it when its program is ready; if the program needs a person, an event says so."""
        return await self._ask(operations.START_SESSION, request, longer=request.patience or 0.0)

    async def end_session(self, session: str) -> None:
        """End a session and all its links; raises UsageError for one that was not started here."""
        await self._ask(operations.END_SESSION, operations.OneSession(session=session))

    async def hear_hook(self, report: HookReport) -> bool:
        """Take the report of an agent's stop hook; return whether a watched pane used it."""
        return await self._ask(operations.HEAR_HOOK, report)

    async def send_message(self, request: SendMessage) -> SendResult:
        """Queue a message: once this returns, the outbox holds it, and its receipts follow as events."""
        return await self._ask(operations.SEND_MESSAGE, request)

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Return the state of a message, one entry per target; empty for an unknown id."""
        return await self._ask(operations.GET_DELIVERY, operations.OneMessage(message_id=message_id))

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List messages to one session or to all, oldest first: those not submitted yet, or the latest in any state."""
        return await self._ask(operations.LIST_DELIVERIES, operations.ListDeliveries(session=session, state=state))

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet, for the session `by` or a person; return its state."""
        return await self._ask(operations.CANCEL_DELIVERY, operations.CancelDelivery(message_id=message_id, by=by))

    async def dialogs(self, session: str = "") -> list[OpenDialog]:
        """List the open dialogs of the watched sessions, or of one session; a password prompt is not listed."""
        return await self._ask(operations.DIALOGS, operations.WhoseDialogs(session=session))

    async def answer_dialog(self, session: str, dialog: str, choice: int) -> None:
        """Press the key of the choice that a person made in a dialog, if the dialog is still open."""
        chosen = operations.AnswerDialog(session=session, dialog=dialog, choice=choice)
        await self._ask(operations.ANSWER_DIALOG, chosen)

    async def interrupt(self, session: str, message: str = "") -> list[str]:
        """Press the keys that interrupt an answer, as the program's profile defines them; return the keys."""
        return await self._ask(operations.INTERRUPT, operations.Interrupt(session=session, message=message))

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        return await self._ask(operations.LINKS, operations.WhoseLinks(session=session))

    async def create_link(self, a: str, b: str, policy: LinkPolicy | None = None) -> Link:
        """Link two sessions; if they are linked already, return that link unchanged."""
        return await self._ask(operations.CREATE_LINK, operations.CreateLink(a=a, b=b, policy=policy))

    async def extend_link(self, link: str, deliveries: int) -> Link:
        """Add deliveries to a link's budget, and reopen the link if its budget was spent."""
        return await self._ask(operations.EXTEND_LINK, operations.ExtendLink(link=link, deliveries=deliveries))

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link, for one of its sides or for a person; the other side gets a notice."""
        await self._ask(operations.CLOSE_LINK, operations.CloseLink(link=link, by=by, last_words=last_words))

    async def relays(self) -> list[Relay]:
        """List the relays."""
        return await self._ask(operations.RELAYS, operations.Nothing())

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Relay the output of sessions to each other; raises SessionTaken for one in another relay or gathering."""
        return await self._ask(operations.CREATE_RELAY, request)

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        await self._ask(operations.STOP_RELAY, operations.OneRelay(relay=relay))

    async def start_gathering(self, request: StartGathering) -> Gathering:
        """Start the sessions of a gathering, then the gathering; if one session fails, end the others again."""
        return await self._ask(operations.START_GATHERING, request)

    async def gatherings(self) -> list[Gathering]:
        """List the gatherings in progress and the latest finished ones, newest first."""
        return await self._ask(operations.GATHERINGS, operations.Nothing())

    async def gathering(self, gathering: str) -> Gathering:
        """Return the state of a gathering; raises TargetNotFound for an unknown id."""
        return await self._ask(operations.GATHERING, operations.OneGathering(gathering=gathering))

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> Gathering:
        """Pass the talking piece on."""
        passing = operations.PassPiece(gathering=gathering, number=number, session=session)
        return await self._ask(operations.PASS_PIECE, passing)

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> Gathering:
        """Speak for a person in the circle; raises UsageError if that person does not hold the piece."""
        said = operations.SayInGathering(gathering=gathering, number=number, text=text)
        return await self._ask(operations.SAY_IN_GATHERING, said)

    async def pause_gathering(self, gathering: str, paused: bool) -> Gathering:
        """Pause a gathering, or resume it."""
        return await self._ask(
            operations.PAUSE_GATHERING, operations.PauseGathering(gathering=gathering, paused=paused)
        )

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> Gathering:
        """Close a gathering before its last round, after its harvest; a second call does not wait for the harvest."""
        closing = operations.CloseGathering(gathering=gathering, end_sessions=end_sessions)
        return await self._ask(operations.CLOSE_GATHERING, closing)

    async def gathering_transcript(self, gathering: str) -> GatheringTranscript:
        """Return the transcript of a gathering."""
        return await self._ask(operations.GATHERING_TRANSCRIPT, operations.OneGathering(gathering=gathering))

    async def open_council(self, request: OpenCouncil) -> Council:
        """Begin a council session, resume one, or join an open one."""
        return await self._ask(operations.OPEN_COUNCIL, request)

    async def councils(self) -> list[Council]:
        """List the open council sessions and the latest closed ones."""
        return await self._ask(operations.COUNCILS, operations.Nothing())

    async def council_transcript(self, council: str) -> CouncilTranscript:
        """Return the transcript of a council session; raises TargetNotFound."""
        return await self._ask(operations.COUNCIL_TRANSCRIPT, operations.OneCouncil(council=council))

    async def enter_council(self, council: str, text: str) -> CouncilReply:
        """Handle what a person types in an open council session: a message, or a command that begins with a slash."""
        return await self._ask(operations.ENTER_COUNCIL, operations.EnterCouncil(council=council, text=text))

    async def rest_council(self, council: str, seconds: float = 60.0) -> bool:
        """Wait at most `seconds` until no member of a council session speaks; return whether none does."""
        waiting = operations.RestCouncil(council=council, seconds=seconds)
        return await self._ask(operations.REST_COUNCIL, waiting, longer=seconds)

    async def ask_council(self, request: AskCouncil) -> CouncilAnswers:
        """Ask the user's council a question; return the members' answers and their dissent."""
        return await self._ask(operations.ASK_COUNCIL, request, longer=request.wait_seconds)

    async def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound.

        It ends when the stream does.
        """
        path = COUNCIL_EVENTS.format(council=quote(council, safe=""))
        async with aclosing(self._frames(path, {})) as frames:
            async for data in frames:
                yield msgspec.json.decode(data, type=CouncilEvent)

    async def pause(self, paused: bool, of: str = "") -> None:
        """Pause or resume the deliveries of one link or relay (`of`), or of all."""
        await self._ask(operations.PAUSE, operations.SetPause(paused=paused, of=of))

    async def mute(self, session: str, muted: bool) -> None:
        """Mute a session, so that no link or relay delivers its output, or unmute it."""
        await self._ask(operations.MUTE, operations.SetMute(session=session, muted=muted))

    async def stop_all(self) -> int:
        """End all links and relays; return how many there were."""
        return await self._ask(operations.STOP_ALL, operations.Nothing())

    async def watch(self, session: str, watched: bool) -> None:
        """Journal a session's output even if it is in no link, relay or gathering, or stop that."""
        await self._ask(operations.WATCH, operations.SetWatch(session=session, watched=watched))

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        """Return the journaled events after a `seq`, oldest first, of all sessions or of one, running or ended."""
        return await self._ask(operations.READ_SINCE, operations.ReadSince(seq=seq, session=session, limit=limit))

    async def latest(self, limit: int = 50) -> list[Output]:
        """Return the newest output of the running sessions, newest first, with at least the last one of each."""
        return await self._ask(operations.LATEST, operations.ReadLatest(limit=limit))

    async def search_history(self, search: SearchHistory) -> History:
        """Search the journal and agents' own transcripts, the best match first."""
        return await self._ask(operations.SEARCH_HISTORY, search)

    async def pulse(self, request: TakePulse) -> Pulse:
        """Summarise system, sessions, repositories and pipelines, with earlier output about the current work."""
        return await self._ask(operations.PULSE, request)

    async def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Yield every journaled event in order, after a `seq` or from now on; provisional events are not journaled.

        It ends when the daemon does. A `gap` counts the events that a slow reader has lost. After DaemonLost, continue
        with `after` as the `seq` of the last event.
        """
        async with aclosing(self._frames(EVENTS, {} if after is None else {"after": after})) as frames:
            async for data in frames:
                yield decode(data)

    async def live(self, session: str) -> AsyncIterator[list[str]]:
        """Yield the lines of a screen that are not final, now and after each change; ends when the daemon does."""
        async with aclosing(self._frames(LIVE, {"session": session})) as frames:
            async for data in frames:
                yield msgspec.json.decode(data, type=list[str])

    async def _frames(self, path: str, query: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Yield the data of each frame of a stream, until it ends."""
        frames = FrameReader()
        try:
            waiting = httpx.Timeout(CONNECT_TIMEOUT, read=None)
            async with self._http.stream("GET", path, params=query, timeout=waiting) as response:
                if response.status_code != httpx.codes.OK:
                    raise _raised(response.status_code, await response.aread())
                async for data in response.aiter_raw():
                    for frame in frames.feed(data):
                        yield frame.data
        except httpx.HTTPError as error:
            raise self._lost(error) from error

    async def metrics(self) -> str:
        """Return the daemon's figures in Prometheus' text format."""
        return (await self._request("GET", METRICS)).text

    async def open_page(self, listen: str = "") -> Access:
        """Serve the page for browsers at `listen` (`[HOST:]PORT`; any loopback port if empty); return its address."""
        response = await self._request("POST", PAGE, content=msgspec.json.encode(OpenPage(listen=listen)))
        return msgspec.json.decode(response.content, type=Access)

    async def is_healthy(self) -> bool:
        """Tell whether the daemon answers."""
        try:
            return (await self._request("GET", HEALTH)).is_success
        except (DaemonMissing, DaemonLost):
            return False

    async def _ask(
        self, operation: Operation[Arguments, Answer], arguments: Arguments, *, longer: float = 0.0
    ) -> Answer:
        """Make a request; its answer may take `longer` seconds more than `timeout`."""
        check_encodes(arguments)
        fields: dict[str, Any] = msgspec.to_builtins(arguments)
        named = {name: quote(fields.pop(name), safe="") for name in operation.in_path}
        path = operation.path.format(**named)
        if operation.method == "POST":
            content = msgspec.json.encode(fields)
            response = await self._request("POST", path, content=content, longer=longer)
        else:
            response = await self._request(operation.method, path, query=fields)
        if operation.answer is None:
            return None  # type: ignore[return-value]  # this operation answers nothing
        try:
            answer: Answer = msgspec.json.decode(response.content, type=operation.answer)
        except msgspec.DecodeError as error:
            raise DaemonLost(f"cannot read the daemon's answer: {error}", hint=_VERSIONS) from error
        return answer

    async def _request(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        query: Mapping[str, Any] | None = None,
        longer: float = 0.0,
    ) -> httpx.Response:
        timeout = httpx.Timeout(self._timeout + longer, connect=CONNECT_TIMEOUT)
        try:
            response = await self._sent(method, path, content=content, query=query, timeout=timeout)
        except httpx.HTTPError as error:
            raise self._lost(error) from error
        if not response.is_success:
            raise _raised(response.status_code, response.content)
        return response

    async def _sent(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None,
        query: Mapping[str, Any] | None,
        timeout: httpx.Timeout,  # noqa: ASYNC109  # of httpx
    ) -> httpx.Response:
        """Make a request; if the daemon dies during a call that changes nothing, ask the next daemon."""
        try:
            return await self._http.request(method, path, content=content, params=query, timeout=timeout)
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            if method != "GET" or isinstance(error, httpx.ConnectError):
                raise
        return await self._http.request(method, path, content=content, params=query, timeout=timeout)

    def _lost(self, error: httpx.HTTPError) -> StreamrelayError:
        data = {"socket": str(self._socket)}
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return DaemonMissing(f"no daemon listens at {self._socket}", data=data)
        if isinstance(error, httpx.TimeoutException):
            return DaemonLost(f"the daemon at {self._socket} did not answer in time", data=data)
        return DaemonLost(f"the daemon at {self._socket} went away", data=data)


_VERSIONS = "daemon and command may be of different versions: streamrelay daemon stop, then start"


def _raised(status: int, body: bytes) -> StreamrelayError:
    try:
        return error_of(msgspec.json.decode(body, type=Problem))
    except msgspec.DecodeError:
        return DaemonLost(f"the daemon answered with status {status}", hint=_VERSIONS)
