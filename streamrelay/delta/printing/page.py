"""The lines that a repainting program printed, and which lines on its screen are new.

A *page* is the output of a program since it last cleared the screen: the lines that scrolled off the top and, from
`top` on, the lines on the screen. Row numbers do not survive a repaint: an erase pushes rows into history, and a
repaint of a region taller than the screen prints its first rows again. So lines are matched by text and order:

    said      alpha | beta 10% | gamma           `|` ends a line
    shown     alpha | beta 99% | gamma | delta
    new               beta 99%           delta

A line that left the page is forgotten, so the same words count as new when the program prints them again.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

MAX_LINES = 500
"""How many lines that left the screen are remembered; the oldest are forgotten first."""
MAX_HEADING = 3
"""How many lines at the top of a reprinted page may differ from the original."""


class _Match(NamedTuple):
    """The indices of a said line and of an equal shown line."""

    said: int
    shown: int


class Page:
    """The lines of one program's page that were said."""

    def __init__(self, lines: Sequence[str], top: int = 0) -> None:
        self.lines = list(lines)
        """The said lines in order, without blanks at their ends."""
        self.top = top
        """Index in `lines` of the first line on the screen."""
        self._restarted = False
        self._cleared = False

    def restart(self, *, cleared: bool) -> None:
        """Note that the program starts again at the first row of the screen, `cleared` or not."""
        self._restarted = True
        self._cleared = self._cleared or cleared

    def forget(self) -> None:
        """Forget all lines, because rows were lost and the shown lines cannot be matched."""
        self.lines, self.top = [], 0

    def expects(self, gone: Sequence[str]) -> bool:
        """Tell whether `gone` are the next said lines that leave the screen, or no said line is left on it."""
        said = self.lines[self.top : self.top + len(gone)]
        return not self._restarted and (not said or said == gone)

    def new_lines(self, gone: Sequence[str], final: Sequence[str], below: Sequence[str]) -> list[int]:
        """Return the indices of the lines in `gone + final` that are new.

        The `gone` lines scrolled off the screen. On the screen are the `final` lines and, `below` them, lines that may
        still change. A blank line in the place of another line is not new.
        """
        lines, top = self._lines_to_compare([*gone, *final, *below])
        return _new_lines(lines[top:], [*gone, *final], below)[0]

    def say(self, gone: Sequence[str], final: Sequence[str], below: Sequence[str]) -> list[int]:
        """Return the indices of the new lines as `new_lines` does, and remember all of `gone` and `final` as said."""
        if gone or final:
            self.lines, self.top = self._lines_to_compare([*gone, *final, *below])
            self._restarted = self._cleared = False
        top = self.top
        new, replaced = _new_lines(self.lines[top:], [*gone, *final], below)
        self.lines[top : top + replaced] = [*gone, *final]
        surplus = max(0, top + len(gone) - MAX_LINES)
        del self.lines[:surplus]
        self.top = top + len(gone) - surplus
        return new

    def _lines_to_compare(self, shown: Sequence[str]) -> tuple[list[str], int]:
        """Return the said lines, and their top, that `shown` is compared with.

        After a restart, the program may have printed lines again that had left the screen, because the cursor cannot
        move up to them. The comparison then starts at the first of those lines.
        """
        if not self._restarted:
            return self.lines, self.top
        first = _reprinted_from(self.lines[: self.top], shown)
        if first is not None:
            return self.lines[first:], 0
        return ([], 0) if self._cleared else (self.lines, self.top)


def _reprinted_from(scrolled: Sequence[str], shown: Sequence[str]) -> int | None:
    """Return the index of the scrolled line with which `shown` begins; None if it prints no scrolled lines again.

    At least half of the scrolled lines from there on must be shown again, the first of them near the top.
    """
    matches = [match for match in _matches(scrolled, shown) if shown[match.shown]]
    if not matches or sum(1 for line in shown[: matches[0].shown] if line) > MAX_HEADING:
        return None
    first = matches[0].said
    expected = sum(1 for line in scrolled[first:][: len(shown)] if line)
    return first if 2 * len(matches) >= expected and (len(matches) > 1 or expected == 1) else None


def _new_lines(said: Sequence[str], final: Sequence[str], below: Sequence[str]) -> tuple[list[int], int]:
    """Return the indices of the new `final` lines, and how many of the `said` lines the `final` lines replace."""
    matches = _matches(said, [*final, *below])
    new: list[int] = []
    previous = _Match(-1, -1)
    replaced = 0
    for match in [*matches, _Match(len(said), len(final) + len(below))]:
        unmatched = range(previous.shown + 1, min(match.shown, len(final)))
        lost = match.said - previous.said - 1
        new += [number for number in unmatched if final[number] or not lost]
        if previous.shown < len(final):
            replaced = previous.said + 1 + min(lost, len(unmatched))
        previous = match
    return new, replaced


def _matches(said: Sequence[str], shown: Sequence[str]) -> list[_Match]:
    """Return the pairs of equal lines, in order; equal blank lines count only next to other equal lines."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, shown, strict=False)))
    matches = [_Match(number, number) for number in range(same)]
    if same == len(said) or same == len(shown):
        return matches
    matcher = SequenceMatcher(lambda line: not line, shown[same:], said[same:], autojunk=False)
    for block in matcher.get_matching_blocks():
        matches += [_Match(same + block.b + i, same + block.a + i) for i in range(block.size)]
    return matches
