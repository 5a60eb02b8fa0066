"""A running council session: connects the coordinator (who speaks next), the members' clients and the store.

A person's messages come in by `say` and commands by `submit`. Each subscriber gets all events in order (`watch`). Text
is stored before the event that shows it is published.

    async with await CouncilSession.begin(store, config, make_client) as session, session.watch() as events:
        session.say("Which database?")
        async for event in events:
            ...
"""

import asyncio
import contextlib
import dataclasses
import logging
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Self

from streamrelay.council import coordinator
from streamrelay.council.clients.contract import AIClient
from streamrelay.council.config import CouncilConfig
from streamrelay.council.context import Context, Entry, Estimator, Pinned, context_for
from streamrelay.council.coordinator import Coordinator, Saved
from streamrelay.council.events import (
    AnswerBegan,
    AnswerEnded,
    AnswerGrew,
    CouncilEvent,
    Joined,
    MessageShown,
    MessagesTaken,
    Noticed,
    Revealed,
    SessionEnded,
    StatusChanged,
)
from streamrelay.council.members import Markers, Member, next_markers
from streamrelay.council.rounds import INSTRUCTIONS, Dissent, dissent_table, read_dissent
from streamrelay.council.store import CouncilStore, Spent
from streamrelay.errors import StreamrelayError, UsageError

_SURROGATE = re.compile("[\ud800-\udfff]")
logger = logging.getLogger(__name__)

MAX_MESSAGE = 200_000
"""Maximum length of a message, in characters."""
_SAVE_EVERY = 0.1
"""Seconds between two saves of a growing answer."""
_MAX_UNREAD = 10_000
"""Events that a subscriber may leave unread; with more, it is dropped."""
MAX_ANSWER = 200_000
"""Maximum length of an answer, in characters; the rest is cut off."""
MAX_JOINED = 200
"""Messages that a new subscriber gets; the store has all."""

ClientFactory = Callable[[Member, str], AIClient]
"""Makes the client of a member for one of its models."""


class CouncilSession:
    """A running session; an async context manager, created by `begin` or `resume`."""

    def __init__(
        self,
        store: CouncilStore,
        session: str,
        config: CouncilConfig,
        machine: Coordinator,
        make_client: ClientFactory,
        *,
        pinned: Sequence[Pinned] = (),
        entries: Sequence[tuple[Entry, bool]] = (),
        now: Callable[[], float] | None = None,
    ) -> None:
        self.id = session
        self.config = config
        self.entries = [entry for entry, queued in entries if not queued]
        """The messages of the conversation so far, in order."""
        self._store = store
        self._machine = machine
        self._make_client = make_client
        self._pinned = pinned
        self._members = {member.name: member for member in config.members}
        self._clients: dict[tuple[str, bool], AIClient] = {}
        self._unhandled = {entry.id: entry for entry, queued in entries if queued}
        """The person's messages that are not part of the conversation yet, by id."""
        self._storing: dict[str, asyncio.Future[None]] = {}
        """The messages that are not stored yet, by id."""
        self._now = now or asyncio.get_running_loop().time
        self._estimator = Estimator()
        self._subscribers: list[asyncio.Queue[CouncilEvent | None]] = []
        self._inbox: asyncio.Queue[coordinator.Input] = asyncio.Queue()
        self._answer: asyncio.Task[None] | None = None
        self._fault: StreamrelayError | None = None
        """The error that kept an answer from being stored; it ends the session."""
        self._queued = dict(self._unhandled)
        """Messages that were shown while a member spoke, until they become part of the conversation."""
        self._began: AnswerBegan | None = None
        """The answer that is arriving."""
        self._shown = ""
        """The part of that answer that was shown."""
        self._begun: Entry | None = None
        """What a killed process had stored of the answer whose turn is resumed."""
        self._hidden: list[Entry] = []
        self._dissent: list[Dissent] = []
        self._unhealthy: set[str] = set()
        self._cost = 0.0
        self._limit = config.cost_limit
        self._left_out = 0
        self._runner: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self.ended = asyncio.Event()

    @classmethod
    async def begin(
        cls,
        store: CouncilStore,
        config: CouncilConfig,
        make_client: ClientFactory,
        *,
        pinned: Sequence[Pinned] = (),
        now: Callable[[], float] | None = None,
    ) -> Self:
        """Create a session, which runs while its context is entered. Raises as `prepare`."""
        session = await cls.prepare(store, config, make_client)
        return await cls.resume(store, session, make_client, pinned=pinned, now=now)

    @staticmethod
    async def prepare(store: CouncilStore, config: CouncilConfig, make_client: ClientFactory) -> str:
        """Store a new session and return its id, for `resume`.

        Before it stores anything, it raises the error of `make_client` for a member, such as AIKeyRefused.
        """
        for member in config.members:
            await make_client(member, member.model).aclose()
        names, phases = [member.name for member in config.members], list(config.all_phases)
        return await store.begin(config, lambda last: next_markers(names, last), Saved(phases[0], 0, 0, (), ()))

    @classmethod
    async def resume(
        cls,
        store: CouncilStore,
        session: str,
        make_client: ClientFactory,
        *,
        pinned: Sequence[Pinned] = (),
        now: Callable[[], float] | None = None,
    ) -> Self:
        """Continue a stored session; raises UsageError for an unknown id."""
        config, markers, saved = await store.resume(session)
        entries = await store.entries(session)
        # An older version wrote answers before it saved the numbers of their turns.
        taken = [int(entry.id.removeprefix("t")) for entry, _ in entries if entry.kind == "member"]
        saved = dataclasses.replace(saved, turns=max([saved.turns, *taken]))
        queued = [entry.id for entry, is_queued in entries if is_queued]
        machine = Coordinator(config.members, markers, list(config.all_phases), saved, queued)
        resumed = cls(store, session, config, machine, make_client, pinned=pinned, entries=entries, now=now)
        resumed._cost = sum(spent.cost or 0.0 for spent in await store.spent(session))
        return resumed

    async def __aenter__(self) -> Self:
        for member in self._members.values():
            self._clients[member.name, False] = self._make_client(member, member.model)
        self._resume_round()
        self._runner = asyncio.create_task(self._run(), name=f"council {self.id}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    def _resume_round(self) -> None:
        """Go on with the round that a killed process was in, and with the messages that it left queued."""
        machine = self._machine
        turn, round_ = machine.open_turn, machine.saved.round
        again = False
        if turn is not None:
            begun = next((entry for entry in self.entries if entry.id == _answer_id(turn)), None)
            again = begun is None or (begun.partial and self._client(turn).resumes_answers)
            if begun is not None and again:
                self.entries.remove(begun)
                self._begun = begun
        if round_ is not None:
            answers = [entry for entry in self.entries if entry.kind == "member" and entry.round == round_.number]
            if round_.kind == "blind":
                self._hidden = answers
            if round_.kind == "dissent":
                self._dissent = [each for entry in answers for each in read_dissent(entry.author, entry.text)]
        if machine.awaits_resume:
            self.submit(coordinator.Resume(again))

    async def end(self) -> None:
        """End the session, as `/bye` does; a second call has no effect."""
        self._inbox.put_nowait(coordinator.Bye())
        await self._close()

    async def leave(self) -> None:
        """Stop as a killed process would: what is under way goes on when the session is resumed."""
        for client in self._clients.values():
            client.leave()
        if self._runner is not None:
            self._runner.cancel()
        await self._close()

    async def _close(self) -> None:
        if self._runner is not None:
            await asyncio.gather(self._runner, return_exceptions=True)
        for client in self._clients.values():
            with contextlib.suppress(Exception):  # an SDK's complaint about a connection that is closed anyway
                await client.aclose()
        self._clients.clear()

    # Input from the person

    def say(self, text: str, *, blind: bool = False) -> str:
        """Send a message to the council and return its id; with `blind`, the members answer it in a blind round.

        It is not stored yet: see `until_stored`. Raises UsageError for an empty or too long message.
        """
        if not text.strip():
            raise UsageError("the message is empty", hint="write a message with words")
        if len(text) > MAX_MESSAGE:
            raise UsageError(
                f"the message has {len(text)} characters; at most {MAX_MESSAGE} are allowed",
                hint="shorten it, or write it into a file and name the file",
            )
        message_id = f"p{secrets.token_hex(6)}"
        self._unhandled[message_id] = Entry(message_id, self.config.person, "person", text)
        self._storing[message_id] = asyncio.get_running_loop().create_future()
        if self.ended.is_set():
            self._refuse_unstored()
        self.submit(coordinator.Say(message_id, blind or (self.config.blind_first and not self._machine.rounds)))
        return message_id

    async def until_stored(self, message_id: str) -> None:
        """Wait until a message is stored, so that no kill loses it; raises UsageError if the session ends before."""
        stored = self._storing.get(message_id)
        if stored is not None:
            await asyncio.shield(stored)

    def submit(self, command: coordinator.Input) -> None:
        """Queue a command of the person for the coordinator (see `commands`)."""
        self._idle.clear()
        self._inbox.put_nowait(command)

    @property
    def is_idle(self) -> bool:
        """Whether all input is handled and no member speaks, or the session has ended."""
        return self._idle.is_set()

    @property
    def subscribers(self) -> int:
        """The number of subscribers."""
        return len(self._subscribers)

    async def wait_until_idle(self) -> None:
        """Wait until all input is handled and no member speaks, or the session has ended."""
        await self._idle.wait()

    async def spent(self) -> list[Spent]:
        """Return the tokens and the cost of each member so far."""
        return await self._store.spent(self.id)

    @property
    def status(self) -> StatusChanged:
        """The state of the session."""
        machine = self._machine
        return StatusChanged(
            machine.state, machine.phase, machine.markers, machine.speaker, machine.queued,
            tuple(sorted(machine.disabled)), tuple(sorted(self._unhealthy)), self._question(), self._cost,
            self._left_out,
        )  # fmt: skip

    @property
    def members(self) -> Mapping[str, Member]:
        """The members by name, in speaking order."""
        return self._members

    @property
    def shown_entries(self) -> list[Entry]:
        """The messages so far, without the answers of a blind round that still runs."""
        hidden = {entry.id for entry in self._hidden}
        return [entry for entry in self.entries if entry.id not in hidden]

    @property
    def joined(self) -> Joined:
        """The first event for a subscriber that joins now."""
        shown = self.shown_entries
        return Joined(
            self.id, self.config.person, tuple(self._members), tuple(self.config.all_phases),
            tuple(shown[-MAX_JOINED:]), tuple(self._queued.values()), max(0, len(shown) - MAX_JOINED), self.status,
        )  # fmt: skip

    @property
    def catch_up(self) -> list[CouncilEvent]:
        """The events that bring a new subscriber up to now."""
        events: list[CouncilEvent] = [self.joined]
        if self._began is not None:
            events.append(self._began)
            if self._shown and not self._began.hidden:
                events.append(AnswerGrew(self._began.id, self._shown))
        return events

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[CouncilEvent]]:
        """Subscribe to the events from now on; they end with the session, or if too many stay unread."""
        unread: asyncio.Queue[CouncilEvent | None] = asyncio.Queue()

        async def events() -> AsyncIterator[CouncilEvent]:
            while (event := await unread.get()) is not None:
                yield event

        self._subscribers.append(unread)
        try:
            if self.ended.is_set():
                unread.put_nowait(None)
            yield events()
        finally:
            if unread in self._subscribers:
                self._subscribers.remove(unread)

    # The main loop

    def _note_idle(self) -> None:
        if self._inbox.empty() and self._machine.state != "ai_generating":
            self._idle.set()

    async def _run(self) -> None:
        health = asyncio.create_task(self._check_health())
        try:
            self._note_idle()
            while not self._machine.is_over:
                received = await self._next_input()
                if self._fault is not None:
                    raise self._fault
                if isinstance(received, coordinator.Say):
                    await self._store_message(received.message_id)
                await self._take_step(self._machine.handle(received, self._now()))
                self._show(self.status)
                self._note_idle()
        except StreamrelayError as error:
            logger.exception("council session %s ends: %s", self.id, error.message)
            self._show(Noticed(f"The session ends: {error.message}"))
        finally:
            health.cancel()
            await self._stop_answer()
            await asyncio.gather(health, return_exceptions=True)
            self._refuse_unstored()
            self._show(SessionEnded(self.id))
            self._idle.set()
            self.ended.set()
            for subscriber in self._subscribers:
                subscriber.put_nowait(None)

    def _refuse_unstored(self) -> None:
        hint = f"resume it, and send the message again: streamrelay council --resume {self.id}"
        for stored in self._storing.values():
            if not stored.done():
                stored.set_exception(UsageError("the session ended before it stored the message", hint=hint))
                stored.exception()  # the sender may have left

    async def _next_input(self) -> coordinator.Input:
        deadline = self._machine.deadline()
        try:
            async with asyncio.timeout(None if deadline is None else max(0.0, deadline - self._now())):
                return await self._inbox.get()
        except TimeoutError:
            return coordinator.Pass()

    async def _store_message(self, message_id: str) -> None:
        entry = self._unhandled[message_id]
        await self._store.put(self.id, entry, queued=True)
        self._queued[message_id] = entry
        self._storing.pop(message_id).set_result(None)
        self._show(MessageShown(entry, queued=self._machine.speaker is not None))

    async def _take_step(self, effects: Sequence[coordinator.Effect]) -> None:
        """Store the step as a whole, then carry it out: a killed process has given no turn that is not stored."""
        machine = self._machine
        taken = [id_ for effect in effects if isinstance(effect, coordinator.Inject) for id_ in effect.message_ids]
        ended = [effect for effect in effects if isinstance(effect, coordinator.RoundEnded)]
        tables = {effect.round: self._dissent_table(effect.round) for effect in ended if effect.kind == "dissent"}
        await self._store.save(self.id, machine.saved, taken=taken, notices=[*tables.values()], ended=machine.is_over)
        for effect in effects:
            if isinstance(effect, coordinator.RoundEnded):
                self._end_round(effect, tables.get(effect.round))
            else:
                await self._carry_out(effect)

    async def _carry_out(self, effect: coordinator.Effect) -> None:
        match effect:
            case coordinator.Inject(ids):
                self.entries += [self._unhandled.pop(message_id) for message_id in ids]
                self._queued = {id_: entry for id_, entry in self._queued.items() if id_ not in ids}
                self._show(MessagesTaken(ids))
            case coordinator.Speak():
                self._give_turn(effect)
            case coordinator.Cancel():
                await self._stop_answer()
            case coordinator.Skip(member, code, again):
                then = "it is asked again after the round" if again else "the round goes on without it"
                self._notice(f"⚠️ {member} could not answer ({code}): {then}.")
            case coordinator.Ask():
                self._notice(self._question(), urgent=True)
            case coordinator.Nudge(member):
                self._notice(f"💭 Still deciding? {self._question()}", urgent=True)
            case coordinator.Settle(member, "lapsed"):
                self._notice(f"No reply for a minute: {member} is skipped.")
            case coordinator.Disabled(member, reason):
                self._notice(f"{member} is disabled ({reason}). Type /retry {member} to bring it back.")
            case coordinator.Rejoined(member):
                self._unhealthy.discard(member)
                self._notice(f"✨ {member} rejoined the Council!")
            case coordinator.PhaseSet(phase):
                self._notice(f"Phase: {phase}")
            case coordinator.Halted():
                self._notice(self._question(), urgent=True)
            case coordinator.Refuse(reason):
                self._notice(f"{reason[0].upper()}{reason[1:]}.")
            case coordinator.RoundEnded() | coordinator.Queue() | coordinator.Settle() | coordinator.End():
                pass

    def _question(self) -> str:
        asked = self._machine.question
        if self._machine.halted is not None:
            return f"⚠️ {self._machine.halted} (/yes | /no)"
        if asked is None:
            return ""
        offer = f"Fallback to {asked.fallback}?" if asked.fallback is not None else "Try it again?"
        return f"⚠️ {asked.member} unavailable. {offer} (/yes | /no)"

    # Turns

    def _give_turn(self, turn: coordinator.Speak) -> None:
        member, model = self._members[turn.member], self._model(turn)
        context = context_for(
            member.name,
            self.entries,
            vendor=member.vendor,
            system_prompt=self._system_prompt(member),
            pinned=self._pinned,
            instruction=INSTRUCTIONS.get(turn.kind, ""),
            blind_round=turn.round if turn.kind == "blind" else None,
            last=self.config.history,
            limit=self.config.context_tokens,
            estimator=self._estimator,
        )
        self._left_out = context.left_out
        for document in context.cut_documents:
            self._notice(f"{document} is too long for {member.name}: only its beginning is sent.")
        answer = Entry(_answer_id(turn), member.name, "member", "", turn.round, turn.kind, partial=True)
        self._shown = ""
        self._began = AnswerBegan(answer.id, member.name, turn.round, turn.kind, turn.kind == "blind", model)
        self._show(self._began)
        if self._begun is not None and self._begun.id == answer.id:
            self._grow(turn, answer, self._begun.text)
        client = self._client(turn)
        client.begin_turn(f"{self.id}-{answer.id}")
        self._answer = asyncio.create_task(self._run_turn(turn, member, client, context, answer))

    def _model(self, turn: coordinator.Speak) -> str:
        member = self._members[turn.member]
        return member.fallback if turn.fallback and member.fallback is not None else member.model

    def _client(self, turn: coordinator.Speak) -> AIClient:
        key = (turn.member, turn.fallback)
        if key not in self._clients:
            self._clients[key] = self._make_client(self._members[turn.member], self._model(turn))
        return self._clients[key]

    async def _run_turn(
        self, turn: coordinator.Speak, member: Member, client: AIClient, context: Context, answer: Entry
    ) -> None:
        """Read a member's answer and report its end to the coordinator; cancelled if the turn is taken away."""
        try:
            outcome = await self._read_answer(turn, member, client, context, answer)
        except StreamrelayError as error:
            self._fault, outcome = error, coordinator.Pass()
        self._inbox.put_nowait(outcome)

    async def _read_answer(
        self, turn: coordinator.Speak, member: Member, client: AIClient, context: Context, answer: Entry
    ) -> coordinator.Input:
        """Read and store a member's answer; return how it ended. Raises StorageError."""
        outcome: coordinator.Input = coordinator.Finished(turn.turn)
        pieces: list[str] = []
        grown = asyncio.Event()
        showing = asyncio.create_task(self._show_growth(turn, answer, pieces, grown))
        stream = client.stream_response(context.messages, context.system_prompt)
        try:
            room_left = MAX_ANSWER
            async for piece in stream:
                pieces.append(piece[:room_left])
                grown.set()
                room_left -= len(piece)
                if room_left < 0:
                    self._notice(f"The answer of {member.name} has more than {MAX_ANSWER:,} characters: it is cut off.")
                    break
        except StreamrelayError as error:
            logger.warning("%s could not answer: %s", member.name, error.code)
            outcome = coordinator.Failed(turn.turn, error.code)
        except asyncio.CancelledError:
            await self._end_answer(turn, answer, _joined(pieces), partial=True)
            raise
        except Exception as error:  # noqa: BLE001  # a defect of an SDK must not keep the session from ending
            # The full message could quote the conversation or the key.
            logger.error("the client of %s failed: %s", member.name, type(error).__name__)  # noqa: TRY400
            outcome = coordinator.Failed(turn.turn, StreamrelayError.code)
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        failed = isinstance(outcome, coordinator.Failed)
        await self._end_answer(turn, answer, _joined(pieces), partial=failed)
        if client.usage is not None and not failed:
            usage = client.usage
            self._estimator.learn(member.vendor, context.tokens, usage.read)
            cost = None
            if member.price is not None:
                cost = (usage.read * member.price[0] + usage.written * member.price[1]) / 1e6
                self._cost += cost
                if self._limit and self._cost >= self._limit:
                    self._limit *= 2
                    reason = f"This session has cost ${self._cost:.2f}. Go on, up to ${self._limit:.2f}?"
                    self._inbox.put_nowait(coordinator.Halt(reason))
            await self._store.spend(self.id, answer.id, usage, cost)
        return outcome

    async def _show_growth(
        self, turn: coordinator.Speak, answer: Entry, pieces: list[str], grown: asyncio.Event
    ) -> None:
        """Store and show an answer as it grows, at most once in `_SAVE_EVERY` seconds."""
        while True:
            await grown.wait()
            grown.clear()
            text = _joined(pieces)
            if len(text) > len(self._shown):
                await self._store.put(self.id, _with(answer, text, partial=True))
                self._grow(turn, answer, text)
            await asyncio.sleep(_SAVE_EVERY)

    def _grow(self, turn: coordinator.Speak, answer: Entry, text: str) -> None:
        """Show the new part of a stored answer."""
        if turn.kind != "blind" and len(text) > len(self._shown):
            self._show(AnswerGrew(answer.id, text[len(self._shown) :]))
        self._shown = text

    async def _end_answer(self, turn: coordinator.Speak, answer: Entry, text: str, *, partial: bool) -> None:
        if partial and self._begun is not None and self._begun.id == answer.id and len(text) < len(self._begun.text):
            text = self._begun.text
        entry = _with(answer, text.strip(), partial=partial)
        if not entry.text:
            self._began = None
            self._show(AnswerEnded(answer.id, None))
            return
        await self._store.put(self.id, entry)
        self._grow(turn, answer, text)
        self._began = None
        self.entries.append(entry)
        if turn.kind == "blind":
            self._hidden.append(entry)
        if turn.kind == "dissent":
            self._dissent += read_dissent(entry.author, entry.text)
        self._show(AnswerEnded(answer.id, None if turn.kind == "blind" else entry))

    async def _stop_answer(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)

    def _dissent_table(self, round_: int) -> Entry:
        return Entry(f"d{round_}", "Dissent", "notice", dissent_table(self._dissent), round_)

    def _end_round(self, ended: coordinator.RoundEnded, table: Entry | None) -> None:
        if ended.kind == "blind" and self._hidden:
            self._show(Revealed(tuple(self._hidden)))
            self._hidden = []
        if table is not None:
            self._dissent = []
            self.entries.append(table)
            self._show(MessageShown(table))

    def _system_prompt(self, member: Member) -> str:
        others = [name for name in self._members if name != member.name]
        known = {"name": member.name, "others": " and ".join(others) or "no other member", "person": self.config.person}
        parts = [self.config.prompt.format_map(known), self.config.all_phases[self._machine.phase]]
        markers: Markers = self._machine.markers
        if member.name == markers.drafter and len(self._members) > 1:
            parts.append("You are the first drafter 🎯: you speak first in each round and make the first proposal.")
        elif member.name == markers.writer and len(self._members) > 1:
            parts.append("You are the final writer ✅: you speak last in each round and bring it together.")
        if member.persona:
            parts.append(member.persona)
        return "\n\n".join(parts)

    async def _check_health(self) -> None:
        """Check once whether each member can be reached; a failed turn shows that, too."""

        async def check(name: str, client: AIClient) -> None:
            try:
                healthy = await client.health_check()
            except StreamrelayError:
                healthy = False
            if not healthy:
                self._unhealthy.add(name)
                self._notice(f"⚠️ {name} does not answer: run streamrelay council check for the reason.")
                self._show(self.status)

        await asyncio.gather(*(check(name, client) for (name, _), client in list(self._clients.items())))

    def _notice(self, text: str, *, urgent: bool = False) -> None:
        self._show(Noticed(text, urgent))

    def _show(self, event: CouncilEvent) -> None:
        for subscriber in list(self._subscribers):
            subscriber.put_nowait(event)
            if subscriber.qsize() > _MAX_UNREAD:
                logger.warning("dropped a subscriber of %s with more than %d unread events", self.id, _MAX_UNREAD)
                self._subscribers.remove(subscriber)
                subscriber.put_nowait(None)


def _answer_id(turn: coordinator.Speak) -> str:
    return f"t{turn.turn}"


def _joined(pieces: Sequence[str]) -> str:
    """Join pieces. The halves of a split surrogate pair are combined, and a single half is replaced."""
    text = "".join(pieces)
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _with(entry: Entry, text: str, *, partial: bool) -> Entry:
    return Entry(entry.id, entry.author, entry.kind, text, entry.round, entry.round_kind, partial)
