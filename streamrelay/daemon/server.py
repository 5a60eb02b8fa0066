"""uvicorn on one unix socket, for one user; its caller ends it, since it handles no signals.

* The server closes a connection of another user before it reads a byte. The modes of the socket and its folder keep
  other users out already; this check holds even if those modes are changed.
* Stopping takes a bounded time: calls in flight get `GRACE` seconds, then the server closes their connections and
  cancels calls that still run.
* An idle server uses no CPU: uvicorn's own loop would wake ten times a second to see whether to end.
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
        """Read the data, unless the connection was refused."""
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
        """Answer connections to these sockets until `stop`."""
        await self.serve(sockets=list(listeners))

    def stop(self) -> None:
        """Accept no more connections; calls in flight get a bounded time."""
        self.should_exit = True
        self._stopped.set()

    def abort(self) -> None:
        """Close the sockets, all connections and all calls at once, also before it serves."""
        for server in getattr(self, "servers", ()):
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for task in list(self.server_state.tasks):
            task.cancel()

    async def main_loop(self) -> None:
        """Wait for `stop`."""
        await self.on_tick(0)
        await self._stopped.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for calls in flight, then close their connections, then cancel the calls that still run."""
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
        # uvicorn has no event for a closed connection.
        while (state.connections or state.tasks) and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN)
        return not (state.connections or state.tasks)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process."""
        yield
