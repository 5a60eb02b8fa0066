"""The service in this process: one tmux server, a machine that decides, and a runner that carries decisions out.

    async with streamrelay.connect() as server, LocalService(server) as service:
        await service.send_message(SendMessage(to="work:0.1", text="hello"))

However it ended, the next start restores its state (persistence.py, restore.py).
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from streamrelay.config.settings import FederationTable, GatheringTable, HistoryTable, PulseTable, SessionsTable
from streamrelay.council.events import CouncilEvent
from streamrelay.delivery.lock import WriterKind
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.events import AnyEvent
from streamrelay.links.link import LinkPolicy, NoticeTexts
from streamrelay.panes.server import Server
from streamrelay.relay.rules import Rules
from streamrelay.service import gatherings, sending
from streamrelay.service.call import declared_calls
from streamrelay.service.core import Core
from streamrelay.service.councils import Councils
from streamrelay.service.encoding import check_encodes
from streamrelay.service.interface import Service
from streamrelay.service.parts import ServiceParts
from streamrelay.service.restore import RestoreProgress
from streamrelay.sessions.sessions import Own

COUNCILS = "council.db"


class LocalService(Service):
    """Implements `streamrelay.service.interface.Service` in this process; an async context manager.

    The server must be entered already. The service keeps its state in `folder` (`$XDG_STATE_HOME/streamrelay` by
    default), which it locks; other processes may share its `outbox`. With `notify`, tmux users see the state of the
    conversations and what waits for them (streamrelay.notifying). `own` returns the environment variables of a new
    session by its id; `federation` lists the other machines. When another process may not type into a pane because
    this service does, its error names the service by `writer`. `progress` tells how many panes of an earlier service
    are read again.

    Entering waits until all of these are read; an error of that is raised. With `early` it does not wait: calls that
    only read kept state (`CallRoute.early`) answer at once, all others wait, and an error ends the service
    (`broken`).
    """

    def __init__(
        self,
        server: Server,
        *,
        folder: Path | None = None,
        outbox: Path | None = None,
        texts: NoticeTexts | None = None,
        notify: bool = False,
        own: Own | None = None,
        federation: FederationTable | None = None,
        writer: WriterKind = "service",
        councils: Path | None = None,
        progress: RestoreProgress | None = None,
        early: bool = False,
    ) -> None:
        self._core = Core(
            server,
            folder=folder,
            outbox=outbox,
            texts=texts,
            notify=notify,
            own=own,
            federation=federation,
            writer=writer,
            progress=progress,
            early=early,
        )
        self._councils = Councils(self._core, self, councils or self._core.folder / COUNCILS)
        self._parts = ServiceParts(self._core, self._councils)
        self._calls = declared_calls()

    def configure(
        self,
        *,
        policy: LinkPolicy,
        rules: Rules,
        retention: HistoryTable,
        typing: DeliveryPolicy | None = None,
        starting: SessionsTable | None = None,
        gathering: GatheringTable | None = None,
        pulse: PulseTable | None = None,
    ) -> None:
        """Set the values that apply from now on.

        These are the defaults for links, relays, messages and gatherings, the limits of the journal, who may start
        sessions, and the settings of a pulse.
        """
        core = self._core
        core.policy, core.rules, core.retention = policy, rules, retention
        core.typing = typing or DeliveryPolicy()
        core.starting, core.gathering = starting or SessionsTable(), gathering or GatheringTable()
        core.pulse = pulse or PulseTable()
        core.journal.check_due.set()

    async def __aenter__(self) -> Self:
        await self._core.__aenter__()
        if self._core.federation is not None:
            self._core.federation.starter = partial(gatherings.start_for_peer, self._core)
            self._core.federation.gathering_caller = partial(gatherings.answer_peer, self._core)
            self._core.federation.ender = partial(sending.end, self._core)
        self._attending = asyncio.ensure_future(gatherings.attend(self._core))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._councils.close()
        self._attending.cancel()
        await asyncio.gather(self._attending, return_exceptions=True)
        await self._core.__aexit__(kind, error, trace)

    @property
    def broken(self) -> "asyncio.Future[NoReturn]":
        """Fails with the error that stops the service; cancelled when the service is closed."""
        return self._core.working

    async def until_restored(self) -> None:
        """Return when all panes of an earlier service are read again; raises the error that has ended the service."""
        await self._core.until_restored()

    async def call(self, name: str, /, *given: Any) -> Any:
        """Carry out a call; raises UsageError, before it does anything, for a text that cannot be encoded."""
        check_encodes(given)
        called = self._calls[name]
        if not called.route.early:
            await self._core.until_restored()
        return await called.run(self._parts, *given)

    def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound."""
        return self._councils.follow(council)

    async def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Yield every journaled event in order, after a `seq` or from now on; provisional events are not journaled."""
        async with contextlib.aclosing(self.batches(after)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    def batches(self, after: int | None = None) -> AsyncGenerator[list[AnyEvent], None]:
        """Yield the same events in batches: all that wait at once."""
        return self._core.feed.batches(after)

    async def live(self, session: str) -> AsyncGenerator[list[str], None]:
        """Yield the lines on an observed session's screen that are not final, now and after every change."""
        await self._core.until_restored()
        return self._core.provisional.lines((await self._core.find(session)).pane)
