"""HTTP on a port: every user of the machine can connect, so an unauthenticated connection gets few resources.

* A request must be complete within `REQUEST_TIMEOUT` seconds, its head may have `MAX_HEAD` bytes and its body the
  `max_body` of the protocol's class; a longer or slower one is cut off. So neither an endless header nor a client that
  sends one byte a minute holds a connection or memory.
* Connections beyond `max_connections` are closed at once.

Answers have no time limit: a stream of events lasts as long as its reader reads, at the reader's pace (broadcast.py).
"""

import asyncio
import socket
from contextlib import closing
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from streamrelay.errors import StreamrelayError
from streamrelay.web.guard import MAX_BODY_SIZE

REQUEST_TIMEOUT = 10.0
"""Seconds in which a request must be complete."""
MAX_HEAD = 64 * 1024
"""Bytes of the head of a request; httptools itself takes any number (uvicorn 0.38)."""


class PortProtocol(HttpToolsProtocol):
    """One connection to a port, with limits on time and size."""

    max_body: ClassVar[int] = MAX_BODY_SIZE
    """Bytes of the body of a request."""
    max_connections: ClassVar[int] = 128

    _received = 0
    _in_head = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a connection, or close it."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
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
        if self._received > MAX_HEAD + self.max_body:
            self.transport.abort()
        elif not self.transport.is_closing():
            super().data_received(data)
            # One read may hold the end of the head and much of the body.
            if self._in_head and self._received > MAX_HEAD:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """Start counting bytes and time for this request."""
        self._received, self._in_head = 0, True
        self._start_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Allow the body's bytes from here on."""
        self._in_head = False
        super().on_headers_complete()

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
