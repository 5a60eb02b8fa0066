"""The page on a port of its own, with a service in memory behind it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import structlog

from streamrelay.daemon.app import call_routes
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.page import page_at
from streamrelay.errors import UsageError
from streamrelay.web.access import PAGE
from streamrelay.web.streams import beating
from tests.daemon.conftest import PATIENCE, MemoryService


class Port:
    """A page on a port, and what came of it."""

    def __init__(self, service: MemoryService, broadcast: Broadcast, number: int, token: str) -> None:
        self.service = service
        self.broadcast = broadcast
        self.number = number
        self.token = token

    def client(self, **headers: str) -> httpx.AsyncClient:
        """Give a client that does everything right but for these headers; an empty one is not sent."""
        sent = {"authorization": f"Bearer {self.token}", "content-type": "application/json"} | headers
        kept = {name.replace("_", "-"): value for name, value in sent.items() if value}
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.number}", headers=kept, timeout=PATIENCE, trust_env=False
        )

    @asynccontextmanager
    async def raw(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.number)
        try:
            yield reader, writer
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    @property
    def head(self) -> bytes:
        return f"Host: 127.0.0.1:{self.number}\r\nAuthorization: Bearer {self.token}\r\n".encode()


@asynccontextmanager
async def serving(folder: Path, *, live: list[list[str]] | None = None, send: bool = True) -> AsyncIterator[Port]:
    service = MemoryService()
    page = page_at(folder / "token", "0", (), send=send)
    broadcast = Broadcast(service, most_events=1000)
    await broadcast.start()
    log = structlog.wrap_logger(structlog.testing.CapturingLogger())

    async def shown(session: str):
        if session != "%1":
            raise UsageError("there is no such session")

        async def lines():
            for one in live or ():
                yield one
            await asyncio.Event().wait()

        return lines()

    def routes(ended: asyncio.Event):
        named = call_routes(
            service, broadcast, log=log, counts=Metrics(), served=page.operations, live=shown,
            stream=lambda frames: beating(frames, ended),
        )  # fmt: skip
        return list(named.values())

    reading = asyncio.ensure_future(broadcast.run())
    try:
        async with page.serving(routes) as [on_socket]:
            transport = httpx.ASGITransport(on_socket.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://socket") as client:
                access = (await client.get(PAGE)).json()
                assert (await client.post(PAGE, json={"listen": "1"})).json() == access
            yield Port(service, broadcast, httpx.URL(access["address"]).port or 0, access["token"])
    finally:
        broadcast.end()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
