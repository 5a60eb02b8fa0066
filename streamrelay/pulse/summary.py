"""Search results in a few sentences, each with its speaker and time; pure.

No model is needed: a sentence is worth more the more of the keywords it holds, the higher the text it is from was
ranked, and the less of it has been said by the sentences chosen before (maximal marginal relevance, Carbonell and
Goldstein 1998). What two say in the same words is said once.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import regex

from streamrelay.history.matching import Matcher
from streamrelay.history.query import parse_query
from streamrelay.history.results import FoundText
from streamrelay.pulse.pulse import SIGNALS, one_line

LINES = 8
MAX_SENTENCE = 200
"""Characters."""
_MAX_SENTENCES = 400
_SHORTEST = 12
_NOVELTY = 0.6
_SENTENCE = regex.compile(r"(?<=[.!?。!?])\s+|\n+")
_MARKS = regex.compile(r"^[\s#>*•\-–\d.)`|]+")
_WORD = regex.compile(r"\w+")


class _Sentence(NamedTuple):
    text: str
    words: frozenset[str]
    worth: float
    found: FoundText


def is_own(found: FoundText) -> bool:
    """Tell whether a text comes from streamrelay itself: earlier pulses and echoes are not signals."""
    return found.origin == "injected" or SIGNALS in found.text


def extract(found: Sequence[FoundText], keywords: Sequence[str], lines: int = LINES) -> str:
    """Return at most so many lines of the results, which are sorted best first."""
    sentences = list(_sentences(found, keywords))
    chosen: list[_Sentence] = []
    while sentences and len(chosen) < lines:
        best = max(sentences, key=lambda one: _gain(one, chosen))
        sentences.remove(best)
        if _gain(best, chosen) <= 0:
            break
        chosen.append(best)
    return "\n".join(f"{_whose(one.found)}: {one.text}" for one in chosen)


def material(found: Sequence[FoundText], keywords: Sequence[str], longest: int) -> str:
    """Return the input of a model: the results, best first, cut to a number of characters."""
    head = f"What was said before about: {', '.join(keywords)}\n"
    said = [f"[{_whose(one)}] {one_line(one.text, 1_200)}" for one in found]
    return "\n".join([head, *said])[:longest]


def _sentences(found: Sequence[FoundText], keywords: Sequence[str]) -> Iterator[_Sentence]:
    query = parse_query(" ".join(f'"{word}"' for word in keywords), any_word=True)
    if not query:
        return
    matcher = Matcher(query)
    seen: set[frozenset[str]] = set()
    count = 0
    for rank, one in enumerate(found):
        for piece in _SENTENCE.split(one.text):
            sentence = one_line(_MARKS.sub("", piece), MAX_SENTENCE)
            match = matcher.match(sentence) if len(sentence) >= _SHORTEST else None
            if match is None:
                continue
            words = frozenset(_WORD.findall(sentence.casefold()))
            if words in seen:
                continue
            seen.add(words)
            yield _Sentence(sentence, words, sum(n > 0 for n in match.counts) / (1 + rank / 10), one)
            count += 1
            if count == _MAX_SENTENCES:
                return


def _gain(sentence: _Sentence, chosen: Sequence[_Sentence]) -> float:
    likeness = max((_likeness(sentence.words, one.words) for one in chosen), default=0.0)
    return sentence.worth * (1 - likeness / _NOVELTY)


def _likeness(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second)


def _whose(found: FoundText) -> str:
    who = found.agent or "an agent"
    if found.origin != "program":
        who = f"to {who}"
    day = datetime.fromtimestamp(found.at, UTC).strftime("%Y-%m-%d") if found.at else "undated"
    return f"{day} {one_line(who, 40)}"
