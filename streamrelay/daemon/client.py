"""The `Service` as a daemon does it: every call is a request on the daemon's unix socket.

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

from streamrelay.council.happenings import Happening
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
"""Seconds for an answer: the program of a new session may take long to start."""

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Answer = TypeVar("Answer")


class DaemonClient:
    """A service; an async context manager. `timeout` is for one answer, in seconds."""

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
        """Say how it is."""
        return await self._ask(operations.STATUS, operations.Nothing())

    async def peers(self) -> list[Peer]:
        """List the other machines, with what waits for each and why."""
        return await self._ask(operations.PEERS, operations.Nothing())

    async def sessions(self) -> list[Session]:
        """List the sessions of the server."""
        return await self._ask(operations.SESSIONS, operations.Nothing())

    async def start_session(self, request: StartSession) -> Session:
        """Start a session."""
        return await self._ask(operations.START_SESSION, request, longer=request.patience or 0.0)

    async def end_session(self, session: str) -> None:
        """End a session and all its links."""
        await self._ask(operations.END_SESSION, operations.OneSession(session=session))

    async def hear_hook(self, report: HookReport) -> bool:
        """Take what an agent's stop hook tells."""
        return await self._ask(operations.HEAR_HOOK, report)

    async def send_message(self, request: SendMessage) -> SendResult:
        """Take a message."""
        return await self._ask(operations.SEND_MESSAGE, request)

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Say how a message stands."""
        return await self._ask(operations.GET_DELIVERY, operations.OneMessage(message_id=message_id))

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List the messages that are not submitted yet, or the latest of all."""
        return await self._ask(operations.LIST_DELIVERIES, operations.ListDeliveries(session=session, state=state))

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet."""
        return await self._ask(operations.CANCEL_DELIVERY, operations.CancelDelivery(message_id=message_id, by=by))

    async def dialogs(self, session: str = "") -> list[OpenDialog]:
        """List the dialogs that stand on the screens of the watched sessions, or of one."""
        return await self._ask(operations.DIALOGS, operations.WhoseDialogs(session=session))

    async def answer_dialog(self, session: str, dialog: str, choice: int) -> None:
        """Press the key of a choice in a dialog, and only while it stands."""
        chosen = operations.AnswerDialog(session=session, dialog=dialog, choice=choice)
        await self._ask(operations.ANSWER_DIALOG, chosen)

    async def interrupt(self, session: str, message: str = "") -> list[str]:
        """Press the keys by which the profile of its program interrupts an answer; return them."""
        return await self._ask(operations.INTERRUPT, operations.Interrupt(session=session, message=message))

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        return await self._ask(operations.LINKS, operations.WhoseLinks(session=session))

    async def create_link(self, a: str, b: str, policy: LinkPolicy | None = None) -> Link:
        """Link two sessions."""
        return await self._ask(operations.CREATE_LINK, operations.CreateLink(a=a, b=b, policy=policy))

    async def extend_link(self, link: str, deliveries: int) -> Link:
        """Add to a budget."""
        return await self._ask(operations.EXTEND_LINK, operations.ExtendLink(link=link, deliveries=deliveries))

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link."""
        await self._ask(operations.CLOSE_LINK, operations.CloseLink(link=link, by=by, last_words=last_words))

    async def relays(self) -> list[Relay]:
        """List the relays."""
        return await self._ask(operations.RELAYS, operations.Nothing())

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Let sessions hear each other."""
        return await self._ask(operations.CREATE_RELAY, request)

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        await self._ask(operations.STOP_RELAY, operations.OneRelay(relay=relay))

    async def start_gathering(self, request: StartGathering) -> Gathering:
        """Start the sessions of a gathering, and the gathering."""
        return await self._ask(operations.START_GATHERING, request)

    async def gatherings(self) -> list[Gathering]:
        """List the gatherings that are held, and the last ones that were."""
        return await self._ask(operations.GATHERINGS, operations.Nothing())

    async def gathering(self, gathering: str) -> Gathering:
        """Say how a gathering stands."""
        return await self._ask(operations.GATHERING, operations.OneGathering(gathering=gathering))

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> Gathering:
        """Pass the piece on: for the named participant, or for its current holder."""
        passing = operations.PassPiece(gathering=gathering, number=number, session=session)
        return await self._ask(operations.PASS_PIECE, passing)

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> Gathering:
        """Say something for a person in the circle."""
        said = operations.SayInGathering(gathering=gathering, number=number, text=text)
        return await self._ask(operations.SAY_IN_GATHERING, said)

    async def pause_gathering(self, gathering: str, paused: bool) -> Gathering:
        """Let the piece rest where it is, or go on."""
        return await self._ask(
            operations.PAUSE_GATHERING, operations.PauseGathering(gathering=gathering, paused=paused)
        )

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> Gathering:
        """Close a gathering before its last round."""
        closing = operations.CloseGathering(gathering=gathering, end_sessions=end_sessions)
        return await self._ask(operations.CLOSE_GATHERING, closing)

    async def gathering_transcript(self, gathering: str) -> GatheringTranscript:
        """Return what was said in a gathering."""
        return await self._ask(operations.GATHERING_TRANSCRIPT, operations.OneGathering(gathering=gathering))

    async def open_council(self, request: OpenCouncil) -> Council:
        """Begin a session of the council, resume one, or join one that is open."""
        return await self._ask(operations.OPEN_COUNCIL, request)

    async def councils(self) -> list[Council]:
        """List the open sessions of the council, and the latest ones that were."""
        return await self._ask(operations.COUNCILS, operations.Nothing())

    async def council_transcript(self, council: str) -> CouncilTranscript:
        """Return what was said in a session of the council."""
        return await self._ask(operations.COUNCIL_TRANSCRIPT, operations.OneCouncil(council=council))

    async def enter_council(self, council: str, text: str) -> CouncilReply:
        """Carry out what a person types in an open session."""
        return await self._ask(operations.ENTER_COUNCIL, operations.EnterCouncil(council=council, text=text))

    async def rest_council(self, council: str, seconds: float = 60.0) -> bool:
        """Wait until no member speaks in a session, so many seconds at most; return whether none does."""
        waiting = operations.RestCouncil(council=council, seconds=seconds)
        return await self._ask(operations.REST_COUNCIL, waiting, longer=seconds)

    async def ask_council(self, request: AskCouncil) -> CouncilAnswers:
        """Put a question to the user's council, and return the members' answers and their dissent."""
        return await self._ask(operations.ASK_COUNCIL, request, longer=request.wait_seconds)

    async def follow_council(self, council: str) -> AsyncGenerator[Happening]:
        """What happens in an open session of the council, how it stands first; ends when the stream does.

        Raises TargetNotFound for a session that is not open.
        """
        path = COUNCIL_EVENTS.format(council=quote(council, safe=""))
        async with aclosing(self._frames(path, {})) as frames:
            async for data in frames:
                yield msgspec.json.decode(data, type=Happening)

    async def pause(self, paused: bool, of: str = "") -> None:
        """Let nothing cross, until it is taken back."""
        await self._ask(operations.PAUSE, operations.SetPause(paused=paused, of=of))

    async def mute(self, session: str, muted: bool) -> None:
        """Let nothing of what a session says cross, or let it cross again."""
        await self._ask(operations.MUTE, operations.SetMute(session=session, muted=muted))

    async def stop_all(self) -> int:
        """End all links and relays; return how many there were."""
        return await self._ask(operations.STOP_ALL, operations.Nothing())

    async def watch(self, session: str, watched: bool) -> None:
        """Have what a session says journaled at any rate."""
        await self._ask(operations.WATCH, operations.SetWatch(session=session, watched=watched))

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        """Return journaled events behind a place, oldest first."""
        return await self._ask(operations.READ_SINCE, operations.ReadSince(seq=seq, session=session, limit=limit))

    async def latest(self, limit: int = 50) -> list[Output]:
        """Return the newest output of the sessions that are there, newest first."""
        return await self._ask(operations.LATEST, operations.ReadLatest(limit=limit))

    async def search_history(self, search: SearchHistory) -> History:
        """Search the journal and agents' transcripts, the best match first."""
        return await self._ask(operations.SEARCH_HISTORY, search)

    async def pulse(self, request: TakePulse) -> Pulse:
        """Gather how system, sessions, repositories and pipelines are, and what was said before of what goes on now."""
        return await self._ask(operations.PULSE, request)

    async def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Every event that is journaled, in order, from behind a place or from now on; ends when the daemon does.

        A `gap` says what a reader that was too slow has lost. After DaemonLost, `after` is the last event's `seq`.
        """
        async with aclosing(self._frames(EVENTS, {} if after is None else {"after": after})) as frames:
            async for data in frames:
                yield decode(data)

    async def live(self, session: str) -> AsyncIterator[list[str]]:
        """Yield the lines of a screen that are not final, now and after every change; ends when the daemon does."""
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
        """Return where the page for browsers is served; it is from here on (`[HOST:]PORT`, or any loopback port)."""
        response = await self._request("POST", PAGE, content=msgspec.json.encode(OpenPage(listen=listen)))
        return msgspec.json.decode(response.content, type=Access)

    async def is_healthy(self) -> bool:
        """Tell whether it answers."""
        try:
            return (await self._request("GET", HEALTH)).is_success
        except (DaemonMissing, DaemonLost):
            return False

    async def _ask(
        self, operation: Operation[Arguments, Answer], arguments: Arguments, *, longer: float = 0.0
    ) -> Answer:
        """Have the daemon do something that may take `longer` seconds than others."""
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
        """Ask once; if the daemon dies during a call that changes nothing, ask its successor."""
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
