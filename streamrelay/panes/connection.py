"""Pane connection: one control client on a hub (`panes.hub`) receives all watched panes of one server.

Each pane starts from a snapshot. tmux sends the output of every pane of a linked window. Once it has sent output of a
pane, it queues the pane's further output for this client while the window is not linked, without bound (3.3a to 3.8).
The connection therefore pauses each pane that it hears of but does not watch.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from streamrelay.control import CommandResult, ControlClient, ControlEvent, Tmux, TransportName, command_line
from streamrelay.control.hub import FOLLOW_DEATHS, end_abandoned
from streamrelay.errors import (
    CommandFailed,
    CommandTimeout,
    ConnectionLost,
    ServerLost,
    StreamrelayError,
    TargetNotFound,
    TmuxError,
)
from streamrelay.events import ClosedReason
from streamrelay.panes.final_output import FinalOutput, final_output_line, parse_final_output, release_line
from streamrelay.panes.hub import Hub
from streamrelay.panes.inventory import PaneInfo, list_window, parse_panes
from streamrelay.panes.live import PaneRuntime
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.recovery import place_line
from streamrelay.panes.scheduler import RenderScheduler

logger = logging.getLogger(__name__)

SEED_TIMEOUT = 10.0
ASK_AGAIN = 0.5
"""Seconds until a query is repeated that was not sent or not answered."""
_AT_ONCE = 256
"""Panes whose screens are queried together; the replies wait in tmux until they are read."""
_LOOKS = 4
_LATE = 0.03
"""Seconds between checks, and of silence before one, whether all output of a moved pane has arrived."""
_ATTEMPTS = 20
"""How often to search a pane again that moves while its window is being linked."""

_Result = TypeVar("_Result")


@dataclass(slots=True)
class ConnectedPane:
    """A pane whose output the connection receives."""

    pipeline: PanePipeline
    window: str = ""
    """The window that the hub holds for this pane; empty before it holds one."""


class PaneConnection:
    """The hub of one server and the panes connected through it."""

    def __init__(
        self,
        tmux: Tmux,
        transport: TransportName,
        *,
        handle: Callable[[Sequence[ControlEvent], float], None],
        ended: Callable[[Hub], Coroutine[object, object, None]],
        left: Callable[[], None],
    ) -> None:
        """Open nothing yet.

        `handle` takes the events that the hub's client reads, with their times. `ended` waits for the end of a hub and
        handles it. `left` is called when the hub is closed because no pane needs it.
        """
        self.hub: Hub | None = None
        self.panes: dict[str, ConnectedPane] = {}
        self.scheduler: RenderScheduler[PaneRuntime] = RenderScheduler(hold=self._hold, failed=self._failed)
        self.changing = asyncio.Lock()
        """Held by the task that changes which panes are connected; see `steady`."""
        self._tmux = tmux
        self._transport: TransportName = transport
        self._handle = handle
        self._ended = ended
        self._left = left
        self._tasks: set[asyncio.Task[None]] = set()
        self._paused: set[str] = set()
        self._follows_deaths = False

    @property
    def is_here(self) -> bool:
        """Whether the server runs on this machine: only then do its processes mean anything."""
        return self._tmux.ssh is None

    @contextlib.asynccontextmanager
    async def steady(self) -> AsyncIterator[None]:
        """Hold `changing` at a moment at which no panes of a lost hub wait for another one."""
        while True:
            async with self.changing:
                hub = self.hub
                if hub is None or not hub.client.ended or hub.succeeded.is_set():
                    yield
                    return
            await hub.succeeded.wait()

    async def query(self, *commands: Sequence[str], repeatable: bool = True) -> list[str]:
        """Run tmux commands in one line and return their output, over the control client if there is one.

        If the connection ends before tmux answers, commands that may be run twice are run by a subprocess; for others,
        raises ConnectionLost.
        """
        if self.hub is not None and not self.hub.client.ended:
            try:
                result = await self.hub.client.command(command_line(*commands))
                return [line.decode(errors="replace") for line in result.lines]
            except ServerLost:
                if not repeatable:
                    raise
        words: list[str] = []
        for command in commands:
            # A semicolon at the end of an argument would begin the next command.
            words += [";", *(word[:-1] + "\\;" if word.endswith(";") else word for word in command)]
        return (await self._tmux.run(*words[1:])).splitlines()

    def client(self) -> ControlClient:
        """Return the control client of the hub; raise ConnectionLost if there is none."""
        if self.hub is None:
            raise ConnectionLost("the connection to tmux ended")
        return self.hub.client

    async def opened(self) -> Hub:
        """Return the hub, opened if it is not."""
        if self.hub is None:
            hub = await Hub(self._tmux, self._handle, intake=self.scheduler, transport=self._transport).open()
            self.hub = hub
            self._paused.clear()
            self._follows_deaths = False
            self.spawn(self._ended(hub))
        return self.hub

    async def connect(self, pipelines: Sequence[PanePipeline]) -> list[PanePipeline]:
        """Link the windows of panes and seed their screens, many at once; return the panes that are gone."""
        if not pipelines:
            return []
        hub = await self.opened()
        waiting, infos = list(pipelines), {one.info.pane: one.info for one in pipelines}
        heard: dict[str, list[PaneInfo]] = {}
        for _ in range(_ATTEMPTS):
            await asyncio.gather(*(self._place(hub, one, infos[one.info.pane]) for one in waiting))
            # A pane may have moved to another window before its own was linked.
            heard = parse_panes(await self.query(list_window(f"{hub.session}:", whole_session=True)), in_hub=True)
            waiting = [one for one in waiting if one.info.pane not in heard]
            if not waiting:
                break
            infos = await self.find_again([one.info.pane for one in waiting])
            waiting = [one for one in waiting if one.info.pane in infos]
        for one in pipelines:
            # A program that replaced another before the linking may never print. For a dead program, tmux names the
            # command that was started in the pane.
            if (places := heard.get(one.info.pane)) is not None and not places[0].dead:
                running = one.info.running(places[0].command, places[0].pid)
                self.guarded(one, partial(one.update, running))
        if any(heard[one.info.pane][0].remains for one in pipelines if one.info.pane in heard):
            self.follow_deaths(hub)
        there = [one for one in pipelines if one.info.pane in heard and not one.closed]
        seeded: set[str] = set()
        for at in range(0, len(there), _AT_ONCE):
            batch = there[at : at + _AT_ONCE]
            done = await asyncio.gather(*(self._rejoin(one) if one.has_moved else self.seed(one) for one in batch))
            seeded |= {one.info.pane for one, is_seeded in zip(batch, done, strict=True) if is_seeded}
        return [one for one in pipelines if one.info.pane not in seeded]

    async def _place(self, hub: Hub, pipeline: PanePipeline, info: PaneInfo) -> None:
        """Link the window of a pane, and release its former window."""
        connected = self.panes.get(info.pane)
        self.panes[info.pane] = ConnectedPane(pipeline, info.window)
        self._paused.discard(info.pane)
        with contextlib.suppress(CommandFailed):
            await hub.hold(info.window)
        if connected is not None:
            hub.release(connected.window)
        self.guarded(pipeline, partial(pipeline.update, info))

    def pause(self, hub: Hub, pane: str) -> None:
        """Make tmux neither send nor queue the output of a pane until the pane is connected."""
        if pane not in self._paused:
            self._paused.add(pane)
            with contextlib.suppress(StreamrelayError):
                hub.client.request(command_line(("refresh-client", "-A", f"{pane}:pause")), _ignore)

    def follow_deaths(self, hub: Hub) -> None:
        """Subscribe to the deaths of programs in panes that remain."""
        if not self._follows_deaths:
            self._follows_deaths = True
            hub.client.request(FOLLOW_DEATHS, _ignore)

    @property
    def is_heard(self) -> bool:
        """Whether any of the panes has a listener."""
        return any(connected.pipeline.has_listeners for connected in self.panes.values())

    async def drop(self, panes: Iterable[str]) -> None:
        """Disconnect panes without listeners, and close the hub when no pane is left."""
        dropped = [
            connected
            for pane in dict.fromkeys(panes)
            if (connected := self.panes.get(pane)) and not connected.pipeline.has_listeners
        ]
        for connected in dropped:
            del self.panes[connected.pipeline.info.pane]
            connected.pipeline.discard()
        hub = self.hub
        if hub is not None and self.panes:
            for connected in dropped:
                self.pause(hub, connected.pipeline.info.pane)
                hub.release(connected.window)
        elif hub is not None:
            self.hub = None
            self._left()
            await hub.aclose()

    async def abandon(self) -> None:
        """Drop a hub that ended before its panes were connected, without reporting the panes."""
        hub, self.hub = self.hub, None
        if hub is not None:
            await hub.aclose()

    def end_former(self, name: str) -> None:
        """End a lost hub: after a network failure, the other machine may keep it for hours."""
        with contextlib.suppress(StreamrelayError):
            self.client().request(end_abandoned(f"={name}"), _ignore)

    def close(self, panes: Iterable[str], reason: ClosedReason) -> None:
        """Disconnect panes and report the reason."""
        for pane in panes:
            connected = self.panes.pop(pane, None)
            if connected is not None:
                self.guarded(connected.pipeline, partial(connected.pipeline.close, reason))
                if self.hub is not None:
                    self.hub.release(connected.window)

    async def hear_out(self, panes: Iterable[str]) -> None:
        """Read the records of agents a last time whose panes are about to be closed in mid-answer."""
        pipelines = [connected.pipeline for pane in panes if (connected := self.panes.get(pane)) is not None]
        await asyncio.gather(*(pipeline.hear_out() for pipeline in pipelines))

    async def reconnect(self, pipelines: Sequence[PanePipeline]) -> None:
        """Connect panes again; close those that fail, if the hub still exists."""
        try:
            gone = await self.connect(pipelines)
        except ServerLost:
            return
        except StreamrelayError:
            gone = list(pipelines)
        self.close_all(gone)

    def close_all(self, gone: Iterable[PanePipeline]) -> None:
        """Report panes that could not be reconnected as gone."""
        for pipeline in gone:
            if (connected := self.panes.pop(pipeline.info.pane, None)) is not None and self.hub is not None:
                self.hub.release(connected.window)
            pipeline.close("pane_gone")

    async def finalize(self, hub: Hub, pane: str) -> None:
        """Close a remaining pane whose program has ended, with the final output that tmux still holds."""
        connected = self.panes.pop(pane)
        last = await _read_final_output(hub.client, pane)
        self.guarded(connected.pipeline, lambda: connected.pipeline.finalize(last))
        hub.release(connected.window)

    async def seed(self, pipeline: PanePipeline) -> bool:
        """Splice a snapshot into the stream: it contains all earlier output, and later output is fed."""

        def splice(blocks: list[Sequence[bytes]]) -> bool:
            return bool(self.guarded(pipeline, lambda: pipeline.answer(blocks)))

        return await self.at_reply(pipeline.info.pane, pipeline.question(), splice, refused=pipeline.take_back)

    async def _rejoin(self, pipeline: PanePipeline) -> bool:
        """Continue with a moved pane once all its output has arrived, or with tmux's screen if it stays silent."""
        line = place_line(pipeline.info.pane)

        def arrived(blocks: list[Sequence[bytes]]) -> bool | None:
            return self.guarded(pipeline, lambda: pipeline.arrived(blocks))

        for _ in range(_LOOKS):
            changed = asyncio.ensure_future(pipeline.changed())
            try:
                if await self.at_reply(pipeline.info.pane, line, arrived) is not False:
                    return not pipeline.closed
                await asyncio.wait([changed], timeout=_LATE)
            finally:
                changed.cancel()
        return await self.seed(pipeline)

    async def seed_again(self, pipeline: PanePipeline) -> None:
        """Seed a pane again; another task notices if it is gone.

        If the query cannot be sent or is not answered, repeat it; until then the pane's output is not read.
        """
        while not pipeline.closed:
            try:
                await self.seed(pipeline)
            except CommandTimeout:
                await asyncio.sleep(ASK_AGAIN)
            except StreamrelayError:
                return
            else:
                return

    async def at_reply(
        self,
        pane: str,
        line: str,
        use: Callable[[list[Sequence[bytes]]], _Result],
        *,
        refused: Callable[[], None] = lambda: None,
    ) -> _Result:
        """Query a pane's state; return what `use` makes of the reply at its place in the stream, [] for a gone pane.

        `refused` is called if the query could not be sent. Raises CommandTimeout then, or without a reply, and
        ConnectionLost if the connection ends first, which says nothing about the pane.
        """
        used: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()

        def answered(result: CommandResult) -> None:
            if isinstance(result.error, ServerLost):
                if not used.done():
                    used.set_exception(result.error)
                return
            value = use([] if result.error else [block.lines for block in result.blocks])
            if not used.done():
                used.set_result(value)

        try:
            self.client().request(line, answered)
        except StreamrelayError:
            refused()
            raise
        try:
            async with asyncio.timeout(SEED_TIMEOUT):
                return await used
        except TimeoutError as error:
            words = f"tmux did not show pane {pane} in {SEED_TIMEOUT:g} s"
            raise CommandTimeout(words, data={"pane": pane}) from error

    def guarded(self, pipeline: PanePipeline, step: Callable[[], _Result]) -> _Result | None:
        """Run a step of one pane; an exception ends only the stream of this pane.

        Return the step's result, or None if it failed.
        """
        return self.scheduler.guarded(pipeline, step)

    def _failed(self, pipeline: PaneRuntime) -> None:
        pane = pipeline.info.pane
        logger.exception("the pipeline of pane %s failed", pane)
        if (connected := self.panes.pop(pane, None)) is not None and self.hub is not None:
            self.pause(self.hub, pane)
            self.hub.release(connected.window)
        pipeline.fail()

    async def list_panes(self, target: str) -> dict[str, list[PaneInfo]]:
        """List the panes of a window, or of a pane's window; empty if it is gone."""
        with contextlib.suppress(CommandFailed, TargetNotFound):
            return parse_panes(await self.query(list_window(target)), in_hub=True)
        return {}

    async def find_again(self, panes: Sequence[str]) -> dict[str, PaneInfo]:
        """Return the current data of the panes that still exist."""
        replies = await asyncio.gather(*map(self.list_panes, panes))
        return {pane: reply[pane][0] for pane, reply in zip(panes, replies, strict=True) if pane in reply}

    def _hold(self, hold: bool) -> None:
        """Pause reading while too much output waits to be rendered."""
        if self.hub is not None:
            if hold:
                self.hub.client.pause_reading()
            else:
                self.hub.client.resume_reading()

    async def end(self) -> None:
        """Disconnect all panes and leave no trace on the server."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connected in self.panes.values():
            connected.pipeline.discard()
        self.panes.clear()
        await self.drop(())

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run a background task; `end` cancels it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _ignore(_result: CommandResult) -> None:
    """Ignore the reply."""


async def _read_final_output(client: ControlClient, pane: str) -> FinalOutput | None:
    """Read the final output of a dead pane; close it if streamrelay started it. None if the pane is gone."""
    try:
        result = await client.command(final_output_line(pane))
        await client.command(release_line(pane))
    except TmuxError:
        return None
    return parse_final_output([block.lines for block in result.blocks])
