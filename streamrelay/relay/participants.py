"""A pane at work in a conversation: heard, and typed to by the one writer it has."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from streamrelay.delivery.lock import WriterKind, only_writer
from streamrelay.delivery.message import Policy, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.shells import is_shell
from streamrelay.delivery.writer import READ_TIMEOUT, PaneWriter
from streamrelay.errors import ProgramLeft, ShellRefused, StreamrelayError
from streamrelay.events import Event
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.log import PaneLog
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.server import Server

LAST_RECEIPTS_TIMEOUT = 3.0
MAX_LOG_SIZE = 32 << 20
"""Bytes."""


@dataclass(frozen=True, slots=True)
class TypingOptions:
    """How the participants are typed to."""

    allow_shell: bool = False
    read_timeout: float = READ_TIMEOUT
    policy: Policy | None = None
    outbox: Outbox | None = None
    """With one, what is said outlives this process until it is delivered."""
    writer: WriterKind = "relay"
    """What types: errors of other processes that may not type into a participant's pane name it."""

    def check(self, infos: Sequence[PaneInfo]) -> None:
        """Raise ShellRefused when a shell takes part and nobody allowed that."""
        for info in infos:
            if is_shell(info.command) and not self.allow_shell:
                raise ShellRefused(
                    f"pane {info.pane} ({info.address}) runs {info.command}, a shell", data={"pane": info.pane}
                )


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """What is known of a pane from before: the log of its stream, and how many events of that were taken up."""

    log: PaneLog
    taken: int = 0


class ParticipantPane:
    """One pane, from when it is opened until it is closed.

    `hear` is handed its events, `report` what becomes of what is typed to it, `lose` the error with which nothing can
    be typed to it any more.
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
    ) -> None:
        """Take a pane; raises ShellRefused for a shell where nobody allowed that."""
        typing.check([info])
        self.info = info
        self.gone = asyncio.Event()
        """Set when its program, or the pane itself, is not there any more."""
        self.heard = 0
        """How many events its stream has said."""
        self._memory = memory
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
        """What types to it."""
        assert self._writer is not None  # noqa: S101  # a place is opened before anybody has it
        return self._writer

    @property
    def is_agent(self) -> bool:
        """Whether a known agent speaks here: some print their answers line by line, and mean them whole.

        Of one that nobody described the stream says an answer in one go where it keeps a transcript.
        """
        if not self._server.is_watched(self.info.pane):
            return False
        profile = self._server.profile(self._server.pipeline(self.info.pane).profile)
        return profile is not None and profile.kind == "agent"

    async def open(self) -> None:
        """Hear and take up what was left to be typed; raises PaneTaken and PaneGone."""
        try:
            self._entered.enter_context(only_writer(self._server.info, self.info.pane, self._typing.writer))
            pipeline = await self._entered.enter_async_context(
                self._server.listen(self.info.pane, self._take, None if self._memory is None else self._memory.log)
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
        """Go on with the program that the stream knows to be there now, and return it; `write_anew` has to follow.

        tmux may know of another one already, to which nothing is typed then.
        """
        self.info = replace(self.info, command=self._streamed.info.command)
        # Who hears a pane whatever runs there has it heard at its shell too; what is typed is judged before it comes.
        self._typing = replace(self._typing, allow_shell=True)
        self._succeeding = True
        return self.info.command

    async def write_anew(self) -> None:
        """Type to the program that is there now; what waited for the one before has failed by then."""
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
        """Whether its log has become so long that it takes seconds to read, and nothing hinders to begin another."""
        return self._memory is not None and self._memory.log.size > MAX_LOG_SIZE and self.writer.rests

    async def renew(self, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Have its stream begin anew in another log; False if it does not rest."""

        def begin() -> None:
            self._memory, self.heard = StreamProgress(log), 0
            renewed()

        return await self._server.renew(self.info.pane, log, begin)

    def _take(self, events: Sequence[Event]) -> None:
        """Hand on what was not taken up before."""
        self.heard += len(events)
        again = 0 if self._memory is None else self._memory.taken - (self.heard - len(events))
        if not (news := events[again:] if again > 0 else events):
            return
        if self._early is not None:
            self._early += news
        else:
            self._hear(self, news)

    def begin(self) -> None:
        """Begin to type, and to hand on what was said, from the beginning."""
        early, self._early = self._early, None
        if early:
            self._hear(self, early)
        self._writing = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        try:
            await self.writer.run()
        except Exception as error:  # noqa: BLE001  # it is raised where the conversation works
            if not (self._succeeding and isinstance(error, ProgramLeft)):
                self._lose(self, error)

    async def close(self) -> None:
        """Let go of it; where nothing can be typed any more, as soon as that was told of all that waits."""
        await self._stop_writing()
        with contextlib.suppress(StreamrelayError):
            await self._entered.aclose()

    async def _stop_writing(self) -> None:
        if self._writing is not None:
            if (self.gone.is_set() or self._succeeding) and not self.writer.idle:
                await asyncio.wait([self._writing], timeout=LAST_RECEIPTS_TIMEOUT)
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
