"""Attachments: the watched panes of one server, queries about them, and their way onto a new connection.

A hub connects them (`panes.connection`), and `panes.topology` tracks their changes.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from streamrelay.control import CommandResult, ConnectionEnd, ControlEvent, ServerInfo, Tmux, TransportName
from streamrelay.delta.profiles import Profile
from streamrelay.errors import ConnectionLost, NoServer, PaneGone, ServerLost, StreamrelayError, UsageError
from streamrelay.panes.backoff import Backoff
from streamrelay.panes.connection import ConnectedPane, PaneConnection
from streamrelay.panes.hub import Hub
from streamrelay.panes.injections import InjectionLog
from streamrelay.panes.inventory import LIST_PANES, PaneInfo, parse_panes
from streamrelay.panes.listeners import Follows, Listener, always
from streamrelay.panes.live import InputRecorder
from streamrelay.panes.log import PaneLog
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.selfcheck import SelfCheck, SelfCheckResult
from streamrelay.panes.snapshot import read_snapshot, snapshot_line
from streamrelay.panes.tasks import until_first
from streamrelay.panes.topology import TopologyTracker
from streamrelay.panes.witness import WitnessSource
from streamrelay.vt.widths import Widths

logger = logging.getLogger(__name__)


class Attachments:
    """The panes of one server that have listeners."""

    def __init__(
        self,
        tmux: Tmux,
        transport: TransportName,
        profiles: Sequence[Profile],
        witnesses: WitnessSource | None = None,
    ) -> None:
        self._witnesses = witnesses
        self.profiles = profiles
        """The profiles for panes that are attached from now on."""
        self.widths: Widths | None = None
        """This server's widths of characters; None for the built-in table."""
        self.server: ServerInfo | None = None
        """The server; processes share typed text under its name, if it runs on this machine."""
        self.selfcheck = SelfCheck()
        self.end: ConnectionEnd | None = None
        """How the last connection that broke has ended; None if none has."""
        self._connection = PaneConnection(tmux, transport, handle=self._handle, ended=self._outlive, left=self._left)
        self._topology = TopologyTracker(self._connection)
        self._backoff = Backoff()
        self._former: Hub | None = None
        """The lost hub whose panes are being connected through another one."""
        self._unheard = asyncio.Event()
        """Set when the last listener has left, which stops a reconnect."""

    async def panes(self) -> dict[str, list[PaneInfo]]:
        """List every pane of the server, by id; a pane whose window is linked into several sessions has several."""
        return parse_panes(await self.query(LIST_PANES))

    async def query(self, *commands: Sequence[str], repeatable: bool = True) -> list[str]:
        """Run tmux commands in one line and return their output, over the control client if there is one.

        Raises ConnectionLost if the connection ends before tmux answers and the commands are not `repeatable`.
        """
        return await self._connection.query(*commands, repeatable=repeatable)

    async def watch(
        self,
        infos: Iterable[PaneInfo],
        listener: Listener,
        record_input: InputRecorder | None = None,
        log: PaneLog | None = None,
        follows: Follows = always,
    ) -> list[PanePipeline]:
        """Pass the events of panes to `listener` from here on; open the pipelines that do not exist yet.

        `follows` tells whether the listener shows live text (see `PaneRuntime.add_listener`).
        `record_input` gets all entries of the pipelines from the beginning. So does `log`, the log of a single pane,
        whose entries are first replayed into the stream. Raises UsageError for either if a pane is watched already, and
        PaneGone if one of the panes is gone; then none is watched.
        """
        infos, pipelines = [*infos], []
        resumed = None if log is None else await self._resumed(infos[0], listener, log, follows)
        try:
            async with self._connection.steady():
                new = []
                for info in infos:
                    connected = self._connection.panes.get(info.pane)
                    if connected is None:
                        pipeline = resumed or self._pipeline(info, record_input)
                        connected = self._connection.panes[info.pane] = ConnectedPane(pipeline)
                        new.append(pipeline)
                    elif record_input is not None or log is not None:
                        raise _watched_already(info)
                    pipelines.append(connected.pipeline)
                    if resumed is None:
                        connected.pipeline.add_listener(listener, follows)
                gone, lost = await self._connect(new)
            if lost is not None:
                await lost.succeeded.wait()
                if self._connection.hub is None:
                    raise ServerLost("the connection to the tmux server ended and could not be made again")
                gone = [one for one in new if one.closed]
            if gone:
                pane = gone[0].info.pane
                raise PaneGone(f"pane {pane} was closed while it was being read", data={"pane": pane})
        except BaseException:
            if resumed is not None and resumed not in pipelines:
                resumed.discard()
            for pipeline in pipelines:
                pipeline.remove_listener(listener)
            await self.unwatch(pipeline.info.pane for pipeline in pipelines)
            raise
        return pipelines

    async def _resumed(self, info: PaneInfo, listener: Listener, log: PaneLog, follows: Follows) -> PanePipeline:
        """Return the pipeline of a pane after the replay of its log, for `listener`.

        Until then no other task knows of it, so nothing else enters its stream. The pane may change meanwhile.
        """
        if info.pane in self._connection.panes:
            raise _watched_already(info)
        pipeline = self._pipeline(info, log.take)
        pipeline.add_listener(listener, follows)
        try:
            if (past := log.past()) is None:
                log.begin(pipeline.began)
                return pipeline
            await pipeline.resume(past)
            places = [one for one in (await self.panes()).get(info.pane, ()) if not one.in_hub] or [info]
            present = next((one for one in places if one.session_name == info.session_name), places[0])
            pipeline.info = replace(present, command=pipeline.info.command)
        except BaseException:
            pipeline.discard()
            raise
        return pipeline

    async def _connect(self, new: Sequence[PanePipeline]) -> tuple[list[PanePipeline], Hub | None]:
        """Connect new panes; return those that are gone.

        If another client ends the connection meanwhile, also return the lost hub: its successor connects the panes.
        """
        while True:
            try:
                return await self._connection.connect(new), None
            except ConnectionLost:
                if (lost := self._connection.hub) is not None:
                    return [], lost
                if (wait := self._backoff.wait(asyncio.get_running_loop().time())) is None:
                    raise
                await asyncio.sleep(wait)

    def _pipeline(self, info: PaneInfo, record_input: InputRecorder | None) -> PanePipeline:
        injections = None if self.server is None else InjectionLog(self.server, info.pane)
        rendering = self._connection.scheduler
        return PanePipeline(
            info,
            self.profiles,
            rendering=rendering,
            widths=self.widths,
            record_input=record_input,
            injections=injections,
            witnesses=None if self.server is None else self._witnesses,
        )

    async def unwatch(self, panes: Iterable[str]) -> None:
        """Disconnect panes without listeners, and close the hub when no pane is left.

        This also happens if the caller is cancelled meanwhile.
        """
        if not self._connection.is_heard:
            self._unheard.set()
        dropping = self._connection.spawn(self._drop([*panes]))
        await asyncio.wait([dropping])
        if not dropping.cancelled():  # cancelled: `close` has disconnected all panes
            dropping.result()

    async def _drop(self, panes: Sequence[str]) -> None:
        async with self._connection.changing:
            await self._connection.drop(panes)

    def is_watched(self, pane: str) -> bool:
        """Return whether a pane exists and is watched."""
        return pane in self._connection.panes

    def pipeline(self, pane: str) -> PanePipeline:
        """Return the pipeline of a watched pane; raises PaneGone if it is not watched."""
        connected = self._connection.panes.get(pane)
        if connected is None:
            raise PaneGone(f"pane {pane} no longer exists", data={"pane": pane})
        return connected.pipeline

    async def command(self, pane: str, line: str, *, repeatable: bool) -> CommandResult:
        """Send a command line over the control client of a pane.

        If the connection ends before tmux answers, a `repeatable` line is sent again over the next one: the second time
        it must do nothing, or the same. Raises ConnectionLost for another line, ServerLost if there is no next
        connection, and PaneGone if the pane is not watched.
        """
        while True:
            hub = await self._hub(pane)
            try:
                return await hub.client.command(line)
            except ConnectionLost:
                if not repeatable:
                    raise

    async def _hub(self, pane: str) -> Hub:
        """Return the hub through which a pane is connected; wait for the successor of a lost one."""
        while True:
            hub = self._former or self._connection.hub
            if hub is None or (hub.client.ended and hub.succeeded.is_set()):
                raise ServerLost("the connection to the tmux server ended and could not be made again")
            self.pipeline(pane)
            if not hub.client.ended:
                return hub
            await hub.succeeded.wait()

    async def check(self, pane: str) -> SelfCheckResult | None:
        """Compare a watched pane's screen with tmux's; None if the pane goes away or is being resized."""
        pipeline = self.pipeline(pane)

        def judge(blocks: list[Sequence[bytes]]) -> SelfCheckResult | None:
            verdicts: list[SelfCheckResult | None] = [None]
            self._connection.guarded(pipeline, lambda: verdicts.append(pipeline.check(self.selfcheck, blocks)))
            return verdicts[-1]

        return await self._connection.at_reply(pane, snapshot_line(pane), judge)

    async def renew(self, pane: str, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Restart a pane's stream in a new log; return False if the pane is not idle."""
        pipeline = self.pipeline(pane)

        def renew(blocks: list[Sequence[bytes]]) -> bool:
            snapshot, done = read_snapshot(blocks), [False]
            if snapshot is not None and not pipeline.closed:
                self._connection.guarded(pipeline, lambda: done.append(pipeline.renew(snapshot, log, renewed)))
            return done[-1]

        return await self._connection.at_reply(pane, snapshot_line(pane), renew)

    @property
    def resting(self) -> list[str]:
        """The watched panes that are idle."""
        return [pane for pane, connected in self._connection.panes.items() if connected.pipeline.rests]

    async def close(self) -> None:
        """Leave the server without a trace."""
        await self._connection.end()

    # The end of a connection

    async def _outlive(self, hub: Hub) -> None:
        """Wait for the unexpected end of a hub, and connect its panes through another hub."""
        try:
            self.end = await hub.client.closed
            async with self._connection.changing:
                if self._connection.hub is not hub:
                    return
                self._former, self._connection.hub = hub, None
                try:
                    await hub.aclose()
                    self._unheard.clear()
                    if self._connection.is_heard:
                        await until_first(self._reconnect(hub), self._last_listener_left())
                finally:
                    self._former = None
        finally:
            hub.succeeded.set()

    async def _reconnect(self, former: Hub) -> None:
        """Connect the panes of a lost hub through another one; close them if that fails."""
        while (wait := self._backoff.wait(asyncio.get_running_loop().time())) is not None:
            await asyncio.sleep(wait)
            try:
                await self._connect_again(former.server)
            except NoServer:
                await self._connection.abandon()
                break
            except StreamrelayError as error:
                logger.info("connecting to tmux again failed: %s", error)
                await self._connection.abandon()
            else:
                self._connection.end_former(former.name)
                return
        await self._connection.hear_out(list(self._connection.panes))
        self._connection.close(list(self._connection.panes), "server_lost")

    async def _last_listener_left(self) -> None:
        await self._unheard.wait()

    async def _connect_again(self, server: str) -> None:
        """Open a hub and connect all panes through it; close those that are gone.

        Raises NoServer if another server answers than theirs, since its panes have the same ids.
        """
        if (await self._connection.opened()).server != server:
            raise NoServer("another tmux server has replaced the connected one")
        listed = await self.panes()
        panes = self._connection.panes
        gone = [pane for pane in panes if pane not in listed]
        await self._connection.hear_out(gone)
        self._connection.close(gone, "pane_gone")
        for pane, one in list(panes.items()):
            panes[pane] = ConnectedPane(one.pipeline)
            one.pipeline.disconnected()
            one.pipeline.update(listed[pane][0])
        self._connection.close_all(await self._connection.connect([one.pipeline for one in panes.values()]))

    def _handle(self, events: Sequence[ControlEvent], read_at: float) -> None:
        self._topology.handle(events, read_at)

    def _left(self) -> None:
        self._topology.stop()


def _watched_already(info: PaneInfo) -> UsageError:
    return UsageError(f"pane {info.pane} is watched already", hint="record it before anything watches it")
