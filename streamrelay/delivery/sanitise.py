"""What may be pasted into a terminal: text, and nothing that a terminal or a program takes for a command.

An escape character could end a bracketed paste (`ESC [ 201 ~`) or move the cursor, a carriage return could submit, so
of the control characters only line feed and tab pass; the eight-bit ones (C1) and the Unicode line separators go too.
"""

from collections import Counter

import regex

_REMOVED = regex.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]|[\u202a-\u202e\u2066-\u2069]")


def sanitised(text: str) -> str:
    """Return the text without control characters, lone surrogates and bidirectional overrides."""
    return _REMOVED.sub("", text.replace("\r\n", "\n"))


def removed_from(text: str) -> dict[str, int]:
    """Return what `sanitised` takes out of a text: how often which code point (`U+001B`), in order of number."""
    found = Counter(_REMOVED.findall(text.replace("\r\n", "\n")))
    found["\r"] += text.count("\r\n")
    return {f"U+{ord(character):04X}": count for character, count in sorted(found.items()) if count}
