"""Topology tracker: follows watched panes that move, are resized, run other programs or end.

tmux's notifications differ between versions, so a notification is only a reason to list the named window again; the
listing is the truth. The cost therefore depends on what happens, not on how many panes exist. When a pane moves to an
unlinked window, the tracker links that window; what the pane printed in between arrives late (`panes.recovery`).

One thing does not wait for the listing: a pane's new size, because its program prints for that at once.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import regex

from streamrelay.control import (
    ClientDetached,
    CommandResult,
    ControlEvent,
    LayoutChange,
    PaneOutput,
    Pause,
    SessionRenamed,
    SessionsChanged,
    SubscriptionChanged,
    UnlinkedWindowClose,
    WindowAdd,
    WindowClose,
)
from streamrelay.control.hub import DEATHS, WindowLink
from streamrelay.errors import StreamrelayError, TmuxError
from streamrelay.panes.connection import PaneConnection
from streamrelay.panes.hub import Hub
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.process_poll import ProcessPoller, ProcessState, parse_process_states, poll_line

_PANE_IN_LAYOUT = regex.compile(r"(\d+)x(\d+),\d+,\d+,(\d+)")


class TopologyTracker:
    """Keeps the connected panes in step with tmux."""

    def __init__(self, connection: PaneConnection) -> None:
        self._connection = connection
        self._process_poller = ProcessPoller(self._query_processes)
        self._changed: set[str] = set()
        self._sessions_changed = False
        self._settling = False

    def stop(self) -> None:
        """Stop polling: no pane is connected."""
        self._process_poller.stop()

    def handle(self, events: Sequence[ControlEvent], read_at: float) -> None:
        """Take what was read of the hub's client, and when (loop time)."""
        for event in events:
            if isinstance(event, PaneOutput):
                connected = self._connection.panes.get(event.pane)
                if connected is not None:
                    connected.pipeline.output(event.data, read_at)
                    self._process_poller.poll(event.pane)
                elif self._connection.hub is not None:
                    self._connection.pause(self._connection.hub, event.pane)
            else:
                self._notice(event)
        self._connection.scheduler.take_turns()

    def _notice(self, event: ControlEvent) -> None:
        """Take up what a notification says has changed, if it is about what is carried here."""
        hub = self._connection.hub
        if hub is None:
            return
        match event:
            case LayoutChange() | WindowAdd() | WindowClose() | UnlinkedWindowClose() if hub.holds(event.window):
                if isinstance(event, LayoutChange):
                    self._mark_absent(event)
                    self._resize(event)
                self._want(event.window)
            case SubscriptionChanged(name=name, value=value) if name == DEATHS:
                self._want(
                    *(self._connection.panes[pane].window for pane in value.split() if pane in self._connection.panes)
                )
            case Pause(pane=pane) if pane in self._connection.panes:
                # tmux has dropped what this pane was behind; its history is asked for it.
                pipeline = self._connection.panes[pane].pipeline
                if self._connection.guarded(pipeline, pipeline.paused):
                    self._connection.spawn(self._connection.seed_again(pipeline))
            case SessionsChanged() | ClientDetached():
                self._sessions_changed = True
                self._want()
            case SessionRenamed(session=session, name=name):
                for connected in self._connection.panes.values():
                    if connected.pipeline.info.session == session:
                        connected.pipeline.update(replace(connected.pipeline.info, session_name=name))
            case _:
                pass

    def _mark_absent(self, event: LayoutChange) -> None:
        """Note which panes are not in their window any more: they may be back before it is listed."""
        there = _sizes(event.layout)
        for pane in [
            pane for pane, one in self._connection.panes.items() if one.window == event.window and pane not in there
        ]:
            pipeline = self._connection.panes[pane].pipeline
            self._connection.guarded(pipeline, partial(pipeline.missed, "moved"))

    def _resize(self, event: LayoutChange) -> None:
        """Give panes their new size at once: before they are listed, their programs may print for it."""
        for pane, (columns, lines) in _sizes(event.visible_layout).items():
            if (one := self._connection.panes.get(pane)) is not None and one.window == event.window:
                self._connection.guarded(one.pipeline, partial(one.pipeline.resized, columns, lines))

    def _want(self, *windows: str) -> None:
        self._changed.update(windows)
        if not self._settling:
            self._settling = True
            self._connection.spawn(self._settle())

    async def _settle(self) -> None:
        async with self._connection.changing:
            self._settling = False
            changed, self._changed = self._changed, set()
            sessions_changed, self._sessions_changed = self._sessions_changed, False
            hub = self._connection.hub
            if hub is None:
                return
            with contextlib.suppress(TmuxError):
                if sessions_changed and await hub.is_alone():
                    await self._connection.hear_out(list(self._connection.panes))
                    self._connection.close(list(self._connection.panes), "pane_gone")
                    await self._connection.drop(())
                    return
                await self._follow(hub, {window for window in changed if hub.holds(window)})

    async def _follow(self, hub: Hub, windows: set[str]) -> None:
        """Bring the panes of windows in which something changed up to date."""
        listed: dict[str, list[PaneInfo]] = {}
        for reply in await asyncio.gather(*map(self._connection.list_panes, windows)):
            listed |= reply
        connected = {pane: one for pane, one in self._connection.panes.items() if one.window in windows}
        now = {pane: listed[pane][0] for pane in connected if pane in listed}
        now |= await self._connection.find_again([pane for pane in connected if pane not in now])
        await self._let_go(hub, now)
        gone = [pane for pane in connected if pane not in now or now[pane].dead]
        moved: list[PanePipeline] = []
        seeded_anew: list[PanePipeline] = []
        for pane, one in connected.items():
            if pane in gone:
                continue
            was, here = one.pipeline.info, now[pane]
            if here.window != one.window or one.pipeline.has_moved:
                self._connection.guarded(one.pipeline, partial(one.pipeline.moved, here))
                moved.append(one.pipeline)
            elif (
                one.pipeline.awaits_screen
                or (was.columns, was.lines) != (here.columns, here.lines)
                or was.is_replaced_by(here)
            ):
                seeded_anew.append(one.pipeline)
            self._connection.guarded(one.pipeline, partial(one.pipeline.update, here))
            if here.remains:
                self._connection.follow_deaths(hub)
        if gone:
            await self._connection.hear_out(gone)
            left = {one.session for one in await hub.sessions() if not one.hub}
            for pane in gone:
                if pane in now:
                    await self._connection.finalize(hub, pane)
                # With the last session the server ends, hubs or not; of that the pane was the last.
                ended_alone = not left or connected[pane].pipeline.info.session in left
                self._connection.close([pane], "pane_gone" if ended_alone else "session_gone")
        # What failed above has ended, and is not to be carried again.
        await self._connection.reconnect([one for one in moved if not one.closed])
        await asyncio.gather(*(self._connection.seed(one) for one in seeded_anew if not one.closed))

    async def _let_go(self, hub: Hub, now: dict[str, PaneInfo]) -> None:
        """See what becomes of windows that only hubs hold; takes the panes of those that end out of `now`."""
        alone = [self._connection.panes[pane].pipeline.info for pane, info in now.items() if info.in_hub]
        if alone:
            former = {
                info.window: WindowLink(info.session, info.window_index, info.window, hub=False) for info in alone
            }
            ended = await hub.let_go(former.values())
            for info in alone:
                if info.window in ended:
                    del now[info.pane]
                else:
                    now |= await self._connection.find_again([info.pane])

    def _query_processes(self, panes: Sequence[str]) -> None:
        connected = [pane for pane in panes if pane in self._connection.panes]

        def answered(result: CommandResult) -> None:
            self._process_poller.note_reply()
            for look in parse_process_states(result.lines):
                self._looked(look)

        try:
            self._connection.client().request(poll_line(connected), answered)
        except StreamrelayError:
            self._process_poller.note_reply()

    def _looked(self, look: ProcessState) -> None:
        connected = self._connection.panes.get(look.pane)
        if connected is None:
            return
        if look.dead:
            self._want(connected.window)
            return
        pipeline, was = connected.pipeline, connected.pipeline.info
        here = was.running(look.command, look.pid)
        if here is not was:
            self._connection.guarded(pipeline, partial(pipeline.update, here))
        if self._connection.is_here and self._connection.guarded(pipeline, pipeline.see_at_work):
            self._process_poller.poll(look.pane)
        if was.is_replaced_by(here):
            self._connection.spawn(self._connection.seed_again(pipeline))


def _sizes(layout: str) -> dict[str, tuple[int, int]]:
    """Return the panes of a layout, each with the columns and lines of its cell."""
    return {f"%{pane}": (int(columns), int(lines)) for columns, lines, pane in _PANE_IN_LAYOUT.findall(layout)}
