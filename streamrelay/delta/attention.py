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


_SECRET = regex.compile(
    r"(?i)pass|\bpin\b|secret|token|\bkey\b|\bcode\b|\botp\b|kennwort|mot de passe|contrase|senha|hasło|парол|密码"
    r"|パスワード|[:：]\s*$"
)


def asks_for_secret(open_line: str) -> bool:
    """Tell whether a line at the cursor can be the question for a secret, where the terminal hides what is typed."""
    return bool(open_line.strip()) and _SECRET.search(open_line) is not None


def needed_for(open_line: str) -> Literal["password", "confirmation"] | None:
    """Return what a program wants from a person, judged by the line at its cursor."""
    return next((sign.kind for sign in SIGNS if sign.pattern.search(open_line)), None)
