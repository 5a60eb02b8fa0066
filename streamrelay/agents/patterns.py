"""The patterns of a profile: compiled, and tried out before anything depends on them.

A pattern is searched in every row that a program paints, and rows are whatever a program likes. One that backtracks
without end would stop every pane, so each is tried on long rows of the kind that brings this out, with a time limit.
A limit while it is in use would make what a recording says depend on the machine it is replayed on.
"""

import regex

from streamrelay.delta.profiles import matches

MAX_ROW = 400
"""Characters of the rows a pattern is tried on."""
TIME_LIMIT = 0.03
"""Seconds that one search may take; an innocent pattern needs some microseconds."""
TRIES = 3
"""A busy machine can make any search slow once."""

_ORDINARY = (" ", "a", "0", "-", ".", "─", "│", "a ", "0 ", " ─")


class PatternError(ValueError):
    """What is wrong with a pattern, for a person."""


def compile_pattern(text: str, *, seen: str | None = None) -> regex.Pattern[str]:
    """Compile a pattern; `seen` is a row it has to match.

    Raises PatternError where it does not compile, matches every row, takes too long, or misses the row it was written
    for.
    """
    try:
        pattern = regex.compile(text, regex.MULTILINE)
    except regex.error as error:
        raise PatternError(f"no regular expression: {error}") from error
    if pattern.search("") is not None:
        raise PatternError("it matches an empty row, so it matches every row")
    _try_out(pattern)
    if seen is not None and not matches((pattern,), seen):
        raise PatternError(f"it does not match the row it quotes: {seen!r}")
    return pattern


def _try_out(pattern: regex.Pattern[str]) -> None:
    for unit in (*_ORDINARY, *sorted(set(pattern.pattern))):
        row = unit * (MAX_ROW // len(unit)) + "\0"
        if not any(_is_quick(pattern, row) for _ in range(TRIES)):
            raise PatternError(f"it takes too long on a row of {unit!r}")


def _is_quick(pattern: regex.Pattern[str], row: str) -> bool:
    try:
        pattern.search(row, timeout=TIME_LIMIT)
    except TimeoutError:
        return False
    return True
