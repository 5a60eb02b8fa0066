"""The tools over streamable HTTP: an ASGI application to be mounted, for who shows the token of a session.

Nothing is kept between two requests, so a client goes on as if nothing were when the daemon was started anew. Only
requests for a loopback host are answered, and of a page in a browser only one from there: what a name that somebody
else controls resolves to must not matter.
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
from streamrelay.service.api import Service

_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_CALLER = "streamrelay.caller"


class HttpEndpoint:
    """An ASGI application that answers MCP requests; an async context manager, and to be used within it.

    Every request needs `Authorization: Bearer TOKEN`; who calls is whose token it is.
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
        # Told of an error, a group of tasks would raise it in a group of its own.
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
            await JSONResponse(refusal, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            return
        scope[_CALLER] = session
        await self._manager.handle_request(scope, receive, send)


async def _caller(context: ServerRequestContext[Any, Any]) -> str:
    request = context.request
    return "" if request is None else str(request.scope[_CALLER])
