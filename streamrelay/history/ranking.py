"""The order of search results; pure.

What holds the words more often in fewer words is better (the part of BM25 that looks at one text), a word that few hold
counts for more than one that many hold (its other part), and of two that are alike the newer one is better: a text
loses half of its lead over an ancient one in `HALF_LIFE`. What agents wrote down, and streamrelay heard as well, is
given once: as it was heard.
"""

import heapq
import math
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import regex

from streamrelay.history.matching import Match
from streamrelay.history.results import FoundText

HALF_LIFE = 30 * 86_400.0
"""Seconds."""
SAME_TIME = 600.0
"""Seconds in which the same words of an agent, in journal and transcript, are taken for the same."""
MAX_CHARACTERS = 16_384
"""Characters of a text that is given whole."""
_SATURATION, _LENGTH = 1.2, 0.75
_USUAL_LENGTH = 600.0
"""Characters."""
_COMPARED = 200
_WORD = regex.compile(r"\w+")


class _Kept(NamedTuple):
    worth: float
    order: int
    counts: tuple[int, ...]
    length: int
    key: tuple[str, str, float]
    found: FoundText


class Ranking:
    """Keeps the best of what it is given, as many as there is room for."""

    def __init__(self, now: float, *, room: int) -> None:
        self._now = now
        self._room = room
        self._kept: list[_Kept] = []
        self._keys: set[tuple[str, str, float]] = set()
        self._holding: list[int] = []
        self._taken = 0

    def take(self, found: FoundText, match: Match) -> None:
        """Take something that was found, its snippet apart, which it gets here."""
        key = (found.agent, found.text, found.at)
        # Some agents write a passage again when they know more of it.
        if found.file and key in self._keys:
            return
        self._taken += 1
        self._holding = [
            before + (count > 0)
            for before, count in zip(self._holding or [0] * len(match.counts), match.counts, strict=True)
        ]
        worth = sum(self._shares(match.counts, len(found.text))) * self._freshness(found.at)
        if len(self._kept) >= self._room and worth <= self._kept[0].worth:
            return
        snippet, places = match.snippet()
        shown = msgspec.structs.replace(found, text=_shortened(match), snippet=snippet, matches=places)
        self._keys.add(key)
        heapq.heappush(self._kept, _Kept(worth, -self._taken, match.counts, len(found.text), key, shown))
        if len(self._kept) > self._room:
            self._keys.discard(heapq.heappop(self._kept).key)

    def best(self, count: int) -> list[FoundText]:
        """Return the best."""
        rarity = [math.log(1 + self._taken / held) if held else 0.0 for held in self._holding]

        def worth(one: _Kept) -> float:
            shares = self._shares(one.counts, one.length)
            weighed = sum(share * rare for share, rare in zip(shares, rarity, strict=True))
            return weighed * self._freshness(one.found.at)

        ordered = sorted(self._kept, key=lambda one: (worth(one), one.found.at, one.order), reverse=True)
        return _once(one.found for one in ordered)[:count]

    def _shares(self, counts: Iterable[int], length: int) -> list[float]:
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * length / _USUAL_LENGTH)
        return [count / (count + damping) for count in counts]

    def _freshness(self, at: float) -> float:
        age = max(0.0, self._now - at)
        return 0.5 + 0.5 * math.exp2(-age / HALF_LIFE)


def _shortened(match: Match) -> str:
    begin = max(0, match.spans[0][0] - MAX_CHARACTERS // 2) if match.spans and len(match.text) > MAX_CHARACTERS else 0
    return match.text[begin : begin + MAX_CHARACTERS]


def _once(ranked: Iterable[FoundText]) -> list[FoundText]:
    """Leave out what a transcript holds of what the journal holds."""
    given = list(ranked)
    heard: dict[str, list[float]] = {}
    for one in given:
        if not one.file:
            heard.setdefault(_words(one.text), []).append(one.at)
    return [
        one
        for one in given
        if not one.file or all(abs(one.at - at) > SAME_TIME for at in heard.get(_words(one.text), ()))
    ]


def _words(text: str) -> str:
    # An agent's marks (`**`, bullets) are not on its screen.
    return " ".join(_WORD.findall(text[: 4 * _COMPARED].casefold()))[:_COMPARED]
