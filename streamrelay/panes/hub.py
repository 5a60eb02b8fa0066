"""The hub of one connection: a control client that receives every watched pane, and the windows linked for it.

`control.hub` makes the decisions; this module queries tmux and carries them out.
"""

import asyncio
import contextlib
import logging
import os
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Self

from streamrelay.control import (
    ClientSessionChanged,
    CommandResult,
    ControlClient,
    ControlEvent,
    ServerInfo,
    Tmux,
    TransportName,
    WindowAdd,
    command_line,
    harmless,
    server_died,
)
from streamrelay.control.hub import (
    LIST_PLACES,
    LIST_SESSIONS,
    LOOK_FOR_LEFTOVERS,
    STOP_FOLLOWING_DEATHS,
    HubSession,
    WindowLink,
    let_go,
    link,
    only_hubs,
    onward,
    opening,
    parse_leftovers,
    parse_sessions,
    parse_window_links,
    unlink,
    visiting,
)
from streamrelay.control.transport import Intake
from streamrelay.errors import CommandFailed, NoServer, ServerLost, StreamrelayError, TargetNotFound, TmuxError

logger = logging.getLogger(__name__)

_CLIENTS = ("list-clients", "-F", "#{session_id} #{client_control_mode}")
_PERSONS = ("list-clients", "-F", "#{session_id}\t#{client_last_session}\t#{client_name}")
_ATTEMPTS = 5
PAUSE_AFTER = 5
"""Seconds until tmux pauses a pane whose output is not read; until then the output uses the server's memory."""

Handler = Callable[[Sequence[ControlEvent], float], None]


class Hub:
    """One control client with its own session. The caller must `aclose` it."""

    def __init__(self, tmux: Tmux, handler: Handler, *, intake: Intake, transport: TransportName) -> None:
        self._tmux = tmux
        self._handler = handler
        self._info: ServerInfo | None = None
        self.name = f"streamrelay-{secrets.token_hex(4)}"
        """The name of the session, unique for each hub."""
        self.client = ControlClient(
            tmux,
            self.name,
            self._handle,
            intake=intake,
            transport=transport,
            opening=opening(self.name, str(os.getpid()), ("ignore-size", f"pause-after={PAUSE_AFTER}")),
        )
        self.succeeded = asyncio.Event()
        """Set when the panes of this hub, which was lost, go on through another hub or are closed."""
        self.server = ""
        """The identity of the server, since pane ids are unique only within one."""
        self._held: Counter[str] = Counter()
        self._announced: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def session(self) -> str:
        """The id of the session: "$3"."""
        return self.client.session

    async def open(self) -> Self:
        """Create the session, end sessions that dead processes left, and step behind every session of the user.

        Raises the errors of `ControlClient.open`, ConnectionLost if its client is ended meanwhile, and ServerLost if
        the server is.
        """
        server = self._info = await self._tmux.probe()
        try:
            await self.client.open(server)
            self.server = (await self._ask("display-message", "-p", "#{pid} #{start_time}"))[-1]
            await self._sweep()
            await self._step_back()
        except TmuxError as error:
            await self.aclose()
            if await self._is_there(server):
                raise
            raise server_died(server, error.message) from error
        except BaseException:
            await self.aclose()
            raise
        return self

    async def aclose(self) -> None:
        """Detach, which ends the session and its links."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(StreamrelayError):
            self.client.request(STOP_FOLLOWING_DEATHS, _ignore)
        await self.client.aclose()

    async def _is_there(self, server: ServerInfo) -> bool:
        try:
            return (await self._tmux.probe()).pid == server.pid
        except (NoServer, ServerLost):
            return False
        except TmuxError:
            # A server that does not answer may still run.
            return True

    def holds(self, window: str) -> bool:
        """Return whether a window is linked here."""
        return window in self._held

    async def hold(self, window: str) -> None:
        """Link a window, only once for several holds; raises CommandFailed if it does not exist."""
        self._held[window] += 1
        if self._held[window] == 1:
            self._announced.add(window)
            try:
                await self.client.command(link(self.session, window))
            except BaseException:
                self._announced.discard(window)
                self._held.pop(window, None)
                raise

    def release(self, window: str) -> None:
        """Release a held window; the last release removes its link, and ends a window that no other session has."""
        if window not in self._held:
            return
        self._held[window] -= 1
        if not self._held[window]:
            del self._held[window]
            with contextlib.suppress(StreamrelayError):
                self.client.request(unlink(self.session, window), _ignore)

    async def sessions(self) -> list[HubSession]:
        """List the sessions of the server."""
        return parse_sessions(await self._ask(*LIST_SESSIONS))

    async def is_alone(self) -> bool:
        """Return whether only hubs keep the server alive: no other session, or only one that ends without a client."""
        if only_hubs(sessions := await self.sessions()):
            return True
        if await self._ask("show-options", "-sv", "exit-unattached") != ["on"]:
            return False
        hubs = {one.session for one in sessions if one.hub}
        return all(line.split(" ")[0] in hubs for line in await self._ask(*_CLIENTS))

    async def let_go(self, windows: Iterable[WindowLink]) -> set[str]:
        """Decide about windows that only hubs hold now; `windows` contains their former places.

        Return the windows that end with that, or have ended already.
        """
        places = parse_window_links(await self._ask(*LIST_PLACES))
        ended = set()
        for former in windows:
            its = [place for place in places if place.window == former.window]
            if any(not place.hub for place in its):
                continue
            back = let_go(former.window, former, places) if its else None
            if back is None:
                ended.add(former.window)
                continue
            line = ("link-window", "-d", "-s", back.window, "-t", f"{back.session}:{back.index}")
            with contextlib.suppress(StreamrelayError):
                await self.client.command(command_line(line))
        return ended

    def _handle(self, events: Sequence[ControlEvent], read_at: float) -> None:
        passed_on = []
        for event in events:
            if isinstance(event, WindowAdd) and event.window in self._announced:
                self._announced.discard(event.window)
                continue
            if isinstance(event, ClientSessionChanged) and event.session == self.session:
                self._spawn(self._send_on())
            passed_on.append(event)
        self._handler(passed_on, read_at)

    async def _ask(self, *words: str) -> list[str]:
        return await self._lines(command_line(words))

    async def _lines(self, line: str) -> list[str]:
        result = await self.client.command(line)
        return [line.decode(errors="surrogateescape") for line in result.lines]

    async def _sweep(self) -> None:
        for session in parse_leftovers(await self._lines(LOOK_FOR_LEFTOVERS)):
            with contextlib.suppress(StreamrelayError):
                await self.client.command(command_line(("kill-session", "-t", session)))

    async def _step_back(self) -> None:
        """Mark every other session as used more recently than this one; start again if one ends meanwhile."""
        for _ in range(_ATTEMPTS):
            try:
                for words in visiting(await self.sessions()):
                    async with harmless(self._tmux, self._info) as tmux:
                        await tmux.run("-N", "-C", *words, stays=True)
            except (CommandFailed, TargetNotFound):
                # The first session of a line had ended, so its client never attached.
                continue
            return
        logger.warning("the sessions of the server change too quickly to step behind them")

    async def _send_on(self) -> None:
        """Move a client that entered this session to where it would be without the session."""
        policy = "".join(await self._ask("show-options", "-gv", "detach-on-destroy"))
        for line in await self._ask(*_PERSONS):
            session, came_from, name = line.split("\t", 2)
            if session == self.session and name != await self._own_name():
                target = onward(await self.sessions(), self.session, came_from, policy)
                out = ("detach-client", "-t", name)
                on = ("switch-client", "-E", "-c", name, "-t", target or "")
                with contextlib.suppress(StreamrelayError):
                    await self.client.command(command_line(on if target else out))
        await self._step_back()

    async def _own_name(self) -> str:
        return "".join(await self._ask("display-message", "-p", "#{client_name}"))

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(self._quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _quietly(work: Coroutine[object, object, None]) -> None:
        with contextlib.suppress(StreamrelayError):
            await work


def _ignore(_result: CommandResult) -> None:
    """Ignore the reply."""
