"""HTTP on a port: every user of the machine can connect, so an unauthenticated connection gets few resources.

* A request must be complete within `PATIENCE` seconds, with at most `MAX_BYTES` of head and body together; a longer or
  slower one is cut off. So neither an endless header nor one byte a minute ties anything up.
* Connections beyond `MAX_CONNECTIONS` are closed at once.

Answers have no time limit: a stream of events lasts as long as its reader reads, at the reader's pace (broadcast.py).
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
        """Stop the timer."""
        self._be_content()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read the data, or close the connection if the request has become too long."""
        self._received += len(data)
        if self._received > MAX_BYTES:
            self.transport.abort()
        elif not self.transport.is_closing():
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Start counting bytes and time for this request."""
        self._received = 0
        self._be_patient()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Stop the timer of the request; uvicorn limits the time until the next one."""
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
    """Listen on a port of this machine, 0 for any free one; raises StreamrelayError with the hint if that fails."""
    try:
        [(family, *_, place), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
        listener = socket.create_server(place[:2], family=family)
    except OSError as error:
        raise StreamrelayError(f"cannot listen on port {port} of {host}: {error.strerror}", hint=hint) from error
    listener.setblocking(False)
    return closing(listener)
