"""The words to search history for: those of the rhythm, the repositories and the sessions; pure.

The rhythm's own words come first, as they are. Of the rest a word counts more where a person chose it (a branch, a
commit's subject, a title) than in talk, and more when several of them have it. Words that any text has say nothing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import regex

from streamrelay.pulse.model import Repository, SessionNow

MAX_WORDS = 12
_SHORTEST = 4
_LONGEST = 40
_WEIGHTS = {"branch": 3.0, "subject": 2.0, "title": 1.5, "name": 1.5, "talk": 1.0}
_WORD = regex.compile(r"\p{L}[\p{L}\p{N}]+")
_UNDIVIDED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_COMMON_WORDS = """
about above after again also always another anything around because been before being below between both branch came
cannot come comes commit could does doing done down each else even ever every everything feat feature first fixed fixes
from gave give gives goes going good have having here hers himself home however http https initial into itself just keep
keeps know last less like long made main make makes making many master maybe merge merged might more most much must need
needs never none nothing only onto other others over part please really revert same says seem seems should since some
someone something still such sure take takes than that their them then there these they thing things this those though
through time told under until update updated updates upon used using very want wants well went were what when where
which while whom whose will with within without work working would year your yours
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def pick(
    scope: Sequence[str], repositories: Iterable[Repository], sessions: Iterable[SessionNow], most: int = MAX_WORDS
) -> tuple[str, ...]:
    """Return at most `most` words, the weightiest first: the rhythm's, then the others'."""
    weights: Counter[str] = Counter()
    for kind, text in _sources(repositories, sessions):
        # What is repeated in one place is one place's.
        for word in dict.fromkeys(_words(text)):
            weights[word] += _WEIGHTS[kind]  # type: ignore[assignment]  # a counter may count by weights
    own = dict.fromkeys(word.strip() for word in scope if word.strip())
    known = {word.lower() for word in own}
    others = [word for word, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0])) if word not in known]
    return (*own, *others)[:most]


def _sources(repositories: Iterable[Repository], sessions: Iterable[SessionNow]) -> Iterable[tuple[str, str]]:
    for repository in repositories:
        yield "name", repository.name
        yield "branch", repository.branch
        for subject in repository.commits:
            yield "subject", subject
    for session in sessions:
        yield "title", session.title
        yield "talk", session.said


def _words(text: str) -> Iterable[str]:
    for found in _WORD.finditer(text.lower()):
        word = found[0]
        if _UNDIVIDED.search(word) is not None:
            # Not divided into words: what stands between two marks may be a sentence.
            if 2 <= len(word) <= 8:
                yield word
        elif _SHORTEST <= len(word) <= _LONGEST and word not in _COMMON:
            yield word
