"""Finds the signs that a program works or is idle: titles, OSC 7501, bracketed paste."""

from collections.abc import Iterator
from itertools import takewhile

from streamrelay.learning.findings import Finding, FoundValue, Key, NoFinding
from streamrelay.learning.observation import Observation, TerminalReport
from streamrelay.learning.row_patterns import quoted

_BRAILLE = range(0x2800, 0x2900)
_LAG = 1.0
"""Seconds after an Enter, or a last change, within which a title may be late."""


def states(seen: Observation) -> Iterator[Finding]:
    """Yield the titles at work and at rest, and notes about signs that need no profile."""
    if not seen.works:
        yield NoFinding("state.busy_titles", "no message was answered in this recording, so the busy screen is unknown")
        return
    titles = [told for told in seen.told if told.kind == "title"]
    yield from _titles(seen, titles)
    yield from _osc(seen)
    yield from _paste(seen)


def _titles(seen: Observation, titles: list[TerminalReport]) -> Iterator[Finding]:
    if not titles:
        yield NoFinding("state.busy_titles", "no title was ever set")
        return
    spinning = [told for told in titles if told.text and ord(told.text[0]) in _BRAILLE and seen.at_work(told.t)]
    if spinning:
        times = f"{spinning[0].t:.3f} to {spinning[-1].t:.3f} s"
        yield NoFinding("state.busy_titles", f"titles that begin with braille at work ({times}): understood without")
        return
    busy: dict[str, TerminalReport] = {}
    idle: dict[str, TerminalReport] = {}
    for start, stop in seen.works:
        for title in (_standing(titles, start), _standing(titles, stop + _LAG)):
            if title is not None:
                idle.setdefault(title.text.rstrip(), title)
        for told in titles:
            if start < told.t < stop:
                busy.setdefault(told.text.rstrip(), told)
    busy = {text: told for text, told in busy.items() if text not in idle and not _begins_alike(text, idle)}
    if not busy or not idle:
        yield NoFinding(
            "state.busy_titles", "the titles at work were those at rest, or did not come back: they tell nothing"
        )
        return
    backwards = zip(*(text[::-1] for text in (*busy, *idle)), strict=False)
    tail = sum(1 for _ in takewhile(lambda glyphs: len(set(glyphs)) == 1, backwards))
    yield from _found("state.busy_titles", busy, tail, "at work")
    yield from _found("state.idle_titles", idle, tail, "at rest")


def _found(key: Key, titles: dict[str, TerminalReport], tail: int, when: str) -> Iterator[FoundValue]:
    """Yield patterns for the beginnings of titles; their common end is the folder or the topic."""
    for text, told in titles.items():
        head = text[: len(text) - tail].rstrip()
        if head:
            why = f"stood {when}, first from {told.t:.3f} s on"
            yield FoundValue(key, f"^{quoted(head)}", why, text, told.t)


def _standing(titles: list[TerminalReport], t: float) -> TerminalReport | None:
    return next((told for told in reversed(titles) if told.t <= t), None)


def _begins_alike(text: str, others: dict[str, TerminalReport]) -> bool:
    return any(other and (text.startswith(other) or other.startswith(text)) for other in others)


def _osc(seen: Observation) -> Iterator[Finding]:
    told = [one for one in seen.told if one.kind == "agent_state"]
    if told:
        yield NoFinding(
            "state.idle_titles", f"OSC 7501 tells the state, first at {told[0].t:.3f} s: understood without"
        )


def _paste(seen: Observation) -> Iterator[Finding]:
    for start, stop in seen.works:
        off = [t for t, wanted in seen.pastes if not wanted and start <= t <= stop]
        on = [t for t, wanted in seen.pastes if wanted and t >= stop - _LAG]
        if off and on:
            pair = f"withdrawn at {off[0]:.3f} s, asked for again at {on[0]:.3f} s"
            yield NoFinding("state.idle_titles", f"bracketed paste was {pair}: understood without")
            return
