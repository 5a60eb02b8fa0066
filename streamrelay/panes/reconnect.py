"""Reconnect: the panes of one subscription, and their successors after a restart of the tmux server.

A pane id means nothing to another server. Panes that were watched by the name of a session or window are therefore
searched by that name in the server that replaces the ended one, for a few seconds; a server that still runs is not
searched. A subscription to a session thus continues after a restart. If nothing comes back, the stream ends as usual,
only that much later.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from streamrelay.batch import Batch
from streamrelay.errors import StreamrelayError
from streamrelay.events import PaneClosed
from streamrelay.panes.attachments import Attachments
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.listeners import Follows, Listener
from streamrelay.panes.live import InputRecorder
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.subscription import Subscription

PATIENCE = 3.0
"""Seconds to wait for a new server."""
_PAUSE = 0.1


class _LateListener:
    """Listens to a pane that began later than its subscription; holds events until the time offset is known."""

    def __init__(self, hear: Callable[[Batch], None]) -> None:
        self._hear = hear
        self._held: list[Batch] = []
        self._offset: float | None = None

    def __call__(self, events: Batch) -> None:
        if self._offset is None:
            self._held.append(events)
            return
        for part in events.parts:
            part.t += self._offset
        self._hear(events)

    def begin(self, offset: float) -> None:
        """Add `offset` seconds to all times."""
        self._offset = offset
        for events in self._held:
            self(events)
        self._held.clear()


class ReconnectingPanes:
    """The panes of a subscription; an async context manager that stops listening at its end.

    `named` maps panes to the targets that may be searched in another server. `find` returns the pane of a target,
    `running` the pid of the current server, and `pid` is that of the first one. `follows` tells whether live
    text is shown.
    """

    def __init__(
        self,
        attachments: Attachments,
        subscription: Subscription,
        named: Mapping[str, str],
        *,
        find: Callable[[str], Awaitable[PaneInfo]],
        running: Callable[[], Awaitable[int]],
        pid: int,
        follows: Follows,
    ) -> None:
        self._follows = follows
        self._attachments = attachments
        self._find = find
        self._running = running
        self._pid = pid
        self._subscription = subscription
        self._named = dict(named)
        self._records = False
        self._heard: list[tuple[PanePipeline, Listener]] = []
        self._there: asyncio.Task[None] | None = None
        self._searches: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def begin(self, infos: Iterable[PaneInfo], record_input: InputRecorder | None = None) -> None:
        """Listen to panes, and pass their entries to `record_input` if it is given; raises PaneGone if one is gone."""
        self._records = record_input is not None
        pipelines = await self._attachments.watch(infos, self._hear, record_input, follows=self._follows)
        for pipeline in pipelines:
            self._heard.append((pipeline, self._hear))
            self._subscription.align(pipeline.info.pane, pipeline.began)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._subscription.close()
        waiting = [*self._searches, *([self._there] if self._there is not None else [])]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for pipeline, listener in self._heard:
            pipeline.remove_listener(listener)
            if self._records:
                pipeline.end_recording()
        await self._attachments.unwatch(pipeline.info.pane for pipeline, _ in self._heard)

    def _hear(self, events: Batch) -> None:
        last = events.last
        if isinstance(last, PaneClosed) and last.reason == "server_lost" and last.pane in self._named:
            self._subscription.expect()
            target = self._named.pop(last.pane)
            self._searches.append(asyncio.ensure_future(self._search(last.pane, target)))
        self._subscription.publish(events)

    async def _search(self, pane: str, target: str) -> None:
        """Continue with a target in a new server, if it exists there."""
        try:
            async with asyncio.timeout(PATIENCE):
                if self._there is None or self._there.done():
                    self._there = asyncio.ensure_future(self._server())
                await asyncio.shield(self._there)
                info = await self._found(target)
                later = _LateListener(self._hear)
                [pipeline] = await self._attachments.watch([info], later, follows=self._follows)
                self._heard.append((pipeline, later))
                self._subscription.replace(pane, info.pane, pipeline.began)
                self._named[info.pane] = target
                later.begin(self._subscription.offset(info.pane, pipeline.began))
        except (TimeoutError, StreamrelayError):
            pass
        finally:
            self._subscription.expect_no_more()

    async def _server(self) -> None:
        """Wait for another server."""
        while True:
            with suppress(StreamrelayError):
                pid = await self._running()
                if pid != self._pid:
                    self._pid = pid
                    return
            await asyncio.sleep(_PAUSE)

    async def _found(self, target: str) -> PaneInfo:
        """Wait for a target, since a restarted server creates its sessions one after the other."""
        while True:
            with suppress(StreamrelayError):
                info = await self._find(target)
                if not info.dead:
                    return info
            await asyncio.sleep(_PAUSE)
