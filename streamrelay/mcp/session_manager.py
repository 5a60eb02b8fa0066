"""The SDK's manager of requests over HTTP, with the tools.

Importing the SDK takes half the time of a daemon's start, so `streamrelay.mcp.http` imports this module at the first
request of an agent.
"""

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from streamrelay.mcp.http import CALLER
from streamrelay.mcp.server import build_server
from streamrelay.service.interface import Service

_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def create_manager(service: Service, *, version: str = "") -> StreamableHTTPSessionManager:
    """Return a manager that answers requests from this machine whose scope names the caller."""
    return StreamableHTTPSessionManager(
        build_server(service, _caller, version=version),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=[pattern for host in _HOSTS for pattern in (host, f"{host}:*")],
            allowed_origins=[f"http://{pattern}" for host in _HOSTS for pattern in (host, f"{host}:*")],
        ),
    )


async def _caller(context: ServerRequestContext[Any, Any]) -> str:
    request = context.request
    return "" if request is None else str(request.scope[CALLER])
