"""What becomes of carried panes: they move, are resized, run other programs, end.

What happens to panes, windows and sessions is followed from tmux's notifications, but each is only a reason to list
again the window it names: what tmux lists is the truth, and notifications differ between versions. So following costs
what happens, not what is there. A pane that moves to a window that was not linked is followed there; what it printed
meanwhile comes late (`panes.recovery`).
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
from streamrelay.control.hub import DEATHS, Place
from streamrelay.errors import StreamrelayError, TmuxError
from streamrelay.panes.carrying import Carrier
from streamrelay.panes.hub import Hub
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.looks import Look, Looks, look_line, read_looks
from streamrelay.panes.pipeline import PanePipeline

_PANE_IN_LAYOUT = regex.compile(r"\d+x\d+,\d+,\d+,(\d+)")


class Follower:
    """Keeps what is carried where tmux has it."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._looks = Looks(self._look)
        self._changed: set[str] = set()
        self._sessions_changed = False
        self._settling = False

    def stop(self) -> None:
        """Nothing is carried: look at nothing."""
        self._looks.stop()

    def handle(self, events: Sequence[ControlEvent], read_at: float) -> None:
        """Take what was read of the hub's client, and when (loop time)."""
        for event in events:
            if isinstance(event, PaneOutput):
                carried = self._carrier.carried.get(event.pane)
                if carried is not None:
                    carried.pipeline.output(event.data, read_at)
                    self._looks.printed(event.pane)
                elif self._carrier.hub is not None:
                    self._carrier.pause(self._carrier.hub, event.pane)
            else:
                self._notice(event)
        self._carrier.rendering.take_turns()

    def _notice(self, event: ControlEvent) -> None:
        """Take up what a notification says has changed, if it is about what is carried here."""
        hub = self._carrier.hub
        if hub is None:
            return
        match event:
            case LayoutChange() | WindowAdd() | WindowClose() | UnlinkedWindowClose() if hub.holds(event.window):
                if isinstance(event, LayoutChange):
                    self._mark_absent(event)
                self._want(event.window)
            case SubscriptionChanged(name=name, value=value) if name == DEATHS:
                self._want(
                    *(self._carrier.carried[pane].window for pane in value.split() if pane in self._carrier.carried)
                )
            case Pause(pane=pane) if pane in self._carrier.carried:
                # tmux has dropped what this pane was behind; its history is asked for it.
                pipeline = self._carrier.carried[pane].pipeline
                if self._carrier.guarded(pipeline, pipeline.paused):
                    self._carrier.spawn(self._carrier.seed_again(pipeline))
            case SessionsChanged() | ClientDetached():
                self._sessions_changed = True
                self._want()
            case SessionRenamed(session=session, name=name):
                for carried in self._carrier.carried.values():
                    if carried.pipeline.info.session == session:
                        carried.pipeline.update(replace(carried.pipeline.info, session_name=name))
            case _:
                pass

    def _mark_absent(self, event: LayoutChange) -> None:
        """Note which panes are not in their window any more: they may be back before it is listed."""
        there = {f"%{number}" for number in _PANE_IN_LAYOUT.findall(event.layout)}
        for pane in [
            pane for pane, one in self._carrier.carried.items() if one.window == event.window and pane not in there
        ]:
            pipeline = self._carrier.carried[pane].pipeline
            self._carrier.guarded(pipeline, partial(pipeline.missed, "moved"))

    def _want(self, *windows: str) -> None:
        self._changed.update(windows)
        if not self._settling:
            self._settling = True
            self._carrier.spawn(self._settle())

    async def _settle(self) -> None:
        async with self._carrier.changing:
            self._settling = False
            changed, self._changed = self._changed, set()
            sessions_changed, self._sessions_changed = self._sessions_changed, False
            hub = self._carrier.hub
            if hub is None:
                return
            with contextlib.suppress(TmuxError):
                if sessions_changed and await hub.is_alone():
                    self._carrier.close(list(self._carrier.carried), "pane_gone")
                    await self._carrier.drop(())
                    return
                await self._follow(hub, {window for window in changed if hub.holds(window)})

    async def _follow(self, hub: Hub, windows: set[str]) -> None:
        """Bring the panes of windows in which something changed up to date."""
        listed: dict[str, list[PaneInfo]] = {}
        for reply in await asyncio.gather(*map(self._carrier.list_panes, windows)):
            listed |= reply
        carried = {pane: one for pane, one in self._carrier.carried.items() if one.window in windows}
        now = {pane: listed[pane][0] for pane in carried if pane in listed}
        now |= await self._carrier.find_again([pane for pane in carried if pane not in now])
        await self._let_go(hub, now)
        gone = [pane for pane in carried if pane not in now or now[pane].dead]
        moved: list[PanePipeline] = []
        seeded_anew: list[PanePipeline] = []
        for pane, one in carried.items():
            if pane in gone:
                continue
            was, here = one.pipeline.info, now[pane]
            if here.window != one.window or one.pipeline.has_moved:
                self._carrier.guarded(one.pipeline, partial(one.pipeline.moved, here))
                moved.append(one.pipeline)
            elif (was.columns, was.lines) != (here.columns, here.lines) or was.is_replaced_by(here):
                seeded_anew.append(one.pipeline)
            self._carrier.guarded(one.pipeline, partial(one.pipeline.update, here))
            if here.remains:
                self._carrier.follow_deaths(hub)
        if gone:
            left = {one.session for one in await hub.sessions() if not one.hub}
            for pane in gone:
                if pane in now:
                    await self._carrier.bury(hub, pane)
                # With the last session the server ends, hubs or not; of that the pane was the last.
                ended_alone = not left or carried[pane].pipeline.info.session in left
                self._carrier.close([pane], "pane_gone" if ended_alone else "session_gone")
        # What failed above has ended, and is not to be carried again.
        await self._carrier.carry_on([one for one in moved if not one.closed])
        await asyncio.gather(*(self._carrier.seed(one) for one in seeded_anew if not one.closed))

    async def _let_go(self, hub: Hub, now: dict[str, PaneInfo]) -> None:
        """See what becomes of windows that only hubs hold; takes the panes of those that end out of `now`."""
        alone = [self._carrier.carried[pane].pipeline.info for pane, info in now.items() if info.in_hub]
        if alone:
            former = {info.window: Place(info.session, info.window_index, info.window, hub=False) for info in alone}
            ended = await hub.let_go(former.values())
            for info in alone:
                if info.window in ended:
                    del now[info.pane]
                else:
                    now |= await self._carrier.find_again([info.pane])

    def _look(self, panes: Sequence[str]) -> None:
        carried = [pane for pane in panes if pane in self._carrier.carried]

        def answered(result: CommandResult) -> None:
            self._looks.answered()
            for look in read_looks(result.lines):
                self._looked(look)

        try:
            self._carrier.client().request(look_line(carried), answered)
        except StreamrelayError:
            self._looks.answered()

    def _looked(self, look: Look) -> None:
        carried = self._carrier.carried.get(look.pane)
        if carried is None:
            return
        if look.dead:
            self._want(carried.window)
            return
        pipeline, was = carried.pipeline, carried.pipeline.info
        here = was.running(look.command, look.pid)
        if here is was:
            return
        self._carrier.guarded(pipeline, partial(pipeline.update, here))
        if was.is_replaced_by(here):
            self._carrier.spawn(self._carrier.seed_again(pipeline))
