"""The plan of a gathering, as plain values: its rounds, its beats, its question, and when the others get contributions.

A rhythm supplies all values (`streamrelay.gathering.library` reads rhythms from procedure files). A request overrides
them: a structure replaces the rhythm's, and a single count of rounds replaces the structure's.
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
    """The number of rounds in each phase."""

    inhale: int
    hold: int
    exhale: int

    def __str__(self) -> str:
        return f"{self.inhale}-{self.hold}-{self.exhale}"

    def rounds(self, phase: Phase) -> int:
        """Return the number of rounds of a phase; the close has one."""
        return 1 if phase == "close" else int(getattr(self, phase))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `minimal`, `standard`, `extended` or `2-2-2`; raises InvalidGathering."""
        written = STRUCTURES.get(text.strip().casefold(), text)
        found = re.fullmatch(r"\s*(\d{1,3})-(\d{1,3})-(\d{1,3})\s*", written, re.ASCII)
        if found is None:
            raise InvalidGathering(
                f"invalid structure: {text!r}",
                hint=f"use {', '.join(STRUCTURES)}, or the rounds of inhale, hold and exhale like 2-2-2",
                data={"fault": "structure", "structure": text},
            )
        return cls(*(int(count) for count in found.groups()))


STRUCTURES: Mapping[str, str] = {"minimal": "1-1-1", "standard": "2-2-2", "extended": "2-3-2"}


class Rhythm(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of gathering: the defaults for its plan, and its subject."""

    name: str
    breath: Breath
    beats_per_turn: int
    beat_interval_seconds: float
    question: str
    """The question that opens it."""
    keywords: tuple[str, ...] = ()
    """Words to search history for."""
    about: str = ""
    """Its purpose, from its procedure file."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of one gathering. Times are in seconds."""

    rhythm: str
    breath: Breath
    beats_per_turn: int
    beat_interval_seconds: float
    question: str = ""
    keywords: tuple[str, ...] = ()
    about: str = ""
    previous: str = ""
    """The id of the previous gathering of this rhythm."""
    trail: str = ""
    """The part of that gathering's harvest that is meant for this one."""
    listening: Listening = "each"
    """When the others get a contribution: `each` at once, `digest` when they get the piece."""
    last_words_seconds: float = 30.0
    """Time to wait for the last words."""
    reach_seconds: float = 60.0
    """Time to wait until the prompt with the piece reaches the speaker; then the speaker's time starts anyway."""
    harvest_seconds: float = 600.0
    """Time to wait for the harvest."""
    most_contributions: int = 32
    """Contributions that count in one tenure."""
    longest_tenure: int = 65_536
    """Characters that count in one tenure."""

    @property
    def tenure_seconds(self) -> float:
        """The longest time for which a speaker keeps the piece, from the moment when its prompt has arrived."""
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
    """Return the plan of a gathering; the rhythm supplies values that are None or empty.

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
    """Raise InvalidGathering for a plan with invalid counts or times."""
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
                hint="use more than 0 seconds, and at most a day",
                data={"fault": what, "seconds": str(seconds)},
            )
    if plan.listening not in {"each", "digest"}:
        raise InvalidGathering(
            f"invalid listening: {plan.listening!r}",
            hint="use each (every contribution at once) or digest (with the piece)",
            data={"fault": "listening", "listening": plan.listening},
        )


def counted(count: int, noun: str) -> str:
    """Return `1 round`, `2 rounds`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
