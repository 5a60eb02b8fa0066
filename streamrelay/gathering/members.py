"""Who takes part in a gathering, and who may. Values and their check."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from streamrelay.errors import InvalidGathering, NestedGathering

Role = Literal["speaker", "harvester"]
MAX_NAME_LENGTH = 64
MIN_SPEAKERS = 2


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One participant, as it is asked for; when its session is known, as it takes part."""

    name: str
    number: int
    role: Role = "speaker"
    is_human: bool = False
    agent: str = ""
    """The profile of the program that is started for it."""
    session: str = ""
    """The session it lives in; empty for one that is to be started, and for a person on the web page."""

    @property
    def label(self) -> str:
        """How the others read of it: `Sage (3)`."""
        return f"{self.name} ({self.number})"


def speakers(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return who holds the piece, in the order in which it goes around: ascending numbers."""
    return tuple(sorted((member for member in members if member.role == "speaker"), key=lambda member: member.number))


def harvester(members: Sequence[Member]) -> Member:
    """Return who listens for all of them."""
    return next(member for member in members if member.role == "harvester")


def check_members(members: Sequence[Member]) -> None:
    """Raise InvalidGathering, with the fault in `data`, for a circle that cannot be held."""
    for member in members:
        _check_name(member.name)
        if member.number < 1:
            raise InvalidGathering(
                f"{member.name} has the number {member.number}",
                hint="numbers begin at 1",
                data={"fault": "number", "number": member.number},
            )
    _check_different("number", "the order of speaking is that of the numbers; give each its own", members)
    _check_different("name", "the others know each participant by its name; give each its own", members)
    if twice := [name for name, count in Counter(m.session for m in members if m.session).items() if count > 1]:
        raise InvalidGathering(
            f"session {twice[0]} is to take part twice",
            hint="a session has one seat; name another one, or an agent to be started",
            data={"fault": "duplicate_session", "session": twice[0]},
        )
    count = len(speakers(members))
    if count < MIN_SPEAKERS:
        raise InvalidGathering(
            f"a gathering has at least two speakers, not {count}",
            hint="add another speaker; for a conversation of one with another there are links (docs/links.md)",
            data={"fault": "speakers", "speakers": count},
        )
    count = len(members) - count
    if count != 1:
        raise InvalidGathering(
            f"a gathering has exactly one harvester, not {count}",
            hint="one participant has the role harvester: it hears all and speaks at the close",
            data={"fault": "harvesters", "harvesters": count},
        )


def check_not_nested(session: str, gathering: str | None) -> None:
    """Raise NestedGathering for a caller whose session is in a gathering."""
    if gathering:
        raise NestedGathering(
            "Cannot start a gathering from within a gathering", data={"session": session, "gathering": gathering}
        )


def _check_name(name: str) -> None:
    # C: control characters, and those that turn the direction of writing or have no glyph; Z: line separators.
    odd = [f"U+{ord(character):04X}" for character in name if _is_odd(character)]
    if odd:
        raise InvalidGathering(
            f"the name {name!r} has characters that a name cannot have: {', '.join(odd)}",
            hint="a name is shown in front of all that its bearer says; use letters, digits, blanks and signs",
            data={"fault": "name", "name": name},
        )
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME_LENGTH:
        raise InvalidGathering(
            f"{name!r} is no name",
            hint=f"a name has 1 to {MAX_NAME_LENGTH} characters, and no blanks at its ends",
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
