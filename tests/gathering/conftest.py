"""A circle on a clock of the test's own: members answer prompts after some seconds, and what each hears is noted."""

import contextlib
import heapq
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec
import pytest

from streamrelay.errors import PieceNotHeld
from streamrelay.events import Event
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.library import load_texts
from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Breath, Plan
from streamrelay.gathering.state import RecordEntry, StoredGathering
from streamrelay.gathering.steps import (
    Announce,
    AnyHappening,
    Closed,
    Contribute,
    Effect,
    Prompt,
    PublishGatheringEvent,
    WithdrawPrompts,
)

TEXTS = load_texts()
MEMBERS = (
    Member(name="Sage", number=7),
    Member(name="Rex", number=2),
    Member(name="Mo", number=4, is_human=True),
    Member(name="Ada", number=1, role="harvester"),
)
Answers = Callable[[Prompt], Iterable[tuple[float, AnyHappening]]]


@dataclass(frozen=True)
class Heard:
    """What a member got, and when; `kind` is that of a prompt, or "all", or "from" a speaker."""

    t: float
    to: int
    kind: str
    text: str


@dataclass
class Circle:
    """A ceremony that runs; `answers` says what follows from a prompt, in seconds from then."""

    ceremony: Ceremony
    answers: Answers
    restarts: bool = False
    now: float = 1000.0
    heard: list[Heard] = field(default_factory=list)
    events: list[tuple[float, Event]] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)
    closed: str = ""

    def __post_init__(self) -> None:
        self._agenda: list[tuple[float, int, AnyHappening | Callable[[float], list[Effect]]]] = []
        self._numbers = itertools.count()
        self._began = self.now

    def at(self, t: float, happening: AnyHappening | Callable[[float], list[Effect]]) -> None:
        """Have something happen at a time since the beginning."""
        heapq.heappush(self._agenda, (self._began + t, next(self._numbers), happening))

    def run(self, until: float = 100_000.0) -> None:
        """Run to the end, or for some seconds since the beginning."""
        if not self.ceremony.state.round:
            self.take(self.ceremony.begin(self.now, "History signals: none."))
        while not self.ceremony.closed:
            due = self.ceremony.deadline()
            planned = self._agenda[0][0] if self._agenda else None
            soonest = min(t for t in (due, planned, self._began + until) if t is not None)
            self.now = soonest
            if planned is not None and planned <= soonest:
                _, _, what = heapq.heappop(self._agenda)
                # Who uses the tool when the piece has gone on is refused, and that is all.
                with contextlib.suppress(PieceNotHeld):
                    self.take(what(self.now) if callable(what) else self.ceremony.handle(what, self.now))
            elif due is not None and due <= soonest:
                self.take(self.ceremony.advance(self.now))
            else:
                return
            if self.restarts:
                self.restart()

    def restart(self, now: float | None = None) -> None:
        """Go on with what was kept, as JSON."""
        kept = msgspec.json.encode((self.ceremony.stored(), list(self.ceremony.record)))
        stored, record = msgspec.json.decode(kept, type=tuple[StoredGathering, list[RecordEntry]])
        self.ceremony = Ceremony.restored(stored, record, TEXTS, now)

    def take(self, effects: Iterable[Effect]) -> None:
        t = round(self.now - self._began, 6)
        for effect in effects:
            match effect:
                case Prompt():
                    self.heard.append(Heard(t, effect.to, effect.kind, effect.text))
                    for delay, happening in self.answers(effect):
                        self.at(self.now - self._began + delay, happening)
                case Announce():
                    self.heard += [Heard(t, to, "all", effect.text) for to in effect.to]
                case Contribute():
                    self.heard += [Heard(t, to, f"from {effect.speaker}", effect.text) for to in effect.to]
                case WithdrawPrompts():
                    self.withdrawn |= set(effect.message_ids)
                case PublishGatheringEvent():
                    self.events.append((t, effect.event))
                case Closed():
                    self.closed = effect.reason

    def told(self, kind: type[Event]) -> list[Event]:
        """The events of a kind."""
        return [event for _, event in self.events if isinstance(event, kind)]

    def of(self, to: int, *kinds: str) -> list[tuple[float, str]]:
        """What a member heard, of some kinds or of all."""
        return [(each.t, each.text) for each in self.heard if each.to == to and (not kinds or each.kind in kinds)]


@pytest.fixture
def circle() -> Callable[..., Circle]:
    """Return a circle of these members: 2-2-2, 3 beats of 60 s, unless something else is said."""

    def make(
        answers: Answers = lambda _: (), *, members: Iterable[Member] = MEMBERS, restarts: bool = False, **plan: object
    ) -> Circle:
        values = {
            "rhythm": "weekly", "breath": Breath(2, 2, 2), "beats_per_turn": 3, "beat_interval_seconds": 60.0,
            "question": "What is alive?",
        } | plan  # fmt: skip
        return Circle(Ceremony("g", Plan(**values), tuple(members), TEXTS), answers, restarts)

    return make
