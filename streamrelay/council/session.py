"""One session of the council: the coordinator, its members' clients and the store, at work.

What is typed goes in through `say` and `command`; each onlooker gets every happening in order (`watch`). All
happenings are written down before they are shown.
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

from streamrelay.council import coordinator as turns
from streamrelay.council.clients.contract import AIClient
from streamrelay.council.config import CouncilConfig
from streamrelay.council.context import Context, Entry, Estimator, Pinned, context_for
from streamrelay.council.coordinator import Coordinator, Saved
from streamrelay.council.happenings import (
    AnswerBegan,
    AnswerEnded,
    AnswerGrew,
    Happening,
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
"""Characters of one message."""
_SAVE_EVERY = 0.1
"""Seconds between two times that what has come of an answer is written down and shown."""
_MAX_UNREAD = 10_000
"""Happenings that an onlooker may leave unread before it is let go."""
MAX_ANSWER = 200_000
"""Characters of one answer; the rest is left out."""
MAX_JOINED = 200
"""Messages that an onlooker is given when it joins; the store has all of them."""

ClientFactory = Callable[[Member, str], AIClient]
"""Makes the client of a member for one of its models."""


class CouncilSession:
    """A session while it runs; an async context manager, made by `begin` or `resume`."""

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
        self._store = store
        self._machine = machine
        self._make_client = make_client
        self._pinned = pinned
        self._members = {member.name: member for member in config.members}
        self._clients: dict[tuple[str, bool], AIClient] = {}
        self._waiting = {entry.id: entry for entry, queued in entries if queued}
        self._now = now or asyncio.get_running_loop().time
        self._estimator = Estimator()
        self._onlookers: list[asyncio.Queue[Happening | None]] = []
        self._inbox: asyncio.Queue[turns.Input] = asyncio.Queue()
        self._answer: asyncio.Task[None] | None = None
        self._fault: StreamrelayError | None = None
        """What an answer could not be written down for: the session cannot go on."""
        self._queued: dict[str, Entry] = {}
        """What was said and shown while a member spoke, until it is part of the conversation."""
        self._began: AnswerBegan | None = None
        """The answer that comes in."""
        self._shown = ""
        """The answer that comes in, as far as it was shown."""
        self._hidden: list[Entry] = []
        self._dissent: list[Dissent] = []
        self._blind_rounds: set[int] = set()
        self._unhealthy: set[str] = set()
        self._cost = 0.0
        self._limit = config.cost_limit
        self._left_out = 0
        self._runner: asyncio.Task[None] | None = None
        self._rests = asyncio.Event()
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
        """Begin a session; it runs while it is entered. Raises what `prepare` raises."""
        session = await cls.prepare(store, config, make_client)
        return await cls.resume(store, session, make_client, pinned=pinned, now=now)

    @staticmethod
    async def prepare(store: CouncilStore, config: CouncilConfig, make_client: ClientFactory) -> str:
        """Store a new session, to be resumed, and return its id.

        Raises what `make_client` raises for a member, AIKeyRefused without its key, before anything is stored.
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
        """Go on with a session where it stands; raises UsageError for one that is not known."""
        config, markers, saved = await store.resume(session)
        entries = await store.entries(session)
        # A killed process may have written an answer before it saved the number of that turn.
        taken = [int(entry.id.removeprefix("t")) for entry, _ in entries if entry.kind == "member"]
        saved = dataclasses.replace(saved, turns=max([saved.turns, *taken]))
        machine = Coordinator(config.members, markers, list(config.all_phases), saved)
        resumed = cls(store, session, config, machine, make_client, pinned=pinned, entries=entries, now=now)
        resumed._cost = sum(each.cost or 0.0 for each in await store.spent(session))
        return resumed

    async def __aenter__(self) -> Self:
        for member in self._members.values():
            self._clients[member.name, False] = self._make_client(member, member.model)
        # What was queued when the last process ended is said now.
        for message_id in self._waiting:
            self.tell(turns.Say(message_id))
        self._runner = asyncio.create_task(self._run(), name=f"council {self.id}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()

    async def leave(self) -> None:
        """End the session, as `/bye` does, unless it has ended."""
        self._inbox.put_nowait(turns.Bye())
        if self._runner is not None:
            await asyncio.gather(self._runner, return_exceptions=True)
        for client in self._clients.values():
            with contextlib.suppress(Exception):  # what an SDK says of a connection that is closed anyway
                await client.aclose()
        self._clients.clear()

    # What the person does

    def say(self, text: str, *, blind: bool = False) -> str:
        """Say something to the council, to be answered in a `blind` round; return the message's id.

        Raises UsageError for nothing, and for too much.
        """
        if not text.strip():
            raise UsageError("the message is empty")
        if len(text) > MAX_MESSAGE:
            raise UsageError(f"the message has {len(text)} characters; {MAX_MESSAGE} are the most")
        message_id = f"p{secrets.token_hex(6)}"
        self._waiting[message_id] = Entry(message_id, self.config.person, "person", text)
        self.tell(turns.Say(message_id, blind or (self.config.blind_first and not self._machine.rounds)))
        return message_id

    def tell(self, told: turns.Input) -> None:
        """Hand the coordinator a command of the person's (see `commands`)."""
        self._rests.clear()
        self._inbox.put_nowait(told)

    @property
    def rests(self) -> bool:
        """Whether the session has handled all that was typed and no member speaks, or has ended."""
        return self._rests.is_set()

    @property
    def onlookers(self) -> int:
        """How many look on."""
        return len(self._onlookers)

    async def until_rest(self) -> None:
        """Wait until the session has handled all that was typed and no member speaks, or has ended."""
        await self._rests.wait()

    async def spent(self) -> list[Spent]:
        """Return what each member took so far."""
        return await self._store.spent(self.id)

    @property
    def status(self) -> StatusChanged:
        """How the session stands."""
        machine = self._machine
        return StatusChanged(
            machine.state, machine.phase, machine.markers, machine.speaker, machine.queued,
            tuple(sorted(machine.disabled)), tuple(sorted(self._unhealthy)), self._question(), self._cost,
            self._left_out,
        )  # fmt: skip

    @property
    def members(self) -> Mapping[str, Member]:
        """The members by name, in the order in which they speak."""
        return self._members

    @property
    def shown_entries(self) -> list[Entry]:
        """What was said so far; of a blind round nothing before its end."""
        hidden = {entry.id for entry in self._hidden}
        return [entry for entry in self.entries if entry.id not in hidden]

    @property
    def joined(self) -> Joined:
        """What an onlooker that joins now is given first."""
        shown = self.shown_entries
        return Joined(
            self.id, self.config.person, tuple(self._members), tuple(self.config.all_phases),
            tuple(shown[-MAX_JOINED:]), tuple(self._queued.values()), max(0, len(shown) - MAX_JOINED), self.status,
        )  # fmt: skip

    @property
    def so_far(self) -> list[Happening]:
        """What an onlooker that joins now is given before all that happens from now on."""
        happenings: list[Happening] = [self.joined]
        if self._began is not None:
            happenings.append(self._began)
            if self._shown and not self._began.hidden:
                happenings.append(AnswerGrew(self._began.id, self._shown))
        return happenings

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[AsyncIterator[Happening]]:
        """Look on from here; the iterator ends with the session, and where the onlooker leaves too much unread."""
        unread: asyncio.Queue[Happening | None] = asyncio.Queue()

        async def happenings() -> AsyncIterator[Happening]:
            while (happening := await unread.get()) is not None:
                yield happening

        self._onlookers.append(unread)
        try:
            if self.ended.is_set():
                unread.put_nowait(None)
            yield happenings()
        finally:
            if unread in self._onlookers:
                self._onlookers.remove(unread)

    # The work

    def _note_rest(self) -> None:
        if self._inbox.empty() and self._machine.state != "ai_generating":
            self._rests.set()

    async def _run(self) -> None:
        health = asyncio.create_task(self._check_health())
        try:
            self._note_rest()
            while not self._machine.is_over:
                told = await self._next()
                if self._fault is not None:
                    raise self._fault
                if isinstance(told, turns.Say):
                    await self._write_down(told.message_id)
                for effect in self._machine.handle(told, self._now()):
                    await self._carry_out(effect)
                await self._store.save(self.id, self._machine.saved, ended=self._machine.is_over)
                self._show(self.status)
                self._note_rest()
        except StreamrelayError as error:
            logger.exception("the council's session %s ends: %s", self.id, error.message)
            self._show(Noticed(f"The session ends: {error.message}"))
        finally:
            health.cancel()
            await self._stop_answer()
            await asyncio.gather(health, return_exceptions=True)
            self._show(SessionEnded(self.id))
            self._rests.set()
            self.ended.set()
            for onlooker in self._onlookers:
                onlooker.put_nowait(None)

    async def _next(self) -> turns.Input:
        deadline = self._machine.deadline()
        try:
            async with asyncio.timeout(None if deadline is None else max(0.0, deadline - self._now())):
                return await self._inbox.get()
        except TimeoutError:
            return turns.Pass()

    async def _write_down(self, message_id: str) -> None:
        entry = self._waiting[message_id]
        await self._store.put(self.id, entry, queued=True)
        self._queued[message_id] = entry
        self._show(MessageShown(entry, queued=self._machine.speaker is not None))

    async def _carry_out(self, effect: turns.Effect) -> None:
        match effect:
            case turns.Inject(ids):
                await self._store.take(self.id, ids)
                self.entries += [self._waiting.pop(each) for each in ids]
                self._queued = {id_: entry for id_, entry in self._queued.items() if id_ not in ids}
                self._show(MessagesTaken(ids))
            case turns.Speak():
                await self._give_turn(effect)
            case turns.Cancel():
                await self._stop_answer()
            case turns.Skip(member, code, again):
                then = "it is asked again after the round" if again else "the round goes on without it"
                self._notice(f"⚠️ {member} could not answer ({code}): {then}.")
            case turns.Ask():
                self._notice(self._question(), urgent=True)
            case turns.Nudge(member):
                self._notice(f"💭 Still deciding? {self._question()}", urgent=True)
            case turns.Settle(member, "lapsed"):
                self._notice(f"No answer in a minute: {member} is skipped.")
            case turns.Disabled(member, reason):
                self._notice(f"{member} takes part no more ({reason}). /retry {member} brings it back.")
            case turns.Rejoined(member):
                self._unhealthy.discard(member)
                self._notice(f"✨ {member} rejoined the Council!")
            case turns.PhaseSet(phase):
                self._notice(f"Phase: {phase}")
            case turns.Halted():
                self._notice(self._question(), urgent=True)
            case turns.RoundEnded(round_, kind):
                await self._end_round(round_, kind)
            case turns.Refuse(reason):
                self._notice(f"{reason[0].upper()}{reason[1:]}.")
            case turns.Queue() | turns.Settle() | turns.End():
                pass

    def _question(self) -> str:
        asked = self._machine.question
        if self._machine.halted is not None:
            return f"⚠️ {self._machine.halted} (/yes | /no)"
        if asked is None:
            return ""
        what = f"Fallback to {asked.fallback}?" if asked.fallback is not None else "Try it again?"
        return f"⚠️ {asked.member} unavailable. {what} (/yes | /no)"

    # Turns

    async def _give_turn(self, turn: turns.Speak) -> None:
        member = self._members[turn.member]
        model = member.fallback if turn.fallback and member.fallback is not None else member.model
        if turn.kind == "blind":
            self._blind_rounds.add(turn.round)
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
            self._notice(f"Of {document} only the beginning fits into what {member.name} is given.")
        answer = Entry(f"t{turn.turn}", member.name, "member", "", turn.round, turn.kind, partial=True)
        self._shown = ""
        self._began = AnswerBegan(answer.id, member.name, turn.round, turn.kind, turn.kind == "blind", model)
        self._show(self._began)
        key = (member.name, turn.fallback)
        if key not in self._clients:
            self._clients[key] = self._make_client(member, model)
        self._answer = asyncio.create_task(self._listen(turn, member, self._clients[key], context, answer))

    async def _listen(
        self, turn: turns.Speak, member: Member, client: AIClient, context: Context, answer: Entry
    ) -> None:
        """Hear a member out, and tell the coordinator how it ended; cancelled where the turn is taken away."""
        try:
            told = await self._hear(turn, member, client, context, answer)
        except StreamrelayError as error:
            self._fault, told = error, turns.Pass()
        self._inbox.put_nowait(told)

    async def _hear(
        self, turn: turns.Speak, member: Member, client: AIClient, context: Context, answer: Entry
    ) -> turns.Input:
        """Hear a member out and write down what it says; raises StorageError."""
        told: turns.Input = turns.Finished(turn.turn)
        pieces: list[str] = []
        news = asyncio.Event()
        showing = asyncio.create_task(self._show_growth(turn, answer, pieces, news))
        stream = client.stream_response(context.messages, context.system_prompt)
        try:
            room = MAX_ANSWER
            async for piece in stream:
                pieces.append(piece[:room])
                news.set()
                room -= len(piece)
                if room < 0:
                    self._notice(f"The answer of {member.name} has more than {MAX_ANSWER:,} characters: it is cut off.")
                    break
        except StreamrelayError as error:
            logger.warning("%s could not answer: %s", member.name, error.code)
            told = turns.Failed(turn.turn, error.code)
        except asyncio.CancelledError:
            await self._end_answer(turn, answer, _joined(pieces), partial=True)
            raise
        except Exception as error:  # noqa: BLE001  # a defect of an SDK must not leave the session without an end
            # The whole of it could quote the conversation or the key.
            logger.error("the client of %s failed: %s", member.name, type(error).__name__)  # noqa: TRY400
            told = turns.Failed(turn.turn, StreamrelayError.code)
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()
        failed = isinstance(told, turns.Failed)
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
                    self._inbox.put_nowait(turns.Halt(reason))
            await self._store.spend(self.id, answer.id, usage, cost)
        return told

    async def _show_growth(self, turn: turns.Speak, answer: Entry, pieces: list[str], news: asyncio.Event) -> None:
        """Write down and show what comes of an answer, as it comes, not more often than `_SAVE_EVERY`."""
        while True:
            await news.wait()
            news.clear()
            text = _joined(pieces)
            await self._store.put(self.id, _with(answer, text, partial=True))
            self._grow(turn, answer, text)
            await asyncio.sleep(_SAVE_EVERY)

    def _grow(self, turn: turns.Speak, answer: Entry, text: str) -> None:
        """Show what is new of an answer that is written down."""
        if turn.kind != "blind" and len(text) > len(self._shown):
            self._show(AnswerGrew(answer.id, text[len(self._shown) :]))
        self._shown = text

    async def _end_answer(self, turn: turns.Speak, answer: Entry, text: str, *, partial: bool) -> None:
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

    async def _end_round(self, round_: int, kind: turns.RoundKind) -> None:
        if kind == "blind" and self._hidden:
            self._show(Revealed(tuple(self._hidden)))
            self._hidden = []
        if kind == "dissent":
            table, self._dissent = dissent_table(self._dissent), []
            entry = Entry(f"d{round_}", "Dissent", "notice", table, round_)
            await self._store.put(self.id, entry)
            self.entries.append(entry)
            self._show(MessageShown(entry))

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
        """Ask once whether each member can be had; a turn tells it of one that cannot, too."""

        async def check(name: str, client: AIClient) -> None:
            try:
                healthy = await client.health_check()
            except StreamrelayError:
                healthy = False
            if not healthy:
                self._unhealthy.add(name)
                self._notice(f"⚠️ {name} does not answer: streamrelay council check says more.")
                self._show(self.status)

        await asyncio.gather(*(check(name, client) for (name, _), client in list(self._clients.items())))

    def _notice(self, text: str, *, urgent: bool = False) -> None:
        self._show(Noticed(text, urgent))

    def _show(self, happening: Happening) -> None:
        for onlooker in list(self._onlookers):
            onlooker.put_nowait(happening)
            if onlooker.qsize() > _MAX_UNREAD:
                logger.warning("an onlooker of %s has left %d happenings unread, and is let go", self.id, _MAX_UNREAD)
                self._onlookers.remove(onlooker)
                onlooker.put_nowait(None)


def _joined(pieces: Sequence[str]) -> str:
    """Return the text of pieces. A character that a server cuts in two is one again, and half of one is replaced."""
    text = "".join(pieces)
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _with(entry: Entry, text: str, *, partial: bool) -> Entry:
    return Entry(entry.id, entry.author, entry.kind, text, entry.round, entry.round_kind, partial)
