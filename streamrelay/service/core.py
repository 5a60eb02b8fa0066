"""The core of a service: opens and closes its parts in order, and decides which panes are observed.

A pane is observed as long as something needs it: a link, a relay, a listener, a watcher, or a message whose answer may
still come.
"""

import asyncio
import contextlib
import fcntl
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self
from weakref import WeakValueDictionary

import msgspec

from streamrelay.config.settings import FederationTable, GatheringTable, HistoryTable, PulseTable, SessionsTable
from streamrelay.delivery.lock import WriterKind
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.delivery.outbox import KEPT, Outbox, server_key
from streamrelay.delivery.spool import forget_old
from streamrelay.delivery.state import state_folder
from streamrelay.errors import ConfigError, StorageError, StreamrelayError, TargetNotFound, UsageError
from streamrelay.events import Event, GatheringClosed, Piece, Receipt
from streamrelay.gathering.library import load_texts
from streamrelay.gathering.prompts import PromptTexts
from streamrelay.history.journal import Journal
from streamrelay.history.places import Place
from streamrelay.history.retention import keep_to
from streamrelay.history.search import HistorySearch
from streamrelay.links.link import Link, LinkPolicy, NoticeTexts, Party
from streamrelay.links.logging import note
from streamrelay.notifying.notifier import Notifier
from streamrelay.panes.injections import HELD, files_of, remove_closed
from streamrelay.panes.server import Server
from streamrelay.panes.tasks import until_first
from streamrelay.relay.participants import TypingOptions
from streamrelay.relay.rules import Rules
from streamrelay.relay.runner import RelayRunner
from streamrelay.relay.steps import Decision
from streamrelay.service.api import SendMessage
from streamrelay.service.board import ServiceBoard
from streamrelay.service.federation import Federation
from streamrelay.service.feed import Feed
from streamrelay.service.live_lines import LiveLines
from streamrelay.service.machine import ServiceMachine
from streamrelay.service.memory import release_free_memory
from streamrelay.service.persistence import PANES, ServiceStore, remembered
from streamrelay.service.restore import RestoreProgress, Restorer
from streamrelay.sessions.model import Session
from streamrelay.sessions.sessions import Own, Sessions

JOURNAL = "journal.db"
SWEEP_EVERY, FORGET_EVERY = 15.0, 3600.0
UNANSWERED = 600.0
"""Seconds for which a pane is observed after the last event of a message to it."""


class Core:
    """The parts of one service; an async context manager. See `LocalService` for the arguments."""

    def __init__(
        self,
        server: Server,
        *,
        folder: Path | None,
        outbox: Path | None,
        texts: NoticeTexts | None,
        notify: bool,
        own: Own | None,
        federation: FederationTable | None = None,
        writer: WriterKind = "service",
        progress: RestoreProgress | None = None,
        early: bool = False,
    ) -> None:
        self.server = server
        self.progress = progress or RestoreProgress()
        self._early = early
        self._restored = asyncio.Event()
        self.writer: WriterKind = writer
        self.policy = LinkPolicy()
        self.rules = Rules()
        self.typing = DeliveryPolicy()
        """The policy of messages whose sender gives none."""
        self.retention = HistoryTable(keep_days=0, most_megabytes=0)
        self.starting = SessionsTable()
        self.gathering = GatheringTable()
        self.being_born = 0
        """The number of sessions that are being started."""
        self.arriving: set[str] = set()
        """Panes of started sessions that are not ready; they stay observed while one program starts the next."""
        self.pulse = PulseTable()
        self.folder = folder or state_folder()
        self.sessions = Sessions(server, own=own)
        self.journal = Journal(self.folder / JOURNAL)
        self.history = HistorySearch(self.journal, lambda: server.profiles)
        self.outbox = Outbox(outbox or self.folder / "outbox.db")
        self.machine: ServiceMachine
        self.feed: Feed
        self.runner: RelayRunner
        self.working: asyncio.Future[NoReturn]
        """Restores, then decides without end; fails with the error that ends the service."""
        self.started_at = time.time()
        self.problems: list[str] = []
        self.circle_news = asyncio.Event()
        """Set when a gathering changes in a way that needs more than typing."""
        self.provisional = LiveLines()
        self.federation: Federation | None = None
        """The connection to other machines; None without federation."""
        self._federated = federation
        self._kept: ServiceStore
        self.server_key = ""
        """Tells this tmux server from all others in the outbox."""
        self._texts = texts
        self._notify = notify
        self._notifier: Notifier | None = None
        self._admitting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Locks by pane; one exists as long as a call holds it or waits for it."""
        self._last_receipts: dict[str, float] = {}
        """Monotonic times by observed pane; the sweep forgets those of other panes."""
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            self._entered.enter_context(_alone_in(self.folder))
            await self._entered.enter_async_context(self.journal)
            await self._entered.enter_async_context(self.outbox)
            with _readable(self.folder / JOURNAL):
                await self._begin()
            if not self._early:
                await self.until_restored()
        except BaseException:
            await self._entered.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._entered.aclose()

    async def _begin(self) -> None:
        before = await self.journal.kept()
        info = self.server.info
        self.server_key = server_key(info.address, info.pid, await self.server.started())
        logs = self.folder / PANES
        logs.mkdir(mode=0o700, exist_ok=True)
        self.machine = ServiceMachine.restored(
            before, self._texts, words=self._words(), now=asyncio.get_running_loop().time(), life=secrets.token_hex(3)
        )
        self.feed = Feed(self.journal, await self.journal.last_seq())
        if self._federated is not None and self._federated.node:
            self.federation = Federation(self, self._federated, before, epoch=time.time_ns())
        self._kept = ServiceStore(self.journal, self.feed, self.outbox, logs, self._changes)
        keeper = self._kept if self.federation is None else self.federation.keeper(self._kept)
        self.runner = RelayRunner(
            self.server,
            self.machine,
            typing=TypingOptions(outbox=self.outbox, writer=self.writer),
            policy=lambda: self.typing,
            keeper=keeper,
            stays=self._stays,
            shows=self.provisional.is_viewed,
        )
        self._entered.callback(self._kept.close)
        self._entered.callback(self.feed.close)
        self._entered.callback(self.provisional.close)
        self._entered.push_async_callback(self.runner.close)
        self.progress.panes = len(remembered(before))
        self.working = asyncio.ensure_future(self._work(before))
        self._entered.push_async_callback(_ended, self.working)
        duties = [self._sweep, self._limit_journal, self._forget_messages, self._forget_closed_panes]
        if self.federation is not None:
            duties.append(self.federation.run)
        for duty in duties:
            self._entered.push_async_callback(_ended, asyncio.ensure_future(self._once_restored(duty)))

    async def _work(self, before: Mapping[str, bytes]) -> NoReturn:
        """Restore from the kept values, then carry out decisions without end."""
        with _readable(self.folder / JOURNAL):
            await self._restore(before)
        async with AsyncExitStack() as stack:
            if self._notify:
                notifier = Notifier(self.server, ServiceBoard(self.machine, self.links))
                self._notifier = await stack.enter_async_context(notifier)
            self._restored.set()
            await self.runner.work(self._note)

    async def _restore(self, before: Mapping[str, bytes]) -> None:
        restorer = Restorer(self.server, self.machine, self.runner, self._kept, self.outbox, self.writer, self.progress)
        self.problems += await restorer.restore(before, self._is_ours)
        if self.federation is not None:
            self.federation.come_back()
        self._kept.clear()
        self.progress.read = self.progress.panes

    async def until_restored(self) -> None:
        """Return when all panes of an earlier service are read again; raises the error that has ended the service."""
        if not self._restored.is_set():
            await until_first(_set(self._restored), _shielded(self.working))

    async def _once_restored(self, duty: Callable[[], Coroutine[Any, Any, NoReturn]]) -> NoReturn:
        await self.until_restored()
        await duty()

    def _changes(self) -> dict[str, bytes | None]:
        changes = self.machine.changes()
        return changes if self.federation is None else changes | self.federation.node.changes()

    def _is_ours(self, pane: str) -> bool:
        """Return whether a pane belongs to this machine and not to a peer's."""
        return self.federation is None or self.federation.node.far(pane) is None

    def _stays(self, pane: str) -> bool:
        """Return whether a pane stays observed although its program changes."""
        return pane in self.arriving or self.machine.is_watched(pane)

    @property
    def panes(self) -> set[str]:
        """The panes that must be observed."""
        return self.machine.panes | (self.federation.node.panes if self.federation is not None else set())

    def links(self) -> list[Link]:
        """Return all links, including those that other machines keep."""
        images = [] if self.federation is None else self.federation.node.images.values()
        return [*self.machine.links.links(), *(image.link for image in images)]

    def _words(self) -> PromptTexts:
        """Return the prompts of gatherings; invalid texts of the user do not stop a gathering in progress."""
        try:
            return load_texts()
        except ConfigError as error:
            self.problems.append(error.message)
            return load_texts(self.folder / "none")

    def _note(self, event: Event) -> None:
        note(event, self.machine.links)
        self.provisional.take(event)
        if self._notifier is not None:
            self._notifier.take(event)
        if isinstance(event, GatheringClosed | Piece):
            self.circle_news.set()
        if isinstance(event, Receipt):
            self._last_receipts[event.pane] = asyncio.get_running_loop().time()

    async def find(self, name: str) -> Session:
        """Return the session with this id, title or pane; raises TargetNotFound and UsageError."""
        if self.federation is not None:
            name = name.removesuffix(f"@{self.federation.node.name}")
        try:
            return await self.sessions.find(name)
        except TargetNotFound as error:
            rest, _, node = name.rpartition("@")
            if not (rest and node) or (self.federation is not None and self.federation.node.far(name) is not None):
                raise
            words = f"no session is called {name!r}, and {node!r} is no peer of this machine"
            hint = "set federation.peers to name other machines: docs/federation.md"
            raise TargetNotFound(words, hint=hint, data=error.data) from error

    async def place(self, name: str) -> Place:
        """Return the journal place of a session, running or ended; raises TargetNotFound.

        A running session takes precedence over ended ones, and a later ended one over an earlier one.
        """
        exact = [one for one in await self.sessions.all() if name in {one.session, one.pane, one.title}]
        if not exact and (ended := await self.journal.find_session(name)) is not None:
            return ended
        session = await self.find(name)
        return await self.journal.find_session(session.session) or Place(session.pane)

    def typing_of(self, request: SendMessage) -> DeliveryPolicy:
        """Return how a message is typed: as its sender says, else as configured."""
        return DeliveryPolicy(
            needs_human=request.needs_human or self.typing.needs_human,
            commands=request.commands or self.typing.commands,
            patience=request.patience,
        )

    async def admit(self, session: Session, *, allow_shell: bool = False) -> None:
        """Observe a session and type its queued messages; raises PaneTaken, PaneGone and ShellRefused."""
        pane = session.pane
        async with self._admitting.setdefault(pane, asyncio.Lock()):
            self._last_receipts[pane] = asyncio.get_running_loop().time()
            typing = TypingOptions(allow_shell=allow_shell, outbox=self.outbox, writer=self.writer)
            if (participant := self.runner.participant(pane)) is not None:
                typing.check([participant.info])
                return
            info = await self.server.find(pane)
            typing.check([info])
            await self.journal.note_session(session.session, pane, title=session.title, server=self.server_key)
            memory = await self._kept.remember(pane, info.command, allow_shell=allow_shell)
            try:
                await self.runner.admit(info, typing, memory)
            except BaseException:
                await self._kept.forget(pane)
                raise

    async def dismiss(self, pane: str) -> None:
        """Stop observing a pane."""
        async with self._admitting.setdefault(pane, asyncio.Lock()):
            await self.runner.dismiss(pane)
            self.provisional.forget(pane)
            await self._kept.forget(pane)

    async def renew(self, pane: str) -> None:
        """Begin a new log of a pane's stream, if the pane is idle."""
        with contextlib.suppress(StreamrelayError):
            if (log := self._kept.renew(pane)) is None or await self.runner.renew(pane, log):
                return
        self._kept.stay(pane)

    async def do(self, decision: Decision) -> None:
        """Carry a decision out: commit it with its effects; raises the error that has ended the service's work."""
        await until_first(self.runner.decided(decision), _shielded(self.working))

    async def _sweep(self) -> NoReturn:
        """Stop observing panes that nothing needs any more, and give free memory back, from time to time."""
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            await asyncio.to_thread(release_free_memory)
            for pane in self.runner.panes:
                try:
                    await self._look_after(pane)
                except StreamrelayError as error:
                    # The disk may be full for a while: this pane stays observed, and the next sweep tries again.
                    if (problem := f"cannot stop observing pane {pane}: {error.message}") not in self.problems:
                        self.problems.append(problem)
            observed = set(self.runner.panes)
            self._last_receipts = {pane: at for pane, at in self._last_receipts.items() if pane in observed}

    async def _look_after(self, pane: str) -> None:
        """Stop observing a pane that nothing needs, or begin a new log if its log is too long."""
        if (participant := self.runner.participant(pane)) is None:
            return
        now = asyncio.get_running_loop().time()
        quiet = now - self._last_receipts.setdefault(pane, now)
        if participant.outgrown:
            await self.renew(pane)
        elif pane not in self.panes and participant.writer.idle and quiet > UNANSWERED:
            await self.dismiss(pane)

    async def _limit_journal(self) -> NoReturn:
        """Delete events beyond the journal's limits of age and size: at the start, as it grows, and every hour."""
        due = self.journal.check_due
        while True:
            due.clear()
            await self._without_failing(keep_to(self.retention, self.journal, time.time()))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FORGET_EVERY):
                    await due.wait()

    async def _forget_messages(self) -> NoReturn:
        """Delete old receipts and spooled texts every hour."""
        while True:
            await asyncio.sleep(FORGET_EVERY)
            await self._without_failing(self.outbox.forget(before=time.time() - KEPT))
            await self._without_failing(asyncio.to_thread(lambda: forget_old(state_folder("spool"))))

    async def _forget_closed_panes(self) -> NoReturn:
        """Delete the notes on panes that closed while no process watched them: at the start, and every few minutes."""
        while True:
            # The listing comes after the files, so a new pane is in it.
            if files := await asyncio.to_thread(files_of, self.server.info):
                await self._without_failing(self._remove_closed(files))
            await asyncio.sleep(HELD)

    async def _remove_closed(self, files: Sequence[Path]) -> None:
        panes = {info.pane for info in await self.server.panes()}
        await asyncio.to_thread(remove_closed, self.server.info, panes, files)

    async def _without_failing(self, duty: Awaitable[object]) -> None:
        """Do what a service can go on without; a failure is a problem of its status."""
        try:
            await duty
        except StreamrelayError as error:
            if error.message not in self.problems:
                self.problems.append(error.message)


def new_id(kind: str) -> str:
    """Return a new unique id."""
    return f"{kind}-{secrets.token_hex(4)}"


def party(session: Session) -> Party:
    """Return a session as a side of a link."""
    return Party(session.session, session.pane, session.title, session.session_name)


async def _shielded(task: "asyncio.Future[NoReturn]") -> NoReturn:
    """Wait for a task without cancelling it when this wait is cancelled."""
    await asyncio.shield(task)


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _ended(task: "asyncio.Future[NoReturn]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise StorageError for kept values that this version cannot read."""
    try:
        yield
    except msgspec.MsgspecError as error:
        raise StorageError(
            f"this version cannot restore its state from {path}: {error}", data={"path": str(path)}
        ) from error


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder's lock inside the context; raises UsageError if another service holds it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "service.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            hint = "see it with: streamrelay daemon status"
            raise UsageError(f"another service keeps its state in {folder}", hint=hint) from error
        yield
