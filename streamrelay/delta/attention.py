"""When a program waits for a person: what its open line says while it rests.

Only signs that no ordinary output leaves standing at the cursor are here; what is special about one program's dialogs
belongs into its profile.
"""

from typing import Literal, NamedTuple

import regex

REST = 0.3
"""Seconds the open line must have stood still: a question that is answered at once needs nobody."""


class Sign(NamedTuple):
    """A kind of waiting, and how the open line reads then."""

    kind: Literal["password", "confirmation"]
    pattern: regex.Pattern[str]


SIGNS = (
    Sign("password", regex.compile(r"(?i)\b(?:password|passphrase|passcode|\bPIN)\b[^:?]{0,80}[:?]\s*$")),
    Sign(
        "confirmation",
        regex.compile(r"(?i)[\[(]\s*y(?:es)?\s*/\s*n(?:o)?(?:\s*/[^\])]{1,40})?\s*[\])]{1,2}\s*[:?]?\s*$"),
    ),
)


def needed_for(open_line: str) -> Literal["password", "confirmation"] | None:
    """Return what a program wants from a person, judged by the line at its cursor."""
    return next((sign.kind for sign in SIGNS if sign.pattern.search(open_line)), None)
