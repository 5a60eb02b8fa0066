"""Finds the signs that a program works or is idle: titles, OSC 7501, bracketed paste."""

from collections.abc import Iterator
from itertools import takewhile

from streamrelay.learning.findings import Finding, FoundValue, Key, NoFinding
from streamrelay.learning.observation import Observation, TerminalReport
from streamrelay.learning.row_patterns import quoted

_BRAILLE = range(0x2800, 0x2900)
_LAG = 1.0
"""Seconds by which a title may follow an Enter, or the last change of the screen."""


def states(seen: Observation) -> Iterator[Finding]:
    """Yield patterns for the titles of a busy and of an idle program, and notes on signs that need no pattern."""
    if not seen.works:
        yield NoFinding("state.busy_titles", "no message was answered in this recording, so the busy screen is unknown")
        return
    titles = [report for report in seen.reports if report.kind == "title"]
    yield from _titles(seen, titles)
    yield from _osc(seen)
    yield from _paste(seen)


def _titles(seen: Observation, titles: list[TerminalReport]) -> Iterator[Finding]:
    if not titles:
        yield NoFinding("state.busy_titles", "no title was ever set")
        return
    spinning = [title for title in titles if title.text and ord(title.text[0]) in _BRAILLE and seen.at_work(title.t)]
    if spinning:
        times = f"{spinning[0].t:.3f} to {spinning[-1].t:.3f} s"
        yield NoFinding(
            "state.busy_titles", f"titles that begin with braille at work ({times}): recognised without a profile"
        )
        return
    busy: dict[str, TerminalReport] = {}
    idle: dict[str, TerminalReport] = {}
    for start, stop in seen.works:
        for idle_title in (_title_at(titles, start), _title_at(titles, stop + _LAG)):
            if idle_title is not None:
                idle.setdefault(idle_title.text.rstrip(), idle_title)
        for title in titles:
            if start < title.t < stop:
                busy.setdefault(title.text.rstrip(), title)
    busy = {text: title for text, title in busy.items() if text not in idle and not _begins_alike(text, idle)}
    if not busy or not idle:
        yield NoFinding(
            "state.busy_titles",
            "the busy titles were also shown at rest, or the idle ones did not come back, so titles show no state",
        )
        return
    from_the_end = zip(*(text[::-1] for text in (*busy, *idle)), strict=False)
    common = sum(1 for _ in takewhile(lambda glyphs: len(set(glyphs)) == 1, from_the_end))
    yield from _patterns("state.busy_titles", busy, common, "at work")
    yield from _patterns("state.idle_titles", idle, common, "at rest")


def _patterns(key: Key, titles: dict[str, TerminalReport], common: int, when: str) -> Iterator[FoundValue]:
    """Yield patterns for the titles without their last `common` characters: the folder or the topic."""
    for text, title in titles.items():
        head = text[: len(text) - common].rstrip()
        if head:
            why = f"the title {when}, first from {title.t:.3f} s on"
            yield FoundValue(key, f"^{quoted(head)}", why, text, title.t)


def _title_at(titles: list[TerminalReport], t: float) -> TerminalReport | None:
    """Return the title that is set at `t`; None before the first one."""
    return next((title for title in reversed(titles) if title.t <= t), None)


def _begins_alike(text: str, others: dict[str, TerminalReport]) -> bool:
    """Return whether a title begins another one, or begins with it, so that one pattern would match both."""
    return any(other and (text.startswith(other) or other.startswith(text)) for other in others)


def _osc(seen: Observation) -> Iterator[Finding]:
    """Yield a note if the program reported its state by OSC 7501."""
    reports = [report for report in seen.reports if report.kind == "agent_state"]
    if reports:
        yield NoFinding(
            "state.idle_titles",
            f"OSC 7501 reports the state, first at {reports[0].t:.3f} s: recognised without a profile",
        )


def _paste(seen: Observation) -> Iterator[Finding]:
    """Yield a note if the program switched bracketed paste off while it worked, and on again afterwards."""
    for start, stop in seen.works:
        off = [t for t, wanted in seen.pastes if not wanted and start <= t <= stop]
        on = [t for t, wanted in seen.pastes if wanted and t >= stop - _LAG]
        if off and on:
            pair = f"off at {off[0]:.3f} s, on again at {on[0]:.3f} s"
            yield NoFinding("state.idle_titles", f"bracketed paste was {pair}: recognised without a profile")
            return
