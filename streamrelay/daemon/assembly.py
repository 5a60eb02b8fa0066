"""Assembles what a daemon serves: the tmux server, the service on it, and the profiles that both use."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NoReturn

from streamrelay.agents import AgentProfile, load_profiles
from streamrelay.config.files import load
from streamrelay.config.settings import Settings
from streamrelay.control import Tmux, TransportName
from streamrelay.control.tmux import ServerInfo
from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.page import page_at
from streamrelay.daemon.process import Running
from streamrelay.daemon.tools import serving_tools
from streamrelay.delivery.state import state_folder
from streamrelay.errors import NoServer, ServerLost
from streamrelay.links.configured import delivery_policy, link_policy, link_texts, relay_rules
from streamrelay.mcp.tokens import VARIABLE as TOKEN_VARIABLE
from streamrelay.mcp.tokens import Tokens
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first
from streamrelay.service.local import COUNCILS, LocalService
from streamrelay.service.restore import RestoreProgress

_LOOK_AGAIN = 1.0


@asynccontextmanager
async def opened(
    address: DaemonAddress,
    tmux: Tmux,
    *,
    transport: TransportName = "pipes",
    mcp_port: int | None = None,
    web: str = "",
    version: str = "",
    progress: RestoreProgress | None = None,
) -> AsyncIterator[Running]:
    """Open the service of a tmux server that runs; raises NoServer, TmuxMissing, TmuxTooOld, ConfigError.

    It is open before its panes are read again.
    All processes of the user share one outbox, so every process knows a message by its id.
    """
    async with AsyncExitStack() as stack:
        # All projects share the daemon, so it ignores the configuration of the folder it was started in.
        settings = load(project=False).settings
        watched = Server(
            tmux,
            transport=transport,
            profiles=_profiles(settings),
            witness=settings.stream.witness,
            lane=settings.delivery.lane,
        )
        server = await stack.enter_async_context(watched)
        tokens = Tokens.of_server(server.info)

        def own(session: str) -> dict[str, str]:
            return {TOKEN_VARIABLE: tokens.issue(session)}

        outbox = state_folder() / "outbox.db"
        local = LocalService(
            server,
            folder=address.state,
            outbox=outbox,
            texts=link_texts(settings.link),
            notify=settings.notify,
            own=own,
            federation=settings.federation,
            writer="daemon",
            councils=state_folder() / COUNCILS,
            progress=progress,
            early=True,
        )
        _configure(local, settings)
        service = await stack.enter_async_context(local)
        tools = serving_tools(service, tokens, port=mcp_port, version=version)
        mounts = await stack.enter_async_context(tools)

        async def reload() -> None:
            now = load(project=False).settings
            profiles = _profiles(now)
            _configure(service, now)
            server.know(profiles)

        def broken() -> Coroutine[Any, Any, object]:
            return until_first(_raised(service.broken), _lost(server.info))

        page = page_at(
            address.state / "web.token", web or settings.web.listen, settings.web.names, send=settings.web.send
        )
        yield Running(
            service,
            reload=reload,
            restored=local.until_restored,
            broken=broken,
            mounts=mounts,
            page=page,
            live=local.live,
        )


def _profiles(settings: Settings) -> Sequence[AgentProfile]:
    return load_profiles() if settings.profiles else ()


def _configure(service: LocalService, settings: Settings) -> None:
    service.configure(
        policy=link_policy(settings.link),
        rules=relay_rules(settings.relay),
        retention=settings.history,
        typing=delivery_policy(settings.delivery),
        starting=settings.sessions,
        gathering=settings.gathering,
        pulse=settings.pulse,
    )


async def until_there(tmux: Tmux) -> None:
    """Return when the tmux server runs; start one process a second until then."""
    while True:
        try:
            await tmux.probe()
        except (NoServer, ServerLost):
            await asyncio.sleep(_LOOK_AGAIN)
        else:
            return


async def _raised(broken: asyncio.Future[NoReturn]) -> None:
    await asyncio.shield(broken)


async def _lost(tmux: ServerInfo) -> None:
    """Raise ServerLost when the process of the tmux server is gone: without a watched pane, nothing else notices."""
    if sys.platform == "linux":
        descriptor = os.pidfd_open(tmux.pid)
        gone = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, gone.set)
        try:
            await gone.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)
    else:
        with contextlib.suppress(ProcessLookupError):
            while True:
                os.kill(tmux.pid, 0)
                await asyncio.sleep(_LOOK_AGAIN)
    data = {"version": tmux.version.text, "socket": tmux.address}
    raise ServerLost(f"tmux {tmux.version.text} at {tmux.address} has ended", data=data)
