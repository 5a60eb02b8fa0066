"""The pane of a participant: its event stream and the one writer that types into it."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from streamrelay.delivery.lock import WriterKind, only_writer
from streamrelay.delivery.message import DeliveryPolicy, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.writer import READ_TIMEOUT, PaneWriter
from streamrelay.errors import ProgramLeft, ShellRefused, StreamrelayError
from streamrelay.events import Event
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.log import PaneLog
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.server import Server
from streamrelay.panes.shells import is_shell

LAST_RECEIPTS_TIMEOUT = 3.0
MAX_LOG_SIZE = 8 << 20
"""Bytes of a pane's log after which its stream moves to a new log."""


@dataclass(frozen=True, slots=True)
class TypingOptions:
    """Options for typing into participants."""

    allow_shell: bool = False
    read_timeout: float = READ_TIMEOUT
    policy: DeliveryPolicy | None = None
    outbox: Outbox | None = None
    """An outbox that keeps messages beyond this process until they are delivered."""
    writer: WriterKind = "relay"
    """The kind of writer, which errors of other processes name when the pane is taken."""

    def check(self, infos: Sequence[PaneInfo]) -> None:
        """Raise ShellRefused for a shell unless `allow_shell` is set."""
        for info in infos:
            if is_shell(info.command) and not self.allow_shell:
                raise ShellRefused(
                    f"pane {info.pane} ({info.address}) runs {info.command}, a shell", data={"pane": info.pane}
                )


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """A pane's stream before a restart: its log, and how many of its events were handled."""

    log: PaneLog
    taken: int = 0


class ParticipantPane:
    """One participant's pane, from `open` to `close`.

    Calls `hear` with the pane's events, `report` with the progress of messages, and `lose` with the error after which
    nothing can be typed into the pane.
    """

    def __init__(
        self,
        server: Server,
        info: PaneInfo,
        typing: TypingOptions,
        *,
        hear: Callable[["ParticipantPane", Sequence[Event]], None],
        report: Callable[[Progress], None],
        lose: Callable[["ParticipantPane", BaseException], None],
        memory: StreamProgress | None = None,
        shows: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Take a pane; raises ShellRefused for a shell unless `typing.allow_shell` is set.

        `shows(pane)` tells whether live text of the pane is shown to people now.
        """
        typing.check([info])
        self.info = info
        self.gone = asyncio.Event()
        """Set when the pane or its program is gone."""
        self.heard = 0
        """The number of events that the stream has produced."""
        self._memory = memory
        self._shows = shows
        self._early: list[Event] | None = []
        self._server = server
        self._typing = typing
        self._hear = hear
        self._report = report
        self._lose = lose
        self._pipeline: PanePipeline | None = None
        self._writer: PaneWriter | None = None
        self._writing: asyncio.Task[None] | None = None
        self._succeeding = False
        self._entered = AsyncExitStack()

    @property
    def _streamed(self) -> PanePipeline:
        assert self._pipeline is not None  # noqa: S101  # as with the writer
        return self._pipeline

    @property
    def writer(self) -> PaneWriter:
        """The writer that types into the pane."""
        assert self._writer is not None  # noqa: S101  # `open` sets it before callers get the pane
        return self._writer

    @property
    def is_agent(self) -> bool:
        """Whether a known agent runs here. Some agents print an answer line by line although it is one message.

        For an agent without a profile, the stream reports an answer as one turn if the agent keeps a transcript.
        """
        if not self._server.is_watched(self.info.pane):
            return False
        profile = self._server.profile(self._server.pipeline(self.info.pane).profile)
        return profile is not None and profile.kind == "agent"

    async def open(self) -> None:
        """Open the stream and recover the messages that still wait; raises PaneTaken and PaneGone."""
        try:
            self._entered.enter_context(only_writer(self._server.info, self.info.pane, self._typing.writer))
            pipeline = await self._entered.enter_async_context(
                self._server.listen(
                    self.info.pane,
                    self._take,
                    None if self._memory is None else self._memory.log,
                    follows=lambda: self._shows(self.info.pane),
                )
            )
            self._pipeline = pipeline
            self._writer = self._new_writer()
            await self._writer.recover()
        except BaseException:
            await self._entered.aclose()
            raise

    def _new_writer(self) -> PaneWriter:
        return PaneWriter(
            self._server,
            self._streamed,
            program=self.info.command,
            report=self._report,
            policy=self._typing.policy,
            outbox=self._typing.outbox,
            allow_shell=self._typing.allow_shell,
            read_timeout=self._typing.read_timeout,
        )

    def succeed(self) -> str:
        """Continue with the program that the stream reports now, and return it; call `write_anew` next.

        If tmux already runs yet another program, the writer types nothing into it.
        """
        self.info = replace(self.info, command=self._streamed.info.command)
        # A caller that stays with the pane also accepts its shell; messages are checked before they get here.
        self._typing = replace(self._typing, allow_shell=True)
        self._succeeding = True
        return self.info.command

    async def write_anew(self) -> None:
        """Start a writer for the current program; messages for the previous program have failed by then."""
        await self._stop_writing()
        self._succeeding = False
        try:
            self._writer = self._new_writer()
            await self._writer.recover()
        except StreamrelayError as error:
            self._lose(self, error)
            return
        self._writing = asyncio.ensure_future(self._write())

    @property
    def outgrown(self) -> bool:
        """Whether the log is so long that reading it takes seconds, and the pane is idle enough to begin a new one."""
        return self._memory is not None and self._memory.log.size > MAX_LOG_SIZE and self.writer.rests

    async def renew(self, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Restart the stream in another log; return False if the pane is not idle."""

        def begin() -> None:
            self._memory, self.heard = StreamProgress(log), 0
            renewed()

        return await self._server.renew(self.info.pane, log, begin)

    def _take(self, events: Sequence[Event]) -> None:
        """Pass on the events that were not handled before the restart."""
        self.heard += len(events)
        again = 0 if self._memory is None else self._memory.taken - (self.heard - len(events))
        if not (news := events[again:] if again > 0 else events):
            return
        if self._early is not None:
            self._early += news
        else:
            self._hear(self, news)

    def begin(self) -> None:
        """Start typing, and pass on all events from the first."""
        early, self._early = self._early, None
        if early:
            self._hear(self, early)
        self._writing = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        try:
            await self.writer.run()
        except Exception as error:  # noqa: BLE001  # the runner raises it
            if not (self._succeeding and isinstance(error, ProgramLeft)):
                self._lose(self, error)

    async def close(self) -> None:
        """Close the pane; if its program is gone, first wait for the receipts of the messages that still wait."""
        await self._stop_writing()
        with contextlib.suppress(StreamrelayError):
            await self._entered.aclose()

    async def _stop_writing(self) -> None:
        if self._writing is not None:
            if (self.gone.is_set() or self._succeeding) and not self.writer.idle:
                await asyncio.wait([self._writing], timeout=LAST_RECEIPTS_TIMEOUT)
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
            # A shell's command that is still running ends later, and the shell answers then.
            if self.gone.is_set() or (self._succeeding and not is_shell(self.writer.program)):
                self.writer.stop(ProgramLeft.code)
