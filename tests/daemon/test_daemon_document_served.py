"""The document is made before the daemon answers: no request makes it again, and none fails, whenever it comes."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec
import pytest

from streamrelay.control import Tmux
from streamrelay.daemon.address import DaemonAddress, address_of
from streamrelay.daemon.openapi import DOCUMENT, HEALTH
from streamrelay.daemon.problems import Problem
from streamrelay.testing.tmux import PrivateTmux
from tests.daemon.conftest import Served
from tests.daemon.exchange import PATIENCE, Nursery

CLIENTS = 2
"""Clients that ask for each path at once."""
PATHS = (DOCUMENT, "/v1/sessions", "/v1/links", "/v1/peers", "/metrics", "/nothing")
STATUSES = {HEALTH: {200, 503}, "/nothing": {404}}


def client_of(address: DaemonAddress) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=str(address.socket))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE)


def argument_classes() -> set[str]:
    return {f"{kind.__qualname__} {id(kind)}" for kind in msgspec.Struct.__subclasses__()}


async def test_a_request_for_the_document_makes_no_class(served: Served) -> None:
    before = argument_classes()
    async with client_of(served.address) as client:
        answers = [await client.get(DOCUMENT) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert argument_classes() == before


async def ask(address: DaemonAddress, path: str, ended: Callable[[], bool]) -> list[httpx.Response]:
    """Ask until the daemon has ended, with a new connection each time; a connection may be refused or closed."""
    answers = []
    while not ended():
        async with client_of(address) as client:
            try:
                answers.append(await client.get(path))
            except httpx.TransportError:
                await asyncio.sleep(0.01)
    return answers


@pytest.mark.slow
@pytest.mark.requirement("OPS-03")
async def test_no_request_fails_while_a_daemon_starts_and_ends(private_tmux: PrivateTmux, daemon_folders: Path) -> None:
    private_tmux.new_session("keeper", ["sleep", "1000"])
    address = address_of(Tmux(socket_path=private_tmux.socket_path))
    async with Nursery(private_tmux, daemon_folders / "errors") as nursery:
        (daemon_folders / "errors").touch()
        over = asyncio.Event()
        asked = [
            asyncio.ensure_future(ask(address, path, over.is_set)) for path in (*PATHS, HEALTH) for _ in range(CLIENTS)
        ]
        life = await nursery.bear()
        async with client_of(address) as client, asyncio.timeout(PATIENCE):
            document = None
            while document is None:
                try:
                    document = await client.get(DOCUMENT)
                except httpx.TransportError:
                    await asyncio.sleep(0.01)
        os.kill(life.pid, signal.SIGTERM)
        assert await asyncio.wait_for(life.ended, PATIENCE) == 0
        over.set()
        answers = [answer for some in await asyncio.gather(*asked) for answer in some]
    for answer in answers:
        path = answer.request.url.path
        assert answer.status_code in STATUSES.get(path, {200}), answer.text
        if answer.status_code == 404:
            msgspec.json.decode(answer.content, type=Problem)
        if path == DOCUMENT:
            assert answer.content == document.content
    assert {answer.request.url.path for answer in answers} >= {DOCUMENT, HEALTH}
