"""What a person searches for, as an expression of FTS5.

Words are all to be found, in any order and in any form that differs only in case or accents; what stands in quotes
is to be found as it stands. Nothing a person types is taken as FTS5's own language. Scripts without blanks between
words (Chinese, Japanese, Thai) are not divided into words by FTS5 either: a word that holds such characters is looked
for as a piece of text.
"""

from typing import NamedTuple

import regex

_TERM = regex.compile(r'"([^"]*)"|([^\s"]+)')
_UNDIVIDED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_WORD = regex.compile(r"\w")


class Query(NamedTuple):
    """An FTS5 expression, empty where there is none, and pieces of text that have to be there besides."""

    match: str
    pieces: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.match or self.pieces)


def parse_query(words: str) -> Query:
    """Return what `words` look for; empty if they hold nothing that can be looked for."""
    terms: list[str] = []
    pieces: list[str] = []
    for found in _TERM.finditer(words.replace("\0", " ")):
        term = found[1] if found[1] is not None else found[2]
        if _UNDIVIDED.search(term) is not None:
            pieces.append(term)
        elif _WORD.search(term) is not None:
            terms.append(f'"{term}"')
    return Query(" ".join(terms), tuple(pieces))
