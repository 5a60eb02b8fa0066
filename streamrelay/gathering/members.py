"""The members of a gathering, and the checks of who may take part."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from streamrelay.delivery.message import COMMAND_SIGNS
from streamrelay.errors import InvalidGathering, NestedGathering

Role = Literal["speaker", "harvester"]
MAX_NAME_LENGTH = 64
MIN_SPEAKERS = 2


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One participant; its session is empty until it is known."""

    name: str
    number: int
    role: Role = "speaker"
    is_human: bool = False
    agent: str = ""
    """The profile of the program to start for it."""
    session: str = ""
    """Its session; empty if the session is not started yet, and for a person on the web page."""

    @property
    def label(self) -> str:
        """Its name and number, as the others see it: `Sage (3)`."""
        return f"{self.name} ({self.number})"


def speakers(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return the speakers in the order in which they get the piece: by ascending numbers."""
    return tuple(sorted((member for member in members if member.role == "speaker"), key=lambda member: member.number))


def harvester(members: Sequence[Member]) -> Member:
    """Return the harvester, who listens and summarises."""
    return next(member for member in members if member.role == "harvester")


def check_members(members: Sequence[Member]) -> None:
    """Raise InvalidGathering, with the fault in `data`, for invalid members."""
    for member in members:
        _check_name(member.name)
        if member.number < 1:
            raise InvalidGathering(
                f"{member.name} has the number {member.number}",
                hint="numbers begin at 1",
                data={"fault": "number", "number": member.number},
            )
    _check_different("number", "members speak in the order of their numbers; give each a different one", members)
    _check_different("name", "the name identifies a participant; give each a different one", members)
    if twice := [name for name, count in Counter(m.session for m in members if m.session).items() if count > 1]:
        raise InvalidGathering(
            f"session {twice[0]} takes part twice",
            hint="name another session, or an agent to start",
            data={"fault": "duplicate_session", "session": twice[0]},
        )
    count = len(speakers(members))
    if count < MIN_SPEAKERS:
        raise InvalidGathering(
            f"a gathering has at least two speakers, not {count}",
            hint="add another speaker, or link two sessions instead (docs/links.md)",
            data={"fault": "speakers", "speakers": count},
        )
    count = len(members) - count
    if count != 1:
        raise InvalidGathering(
            f"a gathering has exactly one harvester, not {count}",
            hint="name the scribe, who hears all and speaks at the close: --harvester NAME=AGENT",
            data={"fault": "harvesters", "harvesters": count},
        )


def check_not_nested(session: str, gathering: str | None) -> None:
    """Raise NestedGathering for a caller whose session is in a gathering."""
    if gathering:
        raise NestedGathering(
            "Cannot start a gathering from within a gathering", data={"session": session, "gathering": gathering}
        )


def _check_name(name: str) -> None:
    # C: control characters, bidirectional controls and characters without a glyph; Z: line separators.
    odd = [f"U+{ord(character):04X}" for character in name if _is_odd(character)]
    if odd:
        raise InvalidGathering(
            f"the name {name!r} has invalid characters: {', '.join(odd)}",
            hint="use letters, digits, blanks and punctuation",
            data={"fault": "name", "name": name},
        )
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME_LENGTH:
        raise InvalidGathering(
            f"invalid name: {name!r}",
            hint=f"use 1 to {MAX_NAME_LENGTH} characters, without blanks at either end",
            data={"fault": "name", "name": name},
        )
    if name.startswith(COMMAND_SIGNS):
        # A contribution begins with its speaker's name, and is typed whatever is configured for commands.
        raise InvalidGathering(
            f"the name {name!r} begins like a command to an agent",
            hint=f"begin it with another character than {' '.join(COMMAND_SIGNS)}",
            data={"fault": "name", "name": name},
        )


def _is_odd(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in {"Zl", "Zp"}


def _check_different(what: str, hint: str, members: Sequence[Member]) -> None:
    values: list[object] = [member.number if what == "number" else member.name.casefold() for member in members]
    for member, value in zip(members, values, strict=True):
        if values.count(value) > 1:
            shown = member.number if what == "number" else member.name
            raise InvalidGathering(
                f"two participants have the {what} {shown}", hint=hint, data={"fault": f"duplicate_{what}", what: shown}
            )
