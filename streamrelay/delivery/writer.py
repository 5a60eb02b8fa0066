"""The one writer of a pane: messages go in one after the other, each as a paste and a separate Enter.

After the paste the writer waits until the program has painted it and rested for `PAINT_REST`, at least `LEAST_WAIT`
and at most `MOST_WAIT`: an Enter that comes while the paste is still digested becomes a line feed in some programs.
While the program waits for a person (a password, a confirmation) nothing is typed, neither text nor Enter. A program
that leaves what it was sent unread for `read_timeout` seconds is reported, not fed on: what tmux cannot write it
keeps in memory.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from streamrelay.delivery.commands import REFUSED, enter_line, paste_line
from streamrelay.delivery.sanitise import sanitised
from streamrelay.delivery.tty_input import hides_input, unread_input
from streamrelay.delta.attention import asks_for_secret
from streamrelay.errors import PaneGone, PaneSynchronized, ProgramLeft, StreamrelayError, TargetNotReading
from streamrelay.events import DeliveryState
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first

PAINT_REST = 0.06
LEAST_WAIT = 0.12
MOST_WAIT = 1.0
READ_TIMEOUT = 30.0
LONGEST_QUEUE = 64
_LOOK_AGAIN = 0.25


@dataclass(frozen=True, slots=True)
class Message:
    """One text for one pane."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a message has come, and when (loop time)."""

    message_id: str
    pane: str
    state: DeliveryState
    at: float
    reason: str = ""


class PaneWriter:
    """Types into one pane, on behalf of everybody."""

    def __init__(
        self,
        server: Server,
        pipeline: PanePipeline,
        *,
        program: str,
        report: Callable[[Progress], None],
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        """Type to `program` alone: the foreground command that was judged fit, not whatever is there by now."""
        self._server = server
        self._pipeline = pipeline
        self._pane = pipeline.info.pane
        self._program = program
        self._report = report
        self._read_timeout = read_timeout
        self._queue: asyncio.Queue[Message] = asyncio.Queue(LONGEST_QUEUE)
        self._buffers = itertools.count(1)
        self._last_submitted: float | None = None

    def put(self, message: Message) -> bool:
        """Queue a message; False, and a report, when too many wait already."""
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self._tell(message, "failed", "too_many_waiting")
            return False
        self._tell(message, "queued")
        return True

    async def run(self) -> None:
        """Deliver until cancelled; raises ProgramLeft, TargetNotReading, PaneGone or what tmux says."""
        await until_first(self._deliver_all(), self._watch_reading())

    async def finish(self) -> None:
        """Wait until everything that was queued is submitted."""
        await self._queue.join()

    async def _deliver_all(self) -> NoReturn:
        while True:
            message = await self._queue.get()
            await self._until_nobody_is_needed()
            await self._until_painted(await self._paste(message))
            await self._until_nobody_is_needed()
            await self._enter(message)
            self._queue.task_done()

    async def _paste(self, message: Message) -> float:
        """Paste, and return when that began: the echo can come in the very read that says the paste is done."""
        text = sanitised(message.text)
        buffer = f"streamrelay-{self._pane[1:]}-{next(self._buffers)}"
        line = paste_line(self._pane, buffer, text, self._program)
        self._pipeline.inject(message.message_id, text)
        self._tell(message, "pasted")
        pasted = asyncio.get_running_loop().time()
        await self._checked(line)
        return pasted

    async def _enter(self, message: Message) -> None:
        self._pipeline.submit(message.message_id)
        await self._checked(enter_line(self._pane, self._program))
        self._last_submitted = asyncio.get_running_loop().time()
        self._tell(message, "submitted")

    async def _checked(self, line: str) -> None:
        result = await self._server.command(self._pane, line)
        for block in result.blocks:
            words = block.lines[0].decode(errors="replace").split(" ", 3) if block.lines else []
            if len(words) == 4 and words[0] == REFUSED:
                raise self._refusal(*words[1:])

    def _refusal(self, dead: str, synchronized: str, now: str) -> StreamrelayError:
        data = {"pane": self._pane, "program": self._program, "now": now}
        if dead == "1" or not now:
            return PaneGone(f"the program in pane {self._pane} has ended", data=data)
        if now == self._program and synchronized == "1":
            return PaneSynchronized(f"pane {self._pane} passes what is typed on to its neighbours", data=data)
        return ProgramLeft(f"{self._program} left the foreground of pane {self._pane}: {now} is there now", data=data)

    async def _until_painted(self, pasted: float) -> None:
        """Wait until the paste has been painted and the pane rests, or until that is not to be expected any more."""
        loop = asyncio.get_running_loop()
        while True:
            painted = self._pipeline.last_output
            due = pasted + MOST_WAIT
            if painted is not None and painted >= pasted:
                due = min(due, max(pasted + LEAST_WAIT, painted + PAINT_REST))
            if loop.time() >= due:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._pipeline.changed()

    async def _until_nobody_is_needed(self) -> None:
        self._pipeline.look()
        while self._pipeline.needs_human is not None or self._asks_for_secret():
            if self._pipeline.closed:
                raise PaneGone(f"pane {self._pane} was closed", data={"pane": self._pane})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await self._pipeline.changed()

    def _asks_for_secret(self) -> bool:
        """Look at the terminal as well as at the words: many questions for a secret have no known ones."""
        return asks_for_secret(self._pipeline.open_line) and hides_input(self._pipeline.info.tty)

    async def _watch_reading(self) -> NoReturn:
        """Notice a program that never reads: its terminal holds input that was submitted long ago."""
        loop = asyncio.get_running_loop()
        unread_since: float | None = None
        before = 0
        while True:
            await asyncio.sleep(_LOOK_AGAIN if unread_since is not None else self._read_timeout / 4)
            if self._last_submitted is None or not self._pipeline.info.tty:
                continue
            unread = unread_input(self._pipeline.info.tty)
            if not unread or unread < before:
                unread_since = None
            elif unread_since is None:
                unread_since = loop.time()
            elif loop.time() - unread_since > self._read_timeout:
                raise TargetNotReading(
                    f"{self._program} in pane {self._pane} has not read {unread} bytes for {self._read_timeout:g} s",
                    data={"pane": self._pane, "unread": unread},
                )
            before = unread or 0

    def _tell(self, message: Message, state: DeliveryState, reason: str = "") -> None:
        now = asyncio.get_running_loop().time()
        self._report(Progress(message.message_id, self._pane, state, now, reason))
