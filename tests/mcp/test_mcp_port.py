"""The tools' port: every user of the machine can connect, and gets neither an answer nor the daemon's memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import httpx2
import pytest

from streamrelay.daemon import ports
from streamrelay.daemon.tools import PATH, ToolsPortProtocol, serving_tools
from streamrelay.mcp.tokens import Tokens
from streamrelay.service.interface import Service
from tests.mcp.conftest import AnsweringService

TOKENS = Tokens(b"k" * 32, "server")
PATIENCE = 20.0
MUCH = 16 * 2**20


@asynccontextmanager
async def served(service: AnsweringService, port: int) -> AsyncIterator[None]:
    """Serve the tools on a port; at the end, who has a token is still answered."""
    async with serving_tools(cast(Service, service), TOKENS, port=port):
        yield
        headers = {"Authorization": f"Bearer {TOKENS.issue('s-ann')}", "Accept": "application/json, text/event-stream"}
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            answer = await http.post(f"http://127.0.0.1:{port}{PATH}", json=ask, headers=headers)
        assert answer.status_code == 200


@asynccontextmanager
async def connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def until_cut(reader: asyncio.StreamReader) -> bytes:
    """Return what is read until the other side ends the connection."""
    got = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            while part := await reader.read(2**16):
                got += part
    except ConnectionError:
        pass
    return bytes(got)


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"A: " + b"b" * 32768 + b"\r\n"),
        (b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999\r\n\r\n", b"x" * 32768),
        (b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b"x" * 0x8000 + b"\r\n"),
    ],
    ids=["head", "body", "chunks"],
)
async def test_a_request_without_a_token_and_without_an_end_is_cut_off(
    service: AnsweringService, unused_tcp_port: int, begin: bytes, more: bytes
) -> None:
    async with served(service, unused_tcp_port), connection(unused_tcp_port) as (_, writer):
        writer.write(begin)
        written = 0
        with pytest.raises(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while written < MUCH:
                    writer.write(more)
                    await writer.drain()
                    written += len(more)
        assert written < MUCH


@pytest.mark.parametrize("said", [b"", b"POST /mcp HTTP/1.1\r\n", b"POST /mcp HTTP/1.1\r\nContent-Length: 9\r\n"])
async def test_a_request_that_takes_for_ever_is_cut_off(
    service: AnsweringService, unused_tcp_port: int, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(service, unused_tcp_port):
        with monkeypatch.context() as patched:
            patched.setattr(ports, "REQUEST_TIMEOUT", 0.05)
            async with connection(unused_tcp_port) as (reader, writer):
                writer.write(said)
                assert await until_cut(reader) == b""


async def test_more_connections_than_there_may_be_are_closed(
    service: AnsweringService, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ToolsPortProtocol, "max_connections", 2)
    port = unused_tcp_port
    async with served(service, port), connection(port), connection(port), connection(port) as (reader, _):
        assert await until_cut(reader) == b""
