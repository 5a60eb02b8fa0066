"""The service in this process: one tmux server, a machine that decides, and a runner that carries decisions out.

    async with streamrelay.connect() as server, LocalService(server) as service:
        await service.send_message(SendMessage(to="work:0.1", text="hello"))

However it ended, the next start restores its state (persistence.py, restore.py).
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import msgspec
from msgspec import structs

from streamrelay.agents.stop_report import HookReport
from streamrelay.config.settings import FederationTable, GatheringTable, HistoryTable, PulseTable, SessionsTable
from streamrelay.council.events import CouncilEvent
from streamrelay.delivery.lock import WriterKind
from streamrelay.errors import TargetNotFound, UsageError
from streamrelay.events import AnyEvent
from streamrelay.federation.messages import Wish
from streamrelay.history.results import History, Output, SearchHistory
from streamrelay.links.link import Link, LinkPolicy, NoticeTexts
from streamrelay.panes.server import Server
from streamrelay.pulse import Pulse
from streamrelay.relay.rules import Effect, Participant, Rules
from streamrelay.relay.session import checked_name
from streamrelay.service import (
    deliveries,
    dialogs,
    gatherings,
    interrupts,
    pulse,
    remote_gatherings,
    remote_sessions,
    sending,
)
from streamrelay.service.api import (
    AskCouncil,
    Council,
    CouncilAnswers,
    CouncilReply,
    CouncilTranscript,
    CreateRelay,
    Delivery,
    Gathering,
    GatheringTranscript,
    Listed,
    OpenCouncil,
    OpenDialog,
    Peer,
    Relay,
    RelayMember,
    SendMessage,
    SendResult,
    StartGathering,
    Status,
    TakePulse,
)
from streamrelay.service.core import Core, new_id, party
from streamrelay.service.councils import Councils
from streamrelay.service.encoding import check_encodes
from streamrelay.sessions.hook_events import hear_hook
from streamrelay.sessions.model import Session, StartSession
from streamrelay.sessions.sessions import Own
from streamrelay.version import VERSION

COUNCILS = "council.db"


class LocalService:
    """Implements `streamrelay.service.api.Service` in this process; an async context manager.

    The server must be entered already. The service keeps its state in `folder` (`$XDG_STATE_HOME/streamrelay` by
    default), which it locks; other processes may share its `outbox`. With `notify`, tmux users see the state of the
    conversations and what waits for them (streamrelay.notifying). `own` returns the environment variables of a new
    session by its id; `federation` lists the other machines. When another process may not type into a pane because
    this service does, its error names the service by `writer`.
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
        )
        self._councils = Councils(self._core, self, councils or self._core.folder / COUNCILS)

    def configure(
        self,
        *,
        policy: LinkPolicy,
        rules: Rules,
        retention: HistoryTable,
        starting: SessionsTable | None = None,
        gathering: GatheringTable | None = None,
        pulse: PulseTable | None = None,
    ) -> None:
        """Set the values that apply from now on.

        These are the defaults for links, relays and gatherings, the limits of the journal, who may start sessions, and
        the settings of a pulse.
        """
        core = self._core
        core.policy, core.rules, core.retention = policy, rules, retention
        core.starting, core.gathering = starting or SessionsTable(), gathering or GatheringTable()
        core.pulse = pulse or PulseTable()

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

    # What is there

    async def status(self) -> Status:
        """Return the state of the service."""
        core = self._core
        sessions = await core.sessions.all()
        await core.outbox.flush()
        return Status(
            version=VERSION,
            pid=os.getpid(),
            started_at=core.started_at,
            tmux=core.server.info.socket_path,
            seq=core.feed.last,
            paused=core.machine.settings.paused,
            sessions=len(sessions),
            watched=sum(core.server.is_watched(session.pane) for session in sessions),
            links=len(core.links()),
            relays=len(core.machine.relays.all),
            gatherings=len(core.machine.circles.held),
            deliveries={str(state): count for state, count in (await core.outbox.counts()).items()},
            subscribers=core.feed.readers,
            problems=(*core.problems, *remote_sessions.problems(core)),
        )

    async def peers(self) -> list[Peer]:
        """List the other machines, with the envelopes that wait for each and why."""
        return remote_sessions.peers(self._core)

    async def sessions(self) -> list[Session]:
        """List the sessions of the server: those started here, and every other pane with a program in it."""
        relay_of = self._core.machine.relay_of
        return [
            msgspec.structs.replace(session, in_relay=relay_of(session.session))
            for session in await self._core.sessions.all()
        ]

    async def start_session(self, request: StartSession) -> Session:
        """Start a session and return it when its program is ready; if the program needs a person, an event says so."""
        check_encodes(request)
        return await sending.start(self._core, request)

    async def end_session(self, session: str) -> None:
        """End a session and all its links; raises UsageError for one that was not started here."""
        await sending.end(self._core, session)

    async def hear_hook(self, report: HookReport) -> bool:
        """Take the report of an agent's stop hook; return whether a watched pane used it."""
        return await hear_hook(self._core.server, report)

    # Messages

    async def send_message(self, request: SendMessage) -> SendResult:
        """Queue a message: once this returns, the outbox holds it, and its receipts follow as events."""
        check_encodes(request)
        return await sending.send(self._core, request)

    async def get_delivery(self, message_id: str) -> list[Delivery]:
        """Return the state of a message, one entry per target; empty for an unknown id."""
        return await sending.last_deliveries(self._core, message_id)

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]:
        """List messages to one session or to all, oldest first: those not submitted yet, or the latest in any state."""
        return await deliveries.listed(self._core, session, state)

    async def cancel_delivery(self, message_id: str, by: str = "") -> list[Delivery]:
        """Cancel a message wherever it is not pasted yet, for the session `by` or a person; return its state."""
        return await deliveries.cancel(self._core, message_id, by)

    # Dialogs

    async def dialogs(self, session: str = "") -> list[OpenDialog]:
        """List the open dialogs of the watched sessions, or of one session; a password prompt is not listed."""
        return await dialogs.listed(self._core, session)

    async def answer_dialog(self, session: str, dialog: str, choice: int) -> None:
        """Press the key of the choice that a person made in a dialog, if the dialog is still open."""
        await dialogs.answer(self._core, session, dialog, choice)

    async def interrupt(self, session: str, message: str = "") -> list[str]:
        """Press the keys that interrupt an answer, as the program's profile defines them; return the keys."""
        return await interrupts.interrupt(self._core, session, message)

    # Links

    async def links(self, session: str = "") -> list[Link]:
        """List the links, of one session or of all."""
        own = (await self._core.find(session)).session if session else ""
        return [link for link in self._core.links() if not own or own in {party.session for party in link.parties}]

    async def create_link(self, a: str, b: str, policy: LinkPolicy | None = None) -> Link:
        """Link two sessions; if they are linked already, return that link unchanged."""
        core = self._core
        if (link := await remote_sessions.create_link(core, a, b, policy)) is not None:
            return link
        first, second = await core.find(a), await core.find(b)
        if first.session == second.session:
            raise UsageError("a session cannot be linked with itself", data={"session": first.session})
        for session in (first, second):
            await core.admit(session)
        link_id, at, policy = new_id("link"), time.time(), policy or core.policy
        await core.do(
            lambda now: core.machine.link(party(first), party(second), link_id=link_id, at=at, now=now, policy=policy)[
                1
            ]
        )
        link = core.machine.links.between(first.session, second.session)
        if link is None:
            raise TargetNotFound("one of the two has gone meanwhile")
        return link

    async def extend_link(self, link: str, deliveries: int) -> Link:
        """Add deliveries to a link's budget, and reopen the link if its budget was spent."""
        core = self._core
        if not await remote_sessions.wish(core, Wish(link=link, what="extend", deliveries=deliveries)):
            await core.do(lambda now: core.machine.extend(link, deliveries, now))
        return next((one for one in core.links() if one.link_id == link), None) or core.machine.found(link)

    async def close_link(self, link: str, by: str = "", last_words: str = "") -> None:
        """Close a link, for one of its sides or for a person; the other side gets a notice."""
        check_encodes(last_words)
        if await remote_sessions.wish(self._core, Wish(link=link, what="close", by=by, last_words=last_words)):
            return
        side = (await self._core.find(by)).session if by else ""
        await self._core.do(lambda _: self._core.machine.close_link(link, side, last_words))

    # Relays

    async def relays(self) -> list[Relay]:
        """List the relays."""
        return [self._relay(relay_id) for relay_id in self._core.machine.relays.all]

    async def create_relay(self, request: CreateRelay) -> Relay:
        """Relay the output of sessions to each other; raises SessionTaken for one in another relay or gathering."""
        check_encodes(request)
        core = self._core
        sessions = [
            await remote_sessions.participant(core, each.session, allow_shell=request.allow_shell)
            for each in request.participants
        ]
        participants = [
            Participant(s.session, s.pane, checked_name(each.name or s.title), number, s.session_name)
            for number, (each, s) in enumerate(zip(request.participants, sessions, strict=True), 1)
        ]
        relay_id, rules = new_id("relay"), structs.replace(core.rules, budget=request.budget)
        await core.do(lambda now: core.machine.open_relay(relay_id, participants, rules, now))
        return self._relay(relay_id)

    async def stop_relay(self, relay: str) -> None:
        """End a relay."""
        if not await remote_sessions.wish_for_seats(self._core, relay, "close"):
            await self._core.do(lambda _: self._core.machine.stop_relay(relay))

    def _relay(self, relay_id: str) -> Relay:
        relay = self._core.machine.relays.all.get(relay_id)
        if relay is None:
            raise TargetNotFound(f"relay {relay_id} has ended meanwhile")
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

    # Gatherings

    async def start_gathering(self, request: StartGathering) -> Gathering:
        """Start the sessions of a gathering, then the gathering; if one session fails, end the others again."""
        check_encodes(request)
        if request.caller:
            await self._councils.check_not_member(request.caller)
        return await gatherings.start(self._core, request)

    async def gatherings(self) -> list[Gathering]:
        """List the gatherings in progress and the latest finished ones, newest first."""
        return [*await remote_gatherings.all_of(self._core), *gatherings.all_of(self._core)]

    async def gathering(self, gathering: str) -> Gathering:
        """Return the state of a gathering; raises TargetNotFound for an unknown id."""
        if there := remote_gatherings.home_of(self._core, gathering):
            return await remote_gatherings.view(self._core, there)
        return gatherings.view(self._core, gathering)

    async def pass_piece(self, gathering: str, number: int | None = None, session: str = "") -> Gathering:
        """Pass the talking piece on."""
        if there := remote_gatherings.home_of(self._core, gathering):
            return await remote_gatherings.pass_piece(self._core, there, number, session)
        return await gatherings.pass_piece(self._core, gathering, number, session)

    async def say_in_gathering(self, gathering: str, number: int, text: str) -> Gathering:
        """Speak for a person in the circle; raises UsageError if that person does not hold the piece."""
        check_encodes(text)
        if there := remote_gatherings.home_of(self._core, gathering):
            return await remote_gatherings.say(self._core, there, number, text)
        return await gatherings.say(self._core, gathering, number, text)

    async def pause_gathering(self, gathering: str, paused: bool) -> Gathering:  # as the service's callers say it
        """Pause a gathering, or resume it."""
        if there := remote_gatherings.home_of(self._core, gathering):
            return await remote_gatherings.wish(self._core, there, "pause" if paused else "resume")
        return await gatherings.pause(self._core, gathering, paused=paused)

    async def close_gathering(self, gathering: str, end_sessions: bool = False) -> Gathering:
        """Close a gathering before its last round, after its harvest; a second call does not wait for the harvest."""
        if there := remote_gatherings.home_of(self._core, gathering):
            return await remote_gatherings.wish(self._core, there, "close")
        return await gatherings.close(self._core, gathering, end_sessions=end_sessions)

    async def gathering_transcript(self, gathering: str) -> GatheringTranscript:
        """Return the transcript of a gathering."""
        if there := remote_gatherings.home_of(self._core, gathering):
            return await remote_gatherings.transcript(self._core, there)
        return gatherings.transcript(self._core, gathering)

    # The council

    async def open_council(self, request: OpenCouncil) -> Council:
        """Begin a council session, resume one, or join an open one."""
        check_encodes(request)
        return await self._councils.open(request)

    async def councils(self) -> list[Council]:
        """List the open council sessions and the latest closed ones."""
        return await self._councils.all()

    async def council_transcript(self, council: str) -> CouncilTranscript:
        """Return the transcript of a council session; raises TargetNotFound."""
        return await self._councils.transcript(council)

    async def enter_council(self, council: str, text: str) -> CouncilReply:
        """Handle what a person types in an open council session: a message, or a command that begins with a slash."""
        check_encodes(text)
        return await self._councils.enter(council, text)

    async def rest_council(self, council: str, seconds: float = 60.0) -> bool:
        """Wait at most `seconds` until no member of a council session speaks; return whether none does."""
        return await self._councils.rest(council, seconds)

    async def ask_council(self, request: AskCouncil) -> CouncilAnswers:
        """Ask the user's council a question; return the members' answers and their dissent."""
        check_encodes(request)
        return await self._councils.ask(request)

    def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound."""
        return self._councils.follow(council)

    # People

    async def pause(self, paused: bool, of: str = "") -> None:  # as the service's callers say it
        """Pause or resume the deliveries of one link or relay (`of`), or of all."""
        if await remote_sessions.pause(self._core, of, paused=paused):
            return
        await self._core.do(lambda now: self._core.machine.pause(of, now, paused=paused))

    async def mute(self, session: str, muted: bool) -> None:  # as the service's callers say it
        """Mute a session, so that no link or relay delivers its output, or unmute it."""
        found = await self._core.find(session)
        await self._core.do(lambda _: self._core.machine.mute(found.session, muted=muted))

    async def stop_all(self) -> int:
        """End all links and relays; return how many there were."""
        count = 0

        def decide(now: float) -> list[Effect]:
            nonlocal count
            count, effects = self._core.machine.stop_all(now)
            return effects

        await self._core.do(decide)
        return count + await remote_sessions.close_all(self._core)

    async def watch(self, session: str, watched: bool) -> None:  # as the service's callers say it
        """Journal a session's output even if it is in no link, relay or gathering, or stop that."""
        found = await self._core.find(session)
        if watched:
            await self._core.admit(found, allow_shell=True)

        def decide(_now: float) -> list[Effect]:
            self._core.machine.watch(found.pane, watched=watched)
            return []

        await self._core.do(decide)

    # What was

    async def read_since(self, seq: int, session: str = "", limit: int = 1000) -> list[AnyEvent]:
        """Return the journaled events after a `seq`, oldest first, of all sessions or of one, running or ended."""
        place = await self._core.place(session) if session else None
        return await self._core.journal.since(seq, limit=limit, place=place)

    async def latest(self, limit: int = 50) -> list[Output]:
        """Return the newest output of the running sessions, newest first, with at least the last one of each."""
        sessions = [session.session for session in await self._core.sessions.all()]
        return await self._core.journal.latest(sessions, limit=limit)

    async def search_history(self, search: SearchHistory) -> History:
        """Search the journal and agents' own transcripts, the best match first."""
        place = None
        if search.session:
            # A hit from an agent's transcript belongs to no session.
            with contextlib.suppress(TargetNotFound):
                place = await self._core.place(search.session)
        return await self._core.history.search(search, place)

    async def pulse(self, request: TakePulse) -> Pulse:
        """Summarise system, sessions, repositories and pipelines, with earlier output about the current work."""
        return await pulse.pulse(self._core, scope=request.scope, parts=request.parts, among=request.among)

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
        return self._core.provisional.lines((await self._core.find(session)).pane)
