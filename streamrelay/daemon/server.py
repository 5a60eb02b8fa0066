"""uvicorn on one unix socket, for one user, ended by whoever runs it and not by signals of its own.

* A connection of another user is closed before a byte of it is read. The socket's mode and its folder keep others out
  already; this holds when somebody has changed them.
* The end is bounded: answers under way get `GRACE` seconds, then their connections are closed; a call that takes
  longer still is cancelled.
* At rest it does nothing: uvicorn's own loop looks ten times a second whether it should end.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamrelay.daemon.peers import peer_uid

GRACE = 3.0
_LOOK_AGAIN = 0.01


class OneUserProtocol(HttpToolsProtocol):
    """HTTP for the user the daemon runs as."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection, or close it."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        try:
            allowed = connection.family != socket.AF_UNIX or peer_uid(connection) == os.getuid()
        except OSError:
            allowed = False
        if not allowed:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read nothing of a connection that was refused."""
        if not self.transport.is_closing():
            super().data_received(data)


class HttpServer(uvicorn.Server):
    """One server; `run_on` serves until `stop`."""

    def __init__(
        self, app: ASGIApp, *, grace: float = GRACE, protocol: type[HttpToolsProtocol] = OneUserProtocol
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
            )
        )
        self._grace = grace
        self._stopped = asyncio.Event()

    async def run_on(self, *listeners: socket.socket) -> None:
        """Answer whoever connects there, until `stop`."""
        await self.serve(sockets=list(listeners))

    def stop(self) -> None:
        """End: no more connections, and a bounded time for what is under way."""
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Wait for the end."""
        await self.on_tick(0)
        await self._stopped.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let answers end, then close their connections, then cancel what does not end at that."""
        state = self.server_state
        for server in self.servers:
            server.close()
        for connection in list(state.connections):
            connection.shutdown()
        if not await self._at_rest():
            for connection in list(state.connections):
                connection.transport.abort()
            if not await self._at_rest():
                for task in state.tasks:
                    task.cancel()

    async def _at_rest(self) -> bool:
        state = self.server_state
        until = asyncio.get_running_loop().time() + self._grace
        # uvicorn tells nobody when a connection is gone.
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN)
        return not (state.connections or state.tasks)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process."""
        yield
