"""A running tmux server, as the library shows it: what panes it has, and streams of what their programs say."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from streamrelay.control import CommandResult, ServerInfo, Tmux, TransportName
from streamrelay.errors import CommandFailed, TargetNotFound, UsageError
from streamrelay.panes.attachments import Attachments
from streamrelay.panes.inventory import PaneInfo, find_target, parse_pane
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.subscription import LONGEST_QUEUE, Subscription


class Server:
    """One tmux server; an async context manager that lets go of it without a trace."""

    def __init__(self, tmux: Tmux, *, transport: TransportName = "pipes") -> None:
        self._tmux = tmux
        self._info: ServerInfo | None = None
        self._attachments = Attachments(tmux, transport)

    async def __aenter__(self) -> Self:
        self._info = await self._tmux.probe()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._attachments.close()

    @property
    def info(self) -> ServerInfo:
        """The server's version, pid and socket; raises UsageError before the server is entered."""
        if self._info is None:
            raise UsageError("the server is not connected yet", hint="use it in `async with`")
        return self._info

    async def panes(self) -> list[PaneInfo]:
        """List the panes of the server, in tmux's order; a pane linked into several sessions once."""
        return [places[0] for places in (await self._attachments.panes()).values()]

    async def find(self, target: str | None = None) -> PaneInfo:
        """Return the pane of a target as tmux writes it; without one, the pane this process runs in.

        Raises TargetNotFound for a target that tmux does not know, UsageError outside tmux without a target.
        """
        if target is None:
            target = os.environ.get("TMUX_PANE")
            if not target:
                raise UsageError("outside tmux a target is needed", hint="`streamrelay ls` lists the panes")
        try:
            *_, answer = await self._attachments.query(*find_target(target))
        except (CommandFailed, TargetNotFound) as error:
            raise TargetNotFound(f"{target!r}: {error.message}", data={"target": target}) from error
        pane = parse_pane(answer)
        if pane is None:
            raise TargetNotFound(f"{target!r} is no pane, window or session", data={"target": target})
        return pane

    @asynccontextmanager
    async def watch(
        self, *targets: str, follow_program: bool = False, queue: int = LONGEST_QUEUE
    ) -> AsyncIterator[Subscription]:
        """Subscribe to what the programs in `targets` say, from here on; without targets, in this pane.

        A session or window as target stands for the pane that is active in it now. With `follow_program` the stream
        also says when another program comes to the foreground. `queue` bounds the events that may wait.
        """
        infos = {(info := await self.find(target)).pane: info for target in (targets or (None,))}
        subscription = Subscription(infos, size=queue)
        pipelines: list[PanePipeline] = []
        try:
            for info in infos.values():
                pipeline = await self._attachments.watch(info, subscription.publish)
                pipelines.append(pipeline)
                if follow_program:
                    await self._attachments.follow_program(info.pane)
            yield subscription
        finally:
            subscription.close()
            for pipeline in pipelines:
                pipeline.remove_listener(subscription.publish)
                await self._attachments.unwatch(pipeline.info.pane)

    def pipeline(self, pane: str) -> PanePipeline:
        """Return the pipeline of a watched pane; raises PaneGone if it is not watched."""
        return self._attachments.pipeline(pane)

    async def command(self, pane: str, line: str) -> CommandResult:
        """Send a command line over the client that carries a watched pane."""
        return await self._attachments.command(pane, line)
