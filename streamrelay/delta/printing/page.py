"""The lines of a page that were said, aligned with the lines that a repainting program shows now.

A *page* is what a program printed since it last cleared the screen: the lines that scrolled off the top, and from `top`
on those that stand on the screen. No row number survives a repaint (an erase pushes rows into history, a repaint of a
region taller than the screen prints its first rows again), so lines are known again by their text and their order:

    said      alpha | beta 10% | gamma           `|` ends a line
    shown     alpha | beta 99% | gamma | delta
    news              beta 99%           delta

A line that left the page is forgotten, so the same words count as news when the program prints them anew.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

MAX_LINES = 500
"""Lines of a page that are remembered, without those on the screen; the oldest are forgotten first."""
MAX_HEADING = 3
"""Lines that may change above the first one by which a page that is printed again is known."""


class _Match(NamedTuple):
    """`said[old]` is `shown[new]`."""

    old: int
    new: int


class Page:
    """What was said of the page that one program prints."""

    def __init__(self, lines: Sequence[str], top: int = 0) -> None:
        self.lines = list(lines)
        """The lines said, as they stand or stood, without blanks at their ends."""
        self.top = top
        """Which of them is the first on the screen."""
        self._restarted = False
        self._cleared = False

    def restart(self, *, cleared: bool) -> None:
        """Note that the program prints from the first row of the screen again; `cleared` says that it is blank."""
        self._restarted = True
        self._cleared = self._cleared or cleared

    def forget(self) -> None:
        """Forget all lines: rows were lost, and what is shown now is aligned with nothing."""
        self.lines, self.top = [], 0

    def expects(self, gone: Sequence[str]) -> bool:
        """Tell whether these lines are the next ones to leave the screen, or no line said is there any longer."""
        said = self.lines[self.top : self.top + len(gone)]
        return not self._restarted and (not said or said == gone)

    def news(self, gone: Sequence[str], final: Sequence[str], below: Sequence[str]) -> list[int]:
        """Return which lines of `gone + final` were not said.

        The lines have scrolled off the screen (`gone`) or stand on it: those that are `final`, and those `below`, which
        may still change. Blank lines that stand where other lines stood are no news.
        """
        lines, top = self._resumed([*gone, *final, *below])
        return _news(lines[top:], [*gone, *final], below)[0]

    def say(self, gone: Sequence[str], final: Sequence[str], below: Sequence[str]) -> list[int]:
        """Return the same, and remember those lines as said."""
        if gone or final:
            self.lines, self.top = self._resumed([*gone, *final, *below])
            self._restarted = self._cleared = False
        top = self.top
        news, replaced = _news(self.lines[top:], [*gone, *final], below)
        self.lines[top : top + replaced] = [*gone, *final]
        surplus = max(0, top + len(gone) - MAX_LINES)
        del self.lines[:surplus]
        self.top = top + len(gone) - surplus
        return news

    def _resumed(self, shown: Sequence[str]) -> tuple[list[str], int]:
        """Return the lines and the top that `shown` is compared with, given how the program began the screen anew.

        A program that cannot move up to rows which left the screen prints them again, from the first of them on.
        """
        if not self._restarted:
            return self.lines, self.top
        first = _reprinted_from(self.lines[: self.top], shown)
        if first is not None:
            return self.lines[first:], 0
        return ([], 0) if self._cleared else (self.lines, self.top)


def _reprinted_from(scrolled: Sequence[str], shown: Sequence[str]) -> int | None:
    """Return from which line on `shown` begins with lines that had left the screen; None if it does not.

    At least half of those lines have to come again, and the first of them near the top.
    """
    matches = [match for match in _matches(scrolled, shown) if shown[match.new]]
    if not matches or sum(1 for line in shown[: matches[0].new] if line) > MAX_HEADING:
        return None
    first = matches[0].old
    expected = sum(1 for line in scrolled[first:][: len(shown)] if line)
    return first if 2 * len(matches) >= expected and (len(matches) > 1 or expected == 1) else None


def _news(said: Sequence[str], final: Sequence[str], below: Sequence[str]) -> tuple[list[int], int]:
    """Return which `final` lines were not said, and how many of those that were said they and these replace."""
    matches = _matches(said, [*final, *below])
    news: list[int] = []
    before = _Match(-1, -1)
    replaced = 0
    for match in [*matches, _Match(len(said), len(final) + len(below))]:
        fresh = range(before.new + 1, min(match.new, len(final)))
        lost = match.old - before.old - 1
        news += [number for number in fresh if final[number] or not lost]
        if before.new < len(final):
            replaced = before.old + 1 + min(lost, len(fresh))
        before = match
    return news, replaced


def _matches(old: Sequence[str], new: Sequence[str]) -> list[_Match]:
    """Return which lines are the same, in order; blank ones only beside others."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    matches = [_Match(number, number) for number in range(same)]
    if same == len(old) or same == len(new):
        return matches
    matcher = SequenceMatcher(lambda line: not line, new[same:], old[same:], autojunk=False)
    for block in matcher.get_matching_blocks():
        matches += [_Match(same + block.b + i, same + block.a + i) for i in range(block.size)]
    return matches
