"""HTTP on a port: every user of the machine can connect, so an unauthenticated connection gets few resources.

* A request must be complete within `REQUEST_TIMEOUT` seconds, and its head and body may have `MAX_BYTES`; a longer or
  slower one is cut off. So neither an endless header nor a client that sends one byte a minute holds a connection.
* Connections beyond `MAX_CONNECTIONS` are closed at once.

Answers have no time limit: a stream of events lasts as long as its reader reads, at the reader's pace (broadcast.py).
"""

import asyncio
import socket
from contextlib import closing

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamrelay.errors import StreamrelayError
from streamrelay.web.guard import MAX_BODY_SIZE

REQUEST_TIMEOUT = 10.0
"""Seconds in which a request must be complete."""
MAX_BYTES = MAX_BODY_SIZE + 64 * 1024
"""Bytes of the head and the body of a request."""
MAX_CONNECTIONS = 128


class PortProtocol(HttpToolsProtocol):
    """One connection to a port, with limits on time and size."""

    _received = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection, or close it."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
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
        self._start_timer()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Stop the timer of the request; uvicorn limits the time until the next one."""
        self._stop_timer()
        super().on_message_complete()

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(REQUEST_TIMEOUT, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
