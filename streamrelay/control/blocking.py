"""Commands of an attached control client in plain threads: written, and answered, in the thread that asks.

A hop to an event loop and back takes longer than tmux does: a command that takes tmux 0.03 ms took 0.25 ms through the
loop's thread (tmux 3.3a, two busy cores). `ControlClient.lend` makes one of these.

The loop reads no more, so what tmux says on its own is read with the next answer, or by `drain`.
"""

import os
import select
import threading
from collections.abc import Iterable

from streamrelay.control.notifications import Exit
from streamrelay.control.protocol import ControlEvent, ControlProtocol, Reply
from streamrelay.control.requests import CommandResult, RequestQueue

_READ_SIZE = 1 << 16
_TICK_MS = 100
"""Milliseconds after which a thread that waits for tmux looks whether it is to end."""


class BlockingCommands:
    """Runs commands over the descriptors of a control client, one at a time; any thread may use it.

    It owns neither the descriptors nor the process; they may be closed once `end` has returned.
    """

    def __init__(self, reader: int, writer: int, protocol: ControlProtocol, requests: RequestQueue) -> None:
        self._reader, self._writer = reader, writer
        self._protocol = protocol
        self._requests = requests
        self._lock = threading.RLock()
        self._unsent = memoryview(b"")
        self._has_ended = False
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(reader, select.POLLIN)
        self._writable.register(writer, select.POLLOUT)

    def run(self, line: str) -> CommandResult:
        """Write one line of commands and return what became of it; waits as long as tmux takes.

        The result's error is errors.CommandFailed with tmux's own words, or errors.ServerLost where the connection
        ends first. Raises errors.BadCommand for what is not one line.
        """
        answers: list[CommandResult] = []
        with self._lock:
            self._unsent = memoryview(bytes(self._unsent) + self._requests.submit(line, answers.append))
            if self._has_ended:
                self._lose("closed")
            while not answers:
                if self._unsent:
                    self._write()
                else:
                    self._read()
        return answers[0]

    def drain(self) -> None:
        """Read what tmux has said on its own meanwhile, so that it does not keep it; nothing while a command runs."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            while not self._has_ended and self._readable.poll(0):
                self._read()
        finally:
            self._lock.release()

    def end(self) -> None:
        """Use the descriptors no more; a command that still waits is answered with errors.ServerLost."""
        self._has_ended = True
        with self._lock:
            self._lose("closed")

    def _write(self) -> None:
        """Write as much as tmux takes, in order: what an interrupted call left unwritten comes first."""
        if not self._writable.poll(_TICK_MS):
            self._look_for_end()
            return
        try:
            written = os.write(self._writer, self._unsent)
        except BlockingIOError:
            return
        except OSError:
            self._lose(None)
            return
        self._unsent = self._unsent[written:]

    def _read(self) -> None:
        if not self._readable.poll(_TICK_MS):
            self._look_for_end()
            return
        try:
            data = os.read(self._reader, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError:  # a terminal whose other side is closed fails to read (EIO)
            data = b""
        self._take(self._protocol.receive(data) if data else self._protocol.receive_eof())
        if not data:
            self._lose(None)

    def _take(self, events: Iterable[ControlEvent]) -> None:
        for event in events:
            if isinstance(event, Reply) and self._requests.claims(event):
                self._requests.receive(event)
            elif isinstance(event, Exit):
                self._lose(event.reason)

    def _look_for_end(self) -> None:
        if self._has_ended:
            self._lose("closed")

    def _lose(self, words: str | None) -> None:
        self._has_ended, self._unsent = True, memoryview(b"")
        self._requests.fail(words)
