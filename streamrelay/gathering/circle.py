"""A ceremony among panes: what their streams say goes in as what happened, what follows comes out as messages. Pure.

* Heard is who holds the piece, from the turn on that answers the prompt which gave it to him: what he says before that
  answers somebody else's words, although it may end later. The same holds for the harvester and its harvest.
* An agent is heard by whole turns. A program that prints is heard from when the prompt has reached it, by bursts that
  `REST` seconds of quiet close; one that is under way when the time is up still counts.
* A person who sits at an agent is heard by what he types, and the agent's answers are not his. At any other program he
  is heard by what that prints, like everybody. A person without a pane has a page or a command line: what is meant for
  him is told as an event and so has reached him, and what he says comes in as a call.
* Who passes by the tool does so in the midst of a turn. What he says in it is known when it is over; then he passes.
* What everybody else says is in the journal, and goes to nobody. Nobody is told so: that would make them speak again.
"""

from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from streamrelay.errors import PieceNotHeld, UsageError
from streamrelay.events import Event, Injected, PaneClosed, Receipt, Text, TurnEnded, TurnStarted
from streamrelay.gathering import steps
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.prompts import Texts
from streamrelay.gathering.state import RecordEntry, StoredGathering
from streamrelay.relay.attribution import ATTRIBUTED, content, filled
from streamrelay.relay.output_units import OutputCollector, OutputUnit
from streamrelay.relay.rules import Close, Effect, Notice, Participant, PublishEvent, Withdraw

REST = 0.3
_REACHED = frozenset({"submitted", "turn_started", "answered"})


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """Where a member lives; a person on a page lives in no pane."""

    number: int
    name: str
    is_human: bool = False
    session: str = ""
    pane: str = ""
    session_name: str = ""
    agent: str = ""
    started_here: bool = False
    """Whether its session was started for the gathering."""

    @property
    def participant(self) -> Participant:
        """The same as one who gets messages."""
        return Participant(self.session, self.pane, self.name, self.number, self.session_name)


class Hearing(msgspec.Struct):
    """Who is heard: from the turn on that answers a prompt, when that is known."""

    number: int
    prompt: str
    turn: int | None = None
    asked: dict[int, str] = msgspec.field(default_factory=dict)
    """What each turn since then answers."""

    def answered_by(self, turn: int) -> str:
        """Return the last that was asked up to a turn."""
        return next((self.asked[each] for each in sorted(self.asked, reverse=True) if each <= turn), "")


class StoredCircle(msgspec.Struct, frozen=True, kw_only=True):
    """A circle as it is kept, without the record of its ceremony."""

    ceremony: StoredGathering
    seats: tuple[Seat, ...]
    started_at: float
    closed_at: float | None = None
    hearing: Hearing | None = None
    saying: tuple[OutputUnit, ...] = ()
    muted: tuple[int, ...] = ()
    asked: dict[int, str] = {}
    at_work: tuple[str, ...] = ()
    passing: bool = False
    end_sessions: bool = False
    settled: bool = False


class Circle:
    """One gathering, in the panes of its members."""

    def __init__(
        self, ceremony: Ceremony, seats: Sequence[Seat], *, started_at: float, end_sessions: bool = False
    ) -> None:
        """Take a ceremony that has not begun; `started_at` is Unix time."""
        self.ceremony = ceremony
        self.seats = {seat.number: seat for seat in seats}
        self.started_at = started_at
        self.closed_at: float | None = None
        self.end_sessions = end_sessions
        self.settled = False
        """Whether all is done that was to be done after its end."""
        self.muted: set[int] = set()
        self.asked: dict[int, str] = {}
        """The last that was meant for each person without a pane alone."""
        self._by_pane = {seat.pane: seat for seat in seats if seat.pane}
        self._hearing: Hearing | None = None
        self._utterances = OutputCollector(rest=REST)
        self._in_turns: set[str] = set()
        self._at_work: set[str] = set()
        """The panes in which a turn has begun and is not over."""
        self._passing = False
        """Whether who is heard passes when its turn is over."""

    @classmethod
    def restored(cls, stored: StoredCircle, record: Sequence[RecordEntry], texts: Texts, now: float) -> Self:
        """Go on with a circle as it was stored, by a clock that shows `now`."""
        ceremony = Ceremony.restored(stored.ceremony, record, texts, now)
        circle = cls(ceremony, stored.seats, started_at=stored.started_at, end_sessions=stored.end_sessions)
        circle.closed_at, circle.settled = stored.closed_at, stored.settled
        circle.muted, circle.asked = set(stored.muted), dict(stored.asked)
        circle._hearing = stored.hearing
        circle._at_work, circle._passing = set(stored.at_work), stored.passing
        circle._utterances.restore(stored.saying)
        return circle

    def stored(self) -> StoredCircle:
        """Return all that is needed to go on later, but for the record."""
        return StoredCircle(
            ceremony=self.ceremony.stored(),
            seats=tuple(self.seats.values()),
            started_at=self.started_at,
            closed_at=self.closed_at,
            hearing=self._hearing,
            saying=self._utterances.stored(),
            muted=tuple(sorted(self.muted)),
            asked=dict(self.asked),
            at_work=tuple(sorted(self._at_work)),
            passing=self._passing,
            end_sessions=self.end_sessions,
            settled=self.settled,
        )

    @property
    def gathering_id(self) -> str:
        """What it is known by."""
        return self.ceremony.gathering_id

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return self.ceremony.closed

    def has(self, pane: str) -> bool:
        """Tell whether somebody takes part from a pane, and has not left."""
        seat = self._by_pane.get(pane)
        return seat is not None and seat.number not in self.ceremony.standing.gone

    @property
    def present(self) -> list[Seat]:
        """Who takes part from a pane, and has not left."""
        return [seat for seat in self._by_pane.values() if self.has(seat.pane)]

    # What is heard

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # what is told, not how
        """Note whether what is said in a pane from here on is said by whole turns."""
        seat = self._by_pane.get(pane)
        if seat is not None:
            (self._in_turns.add if whole else self._in_turns.discard)(pane)
            self._utterances.speaks_in_turns(pane, whole and not seat.is_human)

    def begin(self, now: float, pulse: str = "") -> list[Effect]:
        """Seed everybody, and give the piece to the first."""
        return self._carry(self.ceremony.begin(now, pulse), now)

    def concerns(self, event: Event) -> bool:
        """Tell whether an event of a pane can change anything here: most of what is printed does not."""
        if not self.has(event.pane):
            return False
        if isinstance(event, Text):
            return self._is_heard(self._by_pane[event.pane], event)
        return isinstance(event, Receipt | Injected | TurnStarted | TurnEnded | PaneClosed)

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take an event of a member's pane."""
        seat = self._by_pane.get(event.pane)
        if seat is None or self.closed:
            return []
        match event:
            case Receipt(message_id=message_id) if event.state in _REACHED:
                return self._happen(steps.Reached(seat.number, message_id), now)
            case Injected(message_id=message_id, state="entering"):
                self._expect(seat, event)
                return self._happen(steps.Reached(seat.number, message_id), now)
            case Text():
                return self._hear(seat, event, now) if self._is_heard(seat, event) else []
            case TurnStarted() | TurnEnded():
                return self._end_utterance(seat, event, now)
            case PaneClosed():
                return self.leave(seat.pane, event.reason, now)
            case _:
                return []

    def leave(self, pane: str, reason: str, now: float) -> list[Effect]:
        """A member's session is gone, after its last words."""
        seat = self._by_pane.get(pane)
        if seat is None or self.closed:
            return []
        return [*self._say(self._utterances.complete(pane), now), *self._happen(steps.Left(seat.number, reason), now)]

    def deadline(self) -> float | None:
        """Return when `advance` is due; None while nothing is waited for."""
        due = [each for each in (self._utterances.deadline(), self.ceremony.deadline()) if each is not None]
        return None if self.closed else min(due, default=None)

    def advance(self, now: float) -> list[Effect]:
        """Let time pass."""
        if self.closed:
            return []
        due = self.ceremony.deadline()
        ripe = self._utterances.rested(now)
        if due is not None and due <= now and self._hearing is not None:
            ripe += self._printed(self.seats[self._hearing.number])
        effects = [effect for utterance in ripe for effect in self._say(utterance, now)]
        return [*effects, *self._carry(self.ceremony.advance(now), now)]

    # What people decide

    def say(self, number: int, text: str, now: float) -> list[Effect]:
        """Say something for a person who holds the piece or makes the harvest; raises UsageError and PieceNotHeld."""
        seat = self.seats.get(number)
        if seat is None or not seat.is_human:
            raise UsageError(f"{number} is no person in {self.gathering_id}", hint="an agent speaks in its own session")
        harvests = self.ceremony.standing.harvest_due is not None and number == self.ceremony.members[-1].number
        if self._speaker != number and not harvests:
            raise PieceNotHeld(f"{seat.name} does not hold the piece now")
        return self._happen(steps.Said(number, text, whole=harvests), now)

    def pass_piece(self, number: int | None, session: str, now: float) -> list[Effect]:
        """Pass the piece, for a member or for whoever holds it; raises PieceNotHeld for one that does not.

        A session that passes itself is let finish the turn in which it does.
        """
        speaker = self._speaker
        if number is None and session:
            number = next((seat.number for seat in self.seats.values() if seat.session == session), 0)
        if speaker is None or number not in {None, speaker}:
            who = "nobody holds the piece" if speaker is None else f"{self.seats[speaker].name} holds the piece"
            raise PieceNotHeld(f"{who} now", hint="only who holds it can pass it")
        if session and self.seats[speaker].pane in self._at_work:
            self._passing = True
            return []
        return [*self._printed_said(speaker, now), *self._happen(steps.Passed(speaker), now)]

    def sense(self, signals: str, now: float) -> list[Effect]:
        """Take what is going on, in one line, for the beats to come."""
        return [] if self.closed else self._happen(steps.Sensed(signals), now)

    def mute(self, session: str, *, muted: bool) -> None:
        """Pass on nothing of what a session says, or pass it on again."""
        for seat in self.seats.values():
            if session and seat.session == session:
                (self.muted.add if muted else self.muted.discard)(seat.number)

    def pause(self, now: float, *, paused: bool) -> list[Effect]:
        """Let the piece rest where it is, or go on."""
        return self._carry(self.ceremony.pause(now) if paused else self.ceremony.resume(now), now)

    def close(self, now: float, reason: str = "stopped") -> list[Effect]:
        """Close it early: it is harvested; a second time, at once."""
        return self._carry(self.ceremony.close(now, reason), now)

    # What is made of it

    @property
    def _speaker(self) -> int | None:
        holder = self.ceremony.holder
        return None if holder is None else holder.number

    def _is_heard(self, seat: Seat, event: Text) -> bool:
        hearing = self._hearing
        if hearing is None or hearing.number != seat.number or hearing.turn is None or seat.number in self.muted:
            return False
        in_turns = seat.pane in self._in_turns
        if seat.is_human and in_turns:
            return event.origin == "typed"
        return event.origin == "program" and (event.turn >= hearing.turn or not in_turns)

    def _hear(self, seat: Seat, event: Text, now: float) -> list[Effect]:
        if event.origin == "typed":
            return self._happen(steps.Said(seat.number, event.text, whole=False), now) if event.text.strip() else []
        return self._say(self._utterances.hear(event, now), now)

    def _end_utterance(self, seat: Seat, event: TurnStarted | TurnEnded, now: float) -> list[Effect]:
        (self._at_work.discard if isinstance(event, TurnEnded) else self._at_work.add)(seat.pane)
        ended, hearing = isinstance(event, TurnEnded), self._hearing
        certain = isinstance(event, TurnEnded) and event.certain
        answers = "" if hearing is None else hearing.answered_by(event.turn)
        effects = self._say(self._utterances.hear(event, now), now, certain=certain, answers=answers)
        if hearing is None or hearing is not self._hearing or hearing.number != seat.number or hearing.turn is None:
            return effects
        if not ended or event.turn < hearing.turn:
            return effects
        if self._passing:
            return [*effects, *self._happen(steps.Passed(seat.number), now)]
        if certain and not seat.is_human:
            effects += self._happen(steps.Stopped(seat.number, answers), now)
        return effects

    def _expect(self, seat: Seat, injected: Injected) -> None:
        """Know which turn answers a prompt."""
        hearing = self._hearing
        if hearing is None or hearing.number != seat.number:
            return
        if injected.message_id == hearing.prompt:
            hearing.turn = injected.turn
        if hearing.turn is not None:
            hearing.asked[injected.turn] = injected.message_id

    def _printed(self, seat: Seat) -> list[OutputUnit]:
        """Return the burst that is under way where somebody prints; a turn that is not over is none."""
        if not seat.pane or (seat.pane in self._in_turns and not seat.is_human):
            return []
        burst = self._utterances.complete(seat.pane)
        return [] if burst is None else [burst]

    def _printed_said(self, number: int, now: float) -> list[Effect]:
        return [effect for burst in self._printed(self.seats[number]) for effect in self._say(burst, now)]

    def _say(
        self, utterance: OutputUnit | None, now: float, *, certain: bool = False, answers: str = ""
    ) -> list[Effect]:
        if utterance is None or not (text := content(utterance.lines)):
            return []
        seat = self._by_pane[utterance.pane]
        if self._hearing is None or self._hearing.number != seat.number:
            return []
        whole = utterance.whole_turn and certain
        return self._happen(steps.Said(seat.number, text, whole, answers if whole else ""), now)

    def _happen(self, happening: steps.AnyHappening, now: float) -> list[Effect]:
        return self._carry(self.ceremony.handle(happening, now), now)

    def _carry(self, effects: Iterable[steps.Effect], now: float) -> list[Effect]:
        """Return what a service is to do, and tell the ceremony at once of what has reached a page by that."""
        result: list[Effect] = []
        for effect in effects:
            match effect:
                case steps.Prompt():
                    result += self._prompt(effect, now)
                case steps.Announce(message_id=message_id, to=to, text=text, head=head):
                    result += self._notice(message_id, to, text, head)
                case steps.Contribute(message_id=message_id, speaker=speaker, to=to, text=text):
                    name = self.seats[speaker].name
                    head = filled(ATTRIBUTED, name=name, number=speaker, text="").strip()
                    result += self._notice(
                        message_id, to, filled(ATTRIBUTED, name=name, number=speaker, text=text), head
                    )
                case steps.Withdraw(to=number, message_ids=ids):
                    seat = self.seats[number]
                    result += [Withdraw(message_id, (seat.participant,)) for message_id in ids if seat.pane]
                case steps.PublishGatheringEvent(event=event):
                    result.append(PublishEvent(event))
                case steps.Closed(reason=reason):
                    self._hearing = None
                    self._utterances.clear()
                    result.append(Close(reason, 0))
        return result

    def _prompt(self, prompt: steps.Prompt, now: float) -> list[Effect]:
        seat = self.seats[prompt.to]
        if prompt.kind in {"turn", "harvest"}:
            # A page has no turns: what is said on it is said now.
            self._hearing = Hearing(seat.number, prompt.message_id, None if seat.pane else 0)
            self._passing = False
            for pane in self._by_pane:
                self._utterances.complete(pane)
        if seat.pane:
            return self._notice(prompt.message_id, (prompt.to,), prompt.text, prompt.head)
        self.asked[seat.number] = prompt.text
        return self._happen(steps.Reached(seat.number, prompt.message_id), now)

    def _notice(self, message_id: str, to: Iterable[int], text: str, head: str = "") -> list[Effect]:
        listeners = tuple(self.seats[number].participant for number in to if self.seats[number].pane)
        return [Notice(message_id, listeners, text, head)] if listeners else []
