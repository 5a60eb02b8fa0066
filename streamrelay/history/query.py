"""A person's query as an expression of FTS5.

Words are all to be found, in any order and in any form that differs only in case or accents; what stands in quotes
is to be found as it stands. Nothing a person types is taken as FTS5's own language. Scripts without blanks between
words (Chinese, Japanese, Thai) are not divided into words by FTS5 either: a word that holds such characters is looked
for as a piece of text. Where any of the words is enough, the same holds for each of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import regex

_TERM = regex.compile(r'"([^"]*)"|([^\s"]+)')
_UNDIVIDED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_WORD = regex.compile(r"\w")


class Query(NamedTuple):
    """Terms to be looked for as words, and pieces of text that have to be there besides."""

    terms: tuple[str, ...]
    pieces: tuple[str, ...]
    any_word: bool = False
    """Whether one of all is enough."""

    def __bool__(self) -> bool:
        return bool(self.terms or self.pieces)

    @property
    def match(self) -> str:
        """The terms as an FTS5 expression; empty without terms."""
        return (" OR " if self.any_word else " ").join(f'"{term}"' for term in self.terms)

    def parts(self) -> Iterator["Query"]:
        """Yield queries which together find the same, none of them with terms or pieces that are alternatives."""
        if not self.any_word:
            yield self
            return
        if self.terms:
            yield self._replace(pieces=())
        for piece in self.pieces:
            yield Query((), (piece,))


def parse_query(words: str, *, any_word: bool = False) -> Query:
    """Return what `words` look for; empty if they hold nothing that can be looked for."""
    terms: list[str] = []
    pieces: list[str] = []
    for found in _TERM.finditer(words.replace("\0", " ")):
        term = found[1] if found[1] is not None else found[2]
        if _UNDIVIDED.search(term) is not None:
            pieces.append(term)
        elif _WORD.search(term) is not None:
            terms.append(term)
    return Query(tuple(dict.fromkeys(terms)), tuple(dict.fromkeys(pieces)), any_word)
