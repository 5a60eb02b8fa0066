"""The service in this process: one tmux server, one machine that decides, one conversation that carries it out.

    async with streamrelay.connect() as server, LocalService(server) as service:
        await service.send_message(SendMessage(to="work:0.1", text="hello"))

All that it has comes back when it is opened again, however it ended (keeping.py, restoring.py).
"""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import msgspec

from streamrelay.delivery.message import Policy as TypingPolicy
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.state import state_folder
from streamrelay.delivery.writer import check_message_id
from streamrelay.errors import StreamrelayError, TargetNotFound, UsageError
from streamrelay.events import AnyEvent, Event
from streamrelay.history.journal import Found, Journal
from streamrelay.links.link import Link, Policy, Texts
from streamrelay.links.noting import note
from streamrelay.panes.server import Server
from streamrelay.relay.conversation import Conversation
from streamrelay.relay.places import Typing
from streamrelay.relay.rules import Effect, Participant, Rules
from streamrelay.relay.session import checked_name
from streamrelay.relay.steps import Decision
from streamrelay.service import directory
from streamrelay.service.api import (
    CreateRelay,
    Delivery,
    Relay,
    RelayMember,
    SendMessage,
    SendResult,
    Status,
)
from streamrelay.service.feed import Feed
from streamrelay.service.keeping import Kept
from streamrelay.service.machine import Sending, Sent, ServiceMachine
from streamrelay.sessions.model import Session, StartSession

_NO_LINK = "there is no link with {title} to be closed"


class LocalService:
    """All calls of `streamrelay.service.api.Service`, done here; an async context manager.

    The server is to be entered already. State is kept in `folder` (`$XDG_STATE_HOME/streamrelay` by default), which
    one service at a time may have.
    """

    def __init__(self, server: Server, *, folder: Path | None = None, texts: Texts | None = None) -> None:
        self.broken: asyncio.Future[NoReturn]
        """Raises what the service cannot go on after."""
        self._server = server
        folder = folder or state_folder()
        self._journal = Journal(folder / "journal.db")
        self._outbox = Outbox(folder / "outbox.db")
        self._texts = texts
        self._machine: ServiceMachine
        self._feed: Feed
        self._kept: Kept
        self._conversation: Conversation
        self._admitting: dict[str, asyncio.Lock] = {}
        self._started_at = time.time()
        self._problems: list[str] = []
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._entered.enter_async_context(self._journal)
            await self._entered.enter_async_context(self._outbox)
            await self._begin()
        except BaseException:
            await self._entered.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._entered.aclose()

    async def _begin(self) -> None:
        self._machine = ServiceMachine.restored(await self._journal.kept(), self._texts)
        self._feed = Feed(self._journal, await self._journal.last_seq())
        self._kept = Kept(self._journal, self._feed, self._machine.changes)
        self._conversation = Conversation(
            self._server, self._machine, typing=Typing(outbox=self._outbox), keeper=self._kept
        )
        self._entered.callback(self._feed.close)
        self._entered.push_async_callback(self._conversation.close)
        self.broken = asyncio.ensure_future(self._conversation.work(self._note))
        self._entered.push_async_callback(self._end)

    async def _end(self) -> None:
        self.broken.cancel()
        await asyncio.gather(self.broken, return_exceptions=True)

    def _note(self, event: Event) -> None:
        note(event, self._machine.links)

    # What is there

    async def status(self) -> Status:
        """Say how it is."""
        sessions = await self.sessions()
        await self._outbox.flush()
        return Status(
            version=version("streamrelay"),
            pid=os.getpid(),
            started_at=self._started_at,
            tmux=self._server.info.socket_path,
            seq=self._feed.last,
            paused=self._machine.settings.paused,
            sessions=len(sessions),
            watched=sum(self._server.is_watched(session.pane) for session in sessions),
            links=len(self._machine.links.links()),
            relays=len(self._machine.relays),
            deliveries={str(state): count for state, count in (await self._outbox.counts()).items()},
            subscribers=self._feed.readers,
            problems=tuple(self._problems),
        )

    async def sessions(self) -> list[Session]:
        """List the sessions of the server."""
        sessions = directory.listed(await self._server.panes(), self._server)
        return [_in_relay(session, self._machine.relay_of(session.session)) for session in sessions]

    async def start_session(self, request: StartSession) -> Session:
        """Start a session in tmux."""
        raise UsageError("sessions cannot be started here")

    async def end_session(self, session: str) -> None:
        """End a session that was started here."""
        raise UsageError(f"{session} was not started here")

    async def _find(self, name: str) -> Session:
        return await directory.found(await self.sessions(), self._server, name)

    async def _admit(self, session: Session, *, allow_shell: bool = False) -> None:
        """Have a session heard, and typed to when there is something."""
        async with self._admitting.setdefault(session.pane, asyncio.Lock()):
            if self._conversation.place(session.pane) is None:
                info = await self._server.find(session.pane)
                await self._conversation.admit(info, Typing(allow_shell=allow_shell, outbox=self._outbox))

    async def _do(self, decision: Decision) -> None:
        """Have something decided, and all that follows kept and on its way."""
        if self.broken.done():
            self.broken.result()
        await self._conversation.decided(decision)

    # Messages

    async def send_message(self, request: SendMessage) -> SendResult:
        """Take a message: once this returns it is in the outbox, and its receipts follow as events."""
        target = await self._find(request.to)
        message_id = request.message_id or f"send-{secrets.token_hex(6)}"
        check_message_id(message_id)
        await self._admit(target, allow_shell=request.allow_shell)
        caller, warning = await self._caller(request, target)
        sending = Sending(
            message_id=message_id,
            text=request.text,
            target=directory.party(target),
            caller=None if caller is None else directory.party(caller),
            then="close" if request.close_link else "link" if request.direct else "listen",
            policy=request.policy,
            typing=TypingPolicy(needs_human=request.needs_human, commands=request.commands),
        )
        sent = Sent()

        def decide(now: float) -> list[Effect]:
            nonlocal sent
            sent, effects = self._machine.send(sending, link_id=_new("link"), at=time.time(), now=now)
            return effects

        await self._do(decide)
        if request.close_link and not sent.closed:
            warning = warning or _NO_LINK.format(title=target.title)
        deliveries = await self.get_delivery(message_id)
        return SendResult(
            message_id=message_id,
            delivery=next(each for each in deliveries if each.pane == target.pane),
            link="" if sent.link is None else sent.link.link_id,
            listening=sent.listening,
            warning=warning,
        )

    async def _caller(self, request: SendMessage, target: Session) -> tuple[Session | None, str]:
        """Return who says it, or what hinders that somebody does: a message is delivered all the same."""
        if not request.caller:
            return None, ""
        try:
            caller = await self._find(request.caller)
            if caller.session == target.session:
                return None, "a session cannot be linked with itself"
            await self._admit(caller)
        except StreamrelayError as error:
            return None, f"the calling session {request.caller} cannot be heard: {error.message}"
        return caller, ""

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Say how a message stands, one entry a target."""
        await self._outbox.flush()
        return [
            Delivery(
                message_id=entry.message_id,
                pane=entry.pane,
                state=entry.state,
                reason=entry.reason,
                removed=entry.removed,
                file=entry.file,
            )
            for entry in await self._outbox.find(message_id)
        ]

    # Links

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        return self._machine.links.of(session) if session else self._machine.links.links()

    async def create_link(self, a: str, b: str, policy: Policy | None = None) -> Link:
        """Link two sessions; where they are linked already, return that link as it is."""
        first, second = await self._find(a), await self._find(b)
        if first.session == second.session:
            raise UsageError("a session cannot be linked with itself", data={"session": first.session})
        for session in (first, second):
            await self._admit(session)
        parties = directory.party(first), directory.party(second)
        await self._do(
            lambda now: self._machine.link(*parties, link_id=_new("link"), at=time.time(), now=now, policy=policy)[1]
        )
        link = self._machine.links.between(first.session, second.session)
        if link is None:
            raise TargetNotFound("one of the two has gone meanwhile")
        return link

    async def extend_link(self, link: str, deliveries: int) -> Link:
        """Add to a budget, and open the link if it is spent."""
        await self._do(lambda now: self._machine.extend(link, deliveries, now))
        return self._machine.found(link)

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link, for one of its sides or for a person; the other side is told."""
        await self._do(lambda _: self._machine.close_link(link, by, last_words))

    # Relays

    async def relays(self) -> list[Relay]:
        """List the relays."""
        return [self._relay(relay_id) for relay_id in self._machine.relays]

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Let sessions hear each other; raises SessionTaken for one that is in another relay or circle."""
        sessions = [await self._find(each.session) for each in request.participants]
        for session in sessions:
            await self._admit(session, allow_shell=request.allow_shell)
        participants = [
            Participant(s.session, s.pane, checked_name(each.name or s.title), number, s.session_name)
            for number, (each, s) in enumerate(zip(request.participants, sessions, strict=True), 1)
        ]
        relay_id = _new("relay")
        rules = Rules(budget=request.budget)
        await self._do(lambda now: self._machine.open_relay(relay_id, participants, rules, now))
        return self._relay(relay_id)

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        await self._do(lambda _: self._machine.stop_relay(relay))

    def _relay(self, relay_id: str) -> Relay:
        relay = self._machine.relays[relay_id]
        standing = relay.standing
        members = [
            RelayMember(
                session=member.session,
                pane=member.pane,
                name=member.name,
                number=member.number,
                muted=member.pane in standing.muted,
                gone=member.pane in standing.gone,
                traffic=standing.traffic[member.label],
            )
            for member in relay.participants
        ]
        return Relay(
            relay=relay_id,
            members=members,
            deliveries=standing.deliveries,
            budget=standing.budget,
            paused=standing.paused,
        )

    # People

    async def pause(self, paused: bool, of: str = "") -> None:  # as the service's callers say it
        """Let nothing cross the link or relay of that id, or any, until it is taken back."""
        await self._do(lambda now: self._machine.pause(of, now, paused=paused))

    async def mute(self, session: str, muted: bool) -> None:  # as the service's callers say it
        """Let nothing of what a session says cross any link or relay, or let it cross again."""
        found = await self._find(session)
        await self._do(lambda _: self._machine.mute(found.session, muted=muted))

    async def stop_all(self) -> int:
        """End all links and relays; return how many there were."""
        count = 0

        def decide(_now: float) -> list[Effect]:
            nonlocal count
            count, effects = self._machine.stop_all()
            return effects

        await self._do(decide)
        return count

    async def watch(self, session: str, watched: bool) -> None:  # as the service's callers say it
        """Have what a session says journaled whether or not it takes part in anything."""
        found = await self._find(session)
        if watched:
            await self._admit(found, allow_shell=True)

        def decide(_now: float) -> list[Effect]:
            self._machine.watch(found.pane, watched=watched)
            return []

        await self._do(decide)

    # What was

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        """Return journaled events behind a place, oldest first."""
        pane = (await self._find(session)).pane if session else ""
        return await self._journal.since(seq, limit=limit, pane=pane)

    async def search_history(
        self, words: str, session: str = "", agent: str = "", since: float = 0.0, limit: int = 50
    ) -> list[Found]:
        """Find what was said by its words, newest first."""
        pane = (await self._find(session)).pane if session else None
        return await self._journal.search(words, pane=pane, agent=agent or None, since=since or None, limit=limit)

    async def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Every event that is journaled, in order, from behind a place or from now on; provisional ones are not."""
        async with contextlib.aclosing(self._feed.batches(after)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    def batches(self, after: int | None = None) -> AsyncGenerator[list[AnyEvent], None]:
        """Do the same, with all that waits at once."""
        return self._feed.batches(after)


def _new(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(4)}"


def _in_relay(session: Session, relay: str) -> Session:
    return msgspec.structs.replace(session, in_relay=relay) if relay else session
