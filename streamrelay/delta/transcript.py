"""Where a transcript shows what was sent to the program.

A program shows a message as rows of its own: behind a mark (`> hello`), beside a bar, inside a box, indented, wrapped
at its own width, or as the placeholder that stood in its composer (`[Pasted text #1 +4 lines]`). White space tells
nothing about any of that, so rows are compared without it: a block of whole rows that spells the message is its echo.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import regex

from streamrelay.delta.echo import squeeze
from streamrelay.delta.furniture import is_border

MARKS = frozenset("│┃┆╎|▌▏▎▊❯>›»•●⏺✦◆▣○⎿└├╭╰─#$%-↳+")
"""Glyphs that programs put in front of or beside what they quote."""

_BARS = " │┃▏▎▊▌|"

_AROUND = " " + "".join(MARKS)

MOST_LOOKS_PER_ROW = 50
"""Rows looked at for each row searched, on average, before a search is given up: a hostile program can make it long."""

SHORTEST_TAIL, MOST_TAILS = 16, 100
"""Characters that must be left of a beheaded echo, since fewer could be anything, and places where one is tried."""

_UNSPOKEN = regex.compile(r"[\s`*_~\u200b\ufe0f]+")
"""White space, and what a program that renders Markdown eats."""


_LIST_MARK = regex.compile(r"(?m)^[ \t]*[-*+•‣◦▪][ \t]+")
"""Programs show other marks than were written; those in front of a row are passed over anyway."""

_LABEL = regex.compile(r"\s*[^\W\d_]\w{0,11}:\s+")
"""A name in front of a message: `you: hello`."""

_WORD = regex.compile(r"\w+")

MOST_OF_A_MESSAGE = 0.7
"""Part of a message's words by which a block behind the mark of messages is known for it, though spelled otherwise."""


def spelling(text: str) -> str:
    """Return what of a text can be compared with what a program shows of it."""
    return _UNSPOKEN.sub("", text)


class Block(NamedTuple):
    """Rows `start` to `stop` (exclusive) of a document; `mark` is what stands in front of the text, and `form` the
    number of the form of the message that they spell.
    """

    start: int
    stop: int
    mark: str = ""
    form: int = 0


class EchoSearch:
    """Searches one stretch of rows; how they are spelled is worked out once."""

    def __init__(self, rows: Sequence[str]) -> None:
        self._rows = rows
        self._patience = MOST_LOOKS_PER_ROW * len(rows)

    def find(self, forms: Sequence[str], start: int = 0) -> Block | None:
        """Return the earliest block of whole rows, from `start` on, that spells one of the forms of a message."""
        # Of a message that is nothing but Markdown no program eats anything.
        is_spoken = all(map(spelling, forms))
        rows = self._spelled if is_spoken else self._squeezed
        spell = spelling if is_spoken else squeeze
        targets = [
            (number, target)
            for number, form in enumerate(forms)
            if (target := spell(_LIST_MARK.sub("", form)) or spell(form))
        ]
        for group in _by_rank(targets):
            for first in range(start, len(rows)):
                for number, target in group if rows[first] else ():
                    stop, looked = _spelled_until(rows, first, target)
                    if stop is None and (label := _LABEL.match(self._rows[first])) is not None:
                        stop, more = _spelled_until(rows, first, target, spell(self._rows[first][label.end() :]))
                        looked += more
                    if stop is not None:
                        return _with_borders(self._rows, Block(first, stop, _mark(self._rows[first], target), number))
                    self._patience -= looked
                    if self._patience < 0:
                        return None
        return None

    def find_last_copy(self, forms: Sequence[str], echo: Block) -> Block:
        """Return the last copy of an echo that stands behind the same mark.

        A transcript that is painted again leaves copies of itself behind, and a composer that scrolled away leaves a
        copy of what stood in it. A quote stands behind the mark of an answer, or behind none.
        """
        last = again = echo
        while echo.mark.strip():
            following = self.find(forms[echo.form : echo.form + 1], again.stop)
            if following is None:
                break
            again = following._replace(form=echo.form)
            if again.mark == echo.mark:
                last = again
        return last

    def find_like(self, form: str, mark: str, start: int = 0) -> Block | None:
        """Return the block behind the mark of messages that has most words of one, however they are spelled."""
        words = set(_WORD.findall(form))
        while (block := self.behind(mark, start)) is not None:
            shown = {word for row in self._rows[block.start : block.stop] for word in _WORD.findall(row)}
            if len(words & shown) >= MOST_OF_A_MESSAGE * max(len(words), len(shown), 1):
                return block
            start = block.stop
        return None

    def behind(self, mark: str, start: int = 0) -> Block | None:
        """Return the first block of rows that begins behind a mark and goes on under its text, or beside its bar."""
        if not mark.strip():
            return None
        first = next((y for y in range(start, len(self._rows)) if self._rows[y].startswith(mark)), None)
        if first is None:
            return None
        stop = first + 1
        beside = mark.rstrip() if _is_bar(mark) else " " * len(mark)
        for y in range(first + 1, len(self._rows)):
            if self._rows[y].strip() and not self._rows[y].startswith(beside):
                break
            if self._rows[y].strip():
                stop = y + 1
        return Block(first, stop, mark)

    def find_tail(self, form: str, tops: Sequence[int]) -> Block | None:
        """Return the block that spells the end of a message too tall for the screen, from one of `tops` on."""
        target = spelling(_LIST_MARK.sub("", form))
        return next((block for top in tops if (block := self._tail_at(target, top)) is not None), None)

    def _tail_at(self, target: str, top: int) -> Block | None:
        first = next((y for y in range(top, len(self._rows)) if self._rows[y].strip()), None)
        if first is None:
            return None
        head = self._spelled[first].lstrip(_AROUND)
        position = 0
        for _ in range(MOST_TAILS if head else 0):
            position = target.find(head, position + 1)
            if not 0 < position <= len(target) - SHORTEST_TAIL:
                break
            stop, _ = _spelled_until(self._spelled, first, target[position:])
            if stop is not None:
                return _with_borders(self._rows, Block(first, stop))
        return None

    def shows_any_of(self, form: str, start: int) -> bool:
        """Tell whether any row from `start` on, not a short one, stands in a message."""
        target = spelling(form)
        rows = (row.strip(_AROUND) for row in self._spelled[start:])
        return any(len(row) >= SHORTEST_TAIL and row in target for row in rows)

    @cached_property
    def _spelled(self) -> list[str]:
        return [spelling(row) for row in self._rows]

    @cached_property
    def _squeezed(self) -> list[str]:
        return [squeeze(row) for row in self._rows]


def _by_rank(targets: list[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """Divide what is searched for: a form that is only a piece of the message counts where the whole is nowhere.

    A placeholder is as good as the message, which may follow it as a quote. A piece (the first of several paragraphs in
    a composer) could be that of any other message with the same beginning.
    """
    whole = [(number, target) for number, target in targets if not number or target not in targets[0][1]]
    pieces = [target for target in targets if target not in whole]
    return [whole, pieces] if pieces else [whole]


def _mark(row: str, target: str) -> str:
    """Return what stands in front of a message in its first row."""
    mark = row[: len(row) - len(row.lstrip(_AROUND))]
    label = _LABEL.match(row)
    return mark if label is None or target.startswith(spelling(label[0])) else label[0]


def _spelled_until(rows: Sequence[str], first: int, target: str, head: str | None = None) -> tuple[int | None, int]:
    """Return the row behind the block that begins at `first` and spells `target`, and how many rows were looked at.

    The rows are spelled already; `head` is what counts of the first one, if not all of it. The first value is None if
    no block does.
    """
    spelled = 0
    for y in range(first, len(rows)):
        row = head if y == first and head is not None else rows[y]
        taken = _takes(row, target, spelled) if row else 0
        if taken is None or (not taken and y == first):
            return None, y - first
        spelled += taken
        if spelled == len(target):
            return y + 1, y - first
    return None, len(rows) - first


def _takes(row: str, target: str, spelled: int) -> int | None:
    """Return how much of the target a squeezed row spells on from `spelled`; None if it says something else."""
    start, stop = 0, len(row)
    while True:
        bare = row[start:stop]
        if target.startswith(bare, spelled):
            return len(bare)
        if stop == len(row) and start < stop - 1 and row[-1] in MARKS and target.startswith(row[start:-1], spelled):
            return stop - 1 - start
        if start == stop or row[start] not in MARKS:
            return None
        start += 1


def _is_bar(row: str) -> bool:
    return bool(row.strip()) and not row.strip(_BARS) and len(row.strip()) <= 2


def _with_borders(rows: Sequence[str], block: Block) -> Block:
    """Add the border drawn around a block, or what of the bar beside it stands above and below."""
    start, stop, *_ = block
    while start > 0 and _is_bar(rows[start - 1]):
        start -= 1
    while stop < len(rows) and _is_bar(rows[stop]):
        stop += 1
    if start > 0 and stop < len(rows) and is_border(rows[start - 1]) and is_border(rows[stop]):
        return block._replace(start=start - 1, stop=stop + 1)
    return block._replace(start=start, stop=stop)
