"""The tools over standard input and output: one agent's own server process."""

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.stdio import stdio_server

from streamrelay.mcp.callers import session_in
from streamrelay.mcp.server import build_server
from streamrelay.service.api import Service


async def serve_stdio(service: Service, pane: str, *, version: str = "") -> None:
    """Serve the agent in `pane` (empty for nobody that is known) until standard input ends."""

    async def caller(_: ServerRequestContext[Any, Any]) -> str:
        return await session_in(service, pane)

    server = build_server(service, caller, version=version)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
