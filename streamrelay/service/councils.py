"""The sessions of the council that a service holds open, for people at terminals and the page, and for agents.

Terminal agents among the members are spoken to through the service, which is the only writer of their panes. A session
ends by `/bye`, and where an agent began it, when its question is answered. It is stored at all times: with the service
it stops where it is, and goes on when it is resumed.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from streamrelay.council import coordinator
from streamrelay.council.clients.contract import AIClient
from streamrelay.council.clients.making import make_client
from streamrelay.council.clients.pane import ANSWER_TIMEOUT, AgentClient
from streamrelay.council.config import CouncilConfig, default_file, read_config, read_pinned
from streamrelay.council.console import Console
from streamrelay.council.context import Pinned
from streamrelay.council.events import CouncilEvent
from streamrelay.council.lock import only_holder
from streamrelay.council.members import Member
from streamrelay.council.rounds import read_dissent
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore, SessionInfo
from streamrelay.delivery.message import OWN_TEXT
from streamrelay.errors import (
    DeliveryTimeout,
    NestedGathering,
    NotAllowed,
    StreamrelayError,
    TargetNotFound,
    UsageError,
)
from streamrelay.events import Event, Injected
from streamrelay.gathering.members import check_not_nested
from streamrelay.panes.publisher import Publish
from streamrelay.panes.shells import is_shell
from streamrelay.service.api import SendMessage
from streamrelay.service.core import Core
from streamrelay.service.council_api import (
    AskCouncil,
    Council,
    CouncilAnswer,
    CouncilAnswers,
    CouncilReply,
    CouncilTranscript,
    Disagreement,
    OpenCouncil,
)
from streamrelay.service.delivery_following import send_through
from streamrelay.service.interface import Service
from streamrelay.service.messages import check_may_speak

MAX_OPEN = 20
"""Sessions that are open at once; the oldest idle session without a viewer makes room for a new one."""
MAX_LISTED = 50


class ServiceAgentClient(AgentClient):
    """A member that is a terminal agent, typed to by the service.

    The name of a turn is the id of its message. So a turn that is resumed after a kill types nothing a second time, and
    reads its answer from the journal.
    """

    resumes_answers = True

    def __init__(self, core: Core, service: Service, target: str, note: Callable[[str], None]) -> None:
        """Take the tmux target, and the callback that gets the id of its session."""
        super().__init__()
        self._core, self._service, self._target, self._note = core, service, target, note
        self._turn = ""
        self._has_left = False

    def leave(self) -> None:
        """See `AIClient`."""
        self._has_left = True

    def begin_turn(self, turn: str) -> None:
        """See `AIClient`."""
        self._turn = turn

    async def _deliver(self, text: str, publish: Publish) -> None:
        found = await self._core.find(self._target)
        session, turn, machine = found.session, self._turn, self._core.machine
        self._note(session)
        await self._core.do(lambda _: machine.begin_council_turn(session, found.pane, turn))
        try:
            await self._ask(session, text, turn, publish)
        finally:
            if not self._has_left:
                await asyncio.shield(self._core.do(lambda _: machine.end_council_turn(session, turn)))

    async def _ask(self, session: str, text: str, message_id: str, publish: Publish) -> None:
        def of_this_message(event: Event) -> None:
            # Others may send to the same agent: what answers them is not the member's word.
            if not isinstance(event, Injected) or event.message_id == message_id:
                publish(event)

        request = SendMessage(
            to=session,
            text=text,
            message_id=message_id,
            needs_human=OWN_TEXT.needs_human,
            commands=OWN_TEXT.commands,
        )
        try:
            await send_through(
                self._service, request, publish=of_this_message, wait=True, timeout=ANSWER_TIMEOUT, from_start=True
            )
        except (asyncio.CancelledError, DeliveryTimeout):
            # A turn that is over must not be typed later.
            if not self._has_left:
                with contextlib.suppress(StreamrelayError):
                    await self._service.cancel_delivery(message_id)
            raise

    async def health_check(self) -> bool:
        """Tell whether the session is there and runs an agent, not a shell."""
        try:
            session = await self._core.find(self._target)
        except StreamrelayError:
            return False
        self._note(session.session)
        return not is_shell(session.program)


@dataclass(slots=True)
class _Held:
    """One open session."""

    session: CouncilSession
    console: Console
    closing: AsyncExitStack
    agents: set[str]
    """The ids of the sessions that are members."""
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has ended and another process could open it."""


class Councils:
    """The open sessions of one service, and all that are stored."""

    def __init__(self, core: Core, service: Service, file: Path) -> None:
        """Keep sessions in the database `file`, which is opened when it is first needed."""
        self._core, self._service, self._file = core, service, file
        self._held: dict[str, _Held] = {}
        self._ended: dict[str, _Held] = {}
        """The sessions that have ended and are not closed yet."""
        self._store: CouncilStore | None = None
        self._opening = asyncio.Lock()
        self._opening_store = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop all sessions where they are; they can be resumed."""
        for held in list(self._held.values()):
            await held.session.leave()
        await asyncio.gather(*self._closing, return_exceptions=True)
        if self._store is not None:
            await self._store.__aexit__(None, None, None)

    # People

    async def open(self, request: OpenCouncil) -> Council:
        """Begin a session, or resume one; one that is open is joined.

        Raises ConfigError, AIKeyRefused, ExtraMissing, UsageError for an unknown session or one that another process
        holds, and NotAllowed where too many are open.
        """
        async with self._opening:
            await self._until_closed(request.resume)
            if request.resume in self._held:
                return await self._council(request.resume, joined=True)
            self._make_room()
            store = await self._opened_store()
            config, pinned = await _asked_for(request, store)
            session_id = await self._hold(store, config, pinned, request)
            return await self._council(session_id)

    async def all(self) -> list[Council]:
        """Return the sessions that are open, and the latest of those that were, the newest first."""
        store = await self._opened_store()
        sessions = await store.sessions()
        shown = [info for at, info in enumerate(sessions) if at < MAX_LISTED or info.id in self._held]
        return sorted(map(self._view, shown), key=lambda one: not one.is_open)

    async def transcript(self, council: str) -> CouncilTranscript:
        """Return the transcript of a session; raises TargetNotFound."""
        store = await self._opened_store()
        shown = await self._council(council)
        if held := self._held.get(council):
            return CouncilTranscript(council=shown, entries=held.session.shown_entries)
        return CouncilTranscript(council=shown, entries=[entry for entry, _ in await store.entries(council)])

    async def enter(self, council: str, text: str) -> CouncilReply:
        """Carry out what a person types in an open session; raises TargetNotFound and UsageError."""
        return CouncilReply(shown=await self._found(council).console.enter(text))

    async def rest(self, council: str, seconds: float) -> bool:
        """Wait at most `seconds` until a session is idle or has ended; return whether it is."""
        held = self._held.get(council)
        if held is None:
            return True
        try:
            async with asyncio.timeout(seconds):
                await held.session.wait_until_idle()
        except TimeoutError:
            return False
        return True

    def follow(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open session, then its events; raises TargetNotFound."""
        session = self._found(council).session

        async def events() -> AsyncGenerator[CouncilEvent]:
            async with session.watch() as unread:
                for event in session.catch_up:
                    yield event
                async for event in unread:
                    yield event

        return events()

    # Agents

    async def ask(self, request: AskCouncil) -> CouncilAnswers:
        """Put a question to the council for an agent, and wait for its members.

        Raises NotAllowed for a caller that may not speak, NestedGathering for one that takes part in a council or
        gathering, and what `open` raises.
        """
        await self._check_may_ask(request)
        if not request.question and not request.council:
            raise UsageError("there is nothing to ask", hint="name a question, or the `council` to wait for")
        council = request.council
        if council not in self._held and (request.question or not council):
            council = (await self.open(OpenCouncil(resume=council))).council
            self._later(self._close_when_answered(self._held[council]))
        held = self._held.get(council)
        if held is not None and request.question:
            message_id = held.session.say(request.question, blind=request.blind)
            if request.dissent and len(held.session.members) > 1:
                held.session.submit(coordinator.StartRound("dissent"))
            await held.session.until_stored(message_id)
        is_answered = await self.rest(council, request.wait_seconds)
        return await self._answers(council, is_answered=is_answered)

    async def check_not_member(self, caller: str) -> None:
        """Raise NestedGathering for a session that is a member of an open council."""
        session = (await self._core.find(caller)).session
        for council, held in self._held.items():
            if session in held.agents:
                raise NestedGathering(
                    f"a member of {council} cannot ask a council or start a gathering",
                    hint="answer in the council first; when it has ended, you may",
                    data={"session": session, "council": council},
                )

    async def _check_may_ask(self, request: AskCouncil) -> None:
        if not request.caller:
            if request.unknown_agent:
                check_may_speak("", self._core.machine.settings)
            return
        session = (await self._core.find(request.caller)).session
        check_may_speak(session, self._core.machine.settings)
        gathering = self._core.machine.circles.of(session)
        check_not_nested(session, None if gathering is None else gathering.gathering_id)
        await self.check_not_member(session)

    async def _answers(self, council: str, *, is_answered: bool) -> CouncilAnswers:
        store = await self._opened_store()
        shown = await self._council(council)
        held = self._held.get(council)
        entries = held.session.shown_entries if held else [entry for entry, _ in await store.entries(council)]
        asked = max((at for at, entry in enumerate(entries) if entry.kind == "person"), default=-1)
        since = [entry for entry in entries[asked + 1 :] if entry.kind == "member"]
        answers = {entry.author: entry for entry in since if entry.round_kind != "dissent"}
        disputing = [entry for entry in since if entry.round_kind == "dissent"]
        dissent = [each for entry in disputing for each in read_dissent(entry.author, entry.text)]
        return CouncilAnswers(
            council=council,
            state="answered" if is_answered else "answering",
            answers=[
                CouncilAnswer(member=entry.author, text=entry.text, is_whole=not entry.partial)
                for entry in answers.values()
            ],
            dissent=[
                Disagreement(claim=each.claim, made_by=each.whose, disputed_by=each.member, why=each.why)
                for each in dissent
            ],
            missing=[name for name in shown.members if name not in answers],
            question=shown.question,
            cost=shown.cost,
        )

    # What is open

    async def _hold(
        self, store: CouncilStore, config: CouncilConfig, pinned: Sequence[Pinned], request: OpenCouncil
    ) -> str:
        agents: set[str] = set()
        environment = {**os.environ, **request.keys}

        def client(member: Member, model: str) -> AIClient:
            if member.vendor == "pane":
                return ServiceAgentClient(self._core, self._service, model, agents.add)
            return make_client(member, model, environment=environment)

        session_id = request.resume or await CouncilSession.prepare(store, config, client)
        async with AsyncExitStack() as stack:
            stack.enter_context(only_holder(store.path.parent, session_id))
            session = await CouncilSession.resume(store, session_id, client, pinned=pinned)
            await stack.enter_async_context(session)
            held = _Held(session, Console(session, store, _refuse_file), stack.pop_all(), agents)
        self._held[session_id] = held
        for member in config.members:
            if member.vendor == "pane":
                with contextlib.suppress(StreamrelayError):
                    agents.add((await self._core.find(member.model)).session)
        self._later(self._close_when_ended(held))
        return session_id

    def _make_room(self) -> None:
        if len(self._held) < MAX_OPEN:
            return
        idle = next(
            (held for held in self._held.values() if held.session.is_idle and not held.session.subscribers), None
        )
        if idle is None:
            raise NotAllowed(f"{len(self._held)} councils are open", hint="end one of them: /bye")
        idle.session.submit(coordinator.Bye())

    async def _close_when_ended(self, held: _Held) -> None:
        await held.session.ended.wait()
        council = held.session.id
        self._held.pop(council, None)
        self._ended[council] = held
        try:
            await held.closing.aclose()
        finally:
            del self._ended[council]
            held.closed.set()

    async def _until_closed(self, council: str) -> None:
        """Wait for a session that has ended, because it is locked until it is closed."""
        held = self._held.get(council) or self._ended.get(council)
        if held is not None and held.session.ended.is_set():
            await held.closed.wait()

    async def _close_when_answered(self, held: _Held) -> None:
        """End a session that an agent began, unless a person looks on."""
        await held.session.wait_until_idle()
        if not held.session.subscribers:
            held.session.submit(coordinator.Bye())

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _opened_store(self) -> CouncilStore:
        async with self._opening_store:
            if self._store is None:
                store = CouncilStore(self._file)
                await store.__aenter__()
                self._store = store
            return self._store

    def _found(self, council: str) -> _Held:
        if (held := self._held.get(council)) is None:
            raise TargetNotFound(
                f"no council {council} is open", hint=f"open it: streamrelay council --resume {council}"
            )
        return held

    async def _council(self, council: str, *, joined: bool = False) -> Council:
        store = await self._opened_store()
        info = next((each for each in await store.sessions() if each.id == council), None)
        if info is None:
            raise TargetNotFound(f"there is no council {council}", hint="streamrelay council list")
        return msgspec.structs.replace(self._view(info), joined=joined)

    def _view(self, info: SessionInfo) -> Council:
        held = self._held.get(info.id)
        status = None if held is None else held.session.status
        return Council(
            council=info.id,
            title=info.title,
            created=info.created,
            members=info.members,
            person=info.person,
            messages=info.messages,
            cost=info.cost,
            is_open=held is not None,
            state="ended" if status is None else status.state,
            speaker="" if status is None else status.speaker or "",
            question="" if status is None else status.question,
        )


async def _asked_for(request: OpenCouncil, store: CouncilStore) -> tuple[CouncilConfig, Sequence[Pinned]]:
    if request.resume:
        return (await store.resume(request.resume))[0], request.pinned
    if request.config is not None:
        return request.config, request.pinned
    return await asyncio.to_thread(_own_council)


def _own_council() -> tuple[CouncilConfig, Sequence[Pinned]]:
    """Return the user's own council and the documents that it names."""
    file = default_file()
    config = read_config(file)
    return config, read_pinned(config, file.parent)


def _refuse_file(path: Path, _text: str) -> NoReturn:
    raise UsageError(f"cannot write {path} from here", hint="in a terminal: streamrelay council export last FILE")
