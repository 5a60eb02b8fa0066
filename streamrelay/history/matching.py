"""Whether a text matches a query, by the rules of the journal's index; pure.

FTS5 takes letters and digits as words, whatever stands between them, and compares them without case and accents
(SQLite's fts5 manual, "Unicode61 Tokenizer"). Texts outside the journal are matched here by the same rule, so that one
search means the same wherever it looks.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import regex

from streamrelay.history.query import Query

_TOKEN = regex.compile(r"[\p{L}\p{N}\p{Co}]+")
_BEFORE, _BETWEEN, _AFTER = r"(?<![\p{L}\p{N}\p{Co}])", r"[^\p{L}\p{N}\p{Co}]+", r"(?![\p{L}\p{N}\p{Co}])"
_BLANKS = regex.compile(r"\s+")
_AROUND = 60
_MAX_SNIPPET = 4 * _AROUND
_MAX_SPANS = 50
"""The most places of one term that are marked in one text."""

Span = tuple[int, int]


class Match(NamedTuple):
    """The places of the search terms in a text, and the count of each term."""

    text: str
    """Composed (Unicode's NFC), which is what the places are in."""
    counts: tuple[int, ...]
    """One for each term, then one for each piece."""
    spans: tuple[Span, ...]
    """Start and stop (exclusive), in characters, in order."""

    def snippet(self) -> tuple[str, tuple[Span, ...]]:
        """Return the text around the first place, as one line, and the places in it."""
        begin = max(0, self.spans[0][0] - _AROUND) if self.spans else 0
        end = begin + _MAX_SNIPPET
        shown = "…" if begin else ""
        places: list[Span] = []
        at = begin
        for start, stop in self.spans:
            if start < at or stop > end:
                continue
            shown += _BLANKS.sub(" ", self.text[at:start])
            # What is found may hold a line end itself.
            inside = _BLANKS.sub(" ", self.text[start:stop])
            places.append((len(shown), len(shown) + len(inside)))
            shown += inside
            at = stop
        shown = (shown + _BLANKS.sub(" ", self.text[at:end])).rstrip()
        return (f"{shown}…" if end < len(self.text) else shown), tuple(places)


class Matcher:
    """Matches texts with one query."""

    def __init__(self, query: Query) -> None:
        self._any_word = query.any_word
        self._fold = _Fold()
        tokens = [_TOKEN.findall(self._folded(term)) for term in query.terms]
        # Each query is another one: the cache of the package would hold 500 of them, of any length.
        self._patterns = [
            regex.compile(_BEFORE + _BETWEEN.join(map(regex.escape, words)) + _AFTER, cache_pattern=False)
            for words in tokens
            if words
        ]
        self._patterns += [
            regex.compile(regex.escape(self._folded(piece)), cache_pattern=False) for piece in query.pieces
        ]
        # What a line of ASCII has to hold, for each pattern; None where no such line can hold it.
        self._needed = [_ascii(words) for words in tokens if words] + [_ascii([piece]) for piece in query.pieces]

    def may_be_in(self, line: bytes) -> bool:
        """Return whether a line of JSON may hold it; only a quick look."""
        if not line.isascii() or b"\\u" in line:
            return True
        low = line.lower()
        held = (needed is not None and all(word in low for word in needed) for needed in self._needed)
        return any(held) if self._any_word else all(held)

    def match(self, text: str) -> Match | None:
        """Return where a text holds it; None if it does not."""
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        folded = self._folded(text)
        spans: list[Span] = []
        counts: list[int] = []
        for pattern in self._patterns:
            before = len(spans)
            for found in pattern.finditer(folded):
                spans.append(found.span())
                if len(spans) - before == _MAX_SPANS:
                    break
            counts.append(len(spans) - before)
            if not counts[-1] and not self._any_word:
                return None
        return Match(text, tuple(counts), tuple(sorted(spans))) if spans else None

    def unplaced(self, text: str) -> Match:
        """Return a match of a text that was found by other rules (FTS5's are of Unicode 6.1), without places."""
        return Match(text, (1,) * len(self._patterns), ())

    def _folded(self, text: str) -> str:
        """Return a text without case and accents; of a composed one each character stays in its place."""
        return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).translate(self._fold)


class _Fold(dict[int, str]):
    """What each character is compared as: one character."""

    def __missing__(self, point: int) -> str:
        folded = unicodedata.normalize("NFKD", chr(point).lower())[0].lower()[:1]
        self[point] = folded
        return folded


def _ascii(words: Sequence[str]) -> list[bytes] | None:
    return [word.lower().encode() for word in words] if all(word.isascii() for word in words) else None
