"""The tools over HTTP with the official client: a token says who calls, and without one nothing is answered."""

import asyncio
import logging
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Route

from streamrelay.mcp.http import HttpEndpoint
from streamrelay.mcp.tokens import Tokens
from streamrelay.mcp.tools import TOOLS

TOKENS = Tokens(b"k" * 32, "server")
PATIENCE = 20.0


@asynccontextmanager
async def served(service: object) -> AsyncIterator[str]:
    """Serve on a loopback port, and return the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with HttpEndpoint(service, TOKENS) as endpoint:
            app = Starlette(routes=[Route("/mcp", endpoint)])
            server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
            running = asyncio.ensure_future(server.serve([listener]))
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            finally:
                server.should_exit = True
                await asyncio.wait_for(running, PATIENCE)


@asynccontextmanager
async def connected(address: str, session: str, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKENS.issue(session)}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.requirement("OPS-04c")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_token_says_who_calls(service, mode, caplog):
    caplog.set_level(logging.DEBUG)
    async with served(service) as address:
        for session in ("s-ann", "%2"):
            async with connected(address, session, mode) as client:
                assert len((await client.list_tools()).tools) == len(TOOLS)
                result = await client.call_tool("send_message", {"to": "Eve", "text": "Hello"})
                assert not result.is_error
                assert result.structured_content["listening"] is True
        assert [asked.caller for asked in service.asked] == ["s-ann", "%2"]
    assert TOKENS.issue("s-ann") not in caplog.text


async def test_without_a_sessions_token_nothing_is_answered(service):
    good = TOKENS.issue("s-ann")
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Accept": "application/json, text/event-stream"}
    async with served(service) as address, httpx2.AsyncClient(timeout=PATIENCE) as http:
        for value in ("", "Bearer", "Bearer x.y", f"Basic {good}", f"Bearer {good[:-1]}", f"Bearer {good}x", good):
            answer = await http.post(address, json=ask, headers={**headers, "Authorization": value})
            assert answer.status_code == 401, value
            assert "streamrelay mcp token" in answer.json()["hint"]
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert (await http.post(address, json=ask, headers=headers)).status_code == 401
        allowed = {**headers, "Authorization": f"Bearer {good}"}
        assert (await http.post(address, json=ask, headers=allowed)).status_code == 200
        assert (await http.post(address, json=ask, headers={**allowed, "Host": "evil.example"})).status_code == 421
        assert (
            await http.post(address, json=ask, headers={**allowed, "Origin": "http://evil.example"})
        ).status_code == 403
        junk = await http.post(address, content=b"\xff{", headers={**allowed, "Content-Type": "application/json"})
        assert 400 <= junk.status_code < 500
    assert service.asked == []


async def test_requests_that_come_first_together_are_all_answered(service):
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {TOKENS.issue('s-ann')}",
    }
    async with served(service) as address, httpx2.AsyncClient(timeout=PATIENCE) as http:
        answers = await asyncio.gather(*(http.post(address, json=ask, headers=headers) for _ in range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4


def test_a_daemon_does_not_import_the_sdk_until_an_agent_asks():
    script = "import sys, streamrelay.daemon.assembly; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 0
