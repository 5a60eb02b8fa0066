"""What is special about one program, as data: the engine itself knows no program by name.

Everything works without a profile; one only makes known what otherwise has to be seen first, or cannot be seen at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import regex

DialogKind = Literal["confirmation", "permission", "trust", "login", "picker"]

Patterns = tuple[regex.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class DialogSign:
    """How a dialog reads: its kind as in `needs_human`, and a pattern for one of its rows."""

    kind: DialogKind
    pattern: regex.Pattern[str]


@dataclass(frozen=True, slots=True)
class Profile:
    """One program. It is recognised by the command in the foreground, or by a row or title that is its own."""

    name: str
    commands: frozenset[str] = frozenset()
    signs: Patterns = ()
    busy_titles: Patterns = ()
    idle_titles: Patterns = ()
    footers: Patterns = ()
    """Rows at the end of an answer that are not part of it."""
    furniture: Patterns = ()
    """Rows that are never part of an answer."""
    activity: Patterns = ()
    """First rows of blocks that show what the program does."""
    dialogs: tuple[DialogSign, ...] = ()


GENERIC = Profile("generic")


def recognise(profiles: Sequence[Profile], *, command: str = "", rows: Sequence[str] = ()) -> Profile | None:
    """Return the profile of the program that runs as `command` or shows `rows`; None if there is none."""
    for profile in profiles:
        if command in profile.commands:
            return profile
    for profile in profiles:
        if any(matches(profile.signs, row) for row in rows):
            return profile
    return None


def matches(patterns: Patterns, text: str) -> bool:
    """Tell whether any of the patterns is found in a text."""
    return any(pattern.search(text) is not None for pattern in patterns)
