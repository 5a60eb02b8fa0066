"""What is special about one program, as data: the engine itself knows no program by name.

Everything works without a profile; one only makes known what otherwise has to be seen first, or cannot be seen at all.

A command in the foreground is worth more than what stands on the screen: when a program has ended, its screen and its
title are still there, above the shell that follows it. So signs count only where no profile claims the command (`node`
runs many programs, and ssh any), or where a program is known to run inside the interpreter that is claimed.
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
    is_agent: bool = False
    """Whether it answers in turns: a relay delivers whole ones, however its lines are spaced."""
    commands: frozenset[str] = frozenset()
    interpreters: frozenset[str] = frozenset()
    """Commands in which the program may run although they have a profile of their own."""
    signs: Patterns = ()
    """Found in a title, a state sequence or a row of the screen."""
    busy_titles: Patterns = ()
    idle_titles: Patterns = ()
    rest: float | None = None
    """Seconds that the screen may still change after it has stopped saying that the program works."""
    footers: Patterns = ()
    """Rows at the end of an answer that are not part of it."""
    chrome: Patterns = ()
    """Rows that are never part of an answer."""
    activity: Patterns = ()
    """First rows of blocks that show what the program does."""
    message_mark: str = ""
    """What stands in front of messages in its transcript; empty if it is the mark of its composer, or not known."""
    dialogs: tuple[DialogSign, ...] = ()
    ready: Patterns = ()
    """Rows of the empty composer of an agent."""


GENERIC = Profile("generic")


class Recogniser:
    """Which of the known programs is in front of us; `profile` is GENERIC while it is none of them."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        self.profile = GENERIC
        self._profiles = profiles
        self._command = ""
        self._candidates = tuple(profiles)

    def run(self, command: str) -> None:
        """Note which command is in the foreground; what was seen counts on while it is the same."""
        if not command or command == self._command:
            return
        self._command = command
        owner = next((profile for profile in self._profiles if command in profile.commands), None)
        self.profile = owner or GENERIC
        self._candidates = tuple(
            profile for profile in self._profiles if owner is None or command in profile.interpreters
        )

    def see(self, rows: Sequence[str]) -> None:
        """Look for the sign of a program that the command does not tell; the one already known goes first."""
        for profile in (self.profile, *self._candidates):
            if any(matches(profile.signs, row) for row in rows):
                self.profile = profile
                return


def matches(patterns: Patterns, text: str) -> bool:
    """Tell whether any of the patterns is found in a text."""
    return any(pattern.search(text) is not None for pattern in patterns)
