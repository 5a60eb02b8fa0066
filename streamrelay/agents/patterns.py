"""Compiles the patterns of a profile, and tests them before use.

The engine searches a pattern in every row that a program paints, and programs can paint any row. Endless backtracking
would stop all panes, so each pattern is tested on long rows that provoke it, with a time limit. A time limit during use
would make the events of a recording depend on the machine.
"""

import regex

from streamrelay.delta.profiles import matches

MAX_ROW = 400
"""Characters of the rows that a pattern is tested on."""
TIME_LIMIT = 0.03
"""Seconds that one search may take; a harmless pattern needs some microseconds."""
TRIES = 3
"""A busy machine can make any search slow once."""

MAX_UNITS = 200
"""Words of a pattern that its repeated groups are tested on."""
_REPEATED_GROUP = regex.compile(r"\)[*+{]")
_ESCAPED = regex.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_WORD = regex.compile(r"[^\\()\[\]{}|*+?^$.]{2,}")
_ORDINARY = (" ", "a", "0", "-", ".", "─", "│", "a ", "0 ", " ─")


class PatternError(ValueError):
    """An invalid pattern; the message has the reason."""


def compile_pattern(text: str, *, seen: str | None = None) -> regex.Pattern[str]:
    """Compile a pattern; `seen` is a row that it must match.

    Raises PatternError if it does not compile, matches every row, takes too long, or does not match `seen`.
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
    for unit in (*_ORDINARY, *sorted(set(pattern.pattern)), *_words(pattern.pattern)):
        row = unit * (MAX_ROW // len(unit)) + "\0"
        if not any(_is_quick(pattern, row) for _ in range(TRIES)):
            raise PatternError(f"it takes too long on a row of {unit!r}")


def _words(text: str) -> list[str]:
    """Return the words of a pattern, and their parts, by whose repetition a repeated group can match in many ways."""
    if not _REPEATED_GROUP.search(text):
        return []
    plain = _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    parts = {
        word[begin : begin + length]
        for word in _WORD.findall(plain)
        for length in (2, 3, 4, len(word))
        for begin in range(len(word) - length + 1)
    }
    return sorted(parts)[:MAX_UNITS]


def _is_quick(pattern: regex.Pattern[str], row: str) -> bool:
    try:
        pattern.search(row, timeout=TIME_LIMIT)
    except TimeoutError:
        return False
    return True
