"""The node of a service in a federation, and the tasks that exchange messages with other nodes.

The service handles an incoming message like a person's decision, and commits its effects together with its number in
one transaction. Only then does the node acknowledge it, to its sender and to Redis. An outgoing message is committed
before it is sent. So Redis may be unreachable, lose entries or deliver one twice, and either service may die at any
moment (docs/federation.md).
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn, Protocol

import msgspec

from streamrelay.config.settings import FederationTable
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.errors import (
    NotAllowed,
    PeerAway,
    RedisLost,
    SessionTaken,
    StreamrelayError,
    TargetNotFound,
    UsageError,
    error_with_code,
)
from streamrelay.events import Receipt
from streamrelay.federation import incoming, outgoing
from streamrelay.federation.admission import Admission
from streamrelay.federation.allowance import Allowance, read_limits
from streamrelay.federation.channel import ACK_DELAY
from streamrelay.federation.envelope import Envelope, batches, read_body, sealed
from streamrelay.federation.keys import SALT_SIZE, KeyRing, Refused, read_key_file, read_peer_keys
from streamrelay.federation.messages import (
    Ack,
    Answer,
    AnyBody,
    Ask,
    Body,
    Deliver,
    End,
    GatheringCall,
    Linked,
    Message,
    Purpose,
    Receipted,
    Seated,
    Start,
)
from streamrelay.federation.names import RemoteName, check_node, seen_from
from streamrelay.federation.node import Node
from streamrelay.federation.remote_links import image_of
from streamrelay.federation.streams import BATCH, TTL, StreamEntry, Streams, open_streams
from streamrelay.installation import needs_extra
from streamrelay.links.link import Party
from streamrelay.panes.tasks import until_first
from streamrelay.relay.rules import Effect, Notice, Participant, PublishEvent
from streamrelay.relay.runner import RelayRunner
from streamrelay.relay.steps import Decision, Outgoing, RelayStep, StepStore
from streamrelay.service.machine import ServiceMachine
from streamrelay.service.messages import OutgoingMessage, check_may_speak
from streamrelay.sessions.model import Session

logger = logging.getLogger(__name__)

START_SECONDS = 60.0
"""Seconds to wait until another node has started a session."""
ASK_SECONDS = 5.0
"""Seconds to wait for the answer of another node."""
LOOK_EVERY = 1.0
MAX_MARKS = 100_000
MAX_CONSUMED = 16
"""Entries that are ended together at most; fewer wait for other traffic, or for `ACK_DELAY`."""
FIRST_PAUSE, MAX_PAUSE = 0.2, 10.0
"""Seconds between two attempts to reach Redis."""


class Posting:
    """Keeps steps, with what other nodes are to be told of them."""

    def __init__(self, keeper: StepStore, node: Node, posted: Callable[[], None]) -> None:
        self._keeper = keeper
        self._node = node
        self._posted = posted

    async def keep(self, step: RelayStep) -> None:
        """Return when all of it is committed; what is for others may go then."""
        outgoing.take(self._node, step)
        await self._keeper.keep(step)
        self._node.kept()
        self._posted()

    def gone_out(self, outgoing: Sequence[Outgoing]) -> None:
        """Know that messages are in the outbox."""
        self._keeper.gone_out(outgoing)


class FederatedService(Protocol):
    """What a federation uses of the service that it belongs to."""

    machine: ServiceMachine
    runner: RelayRunner
    typing: DeliveryPolicy

    async def do(self, decision: Decision) -> None:
        """Carry a decision out: commit it with its effects."""

    async def find(self, name: str) -> Session:
        """Return the session with this id, title or pane; raises TargetNotFound and UsageError."""

    async def admit(self, session: Session) -> None:
        """Observe a session and type its queued messages."""


class Arrived(NamedTuple):
    """Entries of the inbox, opened, in order; None is a body that cannot be used."""

    entry_ids: list[bytes]
    envelopes: list[tuple[Envelope, AnyBody | None]]


class Federation:
    """The node of a service, at work while `run` is."""

    def __init__(
        self, core: FederatedService, table: FederationTable, before: Mapping[str, bytes], *, epoch: int
    ) -> None:
        """Go on with what was kept; raises UsageError for names that make no sense, or a key that cannot be read."""
        for name in (table.node, *table.peers):
            check_node(name)
        if table.node in table.peers:
            raise UsageError("federation.peers names federation.node itself", hint="remove it from federation.peers")
        self._core = core
        self._table = table
        self.keys = _key_ring(table)
        self.admission = Admission(table.node, self.keys)
        self.node = Node.restored(before, table.node, table.peers, core.machine, self._in_turns, epoch=epoch)
        limits = read_limits(table.peers, table.messages_per_minute, table.bytes_per_minute)
        self.node.allowances = {peer: Allowance(limits[peer]) for peer in table.peers}
        self.present: set[str] = set()
        """The peers that were there when it was looked last."""
        self.problem = "not connected yet"
        """Why nothing can be sent now; empty while it can."""
        self._service = str(next((c.state.epoch for c in self.node.channels.values()), epoch))
        self._at_once = BATCH
        """How many entries are asked for."""
        self._streams: Streams | None = None
        """Open while they are."""
        self._due = asyncio.Event()
        self._notes: dict[str, list[Body]] = {}
        """What each peer is to be told that may get lost."""
        self._consumed: list[bytes] = []
        """The entries of the inbox that were taken in, and that Redis is not told of yet."""
        self._consumed_since = 0.0
        """When the first of them was taken in."""
        self.starter: Callable[[Start], Awaitable[Session]] | None = None
        """Starts a session for another node; the service sets it."""
        self.ender: Callable[[str], Awaitable[None]] | None = None
        """Ends such a session."""
        self.gathering_caller: Callable[[str, GatheringCall], Awaitable[bytes]] | None = None
        """Answers what a peer asks about a gathering of here; the service sets it."""
        self.seen_gatherings: dict[str, bytes] = {}
        """The last known state of the gatherings of other nodes."""
        self._working: set[asyncio.Task[None]] = set()
        self._asked: dict[str, asyncio.Future[Answer]] = {}
        self._marks: dict[str, deque[tuple[int, float]]] = {peer: deque(maxlen=MAX_MARKS) for peer in self.node.peers}
        """For each peer, numbers of envelopes, and the time at which all up to that number were handed over."""
        self._posted()

    def _in_turns(self, pane: str) -> bool:
        participant = self._core.runner.participant(pane)
        return participant is not None and participant.is_agent

    def keeper(self, keeper: StepStore) -> Posting:
        """Return what keeps steps from now on."""
        return Posting(keeper, self.node, self._posted)

    def _posted(self) -> None:
        """Note when what waits for each peer was handed over, and have it sent."""
        now = time.monotonic()
        for peer, channel in self.node.channels.items():
            marks = self._marks[peer]
            if channel.waiting and (not marks or marks[-1][0] < channel.state.last):
                marks.append((channel.state.last, now))
        self._due.set()

    def lag(self, peer: str) -> float:
        """Return for how many seconds the oldest envelope for a peer has waited in this process; 0 for none."""
        first, marks = self.node.channels[peer].first_waiting, self._marks[peer]
        while marks and marks[0][0] < first:
            marks.popleft()
        return time.monotonic() - marks[0][1] if marks else 0.0

    def come_back(self) -> None:
        """End what panes take part in on other nodes, if they have gone meanwhile."""
        for pane in self.node.panes:
            if self._core.runner.participant(pane) is None:
                self._core.runner.decide(partial(self._lost, pane))

    def _lost(self, pane: str, _now: float) -> list[Effect]:
        return self.node.leave(pane, "pane_gone")

    # People's questions

    async def find(self, there: RemoteName, purpose: Purpose = "message") -> Party:
        """Return a session of another node; raises TargetNotFound, PeerAway, RedisLost, and what that node raises.

        With the purpose `seat` it raises SessionTaken for a session that is in a relay or gathering already, and
        NotAllowed where that node lets this one seat no session.
        """
        if self._streams is None:
            raise RedisLost(self.problem)
        if there.node not in self.present:
            self.present = await self._streams.present(self.node.peers)
        if there.node not in self.present:
            raise PeerAway(f"{there.node} is away", data={"node": there.node})
        request = secrets.token_hex(8)
        answer = await self._answered(there.node, Ask(request=request, name=there.name, purpose=purpose), ASK_SECONDS)
        return self._party(there, answer)

    async def start(self, there: RemoteName, *, arguments: Sequence[str], title: str, cwd: str) -> Party:
        """Start an agent on another node; raises NotAllowed where that node does not let this one, and as `find`."""
        if self._streams is None:
            raise RedisLost(self.problem)
        start = Start(request=secrets.token_hex(8), agent=there.name, arguments=tuple(arguments), title=title, cwd=cwd)
        return self._party(there, await self._answered(there.node, start, START_SECONDS))

    async def check_seat(self, peer: str) -> None:
        """Raise NotAllowed where a node lets no person of this gathering take part on its page, and as `find`."""
        if peer not in self.present:
            raise PeerAway(f"{peer} is away", data={"node": peer})
        answer = await self._answered(peer, Ask(request=secrets.token_hex(8), name="", purpose="seat"), ASK_SECONDS)
        _check_answer(peer, answer)

    async def call_gathering(
        self, there: RemoteName, what: Literal["view", "transcript", "pass"], *, number: int | None = None,
        session: str = "",
    ) -> bytes:  # fmt: skip
        """Ask the home of a gathering; return JSON. Raises what that node raises, PeerAway and RedisLost."""
        if self._streams is None:
            raise RedisLost(self.problem)
        if there.node not in self.present:
            raise PeerAway(f"{there.node} is away", data={"node": there.node})
        call = GatheringCall(request=secrets.token_hex(8), of=there.name, what=what, number=number, session=session)
        answer = await self._answered(there.node, call, ASK_SECONDS)
        _check_answer(there.node, answer)
        return answer.content.encode()

    async def _answer_call(self, peer: str, call: GatheringCall) -> None:
        try:
            if self.gathering_caller is None:
                raise NotAllowed(f"node {self.node.name} keeps no gatherings")
            content = await self.gathering_caller(peer, call)
            self._note(peer, Answer(request=call.request, content=content.decode()))
        except StreamrelayError as error:
            self._note(peer, Answer(request=call.request, code=error.code, message=error.message, hint=error.hint))

    async def _answered(self, peer: str, question: Ask | Start | GatheringCall, patience: float) -> Answer:
        self._asked[question.request] = asyncio.get_running_loop().create_future()
        self._note(peer, question)
        try:
            async with asyncio.timeout(patience):
                return await self._asked[question.request]
        except TimeoutError as error:
            raise PeerAway(f"{peer} does not answer", data={"node": peer}) from error
        finally:
            del self._asked[question.request]

    def _party(self, there: RemoteName, answer: Answer) -> Party:
        if answer.code == SessionTaken.code:
            raise SessionTaken(f"{there.node}: {answer.message}", data={"session": str(there)})
        if answer.code == NotAllowed.code:
            raise NotAllowed(f"{there.node}: {answer.message}", data={"session": str(there)})
        if answer.party is None:
            raise TargetNotFound(
                f"{there.node}: {answer.message}",
                hint=f"list the sessions of {there.node} there: streamrelay ls",
                data={"code": answer.code},
            )
        here = self.node.name
        session, pane = (seen_from(one, there.node, here) for one in (answer.party.session, answer.party.pane))
        return msgspec.structs.replace(answer.party, session=session, pane=pane)

    def _note(self, node: str, body: Body) -> None:
        """Have a peer told something that may get lost."""
        self._notes.setdefault(node, []).append(body)
        self._due.set()

    # Tasks

    async def run(self) -> NoReturn:
        """Carry what is to be carried, for ever, whenever Redis is there."""
        try:
            await self._run()
        except asyncio.CancelledError:
            for task in self._working:
                task.cancel()
            await asyncio.gather(*self._working, return_exceptions=True)
            raise
        except Exception as error:
            self.problem = f"a defect: {type(error).__name__}"
            logger.exception("node %s carries nothing any more", self.node.name)
            raise

    async def _run(self) -> NoReturn:
        pause = FIRST_PAUSE
        while True:
            try:
                async with open_streams(
                    self._table.redis_url, self.node.name, namespace=self._table.namespace
                ) as streams:
                    await self._stay(streams)
                    try:
                        self._streams, self.problem, pause = streams, "", FIRST_PAUSE
                        self._consumed.clear()  # what was not ended comes again
                        await until_first(self._read(streams), self._write(streams), self._be_there(streams))
                    finally:
                        self._streams = None
                        with contextlib.suppress(RedisLost, TimeoutError):
                            async with asyncio.timeout(LOOK_EVERY):
                                await streams.leave(self._service)
            except StreamrelayError as error:
                if error.message != self.problem:
                    told = {"node": self.node.name, "problem": error.message}
                    logger.warning("node %s: %s", self.node.name, error.message, extra=told)
                self.problem = error.message
                self.present.clear()
                await self._attend()
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)

    async def _stay(self, streams: Streams) -> None:
        if not await streams.be_there(self._service):
            raise UsageError(
                f"another service is node {self.node.name} already",
                hint="one daemon of each machine has a name; another one needs another, or none",
            )
        self.present = await streams.present(self.node.peers) if self.node.peers else set()
        await self._attend()

    async def _attend(self) -> None:
        """Let gatherings wait for machines that are away."""
        guests = [guest for guest in self._core.machine.guests() if guest.is_in_gathering]
        if guests or self.node.waiting_gatherings:
            await self._core.do(lambda now: self.node.attend(self.present, now))

    async def _be_there(self, streams: Streams) -> NoReturn:
        while True:
            await asyncio.sleep(TTL / 3)
            await self._stay(streams)

    async def _write(self, streams: Streams) -> NoReturn:
        channels = self.node.channels.values()
        for channel in channels:
            channel.send_again()
        loop = asyncio.get_running_loop()
        while True:
            self._due.clear()
            for channel in channels:
                if channel.overdue(loop.time()) and channel.peer in self.present:
                    channel.send_again()
            await self._send_due(streams, loop.time())
            is_owing = bool(self._consumed) or any(channel.owes_acknowledgement for channel in channels)
            try:
                async with asyncio.timeout(ACK_DELAY if is_owing else LOOK_EVERY):
                    await self._due.wait()
            except TimeoutError:
                if not is_owing and self.node.pending:
                    # What acknowledgements have ended is kept with the next step; none has come for a while.
                    await self._core.do(lambda _: [])

    async def _send_due(self, streams: Streams, now: float) -> None:
        """Send what is due to all peers, and end the entries that were taken in, in one exchange with Redis."""
        due = [
            (peer, batch)
            for peer in self.node.channels
            for batch in batches(self.node.due(peer, self._notes.pop(peer, []), now))
        ]
        if not due and len(self._consumed) < MAX_CONSUMED and now < self._consumed_since + ACK_DELAY:
            return
        consumed, self._consumed = self._consumed, []
        await streams.exchange(consumed, ((peer, self._sealed(batch)) for peer, batch in due))

    def _sealed(self, batch: Sequence[Envelope]) -> dict[bytes, bytes]:
        return sealed(batch, self.keys, at=time.time(), salt=secrets.token_bytes(SALT_SIZE))

    async def _read(self, streams: Streams) -> NoReturn:
        try:
            async with contextlib.aclosing(streams.unfinished(self._at_once)) as unfinished:
                async for entries in unfinished:
                    await self._take_in(await self._opened(streams, entries))
            reading = asyncio.ensure_future(self._read_next(streams))
            try:
                while True:
                    arrived = await reading
                    self._at_once = min(2 * self._at_once, BATCH)
                    # The next entries arrive and are opened while these are committed.
                    reading = asyncio.ensure_future(self._read_next(streams))
                    await self._take_in(arrived)
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
        except RedisLost:
            # It may have been more than comes over a slow line in the time for an answer.
            self._at_once = max(self._at_once // 2, 1)
            raise

    # What comes in

    async def _read_next(self, streams: Streams) -> Arrived:
        return await self._opened(streams, await streams.read(self._at_once))

    async def _opened(self, streams: Streams, entries: Sequence[StreamEntry]) -> Arrived:
        opened = [pair for entry in entries for pair in await self._open(streams, entry)]
        return Arrived([entry.entry_id for entry in entries], opened)

    async def _take_in(self, arrived: Arrived) -> None:
        """Take up entries, in order, as a whole; then be done with them."""
        loop = asyncio.get_running_loop()
        numbered: list[tuple[Envelope, AnyBody | None, Session | StreamrelayError | None]] = []
        for envelope, body in arrived.envelopes:
            match body:
                case _ if envelope.number:
                    numbered.append((envelope, body, await self._prepared(envelope.sender, body)))
                case Ack():
                    self.node.acknowledge(envelope.sender, body, loop.time())
                case Ask():
                    self._note(envelope.sender, await self._answer(envelope.sender, body))
                case Start():
                    self._spawn(self._start_for(envelope.sender, body))
                case GatheringCall():
                    self._spawn(self._answer_call(envelope.sender, body))
                case Answer() if (asked := self._asked.get(body.request)) is not None and not asked.done():
                    asked.set_result(body)
                case _:
                    pass

        def decide(now: float) -> list[Effect]:
            effects: list[Effect] = []
            for envelope, body, prepared in numbered:
                lost = self.node.channels[envelope.sender].lost
                if self.node.admit(envelope, body, now) == "new" and body is not None:
                    effects += self._handled(envelope.sender, body, prepared, now)
                if lost := self.node.channels[envelope.sender].lost - lost:
                    logger.warning(
                        "node %s: %d envelopes from %s were acknowledged and are lost: the last commits were undone",
                        self.node.name,
                        lost,
                        envelope.sender,
                        extra={"node": self.node.name, "peer": envelope.sender, "lost": lost},
                    )
            return effects

        if numbered:
            await self._core.do(decide)
        if not self._consumed:
            self._consumed_since = loop.time()
        self._consumed += arrived.entry_ids
        if arrived.entry_ids:
            self._due.set()

    async def _open(self, streams: Streams, entry: StreamEntry) -> list[tuple[Envelope, AnyBody | None]]:
        """Return what an entry holds; what cannot be used is put aside, and does not come again."""
        opened: list[tuple[Envelope, AnyBody | None]] = []
        try:
            envelopes = self.admission.open(entry.entry_id, entry.fields)
        except Refused as error:
            await self._refuse(streams, entry, error)
            return []
        for envelope in envelopes:
            try:
                opened.append((envelope, read_body(envelope)))
            except Refused as error:
                await self._refuse(streams, entry, error)
                opened.append((envelope, None))
        return opened

    async def _refuse(self, streams: Streams, entry: StreamEntry, error: Refused) -> None:
        refusal = self.admission.count(error)
        # A flood of refusals is counted, not written out one by one.
        if refusal.count & (refusal.count - 1) == 0:
            logger.warning(
                "node %s: refused %d envelopes from %s (%s): %s",
                self.node.name,
                refusal.count,
                refusal.sender or "an unknown sender",
                refusal.reason,
                refusal.why,
                extra={
                    "node": self.node.name,
                    "peer": refusal.sender,
                    "refused": refusal.reason,
                    "count": refusal.count,
                },
            )
        await streams.bury(entry, f"{error.reason}: {error}")

    async def _prepared(self, peer: str, body: AnyBody | None) -> Session | StreamrelayError | None:
        """Have a session heard that something is about, so that it can be decided at once; or say why it is not."""
        name = ""
        purpose: Purpose = "message"
        if isinstance(body, Message):
            name = body.name
        elif isinstance(body, Deliver) and not body.link:
            name = body.panes[0]
        elif isinstance(body, Seated) and body.seat != "person":
            name, purpose = body.session, "message" if body.seat == "listener" else "seat"
        elif isinstance(body, Linked) and body.new and (image := image_of(body.link, peer, self.node.name)) is not None:
            name, purpose = image.own.session, "link"
        if not name:
            return None
        try:
            self._check_allowed(peer, purpose)
            session = await self._core.find(name)
            await self._core.admit(session)
        except StreamrelayError as error:
            return error
        return session

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _start_for(self, peer: str, start: Start) -> None:
        """Start a session for a peer's gathering, and tell it which one, or why not."""
        session: Session | None = None
        try:
            self._check_allowed(peer, "start")
            self.node.check_request(peer, asyncio.get_running_loop().time())
            if self.starter is None:
                raise NotAllowed(f"node {self.node.name} starts no sessions for others")
            session = await self.starter(start)
            await self._core.do(partial(self._note_started, session.session, peer))
        except StreamrelayError as error:
            self._note(peer, Answer(request=start.request, code=error.code, message=error.message))
            return
        party = Party(session.session, session.pane, session.title, session.session_name)
        self._note(peer, Answer(request=start.request, party=self.node.party(party)))

    async def _end_for(self, session: str) -> None:
        if self.ender is not None:
            with contextlib.suppress(StreamrelayError):
                await self.ender(session)
        await self._core.do(partial(self._note_started, session, ""))

    def _note_started(self, session: str, peer: str, _now: float) -> list[Effect]:
        self.node.note_started(session, peer)
        return []

    def _check_allowed(self, peer: str, purpose: Purpose | Literal["start"]) -> None:
        """Raise NotAllowed for what this machine does not let a peer do."""
        table = self._table
        allowed = {
            "message": table.may_send, "link": table.may_link, "seat": table.may_seat, "start": table.may_start,
        }[purpose]  # fmt: skip
        if peer not in allowed and "*" not in allowed:
            what = {
                "message": "send to", "link": "link", "seat": "seat in relays and gatherings", "start": "start",
            }[purpose]  # fmt: skip
            raise NotAllowed(f"node {peer} may not {what} sessions of {self.node.name}", data={"node": peer})

    async def _answer(self, peer: str, ask: Ask) -> Answer:
        try:
            self._check_allowed(peer, ask.purpose)
            if ask.purpose != "message":
                # Messages wait for the allowance themselves.
                self.node.check_request(peer, asyncio.get_running_loop().time())
            if not ask.name:
                return Answer(request=ask.request)
            session = await self._core.find(ask.name)
            if ask.purpose == "seat" and (taken := self._core.machine.relay_of(session.session)):
                raise SessionTaken(f"session {ask.name} is in {taken} already")
            await self._core.admit(session)
        except StreamrelayError as error:
            return Answer(request=ask.request, code=error.code, message=error.message)
        party = Party(session.session, session.pane, session.title, session.session_name)
        return Answer(request=ask.request, party=self.node.party(party))

    def _handled(
        self, peer: str, body: AnyBody, prepared: Session | StreamrelayError | None, now: float
    ) -> Iterable[Effect]:
        if isinstance(body, Message | Deliver) and body.typing is not None:
            body = msgspec.structs.replace(body, typing=body.typing.kept_to(self._core.typing))
        match body:
            case Message():
                return self._delivered(peer, body, prepared, now)
            case Deliver(link=""):
                return self._delivered(peer, body, prepared, now)
            case End():
                if self.node.started.get(body.session) == peer:
                    self._spawn(self._end_for(body.session))
                return []
            case Seated(seat="person"):
                if peer not in self._table.may_seat and "*" not in self._table.may_seat:
                    return incoming.refuse_seat(self.node, peer, body, NotAllowed.code)
                return incoming.seat(self.node, peer, body, Party(body.session, body.pane, body.session))
            case Seated() if isinstance(prepared, Session) and prepared.pane == body.pane:
                own = Party(prepared.session, prepared.pane, prepared.title, prepared.session_name)
                return incoming.seat(self.node, peer, body, own)
            case Seated():
                reason = prepared.code if isinstance(prepared, StreamrelayError) else "pane_gone"
                return incoming.refuse_seat(self.node, peer, body, reason)
            case Linked() if isinstance(prepared, StreamrelayError):
                effects = incoming.handle(self.node, peer, body, now)
                image = self.node.images.get(body.link.link_id)
                return effects if image is None else [*effects, *self.node.leave(image.own.pane, prepared.code)]
            case Receipted(state="failed"):
                told = {"peer": peer, "problem": body.reason}
                logger.warning("%s: failed on %s: %s", body.message_id, peer, body.reason, extra=told)
                return incoming.handle(self.node, peer, body, now)
            case _:
                return incoming.handle(self.node, peer, body, now)

    def _delivered(
        self, peer: str, body: Message | Deliver, prepared: Session | StreamrelayError | None, now: float
    ) -> Iterable[Effect]:
        """Queue a peer's message to a local session; report a failure to the sender."""
        try:
            if isinstance(prepared, StreamrelayError):
                raise prepared
            assert prepared is not None  # noqa: S101  # a message is prepared for
            self._core.machine.circles.check_may_send(prepared.session, to=True)
            if isinstance(body, Deliver):
                check_may_speak("", self._core.machine.settings)
                listener = Participant(prepared.session, prepared.pane, prepared.title, 1, prepared.session_name)
                return [Notice(f"{body.message_id}@{peer}", (listener,), body.text, body.head, body.typing)]
            return self._sent(peer, body, prepared, now)
        except StreamrelayError as error:
            return [PublishEvent(Receipt(message_id=f"{body.message_id}@{peer}", state="failed", reason=error.code))]

    def _sent(self, peer: str, body: Message, target: Session, now: float) -> list[Effect]:
        caller = body.caller
        if caller is not None:
            session, pane = (seen_from(one, peer, self.node.name) for one in (caller.session, caller.pane))
            # The sending node's name is ours to add: a peer cannot sign for another node.
            title = caller.title if caller.title.endswith(f"@{peer}") else f"{caller.title}@{peer}"
            caller = msgspec.structs.replace(caller, session=session, pane=pane, title=title)
        sending = OutgoingMessage(
            message_id=f"{body.message_id}@{peer}",
            text=body.text,
            target=Party(target.session, target.pane, target.title, target.session_name),
            caller=caller,
            then="close" if body.last else "nothing",
            typing=body.typing,
        )
        return self._core.machine.send(sending, link_id="", at=0.0, now=now)[1]


def _check_answer(peer: str, answer: Answer) -> None:
    """Raise the error that a node answered with."""
    if answer.code:
        raise error_with_code(answer.code, f"{peer}: {answer.message}", hint=answer.hint)


def _key_ring(table: FederationTable) -> KeyRing:
    """Return the keys of a node; raises UsageError where one is missing or unreadable, and ExtraMissing."""
    if not table.peers:
        return KeyRing([], {})
    peers = read_peer_keys(table.peer_keys)
    for peer in table.peers:
        if peer not in peers:
            raise UsageError(
                f"federation.peer_keys has no key of {peer}",
                hint=f"`streamrelay peers key` on {peer} prints the line to add",
            )
    if not table.key_file:
        raise UsageError("federation.key_file is not set", hint="make a key: streamrelay peers add-key")
    try:
        file = Path(table.key_file).expanduser()
        if file.stat().st_mode & 0o077:
            raise UsageError(f"federation.key_file can be read by other users: {file}", hint=f"chmod 600 {file}")
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"federation.key_file cannot be read: {error}", hint="make a key: streamrelay peers add-key"
        ) from error
    with needs_extra("redis", "a link between machines"):
        import streamrelay.federation.zstandard  # noqa: F401  # fails at the start, not at the first long text

        return KeyRing(read_key_file(text), {peer: peers[peer] for peer in table.peers})
