"""Runs a ceremony among panes: turns pane events into happenings, and effects into messages. Pure.

* Output of the holder counts from the turn that answers the prompt with the piece. An earlier turn answers another
  message, although it may end later. The same rule applies to the harvester and its harvest.
* An agent's output counts by whole turns. The output of a program that prints lines counts once the prompt has reached
  it, by bursts that `REST` seconds of quiet end. When the time is up, an unfinished burst still counts.
* A person who types into an agent's pane speaks by their typed text; the agent's answers are not theirs. At any other
  program they speak by its output. A person without a pane uses a page or a command line: prompts reach them as events,
  and their contributions arrive as calls.
* A member that passes by the tool calls it in the middle of a turn. The piece goes on when that turn is over, because
  only then is its output known.
* The journal has the output of all other members, but it is not delivered. They get no notice of that, since a notice
  would make them speak again.
"""

from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from streamrelay.delivery.message import OWN_TEXT
from streamrelay.errors import PieceNotHeld, UsageError
from streamrelay.events import Event, Injected, PaneClosed, Receipt, Text, TurnEnded, TurnStarted
from streamrelay.gathering import steps
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.prompts import PromptTexts
from streamrelay.gathering.state import RecordEntry, StoredGathering
from streamrelay.relay.attribution import ATTRIBUTED, content, filled
from streamrelay.relay.output_units import OutputCollector, OutputUnit
from streamrelay.relay.rules import Close, Effect, Notice, Participant, PublishEvent, Withdraw

REST = 0.3
_REACHED = frozenset({"submitted", "turn_started", "answered"})


class CircleSeat(msgspec.Struct, frozen=True, kw_only=True):
    """A member with its session and pane; a person on a page has no pane, but perhaps a `node`."""

    number: int
    name: str
    is_human: bool = False
    session: str = ""
    pane: str = ""
    session_name: str = ""
    agent: str = ""
    started_here: bool = False
    """Whether its session was started for the gathering."""
    node: str = ""
    """The other machine on whose page a person takes part; empty for this one."""

    @property
    def participant(self) -> Participant:
        """The seat as a recipient of messages."""
        return Participant(self.session, self.pane, self.name, self.number, self.session_name)


class Hearing(msgspec.Struct):
    """The member whose output counts, from the turn that answers a prompt, once that turn is known."""

    number: int
    prompt: str
    turn: int | None = None
    asked: dict[int, str] = msgspec.field(default_factory=dict)
    """The prompt that each turn since then answers."""

    def answered_by(self, turn: int) -> str:
        """Return the latest prompt up to a turn."""
        return next((self.asked[each] for each in sorted(self.asked, reverse=True) if each <= turn), "")


class StoredCircle(msgspec.Struct, frozen=True, kw_only=True):
    """The stored state of a circle, without the record of its ceremony."""

    ceremony: StoredGathering
    seats: tuple[CircleSeat, ...]
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
        self, ceremony: Ceremony, seats: Sequence[CircleSeat], *, started_at: float, end_sessions: bool = False
    ) -> None:
        """Take a ceremony that has not begun; `started_at` is Unix time."""
        self.ceremony = ceremony
        self.seats = {seat.number: seat for seat in seats}
        self.started_at = started_at
        self.closed_at: float | None = None
        self.end_sessions = end_sessions
        self.settled = False
        """Whether export and cleanup after its end are done."""
        self.muted: set[int] = set()
        self.asked: dict[int, str] = {}
        """The latest private prompt for each person without a pane."""
        self._by_pane = {seat.pane: seat for seat in seats if seat.pane}
        self._hearing: Hearing | None = None
        self._utterances = OutputCollector(rest=REST)
        self._in_turns: set[str] = set()
        self._at_work: set[str] = set()
        """The panes with a turn in progress."""
        self._passing = False
        """Whether the piece is passed on when the holder's turn ends."""

    @classmethod
    def restored(
        cls, stored: StoredCircle, record: Sequence[RecordEntry], texts: PromptTexts, now: float, life: str = ""
    ) -> Self:
        """Restore a stored circle, with a clock that shows `now`, in a life of its own (`relay.message_ids`)."""
        ceremony = Ceremony.restored(stored.ceremony, record, texts, now, life)
        circle = cls(ceremony, stored.seats, started_at=stored.started_at, end_sessions=stored.end_sessions)
        circle.closed_at, circle.settled = stored.closed_at, stored.settled
        circle.muted, circle.asked = set(stored.muted), dict(stored.asked)
        circle._hearing = stored.hearing
        circle._at_work, circle._passing = set(stored.at_work), stored.passing
        circle._utterances.restore(stored.saying)
        return circle

    def stored(self) -> StoredCircle:
        """Return the state from which `restored` continues, without the record."""
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
        """The id of the gathering."""
        return self.ceremony.gathering_id

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return self.ceremony.closed

    def has(self, pane: str) -> bool:
        """Return whether a member takes part from a pane and has not left."""
        seat = self._by_pane.get(pane)
        return seat is not None and seat.number not in self.ceremony.state.gone

    @property
    def present(self) -> list[CircleSeat]:
        """The seats with a pane whose members have not left."""
        return [seat for seat in self._by_pane.values() if self.has(seat.pane)]

    @property
    def people_elsewhere(self) -> list[CircleSeat]:
        """The seats of people on the pages of other machines."""
        gone = self.ceremony.state.gone
        return [seat for seat in self.seats.values() if seat.node and seat.number not in gone]

    # What is heard

    def speaks_in_turns(self, pane: str, whole: bool) -> None:  # the flag is the message
        """Set whether a pane's output counts by whole turns from here on."""
        seat = self._by_pane.get(pane)
        if seat is not None:
            (self._in_turns.add if whole else self._in_turns.discard)(pane)
            self._utterances.speaks_in_turns(pane, whole and not seat.is_human)

    def begin(self, now: float, pulse: str = "") -> list[Effect]:
        """Send all seeds and give the piece to the first speaker."""
        return self._carry(self.ceremony.begin(now, pulse), now)

    def concerns(self, event: Event) -> bool:
        """Return whether an event of a pane can change the circle; most output cannot."""
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
        """Take the end of a member's session, after its last output."""
        seat = self._by_pane.get(pane)
        if seat is None or self.closed:
            return []
        return [*self._say(self._utterances.complete(pane), now), *self._happen(steps.Left(seat.number, reason), now)]

    def dismiss(self, number: int, reason: str, now: float) -> list[Effect]:
        """Take the leave of a person without a pane."""
        return [] if self.closed else self._happen(steps.Left(number, reason), now)

    def deadline(self) -> float | None:
        """Return when `advance` is due; None without a pending deadline."""
        due = [each for each in (self._utterances.deadline(), self.ceremony.deadline()) if each is not None]
        return None if self.closed else min(due, default=None)

    def advance(self, now: float) -> list[Effect]:
        """Advance the clock."""
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
        """Contribute for a person who holds the piece or makes the harvest; raises UsageError and PieceNotHeld."""
        seat = self.seats.get(number)
        if seat is None or not seat.is_human:
            raise UsageError(
                f"participant {number} of {self.gathering_id} is not a person",
                hint="an agent speaks in its own session",
            )
        harvests = self.ceremony.state.harvest_due is not None and number == self.ceremony.members[-1].number
        if self._speaker != number and not harvests:
            raise PieceNotHeld(f"{seat.name} does not hold the piece now")
        return self._happen(steps.Said(number, text, whole=harvests), now)

    def pass_piece(self, number: int | None, session: str, now: float) -> list[Effect]:
        """Pass the piece for a member, or for its current holder; raises PieceNotHeld if the member does not hold it.

        A session that passes the piece itself may finish its current turn first.
        """
        speaker = self._speaker
        if number is None and session:
            number = next((seat.number for seat in self.seats.values() if seat.session == session), 0)
        if speaker is None or number not in {None, speaker}:
            who = "no member holds the piece" if speaker is None else f"{self.seats[speaker].name} holds the piece"
            raise PieceNotHeld(f"{who} now", hint="only who holds it can pass it")
        if session and self.seats[speaker].pane in self._at_work:
            self._passing = True
            return []
        return [*self._printed_said(speaker, now), *self._happen(steps.Passed(speaker), now)]

    def sense(self, signals: str, now: float) -> list[Effect]:
        """Take a one-line summary of the current work, for the coming beats."""
        return [] if self.closed else self._happen(steps.Sensed(signals), now)

    def mute(self, session: str, *, muted: bool) -> None:
        """Mute a session or unmute it."""
        for seat in self.seats.values():
            if session and seat.session == session:
                (self.muted.add if muted else self.muted.discard)(seat.number)

    def pause(self, now: float, *, paused: bool) -> list[Effect]:
        """Pause the circle, or resume it."""
        return self._carry(self.ceremony.pause(now) if paused else self.ceremony.resume(now), now)

    def close(self, now: float, reason: str = "stopped") -> list[Effect]:
        """Close the circle early after its harvest; a second call closes it at once."""
        return self._carry(self.ceremony.close(now, reason), now)

    # From events to happenings

    @property
    def _speaker(self) -> int | None:
        holder = self.ceremony.holder
        return None if holder is None else holder.number

    def _is_heard(self, seat: CircleSeat, event: Text) -> bool:
        hearing = self._hearing
        if hearing is None or hearing.number != seat.number or hearing.turn is None or seat.number in self.muted:
            return False
        in_turns = seat.pane in self._in_turns
        if seat.is_human and in_turns:
            return event.origin == "typed"
        return event.origin == "program" and (event.turn >= hearing.turn or not in_turns)

    def _hear(self, seat: CircleSeat, event: Text, now: float) -> list[Effect]:
        if event.origin == "typed":
            return self._happen(steps.Said(seat.number, event.text, whole=False), now) if event.text.strip() else []
        return self._say(self._utterances.hear(event, now), now)

    def _end_utterance(self, seat: CircleSeat, event: TurnStarted | TurnEnded, now: float) -> list[Effect]:
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

    def _expect(self, seat: CircleSeat, injected: Injected) -> None:
        """Note which turn answers a prompt."""
        hearing = self._hearing
        if hearing is None or hearing.number != seat.number:
            return
        if injected.message_id == hearing.prompt:
            hearing.turn = injected.turn
        if hearing.turn is not None:
            hearing.asked[injected.turn] = injected.message_id

    def _printed(self, seat: CircleSeat) -> list[OutputUnit]:
        """Return the unfinished burst of a program that prints lines; an unfinished turn does not count."""
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
        """Return the effects for the service, and report prompts for a page as reached at once."""
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
                case steps.WithdrawPrompts(to=number, message_ids=ids):
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
            # A page has no turns: its text counts at once.
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
        return [Notice(message_id, listeners, text, head, OWN_TEXT)] if listeners else []
