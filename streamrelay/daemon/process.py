"""The life of a daemon: it takes the lock, opens the service, answers until a signal, and closes everything.

* It answers before the service is restored: `GET /health` says how many panes are read (starting.py), and calls that do
  not need the panes are answered. It is ready, for a supervisor and for `daemon start`, when all are.
* SIGTERM and SIGINT end it: streams end, calls in flight are answered, then the service writes its state and closes.
  Each step has a time limit. A second signal ends the daemon at once.
* SIGHUP and `POST /reload` reload profiles and configuration. If a file is invalid, the daemon logs that and keeps the
  previous values; the answer to the request is the error.
"""

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

import structlog.typing
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.app import Frames, Showing, call_routes, create_app
from streamrelay.daemon.broadcast import Broadcast
from streamrelay.daemon.instance import listening, only_daemon
from streamrelay.daemon.logs import EventLog, forwarding
from streamrelay.daemon.metrics import Metrics
from streamrelay.daemon.openapi import RELOAD
from streamrelay.daemon.page import PageServer
from streamrelay.daemon.server import HttpServer
from streamrelay.daemon.starting import StartingApp
from streamrelay.daemon.supervisor import notify
from streamrelay.errors import StreamrelayError
from streamrelay.events import AnyEvent
from streamrelay.panes.injections import remove_ended
from streamrelay.service.interface import Service
from streamrelay.service.memory import bound_free_memory
from streamrelay.service.restore import RestoreProgress
from streamrelay.web.streams import beating

CLOSING = 10.0
"""Seconds the service may take to close."""

Log = structlog.typing.FilteringBoundLogger


@dataclass(frozen=True)
class Running:
    """A service that a daemon serves, with its hooks and mounted applications."""

    service: Service
    reload: Callable[[], Awaitable[None]]
    """Reload profiles and configuration; raises the error of an invalid file, and then changes nothing."""
    restored: Callable[[], Coroutine[Any, Any, object]]
    """Returns when the service answers all calls; raises if it cannot go on."""
    broken: Callable[[], Coroutine[Any, Any, object]]
    """Returns or raises when the service cannot go on."""
    live: Showing
    """The lines of screens that are not final yet."""
    mounts: Sequence[BaseRoute] = ()
    """Routes of other applications on the same socket."""
    page: PageServer | None = None


async def run_daemon(
    address: DaemonAddress,
    opened: AbstractAsyncContextManager[Running],
    *,
    log: Log,
    version: str = "",
    progress: RestoreProgress | None = None,
) -> None:
    """Serve until a signal ends it; raises DaemonRunning, and any error that opens or breaks the service.

    `progress` is where `opened` tells how many panes it has read.
    The log reports that error, too: `daemon start` raises it again.
    """
    try:
        await _run(address, opened, log=log, version=version, progress=progress or RestoreProgress())
    except StreamrelayError as error:
        log.error("failed", code=error.code, message=error.message, hint=error.hint, data=error.data)  # noqa: TRY400
        raise


async def _run(
    address: DaemonAddress,
    opened: AbstractAsyncContextManager[Running],
    *,
    log: Log,
    version: str,
    progress: RestoreProgress,
) -> None:
    bound_free_memory()
    with only_daemon(address), listening(address) as listener, _Signals(log) as signals, forwarding(log):
        log.info("starting", pid=os.getpid(), version=version)
        try:
            async with _answering(listener, progress) as server, _closed_in_time(opened) as running:
                signals.reload = running.reload
                await _serve_all(running, server, signals, log, version)
        except asyncio.CancelledError:
            if not signals.received:
                raise
    log.info("ended")


@dataclass(frozen=True)
class _Answering:
    """The server of the socket, which answers already, and the task that serves."""

    app: StartingApp
    server: HttpServer
    serving: "asyncio.Task[None]"


@asynccontextmanager
async def _answering(listener: socket.socket, progress: RestoreProgress) -> AsyncIterator[_Answering]:
    app = StartingApp(progress)
    server = HttpServer(app)
    serving = asyncio.ensure_future(server.run_on(listener))
    try:
        yield _Answering(app, server, serving)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        # A start that failed has not stopped it.
        server.abort()


async def _serve_all(running: Running, answering: _Answering, signals: "_Signals", log: Log, version: str) -> None:
    if removed := await asyncio.to_thread(remove_ended):
        log.info("removed", files=removed)
    counts = Metrics()
    events = EventLog(await running.service.links())

    def observe(event: AnyEvent) -> None:
        counts.observe(event)
        if (line := events.line(event)) is not None:
            level, name, fields = line
            getattr(log, level)(name, seq=event.seq, **fields)

    broadcast = Broadcast(running.service, observe=observe)
    await broadcast.start()

    def on_page(page: PageServer, ended: asyncio.Event) -> Sequence[BaseRoute]:
        def stream(frames: Frames) -> Frames:
            return beating(frames, ended)

        routes = call_routes(
            running.service, broadcast, log=log, counts=counts, served=page.operations, live=running.live,
            stream=stream,
        )  # fmt: skip
        return list(routes.values())

    async def reload(_: Request) -> Response:
        await signals.load()
        return Response(status_code=204)

    async with nullcontext(()) if (page := running.page) is None else page.serving(partial(on_page, page)) as access:
        mounts = [*running.mounts, *access, Route(RELOAD, reload, methods=["POST"])]
        stopping = asyncio.Event()
        app = create_app(
            running.service, broadcast, log=log, counts=counts, version=version, mounts=mounts, live=running.live,
            council_stream=lambda frames: beating(frames, stopping),
        )  # fmt: skip
        answering.app.open(app)
        await _serve(running, broadcast, answering, signals=signals, log=log, stopping=stopping)


async def _serve(
    running: Running,
    broadcast: Broadcast,
    answering: _Answering,
    *,
    signals: "_Signals",
    log: Log,
    stopping: asyncio.Event,
) -> None:
    serving = answering.serving
    ends = [asyncio.ensure_future(one) for one in (broadcast.run(), signals.end_politely(), running.broken())]
    ready = asyncio.ensure_future(_until_ready(running, answering, log))
    try:
        ended, _ = await asyncio.wait((serving, *ends), return_when=asyncio.FIRST_COMPLETED)
        notify("STOPPING=1")
        log.info("stopping")
        broadcast.end()
        stopping.set()
        answering.server.stop()
        await serving
    finally:
        for task in (serving, ready, *ends):
            task.cancel()
        await asyncio.gather(serving, ready, *ends, return_exceptions=True)
    for task in ended:
        task.result()


async def _until_ready(running: Running, answering: _Answering, log: Log) -> None:
    """Say that the daemon is ready when it is; an error that prevents that ends the service (`Running.broken`)."""
    await running.restored()
    answering.app.ready()
    notify("READY=1")
    log.info("ready")


@asynccontextmanager
async def _closed_in_time(opened: AbstractAsyncContextManager[Running]) -> AsyncIterator[Running]:
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(opened)
        try:
            yield running
        finally:
            try:
                async with asyncio.timeout(CLOSING):
                    await stack.aclose()
            except TimeoutError as error:
                raise StreamrelayError(
                    f"the service did not close within {CLOSING:g} s",
                    hint="end the process; accepted messages are in its outbox",
                ) from error


class _Signals:
    """The signals received. Before serving begins, and at the second signal, the daemon ends at once."""

    def __init__(self, log: Log) -> None:
        self.received = False
        self.reload: Callable[[], Awaitable[None]] | None = None
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._main = asyncio.current_task()
        self._polite: asyncio.Future[None] | None = None
        self._reloading: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._end)
        self._loop.add_signal_handler(signal.SIGHUP, self._hang_up)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._loop.remove_signal_handler(number)
        for task in self._reloading:
            task.cancel()

    async def end_politely(self) -> None:
        """Return at the first signal that ends the daemon; from here on that signal does not interrupt."""
        self._polite = self._loop.create_future()
        await self._polite

    def _end(self) -> None:
        first, self.received = not self.received, True
        if first and self._polite is not None:
            if not self._polite.done():
                self._polite.set_result(None)
        elif self._main is not None:
            self._main.cancel()

    def _hang_up(self) -> None:
        task = self._loop.create_task(self._load_unless_invalid())
        self._reloading.add(task)
        task.add_done_callback(self._reloading.discard)

    async def _load_unless_invalid(self) -> None:
        with contextlib.suppress(StreamrelayError):
            await self.load()

    async def load(self) -> None:
        """Reload profiles and configuration, and log the result; raises the error of an invalid file."""
        if self.reload is None:
            return
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")
        try:
            await self.reload()
            self._log.info("reloaded")
        except StreamrelayError as error:
            self._log.error("not_reloaded", code=error.code, file=error.data.get("file", ""))
            raise
        finally:
            notify("READY=1")
