"""The MCP tools as a daemon serves them: on the socket beside its own calls, and on a loopback port.

The port exists because no agent's HTTP client speaks to a unix socket. It serves only the tools, which require a
session's token. The daemon's own calls require no token, so only the socket serves them. Every user of the machine can
connect to the port, so its connections have the limits of `PortProtocol`.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from streamrelay.daemon.app import MAX_BODY_SIZE
from streamrelay.daemon.ports import PortProtocol
from streamrelay.daemon.server import HttpServer
from streamrelay.errors import StreamrelayError
from streamrelay.mcp.http import HttpEndpoint
from streamrelay.mcp.tokens import Tokens
from streamrelay.service.interface import Service

PATH = "/mcp"
_LOOPBACK = "127.0.0.1"


class ToolsPortProtocol(PortProtocol):
    """A connection of an agent: a message may be as long as on the socket, and there may be hundreds of agents."""

    max_body = MAX_BODY_SIZE
    max_connections = 512


@asynccontextmanager
async def serving_tools(
    service: Service, tokens: Tokens, *, port: int | None = None, version: str = ""
) -> AsyncIterator[Sequence[BaseRoute]]:
    """Yield the routes for the socket; serve them on a port as well if one is given (0: any free port).

    Raises StreamrelayError if the port is taken.
    """
    async with HttpEndpoint(service, tokens, version=version) as endpoint:
        routes = [Route(PATH, endpoint)]
        if port is None:
            yield routes
            return
        with _listener(port) as listener:
            server = HttpServer(Starlette(routes=routes), protocol=ToolsPortProtocol)
            running = asyncio.ensure_future(server.run_on(listener))
            try:
                yield routes
            finally:
                server.stop()
                await running


def _listener(port: int) -> contextlib.closing[socket.socket]:
    try:
        listener = socket.create_server((_LOOPBACK, port))
    except OSError as error:
        raise StreamrelayError(
            f"cannot listen on port {port} of {_LOOPBACK}: {error.strerror}", hint="choose another --mcp-port"
        ) from error
    listener.setblocking(False)
    return contextlib.closing(listener)
