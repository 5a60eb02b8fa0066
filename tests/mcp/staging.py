"""Scripted agents on real panes, a service that knows them, and official clients of its tools over HTTP."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Route

import streamrelay
from streamrelay.agents import load_profiles, parse_profile
from streamrelay.control import Tmux
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.mcp.http import HttpEndpoint
from streamrelay.mcp.tokens import Tokens
from streamrelay.service.interface import ROUTES
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import PROFILE
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until, wait_until_async
from tests.service.conftest import PATIENCE, Stage

TOKENS = Tokens(b"k" * 32, "server")
TOOLS = {
    "send_message", "close_link", "list_sessions", "start_session", "end_session", "read_since", "search_history",
    "get_delivery", "list_deliveries", "cancel_delivery", "start_gathering", "pass_piece", "ask_council",
} | {name for name, route in ROUTES.items() if route.tool is not None}  # fmt: skip
"""The names of all tools: the tools in `streamrelay.mcp`, and the calls that are tools by themselves."""


class Talking(Stage):
    """Scripted agents by name."""

    async def until_told(self, name: str, words: str) -> None:
        await wait_until_async(lambda: any(words in text for text in self.heard(name)), PATIENCE, f"{name}: {words}")


class Agents(Talking):
    """Scripted agents by name, the service that knows them, and a client for each."""

    address = ""

    @asynccontextmanager
    async def service(self) -> AsyncIterator[LocalService]:
        profiles = [*load_profiles(), parse_profile("sprite", PROFILE, source="sprite.toml")]
        connection = streamrelay.connect(tmux=self.tmux.binary, socket_path=self.tmux.socket_path, profiles=profiles)
        async with connection as server, LocalService(server, folder=self.folder / "state") as service:
            yield service

    @asynccontextmanager
    async def served(self) -> AsyncIterator[LocalService]:
        async with self.service() as service, HttpEndpoint(service, TOKENS) as endpoint:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                app = Starlette(routes=[Route("/mcp", endpoint)])
                web = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
                running = asyncio.ensure_future(web.serve([listener]))
                self.address = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
                try:
                    yield service
                finally:
                    web.should_exit = True
                    await asyncio.wait_for(running, PATIENCE)

    def client(self, name: str) -> AbstractAsyncContextManager[Client]:
        return connected(self.address, TOKENS.issue(self.panes[name]))


class Household(Talking):
    """A tmux server with its agents and whatever daemon is started for it, in folders of their own."""

    def __init__(self, tmux: PrivateTmux, variables: Mapping[str, str]) -> None:
        super().__init__(tmux, tmux.directory)
        self.variables = variables
        self.address = address_of(Tmux(socket_path=tmux.socket_path))
        self.command = [sys.executable, "-m", "streamrelay_cli", "mcp", "-S", tmux.socket_path]

    def environment(self, pane: str) -> dict[str, str]:
        """Return what a process in a pane has."""
        inside = {"TMUX": f"{self.tmux.socket_path},1,0", "TMUX_PANE": pane} if pane else {}
        return {**os.environ, **self.variables, **inside}

    @asynccontextmanager
    async def client(self, pane: str, mode: str = "auto") -> AsyncIterator[Client]:
        server = StdioServerParameters(command=self.command[0], args=self.command[1:], env=self.environment(pane))
        async with Client(server, mode=mode) as client:
            yield client

    def kill_daemon(self) -> None:
        pid = running_pid(self.address)
        if pid:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid), PATIENCE)


@asynccontextmanager
async def connected(address: str, token: str) -> AsyncIterator[Client]:
    """Give an official client that shows a token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.structured_content
    answer: dict[str, Any] = result.structured_content
    return answer
