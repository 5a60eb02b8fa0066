"""The panes that are carried: their pipelines, where they are, and what becomes of them.

One client on a hub hears them all (`panes.hub`). What happens to panes, windows and sessions is followed from tmux's
notifications, but each is only a reason to list again the window it names: what tmux lists is the truth, and
notifications differ between versions. So following costs what happens, not what is there. A pane that moves to a
window that was not linked is followed there; what it printed meanwhile comes late (`panes.recovery`).

tmux sends every pane of a linked window, and once it has sent anything of a pane it keeps for us what that prints while
its window is not linked, without bound (3.3a to 3.8). So whatever is heard of and not carried is paused.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import regex

from streamrelay.control import (
    ClientDetached,
    CommandResult,
    ControlClient,
    ControlEvent,
    LayoutChange,
    PaneOutput,
    Pause,
    SessionRenamed,
    SessionsChanged,
    SubscriptionChanged,
    Tmux,
    TransportName,
    UnlinkedWindowClose,
    WindowAdd,
    WindowClose,
    command_line,
)
from streamrelay.control.hub import Place
from streamrelay.delta.profiles import Profile
from streamrelay.errors import (
    CommandFailed,
    CommandTimeout,
    NoServer,
    PaneGone,
    ServerLost,
    StreamrelayError,
    TargetNotFound,
    TmuxError,
    UsageError,
)
from streamrelay.events import ClosedReason
from streamrelay.panes.burial import last_words
from streamrelay.panes.hub import Hub
from streamrelay.panes.inventory import LIST_PANES, PaneInfo, list_window, parse_panes
from streamrelay.panes.log import PaneLog
from streamrelay.panes.looks import Look, Looks, look_line, read_looks
from streamrelay.panes.pipeline import Listener, PanePipeline, Tap
from streamrelay.panes.reconnecting import Patience
from streamrelay.panes.recovery import place_line
from streamrelay.panes.rendering import Rendering
from streamrelay.panes.selfcheck import SelfCheck, Verdict
from streamrelay.panes.snapshot import read_snapshot, snapshot_line
from streamrelay.vt.widths import Widths

logger = logging.getLogger(__name__)

SEED_TIMEOUT = 10.0
_AT_ONCE = 256
"""Panes whose screens are asked for together; their replies wait in tmux until they are read."""
_LOOKS = 4
_LATE = 0.03
"""How often, and after how many seconds of silence, it is looked whether all has come that a moved pane printed."""
_ATTEMPTS = 20
"""How often a pane that moves while its window is being linked is looked for again."""

_Result = TypeVar("_Result")

_PANE_IN_LAYOUT = regex.compile(r"\d+x\d+,\d+,\d+,(\d+)")
_DEAD = "streamrelay-dead"
_FOLLOW_DEATHS = command_line(("refresh-client", "-B", _DEAD + "::#{W:#{P:#{?pane_dead,#{pane_id} ,}}}"))
"""Has tmux tell, once a second, which panes are dead. Of a pane that remains when its program ends, that is told in no
other way, and a subscription to the pane itself is no longer looked at then (tmux 3.8)."""


@dataclass(slots=True)
class _Carried:
    pipeline: PanePipeline
    window: str
    """The window for which the hub is held."""


class Attachments:
    """The hub of one server and the panes it carries."""

    def __init__(self, tmux: Tmux, transport: TransportName, profiles: Sequence[Profile]) -> None:
        self._tmux = tmux
        self.profiles = profiles
        """By which panes are read that are attached to from now on."""
        self._transport: TransportName = transport
        self._hub: Hub | None = None
        self._panes: dict[str, _Carried] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.widths: Widths | None = None
        """How wide characters are to this server; None for the built-in table."""
        self.selfcheck = SelfCheck()
        self._paused: set[str] = set()
        self._looks = Looks(self._look)
        self._patience = Patience()
        self._rendering: Rendering[PanePipeline] = Rendering(hold=self._hold, failed=self._failed)
        self._changing = asyncio.Lock()
        self._changed: set[str] = set()
        self._sessions_changed = False
        self._settling = False
        self._follows_deaths = False

    async def panes(self) -> dict[str, list[PaneInfo]]:
        """List every pane of the server, by id; a pane whose window is linked into several sessions has several."""
        return parse_panes(await self.query(LIST_PANES))

    async def query(self, *commands: Sequence[str]) -> list[str]:
        """Run tmux commands in one line and return what they print, over the client where there is one."""
        if self._hub is not None:
            with contextlib.suppress(ServerLost):
                result = await self._hub.client.command(command_line(*commands))
                return [line.decode(errors="replace") for line in result.lines]
        words: list[str] = []
        for command in commands:
            # As an argument of its own, or at the end of one, a semicolon would begin the next command.
            words += [";", *(word[:-1] + "\\;" if word.endswith(";") else word for word in command)]
        return (await self._tmux.run(*words[1:])).splitlines()

    async def watch(
        self, infos: Iterable[PaneInfo], listener: Listener, tap: Tap | None = None, log: PaneLog | None = None
    ) -> list[PanePipeline]:
        """Hand the events of panes to `listener` from here on; opens pipelines where there are none yet.

        `tap` is handed what the pipelines are told: all of it, so raises UsageError where there is one already; `log`,
        that of a single pane, likewise, and what it holds the pane's stream is told again first. Raises PaneGone where
        one of the panes is not there any more; then none is watched.
        """
        async with self._changing:
            pipelines, new = [], []
            for info in infos:
                carried = self._panes.get(info.pane)
                if carried is None:
                    told = tap if log is None else log.take
                    new.append(
                        PanePipeline(info, self.profiles, rendering=self._rendering, widths=self.widths, tap=told)
                    )
                elif tap is not None or log is not None:
                    raise UsageError(
                        f"pane {info.pane} is watched already", hint="record it before anything watches it"
                    )
                pipelines.append(new[-1] if carried is None else carried.pipeline)
                pipelines[-1].add_listener(listener)
                if log is not None:
                    _resume(pipelines[-1], log)
            try:
                if gone := await self._carry(new):
                    pane = gone[0].info.pane
                    raise PaneGone(f"pane {pane} was closed while it was being read", data={"pane": pane})
            except BaseException:
                for pipeline in pipelines:
                    pipeline.remove_listener(listener)
                await self._drop(pipeline.info.pane for pipeline in pipelines)
                raise
            return pipelines

    async def unwatch(self, panes: Iterable[str]) -> None:
        """Let go of panes nobody listens to any more, and of the hub when it carries none."""
        async with self._changing:
            await self._drop(panes)

    def is_watched(self, pane: str) -> bool:
        """Tell whether a pane is there and watched."""
        return pane in self._panes

    def pipeline(self, pane: str) -> PanePipeline:
        """Return the pipeline of a watched pane; raises PaneGone if it is not watched."""
        carried = self._panes.get(pane)
        if carried is None:
            raise PaneGone(f"pane {pane} is not there any more", data={"pane": pane})
        return carried.pipeline

    async def command(self, pane: str, line: str) -> CommandResult:
        """Send a command line over the client that carries a pane."""
        self.pipeline(pane)
        return await self._client().command(line)

    async def check(self, pane: str) -> Verdict | None:
        """Compare a watched pane's screen with what tmux holds; None if the pane goes away or is just resized."""
        pipeline = self.pipeline(pane)

        def judge(blocks: list[Sequence[bytes]]) -> Verdict | None:
            verdicts: list[Verdict | None] = [None]
            self._guarded(pipeline, lambda: verdicts.append(pipeline.check(self.selfcheck, blocks)))
            return verdicts[-1]

        return await self._at_reply(pane, snapshot_line(pane), judge)

    async def renew(self, pane: str, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Have a pane's stream begin anew in another log; False for a pane that does not rest."""
        pipeline = self.pipeline(pane)

        def renew(blocks: list[Sequence[bytes]]) -> bool:
            snapshot, done = read_snapshot(blocks), [False]
            if snapshot is not None and not pipeline.closed:
                self._guarded(pipeline, lambda: done.append(pipeline.renew(snapshot, log, renewed)))
            return done[-1]

        return await self._at_reply(pane, snapshot_line(pane), renew)

    @property
    def resting(self) -> list[str]:
        """The watched panes in which nothing happens."""
        return [pane for pane, carried in self._panes.items() if carried.pipeline.rests]

    async def close(self) -> None:
        """Leave the server, as if nobody had been there."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for carried in self._panes.values():
            carried.pipeline.discard()
        self._panes.clear()
        await self._drop(())

    # The hub

    def _client(self) -> ControlClient:
        if self._hub is None:
            raise ServerLost("the connection to tmux ended")
        return self._hub.client

    async def _opened(self) -> Hub:
        if self._hub is None:
            hub = await Hub(self._tmux, self._handle, transport=self._transport).open()
            self._hub = hub
            self._paused.clear()
            self._follows_deaths = False
            self._spawn(self._outlive(hub))
        return self._hub

    async def _outlive(self, hub: Hub) -> None:
        """Wait for the end of a hub that was not asked to end, and carry its panes over another."""
        await hub.client.closed
        async with self._changing:
            if self._hub is not hub:
                return
            self._hub = None
            await hub.aclose()
            carried = list(self._panes.values())
            while (wait := self._patience.wait(asyncio.get_running_loop().time())) is not None:
                await asyncio.sleep(wait)
                try:
                    await self._connect_again(carried)
                except NoServer:
                    break
                except TmuxError as error:
                    logger.info("connecting to tmux again failed: %s", error)
                else:
                    return
            self._close(list(self._panes), "server_lost")

    async def _connect_again(self, carried: Sequence[_Carried]) -> None:
        """Carry panes over a hub that is yet to be opened; closes those that are not there any more."""
        listed = await self.panes()
        self._panes = {one.pipeline.info.pane: one for one in carried if not one.pipeline.closed}
        self._close([pane for pane in self._panes if pane not in listed], "pane_gone")
        going_on = list(self._panes.values())
        self._panes = {}
        try:
            for one in going_on:
                one.pipeline.missed("detached")
                one.pipeline.update(listed[one.pipeline.info.pane][0])
            self._close_all(await self._carry([one.pipeline for one in going_on]))
        except TmuxError:
            self._panes = {one.pipeline.info.pane: one for one in going_on}
            raise

    async def _carry_on(self, pipelines: Sequence[PanePipeline]) -> None:
        """Carry panes that were carried before; those that cannot be are closed."""
        try:
            gone = await self._carry(pipelines)
        except StreamrelayError:
            gone = list(pipelines)
        self._close_all(gone)

    def _close_all(self, gone: Iterable[PanePipeline]) -> None:
        for pipeline in gone:
            self._panes.pop(pipeline.info.pane, None)
            pipeline.close("pane_gone")

    # Carrying

    async def _carry(self, pipelines: Sequence[PanePipeline]) -> list[PanePipeline]:
        """Link the windows of panes and seed their screens, many at once; returns those that are gone."""
        if not pipelines:
            return []
        hub = await self._opened()
        waiting, infos = list(pipelines), {one.info.pane: one.info for one in pipelines}
        heard: dict[str, list[PaneInfo]] = {}
        for _ in range(_ATTEMPTS):
            await asyncio.gather(*(self._place(hub, one, infos[one.info.pane]) for one in waiting))
            # A pane may have moved to another window before its own was linked.
            heard = parse_panes(await self.query(list_window(f"{hub.session}:", whole_session=True)), in_hub=True)
            waiting = [one for one in waiting if one.info.pane not in heard]
            if not waiting:
                break
            infos = await self._find_again([one.info.pane for one in waiting])
            waiting = [one for one in waiting if one.info.pane in infos]
        if any(heard[one.info.pane][0].remains for one in pipelines if one.info.pane in heard):
            self._follow_deaths(hub)
        there = [one for one in pipelines if one.info.pane in heard]
        seeded: set[str] = set()
        for at in range(0, len(there), _AT_ONCE):
            batch = there[at : at + _AT_ONCE]
            done = await asyncio.gather(*(self._rejoin(one) if one.has_moved else self._seed(one) for one in batch))
            seeded |= {one.info.pane for one, is_seeded in zip(batch, done, strict=True) if is_seeded}
        return [one for one in pipelines if one.info.pane not in seeded]

    async def _place(self, hub: Hub, pipeline: PanePipeline, info: PaneInfo) -> None:
        """Have the window of a pane linked instead of the one it had before."""
        carried = self._panes.get(info.pane)
        self._panes[info.pane] = _Carried(pipeline, info.window)
        self._paused.discard(info.pane)
        with contextlib.suppress(CommandFailed):
            await hub.hold(info.window)
        if carried is not None:
            hub.release(carried.window)
        pipeline.update(info)

    def _pause(self, hub: Hub, pane: str) -> None:
        """Have tmux neither send nor keep what a pane prints, until it is carried."""
        if pane not in self._paused:
            self._paused.add(pane)
            with contextlib.suppress(StreamrelayError):
                hub.client.request(command_line(("refresh-client", "-A", f"{pane}:pause")), _ignore)

    def _follow_deaths(self, hub: Hub) -> None:
        if not self._follows_deaths:
            self._follows_deaths = True
            hub.client.request(_FOLLOW_DEATHS, _ignore)

    async def _drop(self, panes: Iterable[str]) -> None:
        """Let go of panes nobody listens to, and of the hub when it carries none."""
        dropped = [
            carried for pane in panes if (carried := self._panes.get(pane)) and not carried.pipeline.has_listeners
        ]
        for carried in dropped:
            del self._panes[carried.pipeline.info.pane]
            carried.pipeline.discard()
        hub = self._hub
        if hub is not None and self._panes:
            for carried in dropped:
                self._pause(hub, carried.pipeline.info.pane)
                hub.release(carried.window)
        elif hub is not None:
            self._hub = None
            self._looks.stop()
            await hub.aclose()

    def _close(self, panes: Iterable[str], reason: ClosedReason) -> None:
        for pane in panes:
            carried = self._panes.pop(pane, None)
            if carried is not None:
                carried.pipeline.close(reason)
                if self._hub is not None:
                    self._hub.release(carried.window)

    async def _bury(self, hub: Hub, pane: str) -> None:
        """Close a pane whose program has ended and that remains, with the last words that tmux still has of it."""
        carried = self._panes.pop(pane)
        last = await last_words(hub.client, pane)
        self._guarded(carried.pipeline, lambda: carried.pipeline.bury(last))
        hub.release(carried.window)

    async def _seed(self, pipeline: PanePipeline) -> bool:
        """Splice a snapshot into the stream: what was printed before it is in it, what comes after it is fed."""

        def splice(blocks: list[Sequence[bytes]]) -> bool:
            there: list[bool] = []
            self._guarded(pipeline, lambda: there.append(pipeline.answer(blocks)))
            return any(there)

        return await self._at_reply(pipeline.info.pane, pipeline.question, splice)

    async def _rejoin(self, pipeline: PanePipeline) -> bool:
        """Go on with a pane that moved once all it printed has come, or with what tmux holds if it says no more."""
        line = place_line(pipeline.info.pane)
        for _ in range(_LOOKS):
            changed = asyncio.ensure_future(pipeline.changed())
            try:
                if await self._at_reply(pipeline.info.pane, line, pipeline.arrived) is not False:
                    return True
                await asyncio.wait([changed], timeout=_LATE)
            finally:
                changed.cancel()
        return await self._seed(pipeline)

    async def _seed_again(self, pipeline: PanePipeline) -> None:
        with contextlib.suppress(StreamrelayError):
            await self._seed(pipeline)

    async def _at_reply(self, pane: str, line: str, use: Callable[[list[Sequence[bytes]]], _Result]) -> _Result:
        """Ask how a pane stands, and return what `use` makes of it at its place in the stream; [] where it is gone."""
        used: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()

        def answered(result: CommandResult) -> None:
            value = use([] if result.error else [block.lines for block in result.blocks])
            if not used.done():
                used.set_result(value)

        self._client().request(line, answered)
        try:
            async with asyncio.timeout(SEED_TIMEOUT):
                return await used
        except TimeoutError as error:
            words = f"tmux did not show pane {pane} in {SEED_TIMEOUT:g} s"
            raise CommandTimeout(words, data={"pane": pane}) from error

    def _guarded(self, pipeline: PanePipeline, step: Callable[[], object]) -> None:
        """Let one pane take a step; a defect that its bytes bring to light ends its stream and nobody else's."""
        try:
            step()
        except Exception:  # noqa: BLE001  # it is logged
            self._failed(pipeline)

    def _failed(self, pipeline: PanePipeline) -> None:
        pane = pipeline.info.pane
        logger.exception("the pipeline of pane %s failed", pane)
        if (carried := self._panes.pop(pane, None)) is not None and self._hub is not None:
            self._pause(self._hub, pane)
            self._hub.release(carried.window)
        pipeline.fail()

    def _hold(self, hold: bool) -> None:
        """Read nothing while too much waits to be rendered."""
        if self._hub is not None:
            if hold:
                self._hub.client.pause_reading()
            else:
                self._hub.client.resume_reading()

    # Following

    def _handle(self, events: Sequence[ControlEvent], read_at: float) -> None:
        for event in events:
            if isinstance(event, PaneOutput):
                carried = self._panes.get(event.pane)
                if carried is not None:
                    carried.pipeline.output(event.data, read_at)
                    self._looks.printed(event.pane)
                elif self._hub is not None:
                    self._pause(self._hub, event.pane)
            else:
                self._notice(event)
        self._rendering.take_turns()

    def _notice(self, event: ControlEvent) -> None:
        """Take up what a notification says has changed, if it is about what is carried here."""
        hub = self._hub
        if hub is None:
            return
        match event:
            case LayoutChange() | WindowAdd() | WindowClose() | UnlinkedWindowClose() if hub.holds(event.window):
                if isinstance(event, LayoutChange):
                    self._mark_absent(event)
                self._want(event.window)
            case SubscriptionChanged(name=name, value=value) if name == _DEAD:
                self._want(*(self._panes[pane].window for pane in value.split() if pane in self._panes))
            case Pause(pane=pane) if pane in self._panes:
                # tmux has dropped what this pane was behind; its history is asked for it.
                self._panes[pane].pipeline.missed("paused")
                self._spawn(self._seed_again(self._panes[pane].pipeline))
            case SessionsChanged() | ClientDetached():
                self._sessions_changed = True
                self._want()
            case SessionRenamed(session=session, name=name):
                for carried in self._panes.values():
                    if carried.pipeline.info.session == session:
                        carried.pipeline.update(replace(carried.pipeline.info, session_name=name))
            case _:
                pass

    def _mark_absent(self, event: LayoutChange) -> None:
        """Note which panes are not in their window any more: they may be back before it is listed."""
        there = {f"%{number}" for number in _PANE_IN_LAYOUT.findall(event.layout)}
        for pane in [pane for pane, one in self._panes.items() if one.window == event.window and pane not in there]:
            pipeline = self._panes[pane].pipeline
            self._guarded(pipeline, partial(pipeline.missed, "moved"))

    def _want(self, *windows: str) -> None:
        self._changed.update(windows)
        if not self._settling:
            self._settling = True
            self._spawn(self._settle())

    async def _settle(self) -> None:
        async with self._changing:
            self._settling = False
            changed, self._changed = self._changed, set()
            sessions_changed, self._sessions_changed = self._sessions_changed, False
            hub = self._hub
            if hub is None:
                return
            with contextlib.suppress(TmuxError):
                if sessions_changed and await hub.is_alone():
                    self._close(list(self._panes), "pane_gone")
                    await self._drop(())
                    return
                await self._follow(hub, {window for window in changed if hub.holds(window)})

    async def _follow(self, hub: Hub, windows: set[str]) -> None:
        """Bring the panes of windows in which something changed up to date."""
        listed: dict[str, list[PaneInfo]] = {}
        for reply in await asyncio.gather(*map(self._list, windows)):
            listed |= reply
        carried = {pane: one for pane, one in self._panes.items() if one.window in windows}
        now = {pane: listed[pane][0] for pane in carried if pane in listed}
        now |= await self._find_again([pane for pane in carried if pane not in now])
        await self._let_go(hub, now)
        gone = [pane for pane in carried if pane not in now or now[pane].dead]
        moved: list[PanePipeline] = []
        resized: list[PanePipeline] = []
        for pane, one in carried.items():
            if pane in gone:
                continue
            was, here = one.pipeline.info, now[pane]
            if here.window != one.window or one.pipeline.has_moved:
                self._guarded(one.pipeline, partial(one.pipeline.moved, here))
                moved.append(one.pipeline)
            elif (was.columns, was.lines) != (here.columns, here.lines):
                resized.append(one.pipeline)
            one.pipeline.update(here)
            if here.remains:
                self._follow_deaths(hub)
        if gone:
            left = {one.session for one in await hub.sessions() if not one.hub}
            for pane in gone:
                if pane in now:
                    await self._bury(hub, pane)
                # With the last session the server ends, hubs or not; of that the pane was the last.
                ended_alone = not left or carried[pane].pipeline.info.session in left
                self._close([pane], "pane_gone" if ended_alone else "session_gone")
        await self._carry_on(moved)
        await asyncio.gather(*map(self._seed, resized))

    async def _let_go(self, hub: Hub, now: dict[str, PaneInfo]) -> None:
        """See what becomes of windows that only hubs hold; takes the panes of those that end out of `now`."""
        alone = [self._panes[pane].pipeline.info for pane, info in now.items() if info.in_hub]
        if alone:
            former = {info.window: Place(info.session, info.window_index, info.window, hub=False) for info in alone}
            ended = await hub.let_go(former.values())
            for info in alone:
                if info.window in ended:
                    del now[info.pane]
                else:
                    now |= await self._find_again([info.pane])

    async def _list(self, target: str) -> dict[str, list[PaneInfo]]:
        """List the panes of a window, or of the window that has a pane; of one that is gone, none."""
        with contextlib.suppress(CommandFailed, TargetNotFound):
            return parse_panes(await self.query(list_window(target)), in_hub=True)
        return {}

    async def _find_again(self, panes: Sequence[str]) -> dict[str, PaneInfo]:
        """Return what there is to say of panes now, of those that are somewhere."""
        replies = await asyncio.gather(*map(self._list, panes))
        return {pane: reply[pane][0] for pane, reply in zip(panes, replies, strict=True) if pane in reply}

    def _look(self, panes: Sequence[str]) -> None:
        carried = [pane for pane in panes if pane in self._panes]

        def answered(result: CommandResult) -> None:
            self._looks.answered()
            for look in read_looks(result.lines):
                self._looked(look)

        try:
            self._client().request(look_line(carried), answered)
        except StreamrelayError:
            self._looks.answered()

    def _looked(self, look: Look) -> None:
        carried = self._panes.get(look.pane)
        if carried is None:
            return
        if look.dead:
            self._want(carried.window)
        elif look.command != carried.pipeline.info.command:
            carried.pipeline.update(replace(carried.pipeline.info, command=look.command))

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _resume(pipeline: PanePipeline, log: PaneLog) -> None:
    """Go on with what is in a log, or begin it."""
    past = log.past()
    if past is None:
        log.begin(pipeline.began)
    else:
        pipeline.resume(past)


def _ignore(_result: CommandResult) -> None:
    """Ask for no answer."""
