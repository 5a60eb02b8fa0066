"""A socket in front of a tmux server's, through which one control client identifies itself without harm.

`identification` says why: a server of tmux 3.2 to 3.7 dies when something happens while a control client is still
identifying itself. The client cannot be told to write in another order, so it connects to a private socket of ours:

    tmux -S PRIVATE -C ...  <->  AttachProxy  <->  the server's socket

The proxy holds back what the client writes until its identification is complete, hands it on reordered, and from then
on passes on what either side writes. That is little: in control mode the output of panes and the commands do not go
this way, but through the descriptors that the client handed to the server. What goes this way is the end of the
connection, and files that a command reads (`load-buffer`).

A client that ends before its identification is complete was never heard of by the server. A proxy whose process is
killed closes both sides, and the server takes that for the end of its client.
"""

import array
import asyncio
import contextlib
import logging
import os
import shutil
import socket
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from streamrelay.control.identification import Identification, Write
from streamrelay.control.tmux import ServerInfo, Tmux

_READ_SIZE: Final = 1 << 16
_MAX_DESCRIPTORS: Final = 16
_NO_SIGNAL: Final[int] = getattr(socket, "MSG_NOSIGNAL", 0)
_NOT_INHERITED: Final[int] = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_MAX_FOLDER: Final = 60
"""Characters of a folder in which a socket still has a short enough path (103 characters on macOS, 107 on Linux)."""
_RETRY: Final = 0.01
"""Seconds between attempts to connect to a server whose queue of connections is full."""

logger = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def harmless(tmux: Tmux, server: ServerInfo | None) -> AsyncIterator[Tmux]:
    """Yield the tmux by which to start one control client of `server` without harm to it.

    That is `tmux` itself where the server has no such defect, is unknown, or runs on another machine: there it takes
    the risk of any control client. Keep the context open until the client has ended.
    """
    proxy = await _proxy(tmux, server)
    if proxy is None:
        yield tmux
        return
    try:
        yield replace(tmux, socket_name=None, socket_path=proxy.socket_path)
    finally:
        proxy.close()


async def _proxy(tmux: Tmux, server: ServerInfo | None) -> "AttachProxy | None":
    if server is None or tmux.ssh is not None or not server.dies_of_identification:
        return None
    path = tmux.socket_path or server.socket_path
    try:
        return await AttachProxy.open(path)
    except OSError as error:
        logger.warning("no proxy for %s, so the client attaches to tmux without one: %s", path, error)
        return None


class AttachProxy:
    """The proxy of one client; the caller has to `close` it, at the earliest when the client has ended."""

    def __init__(self, server: socket.socket, folder: Path, listener: socket.socket) -> None:
        """Take over the connection to the server and the listening socket in `folder`."""
        self._loop = asyncio.get_running_loop()
        self._folder = folder
        self._listener: socket.socket | None = listener
        self._identification = Identification()
        self._server = _Side(self._loop, server, self._from_server)
        self._client: _Side | None = None
        self._loop.add_reader(listener, self._accept)

    @classmethod
    async def open(cls, server_path: str) -> Self:
        """Connect to the server and listen for the client; raises OSError where either cannot be done."""
        server = await _connected(server_path)
        try:
            folder = Path(tempfile.mkdtemp(prefix="streamrelay-", dir=_short_folder()))
            try:
                return cls(server, folder, _listening(folder))
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        except BaseException:
            server.close()
            raise

    @property
    def socket_path(self) -> str:
        """The path that the client has to connect to."""
        return str(_socket_in(self._folder))

    @property
    def is_closed(self) -> bool:
        """Whether the connection to the server is closed."""
        return self._server.is_closed

    def close(self) -> None:
        """Close both connections, and remove the socket where no client came. May be called again."""
        self._stop_listening()
        for descriptor in self._identification.held:
            _close(descriptor)
        self._identification = Identification()
        self._server.close()
        if self._client is not None:
            self._client.close()

    def _accept(self) -> None:
        if self._listener is None:
            return
        try:
            connection, _address = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:
            # No descriptor is left for it; the client sees the end of its connection.
            self.close()
            return
        self._stop_listening()
        connection.setblocking(False)
        self._client = _Side(self._loop, connection, self._from_client)
        self._client.read()
        self._server.read()

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            self._listener.close()
            self._listener = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def _from_client(self, data: bytes, descriptors: list[int]) -> None:
        if not data:
            # What waits for the server is still for it: the client's last word may be that it leaves.
            self._server.close_when_sent()
            if self._client is not None:
                self._client.close()
            return
        for write in self._identification.receive(data, descriptors):
            self._server.send(write, pausing=self._client)

    def _from_server(self, data: bytes, descriptors: list[int]) -> None:
        if self._client is None:
            return
        if data:
            self._client.send(Write(data, tuple(descriptors)), pausing=self._server)
            return
        self._server.close()
        self._client.close_when_sent()


class _Side:
    """One connection: what it says, and what waits to be sent to it. `heard` gets an empty read once, at the end."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connection: socket.socket, heard: Callable[[bytes, list[int]], None]
    ) -> None:
        self._loop = loop
        self._socket: socket.socket | None = connection
        self._heard = heard
        self._waiting: deque[Write] = deque()
        self._paused: _Side | None = None
        self._closing = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing is sent or read any more."""
        return self._socket is None

    def read(self) -> None:
        """Begin to read, or go on."""
        if self._socket is not None and not self._closing:
            self._loop.add_reader(self._socket, self._readable)

    def pause(self) -> None:
        """Read no more until `read`."""
        if self._socket is not None:
            self._loop.remove_reader(self._socket)

    def send(self, write: Write, *, pausing: "_Side | None") -> None:
        """Send in order, now or when the connection takes it; the side it came from waits meanwhile."""
        if self._socket is None or self._closing:
            _close_all(write)
            return
        self._waiting.append(write)
        if len(self._waiting) > 1:
            return
        self._flush()
        if self._waiting and pausing is not None:
            pausing.pause()
            self._paused = pausing

    def close_when_sent(self) -> None:
        """Read no more, and close when all was sent."""
        self.pause()
        self._closing = True
        if not self._waiting:
            self.close()

    def close(self) -> None:
        """Close at once. May be called again."""
        if self._socket is None:
            return
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        self._socket = None
        for write in self._waiting:
            _close_all(write)
        self._waiting.clear()

    def _readable(self) -> None:
        if self._socket is None:
            return
        try:
            data, ancillary, _flags, _address = self._socket.recvmsg(
                _READ_SIZE, socket.CMSG_SPACE(_MAX_DESCRIPTORS * array.array("i").itemsize), _NOT_INHERITED
            )
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data, ancillary = b"", []
        if not data:
            self.pause()
        self._heard(data, _descriptors(ancillary))

    def _flush(self) -> None:
        if self._socket is None:
            return
        try:
            while self._waiting:
                write = self._waiting[0]
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", write.descriptors))]
                sent = self._socket.sendmsg([write.data], rights if write.descriptors else [], _NO_SIGNAL)
                _close_all(write)
                if sent < len(write.data):
                    self._waiting[0] = Write(write.data[sent:])
                else:
                    self._waiting.popleft()
        except (BlockingIOError, InterruptedError):
            self._loop.add_writer(self._socket, self._flush)
            return
        except OSError:
            # The other end is gone, and its reader hears of that.
            for write in self._waiting:
                _close_all(write)
            self._waiting.clear()
        self._loop.remove_writer(self._socket)
        if self._paused is not None:
            self._paused.read()
            self._paused = None
        if self._closing:
            self.close()


def _short_folder() -> str:
    folder = tempfile.gettempdir()
    return folder if len(folder) <= _MAX_FOLDER else "/tmp"  # noqa: S108  # mkdtemp makes one of our own in it


def _socket_in(folder: Path) -> Path:
    return folder / "tmux"


def _listening(folder: Path) -> socket.socket:
    # Only this user can open the folder (mkdtemp), so no other user can connect.
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)
        listener.bind(str(_socket_in(folder)))
        listener.listen(1)
    except BaseException:
        listener.close()
        raise
    return listener


async def _connected(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        while True:
            try:
                connection.connect(path)
            except BlockingIOError:
                await asyncio.sleep(_RETRY)
            else:
                return connection
    except BaseException:
        connection.close()
        raise


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    received = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received.frombytes(data[: len(data) - len(data) % received.itemsize])
    return list(received)


def _close_all(write: Write) -> None:
    for descriptor in write.descriptors:
        _close(descriptor)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)
