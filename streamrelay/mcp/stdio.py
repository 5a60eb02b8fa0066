"""The tools over standard input and output: one agent's own server process."""

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.stdio import stdio_server

from streamrelay.mcp.callers import session_in
from streamrelay.mcp.server import Revive, build_server
from streamrelay.service.interface import Service


async def serve_stdio(service: Service, pane: str, *, revive: Revive | None = None, version: str = "") -> None:
    """Serve the agent in `pane` (empty for an unknown agent) until standard input ends.

    A thread reads standard input and cannot be interrupted, so a signal must end the process.
    """

    async def caller(_: ServerRequestContext[Any, Any]) -> str:
        return await session_in(service, pane)

    server = build_server(service, caller, revive=revive, version=version)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
