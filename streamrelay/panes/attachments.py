"""Which control client carries which pane, and what becomes of a pane when its client or its place changes.

One client for each session that holds a watched pane. Everything that happens to panes and sessions is followed from
tmux's notifications, but each is only a reason to list the panes again: what tmux lists is the truth, and notifications
differ between versions. A pane that moves to another session is followed there; what it printed between the two
clients is not seen, so its stream says `gap` and goes on from a new snapshot.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace

from streamrelay.control import (
    CommandResult,
    ControlClient,
    ControlEvent,
    PaneOutput,
    Tmux,
    TransportName,
    command_line,
)
from streamrelay.control.notifications import SubscriptionChanged
from streamrelay.delta.profiles import Profile
from streamrelay.errors import CommandTimeout, PaneGone, ServerLost, StreamrelayError, TmuxError, UsageError
from streamrelay.events import ClosedReason
from streamrelay.panes.inventory import LIST_PANES, PaneInfo, parse_panes
from streamrelay.panes.pipeline import Listener, PanePipeline, Tap
from streamrelay.panes.selfcheck import SelfCheck, Verdict
from streamrelay.panes.snapshot import read_snapshot, snapshot_line
from streamrelay.vt.widths import Widths

logger = logging.getLogger(__name__)

SEED_TIMEOUT = 10.0

_PROGRAM = "streamrelay-program-"


def _follow_program(pane: str) -> str:
    """Return the line that has tmux tell, once a second, when another program comes to a pane's foreground."""
    return command_line(("refresh-client", "-B", f"{_PROGRAM}{pane}:{pane}:#{{pane_current_command}}"))


_DEAD = "streamrelay-dead"
_FOLLOW_DEATHS = command_line(("refresh-client", "-B", _DEAD + "::#{W:#{P:#{?pane_dead,#{pane_id} ,}}}"))
"""Has tmux tell which panes of the session are dead. With remain-on-exit a program's end is told in no other way, and
a subscription to the pane itself is no longer looked at then (tmux 3.8)."""


def _ignore(_result: CommandResult) -> None:
    """Ask for no answer."""


@dataclass(slots=True)
class _Attachment:
    pipeline: PanePipeline
    session: str
    client: ControlClient


class Attachments:
    """The control clients of one server and the panes they carry."""

    def __init__(self, tmux: Tmux, transport: TransportName, profiles: Sequence[Profile]) -> None:
        self._tmux = tmux
        self._profiles = profiles
        self._transport: TransportName = transport
        self._clients: dict[str, ControlClient] = {}
        self._panes: dict[str, _Attachment] = {}
        self._inventory: dict[str, list[PaneInfo]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.widths: Widths | None = None
        """How wide characters are to this server; None for the built-in table."""
        self.selfcheck = SelfCheck()
        self._changing = asyncio.Lock()
        self._listing_wanted = False

    async def panes(self) -> dict[str, list[PaneInfo]]:
        """List every pane of the server, by id; a pane whose window is linked into several sessions has several."""
        self._inventory = parse_panes(await self.query(LIST_PANES))
        return self._inventory

    async def query(self, *commands: Sequence[str]) -> list[str]:
        """Run tmux commands in one line and return what they print, over a client where there is one."""
        for client in tuple(self._clients.values()):
            with contextlib.suppress(ServerLost):
                result = await client.command(command_line(*commands))
                return [line.decode(errors="replace") for line in result.lines]
        words: list[str] = []
        for command in commands:
            # As an argument of its own, or at the end of one, a semicolon would begin the next command.
            words += [";", *(word[:-1] + "\\;" if word.endswith(";") else word for word in command)]
        return (await self._tmux.run(*words[1:])).splitlines()

    async def watch(self, info: PaneInfo, listener: Listener, tap: Tap | None = None) -> PanePipeline:
        """Hand a pane's events to `listener` from here on; opens its pipeline where there is none yet.

        `tap` is handed what the pipeline is told: all of it, so raises UsageError where there is one already.
        """
        async with self._changing:
            attached = self._panes.get(info.pane)
            if attached is not None and tap is not None:
                raise UsageError(f"pane {info.pane} is watched already", hint="record it before anything watches it")
            pipeline = (
                PanePipeline(info, self._profiles, widths=self.widths, tap=tap)
                if attached is None
                else attached.pipeline
            )
            pipeline.add_listener(listener)
            if attached is None:
                if not self._inventory:
                    await self.panes()
                await self._attach(pipeline, info.session)
            return pipeline

    async def unwatch(self, pane: str) -> None:
        """Let go of a pane nobody listens to any more, and of its client if that carries no other."""
        async with self._changing:
            attached = self._panes.get(pane)
            if attached is not None and not attached.pipeline.has_listeners:
                del self._panes[pane]
                attached.pipeline.discard()
                with contextlib.suppress(TmuxError):
                    await attached.client.command(command_line(("refresh-client", "-B", _PROGRAM + pane)))
            # A pane that closed by itself is no longer there, but its client may be.
            await self._drop_idle_clients()

    def is_watched(self, pane: str) -> bool:
        """Tell whether a pane is there and watched."""
        return pane in self._panes

    def pipeline(self, pane: str) -> PanePipeline:
        """Return the pipeline of a watched pane; raises PaneGone if it is not watched."""
        return self._attached(pane).pipeline

    async def command(self, pane: str, line: str) -> CommandResult:
        """Send a command line over the client that carries a pane."""
        return await self._attached(pane).client.command(line)

    async def check(self, pane: str) -> Verdict | None:
        """Compare a watched pane's screen with what tmux holds; None if the pane goes away or is just resized."""
        attached = self._attached(pane)
        judged: asyncio.Future[Verdict | None] = asyncio.get_running_loop().create_future()

        def judge(result: CommandResult) -> None:
            verdicts: list[Verdict | None] = [None]
            blocks = [] if result.error else [block.lines for block in result.blocks]
            self._guarded(attached.pipeline, lambda: verdicts.append(attached.pipeline.check(self.selfcheck, blocks)))
            if not judged.done():
                judged.set_result(verdicts[-1])

        attached.client.request(snapshot_line(pane), judge)
        try:
            async with asyncio.timeout(SEED_TIMEOUT):
                return await judged
        except TimeoutError as error:
            words = f"tmux did not show pane {pane} in {SEED_TIMEOUT:g} s"
            raise CommandTimeout(words, data={"pane": pane}) from error

    @property
    def resting(self) -> list[str]:
        """The watched panes in which nothing happens."""
        return [pane for pane, attached in self._panes.items() if attached.pipeline.rests]

    async def close(self) -> None:
        """Leave every session, as if nobody had been there."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for attached in self._panes.values():
            attached.pipeline.discard()
        self._panes.clear()
        await self._drop_idle_clients()

    def _attached(self, pane: str) -> _Attachment:
        attached = self._panes.get(pane)
        if attached is None:
            raise PaneGone(f"pane {pane} is not there any more", data={"pane": pane})
        return attached

    # Clients

    async def _attach(self, pipeline: PanePipeline, session: str) -> None:
        pane = pipeline.info.pane
        self._panes[pane] = _Attachment(pipeline, session, await self._client(session))
        try:
            await self._seed(pane)
        except BaseException:
            self._panes.pop(pane, None)
            await self._drop_idle_clients()
            raise

    async def _client(self, session: str) -> ControlClient:
        client = self._clients.get(session)
        if client is None:
            client = ControlClient(
                self._tmux,
                session,
                lambda events, read_at: self._handle(session, events, read_at),
                transport=self._transport,
            )
            await client.open()
            self._clients[session] = client
            client.request(_FOLLOW_DEATHS, _ignore)
            self._spawn(self._outlive(session, client))
        return client

    async def _drop_idle_clients(self) -> None:
        in_use = {attached.session for attached in self._panes.values()}
        for session in self._clients.keys() - in_use:
            await self._clients.pop(session).aclose()

    async def _outlive(self, session: str, client: ControlClient) -> None:
        """Wait for the end of a client, and see what became of the panes it carried."""
        end = await client.closed
        async with self._changing:
            if self._clients.get(session) is not client:
                return
            del self._clients[session]
            orphans = {pane: attached for pane, attached in self._panes.items() if attached.client is client}
            known = self._inventory.keys()
            try:
                await self.panes()
            except TmuxError:
                # With its last pane an orderly server ends too; one that had other panes, or left abruptly, was ended.
                was_ended = end.abrupt or known != orphans.keys()
                for pane in orphans:
                    self._close(pane, "server_lost" if was_ended else "pane_gone")
                return
            for pane, attached in orphans.items():
                await self._follow(pane, attached)

    # Panes

    async def _seed(self, pane: str) -> None:
        """Splice a snapshot into the stream: what was printed before it is in it, what comes after it is fed."""
        attached = self._panes[pane]
        seeded = asyncio.get_running_loop().create_future()

        def splice(result: CommandResult) -> None:
            snapshot = None if result.error else read_snapshot([block.lines for block in result.blocks])
            if snapshot is not None and not attached.pipeline.closed:
                self._guarded(attached.pipeline, lambda: attached.pipeline.seed(snapshot))
            if not seeded.done():
                seeded.set_result(snapshot is not None)

        attached.client.request(snapshot_line(pane), splice)
        attached.client.request(_follow_program(pane), _ignore)
        try:
            async with asyncio.timeout(SEED_TIMEOUT):
                await seeded
        except TimeoutError as error:
            words = f"tmux did not show pane {pane} in {SEED_TIMEOUT:g} s"
            raise CommandTimeout(words, data={"pane": pane}) from error
        if not seeded.result():
            raise PaneGone(f"pane {pane} was closed while it was being read", data={"pane": pane})

    def _handle(self, session: str, events: Sequence[ControlEvent], read_at: float) -> None:
        for event in events:
            if isinstance(event, PaneOutput):
                attached = self._panes.get(event.pane)
                if attached is not None and attached.session == session:
                    self._render(attached.pipeline, event.data, read_at)
            elif isinstance(event, SubscriptionChanged):
                self._program_changed(event)
            else:
                self._want_listing()

    def _program_changed(self, event: SubscriptionChanged) -> None:
        attached = self._panes.get(event.name.removeprefix(_PROGRAM))
        if attached is not None:
            attached.pipeline.update(replace(attached.pipeline.info, command=event.value))
        elif event.name == _DEAD and event.value:
            self._want_listing()

    def _want_listing(self) -> None:
        if not self._listing_wanted:
            self._listing_wanted = True
            self._spawn(self._list_again())

    def _render(self, pipeline: PanePipeline, data: bytes, read_at: float) -> None:
        self._guarded(pipeline, lambda: pipeline.output(data, read_at))

    def _guarded(self, pipeline: PanePipeline, step: Callable[[], None]) -> None:
        """Let one pane take a step; a defect that its bytes bring to light ends its stream and nobody else's."""
        try:
            step()
        except Exception:
            pane = pipeline.info.pane
            logger.exception("the pipeline of pane %s failed", pane)
            self._panes.pop(pane, None)
            pipeline.fail()

    async def _list_again(self) -> None:
        async with self._changing:
            self._listing_wanted = False
            with contextlib.suppress(TmuxError):
                await self.panes()
                for pane, attached in tuple(self._panes.items()):
                    await self._follow(pane, attached)

    async def _follow(self, pane: str, attached: _Attachment) -> None:
        """Bring one pane up to date with the inventory."""
        places = self._inventory.get(pane)
        if places is not None and places[0].dead:
            self._close(pane, "pane_gone")
            return
        if places is None:
            sessions = {info.session for infos in self._inventory.values() for info in infos}
            self._close(pane, "pane_gone" if attached.session in sessions else "session_gone")
            return
        here = next((info for info in places if info.session == attached.session), None)
        pipeline = attached.pipeline
        try:
            if here is not None and attached.session in self._clients:
                resized = (here.columns, here.lines) != (pipeline.info.columns, pipeline.info.lines)
                pipeline.update(here)
                if resized:
                    await self._seed(pane)
            else:
                pipeline.missed("detached" if here is not None else "moved")
                pipeline.update(places[0])
                await self._attach(pipeline, places[0].session)
                await self._drop_idle_clients()
        except StreamrelayError:
            # It went away while it was being followed: by then it may be nobody's.
            self._panes.pop(pane, None)
            pipeline.close("pane_gone")

    def _close(self, pane: str, reason: ClosedReason) -> None:
        attached = self._panes.pop(pane, None)
        if attached is not None:
            attached.pipeline.close(reason)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
