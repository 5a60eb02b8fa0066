"""HTTP on a port: everybody on this machine can connect, so nobody is given more than a little before he is known.

* A request has `PATIENCE` seconds to be complete, its head and body together `MAX_BYTES`; more is cut off. So neither
  a header without end nor one that comes a byte a minute holds anything.
* More than `MAX_CONNECTIONS` are closed as they come.

Answers have no end of their own: a stream of events goes on for as long as its reader reads, at his own pace
(broadcast.py).
"""

import asyncio
import socket
from contextlib import closing

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamrelay.errors import StreamrelayError
from streamrelay.web.guard import MAX_BODY_SIZE

PATIENCE = 10.0
MAX_BYTES = MAX_BODY_SIZE + 64 * 1024
MAX_CONNECTIONS = 128


class PortProtocol(HttpToolsProtocol):
    """One connection."""

    _received = 0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection, or close it."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._be_patient()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._be_content()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read, unless it is too much."""
        self._received += len(data)
        if self._received > MAX_BYTES:
            self.transport.abort()
        elif not self.transport.is_closing():
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Count anew."""
        self._received = 0
        self._be_patient()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Wait for nothing but the answer; uvicorn sees to how long it takes until the next request."""
        self._be_content()
        super().on_message_complete()

    def _be_patient(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(PATIENCE, self.transport.abort)

    def _be_content(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def listening_on(host: str, port: int, hint: str) -> "closing[socket.socket]":
    """Listen at a port of this machine, 0 for any; raises StreamrelayError with the hint where it cannot be."""
    try:
        [(family, *_, place), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
        listener = socket.create_server(place[:2], family=family)
    except OSError as error:
        raise StreamrelayError(f"port {port} of {host} cannot be listened at: {error.strerror}", hint=hint) from error
    listener.setblocking(False)
    return closing(listener)
