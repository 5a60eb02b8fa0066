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
from typing import Any, Self
from urllib.parse import quote

import httpx
import msgspec

from streamrelay.council.events import CouncilEvent
from streamrelay.daemon.openapi import COUNCIL_EVENTS, EVENTS, HEALTH, LIVE, METRICS, RELOAD, Health
from streamrelay.daemon.problems import Problem, error_of
from streamrelay.daemon.sse import FrameReader
from streamrelay.errors import DaemonLost, DaemonMissing, StreamrelayError
from streamrelay.events import AnyEvent, decode
from streamrelay.service.encoding import check_encodes
from streamrelay.service.interface import Service
from streamrelay.service.operations import Operation
from streamrelay.service.operations import operation as operation_of
from streamrelay.web.access import PAGE, Access, OpenPage

CONNECT_TIMEOUT = 5.0
TIMEOUT = 120.0
"""Seconds for an answer; the program of a new session may start slowly."""


class DaemonClient(Service):
    """Implements `streamrelay.service.interface.Service` by requests to a daemon; an async context manager.

    `timeout` is the limit for one answer, in seconds.
    """

    def __init__(self, socket: Path, *, timeout: float = TIMEOUT) -> None:
        self._socket = socket
        self._timeout = timeout
        self._operations: dict[str, Operation] = {}
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

    async def call(self, name: str, /, *given: Any) -> Any:
        """Make a request; raises the error of the call, DaemonMissing or DaemonLost."""
        operation = self._operations.get(name) or self._operations.setdefault(name, operation_of(name))
        return await self._ask(operation, operation.arguments_of(given))

    async def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound.

        It ends when the stream does.
        """
        path = COUNCIL_EVENTS.format(council=quote(council, safe=""))
        async with aclosing(self._frames(path, {})) as frames:
            async for data in frames:
                yield msgspec.json.decode(data, type=CouncilEvent)

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

    async def reload(self) -> None:
        """Make the daemon read profiles and configuration again; raises the error of an invalid file."""
        await self._request("POST", RELOAD)

    async def open_page(self, listen: str = "") -> Access:
        """Serve the page for browsers at `listen` (`[HOST:]PORT`; any loopback port if empty); return its address."""
        response = await self._request("POST", PAGE, content=msgspec.json.encode(OpenPage(listen=listen)))
        return msgspec.json.decode(response.content, type=Access)

    async def health(self) -> Health | None:
        """Return whether the daemon serves or still starts, and how far it is; None if it does not answer."""
        timeout = httpx.Timeout(self._timeout, connect=CONNECT_TIMEOUT)
        try:
            response = await self._sent("GET", HEALTH, content=None, query=None, timeout=timeout)
            return msgspec.json.decode(response.content, type=Health)
        except (httpx.HTTPError, msgspec.MsgspecError):
            return None

    async def is_healthy(self) -> bool:
        """Tell whether the daemon answers all calls."""
        health = await self.health()
        return health is not None and health.status == "ok"

    async def _ask(self, operation: Operation, arguments: msgspec.Struct) -> Any:
        check_encodes(arguments)
        fields: dict[str, Any] = msgspec.to_builtins(arguments)
        named = {name: quote(fields.pop(name), safe="") for name in operation.in_path}
        path = operation.path.format(**named)
        longer = operation.seconds_more(arguments)
        if operation.method == "POST":
            content = msgspec.json.encode(fields)
            response = await self._request("POST", path, content=content, longer=longer)
        else:
            response = await self._request(operation.method, path, query=fields, longer=longer)
        if operation.answer is None:
            return None
        try:
            return msgspec.json.decode(response.content, type=operation.answer)
        except msgspec.DecodeError as error:
            raise DaemonLost(f"cannot read the daemon's answer: {error}", hint=_VERSIONS) from error

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
