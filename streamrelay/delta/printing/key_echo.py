r"""The terminal's echo of a key that interrupts, suspends or quits: `^C`, `^Z` and `^\` are no words of the program.

The kernel echoes such a key at the cursor, without a line feed, and the program or its shell goes on behind it:

    $ sleep 30      | 64 bytes from ::1    | >>> sleep(9)                          | tick
    ^C              | ^C                   | ^CTraceback (most recent call last):  | tick^C
    $               | --- ping statistics  |                                       | $

A program can print all of these rows itself. They count as an echo in two cases: the output rested before the key and
went on with it, or nothing but a prompt follows (of a flood that was interrupted). Neither counts right behind an
Enter, where `printf '^C\n'` prints it, or where a blank follows (`^C to quit`). A program that prints a lone `^C` after
a pause writes the same bytes as the kernel does; such a row counts as an echo, since programs rarely print one.
"""

from typing import Final, NamedTuple

import regex

from streamrelay.delta.printing.provenance import Piece
from streamrelay.delta.reasons import Rule

MIN_REACTION: Final = 0.1
"""Seconds after an Enter in which a person presses no other key: what comes by then is the program's."""
ENDS: Final = ("^C", "^Z", "^\\")
_MAX_HEADS: Final = 8
"""Places of one line at which a key is looked for."""

_KEYS = regex.compile(r"(?:\^[CZ\\])++(?! )")
_LAST_KEY = regex.compile(r"(?:\A|(?<=\S))(?:\^[CZ\\])+\Z")


class EchoedKey(NamedTuple):
    """A line with the echo of a key in it, and what of it is printed in front and behind."""

    before: str
    key: str
    behind: str

    @property
    def printed(self) -> str:
        """The line without the key."""
        return self.before + self.behind

    def pieces(self, rule: Rule = "passed") -> list[Piece]:
        """Return the key, and what the program printed behind it; `rule` is what makes that final."""
        key = Piece(self.key, "typed", rule="key")
        return [key, Piece(self.behind, "program", rule=rule)] if self.behind.strip() else [key]


class KeyEcho:
    """The places of the open line at which a key may have been echoed."""

    def __init__(self) -> None:
        self._heads: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._heads)

    def note(self, head: str) -> None:
        """Note that a key may stand in the open line behind `head`."""
        if head not in self._heads and len(self._heads) < _MAX_HEADS:
            self._heads.append(head)

    def find(self, line: str) -> EchoedKey | None:
        """Return the first key that was echoed in a line; None if there is none."""
        for head in self._heads:
            found = _KEYS.match(line, len(head)) if line.startswith(head) else None
            if found is not None:
                return EchoedKey(head, found[0], line[found.end() :])
        return None

    def forget(self) -> None:
        """Note that the line has passed."""
        self._heads.clear()


def head_of_last_key(line: str) -> str | None:
    """Return what of a line stands in front of keys at its end; None if it does not end in the echo of one."""
    found = _LAST_KEY.search(line, max(0, len(line) - 2 * _MAX_HEADS))
    return None if found is None else line[: found.start()]
