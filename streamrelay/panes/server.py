"""A running tmux server, as the library shows it: what panes it has, and streams of what their programs say."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import regex

from streamrelay.agents import AgentProfile
from streamrelay.agents.profile import LaneChoice
from streamrelay.control import CommandResult, ServerInfo, Tmux, TransportName
from streamrelay.delta.inputs import WitnessPolicy
from streamrelay.errors import CommandFailed, PaneGone, StreamrelayError, TargetNotFound, UsageError
from streamrelay.events import Event, PaneClosed
from streamrelay.panes.attachments import Attachments
from streamrelay.panes.close_errors import closing_error
from streamrelay.panes.inventory import PaneInfo, find_target, parse_pane, suggested
from streamrelay.panes.listeners import Follows, Listener, always, never
from streamrelay.panes.live import InputRecorder
from streamrelay.panes.log import PaneLog, last_events
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.reconnect import ReconnectingPanes
from streamrelay.panes.recorder import LiveRecording, recording_into
from streamrelay.panes.selfcheck import SelfCheck, SelfCheckResult
from streamrelay.panes.subscription import MAX_QUEUE, Subscription
from streamrelay.panes.widths import WidthCache, expected
from streamrelay.panes.witness import WitnessSource
from streamrelay.recordings.writer import RecordingWriter

_PLAIN_NAME = regex.compile(r"[^:.%@$=!+{~-][^:.]*")


def _exactly(target: str, info: PaneInfo) -> str:
    """Return what finds a target again that named the session of `info`, and never one whose name only begins so."""
    return f"={target}" if target.partition(":")[0] == info.session_name else target


def _is_same_file(one: str, other: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(one).samefile(other)
    return False


class Server:
    """One tmux server; an async context manager that lets go of it without a trace."""

    def __init__(
        self,
        tmux: Tmux,
        *,
        transport: TransportName = "pipes",
        self_check: float | None = None,
        profiles: Sequence[AgentProfile] = (),
        witness: WitnessPolicy = "prefer",
        lane: LaneChoice = "paste",
    ) -> None:
        self.lane: LaneChoice = lane
        """How messages reach agents that have an API of their own."""
        self._tmux = tmux
        self._self_check = self_check
        self._sampling: asyncio.Task[None] | None = None
        self._info: ServerInfo | None = None
        self._profiles = {profile.name: profile for profile in profiles}
        witnesses = None if witness == "off" else WitnessSource(self.profile, witness)
        self._attachments = Attachments(tmux, transport, [profile.reading for profile in profiles], witnesses)

    async def __aenter__(self) -> Self:
        await self._probe()
        if self._self_check is not None:
            self._sampling = asyncio.ensure_future(self._sample(self._self_check))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sampling is not None:
            self._sampling.cancel()
            await asyncio.gather(self._sampling, return_exceptions=True)
        await self._attachments.close()

    @property
    def info(self) -> ServerInfo:
        """The server's version, pid and socket; raises UsageError before the server is entered."""
        if self._info is None:
            raise UsageError("the server is not connected yet", hint="use it in `async with`")
        return self._info

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine: only then do its processes, terminal devices and files mean anything."""
        return not self.info.host

    def terminal(self, info: PaneInfo) -> str:
        """Return the path of a pane's terminal device; empty where there is none to be had, as on another machine."""
        return info.tty if self.is_here else ""

    async def started(self) -> str:
        """Return when the server was started, as tmux writes it: with its pid and socket, what no other server is."""
        return (await self._attachments.query(("display-message", "-p", "#{start_time}")))[-1]

    async def panes(self) -> list[PaneInfo]:
        """List the panes of the server, in tmux's order; a pane linked into several sessions once."""
        return [places[0] for places in (await self._attachments.panes()).values()]

    async def panes_in(self, sessions: Collection[str]) -> list[PaneInfo]:
        """List the panes of sessions, which are given by id (`$3`), in tmux's order.

        A pane is listed once, however many of the sessions its window is linked into.
        """
        listed = (await self._attachments.panes()).values()
        chosen = (next((place for place in places if place.session in sessions), None) for places in listed)
        return [place for place in chosen if place is not None]

    async def find(self, target: str | None = None) -> PaneInfo:
        """Return the pane of a target as tmux writes it; without one, the pane this process runs in.

        A plain name means the session of exactly that name, if it exists; tmux finds every other target. Raises
        TargetNotFound for a target that tmux does not know, and UsageError outside tmux without a target.
        """
        if target is None:
            around = os.environ.get("TMUX", "").rsplit(",", 2)[0]
            is_around = self.is_here and _is_same_file(around, self.info.socket_path)
            target = os.environ.get("TMUX_PANE") if is_around else None
            if not target:
                raise UsageError("outside this tmux server a target is needed", hint="`streamrelay ls` lists the panes")
        if not target:
            raise UsageError("an empty target names nothing", hint="`streamrelay ls` lists the panes")
        if "\0" in target:
            # A command's argument cannot contain it.
            raise TargetNotFound(f"{target!r} is no pane, window or session", data={"target": target})
        if _PLAIN_NAME.fullmatch(target):
            # tmux would prefer a window of the current session whose name begins like this.
            with contextlib.suppress(TargetNotFound):
                return await self._find(f"={target}")
        return await self._find(target)

    async def _find(self, target: str) -> PaneInfo:
        try:
            answer = await self._attachments.query(*find_target(target))
        except (CommandFailed, TargetNotFound) as error:
            is_named = error.message.endswith(f": {target}")
            raise TargetNotFound(
                error.message if is_named else f"{target!r}: {error.message}",
                hint=suggested(target, await self._session_names()),
                data={"target": target},
            ) from error
        for line in reversed(answer):
            # A hook of the user may print its own lines.
            if (pane := parse_pane(line)) is not None:
                return pane if not pane.in_hub else await self._outside_hubs(pane)
        raise TargetNotFound(f"{target!r} is no pane, window or session", data={"target": target})

    async def _session_names(self) -> set[str]:
        return {place.session_name for places in (await self._attachments.panes()).values() for place in places}

    async def _outside_hubs(self, seen: PaneInfo) -> PaneInfo:
        """Return the same pane in a session of the user."""
        places = (await self._attachments.panes()).get(seen.pane)
        if places is None:
            raise TargetNotFound(f"{seen.address} belongs to streamrelay itself", data={"target": seen.pane})
        return places[0]

    async def _find_all(self, targets: Sequence[str]) -> list[PaneInfo]:
        """Find many targets with one query, if they name a pane or a session exactly."""
        if len(targets) < 2:
            return [await self.find(target) for target in (targets or (None,))]
        listed = await self._attachments.panes()
        exact = {pane: places[0] for pane, places in listed.items()}
        exact |= {info.session_name: info for places in listed.values() for info in places if info.active}
        return [exact[target] if target in exact else await self.find(target) for target in targets]

    @asynccontextmanager
    async def watch(self, *targets: str, queue: int = MAX_QUEUE, live: bool = True) -> AsyncIterator[Subscription]:
        """Subscribe to the programs in `targets` from here on; without targets, to this pane.

        A session or window as target means its active pane. If the server ends and a new one has the same session or
        window within a few seconds, the subscription continues with the active pane there. `queue` limits the waiting
        events. Without `live`, there are no `live` and `retracted` events, and busy agents are read less often, which
        takes less processor time. Raises PaneGone for a remaining pane whose program has ended.
        """
        async with self._watch(targets, queue, live=live) as subscription:
            yield subscription

    @asynccontextmanager
    async def record(
        self, target: str | None, path: Path, *, force: bool = False, queue: int = MAX_QUEUE
    ) -> AsyncIterator[LiveRecording]:
        """Record a pane into a file for as long as the context is open; its replay gives the same events.

        The file is a control-mode recording (`.jsonl.gz` or `.jsonl`) that only its owner can read; `force` replaces an
        existing file. The recording includes messages that are sent through this server. If the recording ends early,
        so does the stream. Raises UsageError for a pane that this server watches already, PaneGone as `watch`, and
        RecordingError if the file exists or cannot be written, at the latest at the end.
        """
        info = await self.find(target)
        async with (
            recording_into(RecordingWriter(path, force=force)) as recorder,
            self._watch((info.pane,), queue, recorder.take) as stream,
        ):
            recorder.on_failure = stream.close
            yield LiveRecording(stream, recorder)

    @asynccontextmanager
    async def _watch(
        self, targets: Sequence[str], queue: int, record_input: InputRecorder | None = None, *, live: bool = True
    ) -> AsyncIterator[Subscription]:
        found = await self._find_all(targets)
        infos = {info.pane: info for info in found}
        for info in infos.values():
            if info.dead:
                raise PaneGone(f"the program in pane {info.pane} has ended", data={"pane": info.pane})
        subscription = self._subscription(infos, queue, live=live)
        named = {
            info.pane: _exactly(target, info) for info, target in zip(found, targets, strict=False) if "%" not in target
        }
        async with ReconnectingPanes(
            self._attachments,
            subscription,
            named,
            find=self._find,
            running=self._running,
            pid=self.info.pid,
            follows=always if live else never,
        ) as watching:
            await watching.begin(infos.values(), record_input)
            yield subscription

    def _subscription(self, infos: Mapping[str, PaneInfo], queue: int, *, live: bool) -> Subscription:
        """Return the subscription to panes, by id, that `watch` yields."""
        return Subscription(infos, size=queue, live=live)

    @asynccontextmanager
    async def listen(
        self, pane: str, listener: Listener, log: PaneLog | None = None, follows: Follows = never
    ) -> AsyncIterator[PanePipeline]:
        """Pass the events of a pane to `listener` as they come, without a queue, inside the context.

        Live text may come late while `follows` returns False. The entries of `log` are replayed first, then the output
        since then follows. With a log, raises UsageError for a pane that this server watches already. Raises
        TargetNotFound for an unknown pane, and PaneGone for a pane whose program has ended.
        """
        info = await self._find(pane)
        if info.dead:
            raise PaneGone(f"the program in pane {pane} has ended", data={"pane": pane})
        [pipeline] = await self._attachments.watch([info], listener, log=log, follows=follows)
        try:
            yield pipeline
        finally:
            pipeline.remove_listener(listener)
            await self._attachments.unwatch([info.pane])

    async def renew(self, pane: str, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Restart the stream of a logged pane in a new log; return False if the pane is not idle.

        It calls `renewed` between the last event of the old stream and the first one of the new.
        """
        return await self._attachments.renew(pane, log, renewed)

    async def last_events(self, log: PaneLog) -> list[Event]:
        """Return all events of the logged stream of a pane that is gone."""
        past = log.past()
        profiles = [profile.reading for profile in self._profiles.values()]
        now = asyncio.get_running_loop().time()
        return [] if past is None else await last_events(past, profiles, self._attachments.widths, now)

    async def _running(self) -> int:
        """Return the pid of the current server, which counts as the connected one."""
        return (await self._probe()).pid

    async def _probe(self) -> ServerInfo:
        """Query the server, and choose its character widths by its version."""
        self._info = await self._tmux.probe()
        version = self._info.version
        # Measurements of this machine do not apply to another machine's tmux and C library.
        self._attachments.widths = WidthCache(self._tmux, version).table() if self.is_here else expected(version)
        self._attachments.server = self._info if self.is_here else None
        return self._info

    def pipeline(self, pane: str) -> PanePipeline:
        """Return the pipeline of a watched pane; raises PaneGone if it is not watched."""
        return self._attachments.pipeline(pane)

    def closing_error(self, closed: PaneClosed) -> StreamrelayError:
        """Return the error for the end of a pane of this server, with the known facts about the server's end."""
        return closing_error(closed, self.info, self._attachments.end)

    @property
    def profiles(self) -> Sequence[AgentProfile]:
        """The profiles of programs."""
        return tuple(self._profiles.values())

    def profile(self, name: str) -> AgentProfile | None:
        """Return the profile of that name; None if there is none."""
        return self._profiles.get(name)

    def recognised(self, command: str) -> str:
        """Return the name of the profile that recognises a foreground command; empty if none does."""
        return next((name for name, one in self._profiles.items() if command in one.reading.commands), "")

    def know(self, profiles: Sequence[AgentProfile]) -> None:
        """Use these profiles for panes that are watched from now on."""
        self._profiles = {profile.name: profile for profile in profiles}
        self._attachments.profiles = [profile.reading for profile in profiles]

    def is_watched(self, pane: str) -> bool:
        """Return whether a pane exists and is watched."""
        return self._attachments.is_watched(pane)

    @property
    def selfcheck(self) -> SelfCheck:
        """The counts of self-checks, and of those that found a difference."""
        return self._attachments.selfcheck

    async def check(self, pane: str) -> SelfCheckResult | None:
        """Compare a watched pane's screen with tmux's, and continue with tmux's if they differ.

        Return None if the pane goes away or has just been resized. A difference is also a `gap` in the stream, with the
        reason "divergence". Raises PaneGone if the pane is not watched.
        """
        return await self._attachments.check(pane)

    async def _sample(self, seconds: float) -> None:
        """Check one idle pane after each interval, in rotation."""
        last = ""
        while True:
            await asyncio.sleep(seconds)
            resting = sorted(self._attachments.resting)
            if resting:
                last = next((pane for pane in resting if pane > last), resting[0])
                with contextlib.suppress(StreamrelayError):
                    await self.check(last)

    async def query(self, *commands: Sequence[str], repeatable: bool = True) -> list[str]:
        """Run tmux commands in one line, each a name and its arguments, and return the lines they print.

        tmux drops the rest of the line after a failing command. Raises tmux's error as TargetNotFound or CommandFailed,
        and ConnectionLost if it is unknown whether commands ran that are not `repeatable`.
        """
        return await self._attachments.query(*commands, repeatable=repeatable)

    async def command(self, pane: str, line: str, *, repeatable: bool = False) -> CommandResult:
        """Send a command line over the control client of a watched pane; see `Attachments.command`."""
        return await self._attachments.command(pane, line, repeatable=repeatable)
