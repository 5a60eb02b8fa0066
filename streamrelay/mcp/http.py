"""The tools over streamable HTTP: an ASGI application that requires a session's token.

It keeps no state between requests, so a client goes on after a restart of the daemon. It answers only requests whose
`Host` (and `Origin`, from a browser) is a loopback address, so that a foreign domain that resolves to this machine
cannot reach it (DNS rebinding).

Most daemons never serve an agent over HTTP, and importing the SDK takes half the time of a start: the first request
with a token imports it, in a thread.
"""

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from streamrelay.mcp.tokens import Tokens
from streamrelay.service.interface import Service
from streamrelay.threads import in_thread

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

CALLER = "streamrelay.caller"
"""The key of a request's scope with the session that calls."""


class CreateManager(Protocol):
    """`streamrelay.mcp.session_manager.create_manager`."""

    def __call__(self, service: Service, *, version: str = "") -> "StreamableHTTPSessionManager":
        """Return the manager of a service."""
        ...


class HttpEndpoint:
    """An ASGI application that answers MCP requests; use it inside its async context.

    Every request needs `Authorization: Bearer TOKEN`; the token's session is the caller.
    """

    def __init__(self, service: Service, tokens: Tokens, *, version: str = "") -> None:
        self._service = service
        self._tokens = tokens
        self._version = version
        self._importing: asyncio.Future[CreateManager] | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        self._entered = asyncio.Event()
        self._ended = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._running is not None:
            await self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        session = self._tokens.session_of(token.strip()) if scheme.lower() == "bearer" else None
        if session is None:
            refusal = {
                "error": "unauthorized",
                "hint": "Authorization: Bearer TOKEN; `streamrelay mcp token` prints it",
            }
            # The rest of a request that was refused is not read.
            headers = {"WWW-Authenticate": "Bearer", "Connection": "close"}
            await JSONResponse(refusal, 401, headers)(scope, receive, send)
            return
        scope[CALLER] = session
        manager = await self._started()
        await manager.handle_request(scope, receive, send)

    async def _started(self) -> "StreamableHTTPSessionManager":
        """Return the manager; the first call imports and starts it, and others wait for the same one."""
        if self._importing is None:
            self._importing = in_thread(_imported, name="streamrelay-mcp-import")
        create_manager = await asyncio.shield(self._importing)
        if self._manager is None:
            self._manager = create_manager(self._service, version=self._version)
            self._running = asyncio.create_task(self._run(self._manager))
        await self._entered.wait()
        return self._manager

    async def _run(self, manager: "StreamableHTTPSessionManager") -> None:
        # The manager has a task group, which one task must enter and leave.
        async with manager.run():
            self._entered.set()
            await self._ended.wait()


def _imported() -> "CreateManager":
    from streamrelay.mcp.session_manager import create_manager

    return create_manager
