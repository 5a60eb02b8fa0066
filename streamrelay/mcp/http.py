"""The tools over streamable HTTP: an ASGI application that requires a session's token.

It keeps no state between requests, so a client goes on after a restart of the daemon. It answers only requests whose
`Host` (and `Origin`, from a browser) is a loopback address, so that a foreign domain that resolves to this machine
cannot reach it (DNS rebinding).
"""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from streamrelay.mcp.server import build_server
from streamrelay.mcp.tokens import Tokens
from streamrelay.service.interface import Service

_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_CALLER = "streamrelay.caller"


class HttpEndpoint:
    """An ASGI application that answers MCP requests; use it inside its async context.

    Every request needs `Authorization: Bearer TOKEN`; the token's session is the caller.
    """

    def __init__(self, service: Service, tokens: Tokens, *, version: str = "") -> None:
        self._tokens = tokens
        self._manager = StreamableHTTPSessionManager(
            build_server(service, _caller, version=version),
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(
                allowed_hosts=[pattern for host in _HOSTS for pattern in (host, f"{host}:*")],
                allowed_origins=[f"http://{pattern}" for host in _HOSTS for pattern in (host, f"{host}:*")],
            ),
        )
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._entered.enter_async_context(self._manager.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Passing the error to the task group would raise it inside an exception group.
        await self._entered.aclose()

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
        scope[_CALLER] = session
        await self._manager.handle_request(scope, receive, send)


async def _caller(context: ServerRequestContext[Any, Any]) -> str:
    request = context.request
    return "" if request is None else str(request.scope[_CALLER])
