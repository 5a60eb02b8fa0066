"""How a gathering is to go, as plain values: its breath, its beats, its question, and how the others listen.

A rhythm has all of it (`streamrelay.gathering.library` reads them from procedure files); what is said besides goes
first: single counts of rounds before a structure, a structure before the rhythm's.
"""

import math
import re
from collections.abc import Mapping
from typing import Literal, Self

import msgspec

from streamrelay.errors import InvalidGathering

Breathing = Literal["inhale", "hold", "exhale"]
Phase = Literal["inhale", "hold", "exhale", "close"]
Listening = Literal["each", "digest"]
BREATH: tuple[Breathing, ...] = ("inhale", "hold", "exhale")

MAX_ROUNDS = 20
MAX_BEATS = 60
MAX_WAIT = 86_400.0
"""Seconds."""


class Breath(msgspec.Struct, frozen=True):
    """How often the piece goes around in each phase."""

    inhale: int
    hold: int
    exhale: int

    def __str__(self) -> str:
        return f"{self.inhale}-{self.hold}-{self.exhale}"

    def rounds(self, phase: Phase) -> int:
        """Return how many rounds a phase has; the close is one."""
        return 1 if phase == "close" else int(getattr(self, phase))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `minimal`, `standard`, `extended` or `2-2-2`; raises InvalidGathering."""
        written = STRUCTURES.get(text.strip().casefold(), text)
        found = re.fullmatch(r"\s*(\d{1,3})-(\d{1,3})-(\d{1,3})\s*", written, re.ASCII)
        if found is None:
            raise InvalidGathering(
                f"{text!r} is no structure",
                hint=f"{', '.join(STRUCTURES)}, or rounds of inhale, hold and exhale like 2-2-2",
                data={"fault": "structure", "structure": text},
            )
        return cls(*(int(count) for count in found.groups()))


STRUCTURES: Mapping[str, str] = {"minimal": "1-1-1", "standard": "2-2-2", "extended": "2-3-2"}


class Rhythm(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind of gathering is like: how it goes unless something else is said, and what it looks at."""

    name: str
    breath: Breath
    beats_per_turn: int
    beat_interval_seconds: float
    question: str
    """What it opens with."""
    keywords: tuple[str, ...] = ()
    """Its scope, as words to search history for."""
    about: str = ""
    """What it is for, in the words of its procedure."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How one gathering goes. Times are seconds."""

    rhythm: str
    breath: Breath
    beats_per_turn: int
    beat_interval_seconds: float
    question: str = ""
    keywords: tuple[str, ...] = ()
    about: str = ""
    previous: str = ""
    """The gathering of this rhythm before it."""
    trail: str = ""
    """What that one's harvest left for this one."""
    listening: Listening = "each"
    """Whether what a speaker says is delivered as it is said, or with the piece to whoever gets it."""
    last_words_seconds: float = 30.0
    """How long the last words are waited for."""
    reach_seconds: float = 60.0
    """How long a speaker's time waits for the prompt that gives it the piece to reach it."""
    harvest_seconds: float = 600.0
    """How long the harvest is waited for."""
    most_contributions: int = 32
    """How many contributions of one tenure are heard."""
    longest_tenure: int = 65_536
    """How many characters of one tenure are heard."""

    @property
    def tenure_seconds(self) -> float:
        """How long a speaker has the piece at most, from when it has reached it."""
        return self.beats_per_turn * self.beat_interval_seconds + self.last_words_seconds


def plan_for(
    rhythm: Rhythm,
    *,
    structure: str = "",
    inhale_rounds: int | None = None,
    hold_rounds: int | None = None,
    exhale_rounds: int | None = None,
    beats_per_turn: int | None = None,
    beat_interval_seconds: float | None = None,
    opening_question: str = "",
    listening: Listening = "each",
    last_words_seconds: float = 30.0,
    reach_seconds: float = 60.0,
    harvest_seconds: float = 600.0,
    previous: str = "",
    trail: str = "",
) -> Plan:
    """Return the plan of a gathering of that rhythm; None and empty stand for what the rhythm says.

    Raises InvalidGathering, with the fault in `data`.
    """
    breath = Breath.parse(structure) if structure else rhythm.breath
    plan = Plan(
        rhythm=rhythm.name,
        breath=Breath(
            breath.inhale if inhale_rounds is None else inhale_rounds,
            breath.hold if hold_rounds is None else hold_rounds,
            breath.exhale if exhale_rounds is None else exhale_rounds,
        ),
        beats_per_turn=rhythm.beats_per_turn if beats_per_turn is None else beats_per_turn,
        beat_interval_seconds=rhythm.beat_interval_seconds if beat_interval_seconds is None else beat_interval_seconds,
        question=opening_question.strip() or rhythm.question,
        keywords=rhythm.keywords,
        about=rhythm.about,
        previous=previous,
        trail=trail,
        listening=listening,
        last_words_seconds=last_words_seconds,
        reach_seconds=reach_seconds,
        harvest_seconds=harvest_seconds,
    )
    check_plan(plan)
    return plan


def check_plan(plan: Plan) -> None:
    """Raise InvalidGathering for a plan that does not come to an end, or has no middle."""
    for phase in BREATH:
        rounds = plan.breath.rounds(phase)
        if not 1 <= rounds <= MAX_ROUNDS:
            raise InvalidGathering(
                f"{phase} has {rounds} rounds",
                hint=f"each phase has 1 to {MAX_ROUNDS}; 1-1-1 is the quick pulse, 2-2-2 the least for real work",
                data={"fault": "rounds", "phase": phase, "rounds": rounds},
            )
    if not 1 <= plan.beats_per_turn <= MAX_BEATS:
        raise InvalidGathering(
            f"a tenure cannot have {plan.beats_per_turn} beats",
            hint=f"it has 1 to {MAX_BEATS}",
            data={"fault": "beats", "beats": plan.beats_per_turn},
        )
    for what in ("beat_interval_seconds", "last_words_seconds", "reach_seconds", "harvest_seconds"):
        seconds = getattr(plan, what)
        if not (math.isfinite(seconds) and 0 < seconds <= MAX_WAIT):
            raise InvalidGathering(
                f"{what} cannot be {seconds:g}",
                hint="it is more than 0 seconds, and a day at most",
                data={"fault": what, "seconds": str(seconds)},
            )
    if plan.listening not in {"each", "digest"}:
        raise InvalidGathering(
            f"there is no listening {plan.listening!r}",
            hint="each (every contribution as it is made) or digest (with the piece)",
            data={"fault": "listening", "listening": plan.listening},
        )


def counted(count: int, noun: str) -> str:
    """Return `1 round`, `2 rounds`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
