"""Where a transcript shows what was sent to the program.

A program shows a message as rows of its own: behind a mark (`> hello`), beside a bar, inside a box, indented, wrapped
at its own width, or as the placeholder that its composer showed (`[Pasted text #1 +4 lines]`). White space tells
nothing about any of that, so rows are compared without it: a block of whole rows that spells the message is its echo.
"""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import NamedTuple

import regex

from streamrelay.delta.layout.glyphs import (
    AROUND,
    MAX_ROWS_KNOWN,
    SIDE,
    SIDES,
    is_border,
    is_mark,
    is_side,
    without_marks,
)
from streamrelay.delta.printing.echo import squeeze

MAX_LOOKS_PER_ROW = 50
"""Rows looked at for each row searched, on average, before a search is given up: a hostile program can make it long."""

MIN_TAIL, MAX_TAILS = 16, 100
"""Characters that must be left of a beheaded echo, since fewer could be anything, and places where one is tried."""

_UNSPOKEN = regex.compile(r"[\s`*_~\u200b\ufe0f]+")
"""White space, and what a program that renders Markdown eats."""


_FENCE = regex.compile(r"(?m)^[ \t]*(?:```+|~~~+)[^`\n]*(?:\n|$)")
"""A row around a block of code in Markdown. A program that renders what a person sent shows no such rows."""

_PLACEHOLDER = regex.compile(r"\s*\[[^\[\]]*\d[^\[\]]*\]\s*")
"""A count in brackets: `[Pasted text #1 +4 lines]`, `[Pasted Content 1204 chars]`."""
_MIN_FOLDED = 200
"""Characters of one line for which a program shows a placeholder, at least; of several lines it may in any case."""

_LIST_MARK = regex.compile(r"(?m)^[ \t]*[-*+•‣◦▪][ \t]+")
"""Programs show other marks than were written; those in front of a row are passed over anyway."""

_LABEL = regex.compile(r"\s*[^\W\d_]\w{0,11}:\s+")
"""A name in front of a message: `you: hello`."""
_SIGN = regex.compile(r"\s*(?:\S|\S{1,11}[^\w\s])\s+(?=\S)")
"""A letter or a word of any kind there: `λ hello`."""
MAX_ROWS_ABOVE_ECHO = 3
"""Rows of text from where the transcript goes on to where a message behind a label begins."""

_WORD = regex.compile(r"\w+")

MIN_SHARE_OF_MESSAGE = 0.7
"""Part of a message's words by which a block behind the mark of messages is known for it, though spelled otherwise."""


def may_be_folded(text: str) -> bool:
    """Tell whether a program may show a placeholder for a message."""
    return "\n" in text or len(text) >= _MIN_FOLDED


def spelling(text: str) -> str:
    """Return what of a text can be compared with what a program shows of it."""
    return _UNSPOKEN.sub("", text)


def rendered(text: str) -> str:
    """Return a text without the rows of Markdown that a program eats whole; what else it eats counts in no spelling."""
    return _FENCE.sub("", text)


@lru_cache(maxsize=MAX_ROWS_KNOWN)
def row_spelling(row: str) -> str:
    """Return the `spelling` of a row, from a cache: most rows of a screen stay from one repaint to the next."""
    return spelling(row)


def in_common(one: str, other: str) -> int:
    """Return with how many characters two texts begin alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


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
        self._patience = MAX_LOOKS_PER_ROW * len(rows)
        self._behind: dict[str, list[tuple[Block, str]]] = {}

    def find(self, forms: Sequence[str], start: int = 0, *, others: Sequence[str] = ()) -> Block | None:
        """Return the earliest block of whole rows, from `start` on, that spells one of the forms of a message.

        Where one of the `others` stands, which begins alike and goes on, it is that one.
        """
        rows, spell, targets = self._spelling(forms)
        for group in _by_rank(targets):
            for first in range(start, len(rows)):
                for number, target in group if rows[first] else ():
                    stop, looked = _spelled_until(rows, first, target)
                    if stop is None and (label := _LABEL.match(self._rows[first])) is not None:
                        stop, more = _spelled_until(rows, first, target, spell(self._rows[first][label.end() :]))
                        looked += more
                    if stop is not None and not self._goes_on(rows, spell, Block(first, stop), others):
                        mark = _mark(self._rows[first], target, spell)
                        return _with_borders(self._rows, Block(first, stop, mark, number))
                    self._patience -= looked
                    if self._patience < 0:
                        return None
        return None

    @staticmethod
    def _goes_on(rows: Sequence[str], spell: Callable[[str], str], block: Block, others: Sequence[str]) -> bool:
        """Tell whether the rows of a block are the beginning of one of the `others`, which takes more rows."""
        stops = (_spelled_until(rows, block.start, spell(other))[0] for other in others)
        return any(stop is not None and stop > block.stop for stop in stops)

    def find_labelled(
        self, forms: Sequence[str], start: int = 0, mark: str = "", *, others: Sequence[str] = ()
    ) -> Block | None:
        """Return such a block behind a label (`you:`, `λ`) instead of a mark; only where the transcript goes on.

        Elsewhere, and behind more than one word, it would be a quote, unless the label is the `mark` of messages.
        """
        rows, spell, targets = self._spelling(forms)
        held = [y for y in range(start, len(rows)) if rows[y]]
        known = [y for y in held[MAX_ROWS_ABOVE_ECHO:] if mark.strip() and self._rows[y].startswith(mark)]
        for first in (*held[:MAX_ROWS_ABOVE_ECHO], *known):
            label = _SIGN.match(self._rows[first])
            if label is None:
                continue
            behind = spell(self._rows[first][label.end() :])
            for number, target in targets:
                stop, looked = _spelled_until(rows, first, target, behind)
                if stop is not None and not self._goes_on(rows, spell, Block(first, stop), others):
                    return _with_borders(self._rows, Block(first, stop, label[0], number))
                self._patience -= looked
                if self._patience < 0:
                    return None
        return None

    def find_last_copy(self, forms: Sequence[str], echo: Block, *, others: Sequence[str] = ()) -> Block:
        """Return the last copy of an echo that stands behind the same mark.

        A transcript that is painted again leaves copies of itself behind, and a composer that scrolled away leaves a
        copy of its text. A quote follows the mark of an answer, or no mark.
        """
        last = again = echo
        while echo.mark.strip():
            following = self.find(forms[echo.form : echo.form + 1], again.stop, others=others)
            if following is None:
                break
            again = following._replace(form=echo.form)
            if again.mark == echo.mark:
                last = again
        return last

    def find_behind(self, forms: Sequence[str], mark: str, echo: Block, *, others: Sequence[str] = ()) -> Block:
        """Return the first such block that stands behind the mark of messages, from an `echo` on; else the echo.

        A block in front of it, behind another mark or none, is a quote in an answer.
        """
        found: Block | None = echo
        while mark.strip() and found is not None and found.mark != mark:
            found = self.find(forms, found.stop, others=others)
        return echo if found is None else found

    def find_like(self, form: str, mark: str, start: int = 0) -> Block | None:
        """Return the block behind the mark of messages that has most words of one, however they are spelled."""
        words = set(_WORD.findall(form))
        while (block := self.behind(mark, start)) is not None:
            shown = {word for row in self._rows[block.start : block.stop] for word in _WORD.findall(row)}
            if len(words & shown) >= MIN_SHARE_OF_MESSAGE * max(len(words), len(shown), 1):
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

    def on_top(self, mark: str, start: int = 0) -> Block | None:
        """Return the paragraph behind the mark of messages with which the transcript goes on."""
        block = next((block for block, _ in self._paragraphs(mark) if block.start >= start), None)
        is_first = block is not None and not any(row.strip() for row in self._rows[start : block.start])
        return block if is_first else None

    def find_placeholder(self, mark: str, start: int = 0) -> Block | None:
        """Return the first paragraph behind the mark of messages that is a placeholder."""
        for block, _ in self._paragraphs(mark):
            is_row = block.start >= start and block.stop == block.start + 1
            if is_row and _PLACEHOLDER.fullmatch(self._rows[block.start], len(mark)):
                return block
        return None

    def find_cut_short(self, form: str, mark: str, start: int = 0) -> Block | None:
        """Return the row behind the mark of messages that has the beginning of one and ends in an ellipsis."""
        whole = spelling(form)
        for y in range(start, len(self._rows) if mark.strip() else 0):
            if self._rows[y].startswith(mark) and self._rows[y].endswith("…"):
                shown = spelling(self._rows[y][len(mark) : -1])
                if len(shown) >= MIN_TAIL and whole.startswith(shown):
                    return Block(y, y + 1, mark)
        return None

    def find_grown(self, form: str, mark: str, start: int = 0, *, others: Sequence[str] = ()) -> Block | None:
        """Return the first paragraph behind the mark of messages that begins with one of which no more was seen.

        None of the `others`, as they are spelled: one of those may be cut short, or have an answer right below.
        """
        beginning = spelling(form)
        longer = [other for other in others if len(other) > len(beginning)]
        for block, shown in self._paragraphs(mark):
            if block.start < start or not shown.startswith(beginning):
                continue
            is_other = any(other.startswith(shown.rstrip("…")) for other in others)
            if not is_other and not any(shown.startswith(other) for other in longer):
                return block
        return None

    def copies(self, messages: Collection[str], mark: str) -> list[Block]:
        """Return the blocks behind the `mark` of messages that spell one of `messages`, with their borders.

        `messages` are given as `spelling` returns them. A block counts as a whole or up to its first blank row.
        """
        found, start = list[Block](), 0
        while messages and (block := self.behind(mark, start)) is not None:
            paragraph = self._first_paragraph(block)
            copies = (part for part in (block, paragraph) if self._spelled_behind(part) in messages)
            if (copy := next(copies, None)) is not None:
                found.append(_with_borders(self._rows, copy))
            start = (copy or paragraph).stop
        return found

    def messages(self, mark: str) -> list[set[str]]:
        """Return how each message behind the `mark` of messages is spelled: whole, and up to its first blank row."""
        found, start = list[set[str]](), 0
        while (block := self.behind(mark, start)) is not None:
            found.append({self._spelled_behind(block), self._spelled_behind(self._first_paragraph(block))} - {""})
            start = block.stop
        return found

    def _first_paragraph(self, block: Block) -> Block:
        """Return the block as far as its first blank row."""
        rows = takewhile(str.strip, self._rows[block.start : block.stop])
        return block._replace(stop=block.start + sum(1 for _ in rows))

    def _spelled_behind(self, block: Block) -> str:
        """Return the `spelling` of a block without its mark."""
        return spelling("".join(row[len(block.mark) :] for row in self._rows[block.start : block.stop]))

    def _paragraphs(self, mark: str) -> list[tuple[Block, str]]:
        """Return what begins behind a mark, as far as the next blank row, and how it is spelled without that.

        What follows behind that row is as likely an answer that has no mark of its own.
        """
        if mark not in self._behind:
            found, start = [], 0
            while (block := self.behind(mark, start)) is not None:
                paragraph = self._first_paragraph(block)
                found.append((paragraph, self._spelled_behind(paragraph)))
                start = block.stop
            self._behind[mark] = found
        return self._behind[mark]

    def find_tail(self, form: str, tops: Sequence[int]) -> Block | None:
        """Return the block that spells the end of a message too tall for the screen, from one of `tops` on."""
        target = spelling(_LIST_MARK.sub("", form))
        return next((block for top in tops if (block := self._tail_at(target, top)) is not None), None)

    def _tail_at(self, target: str, top: int) -> Block | None:
        first = next((y for y in range(top, len(self._rows)) if self._rows[y].strip()), None)
        if first is None:
            return None
        head = without_marks(self._spelled[first]) or self._spelled[first]
        position = 0
        for _ in range(MAX_TAILS if head else 0):
            position = target.find(head, position + 1)
            if not 0 < position <= len(target) - MIN_TAIL:
                break
            stop, _ = _spelled_until(self._spelled, first, target[position:])
            if stop is not None:
                return _with_borders(self._rows, Block(first, stop))
        return None

    def shows_any_of(self, form: str, start: int) -> bool:
        """Tell whether any row from `start` on, not a short one, stands in a message."""
        target = spelling(form)
        rows = (row.strip(AROUND) for row in self._spelled[start:])
        return any(len(row) >= MIN_TAIL and row in target for row in rows)

    def _spelling(self, forms: Sequence[str]) -> tuple[list[str], Callable[[str], str], list[tuple[int, str]]]:
        """Return the rows and the forms as they are compared, and how they were spelled for it."""
        # Of a message that is nothing but Markdown no program eats anything.
        is_spoken = all(map(spelling, forms))
        spell = spelling if is_spoken else squeeze
        targets = [
            (number, target)
            for number, form in enumerate(forms)
            if (target := spell(_LIST_MARK.sub("", form)) or spell(form))
        ]
        return self._spelled if is_spoken else self._squeezed, spell, targets

    @cached_property
    def _spelled(self) -> list[str]:
        return list(map(row_spelling, self._rows))

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


def _mark(row: str, target: str, spell: Callable[[str], str]) -> str:
    """Return what stands in front of the message in the first row that spells it."""
    for start, glyph in enumerate(row):
        if not glyph.isspace() and _takes(spell(row[start:]), target, 0, marked=False):
            return row[:start]
    return ""


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


def _takes(row: str, target: str, spelled: int, *, marked: bool = True) -> int | None:
    """Return how much of the target a squeezed row spells on from `spelled`; None if it says something else.

    In front of it may stand marks, if it is `marked`, and behind it the side of a box.
    """
    start, stop = 0, len(row)
    while True:
        if target.startswith(row[start:], spelled):
            return stop - start
        if start < stop - 1 and is_side(row[-1], row[0]) and target.startswith(row[start:-1], spelled):
            return stop - 1 - start
        if not marked or start == stop or not is_mark(row[start]):
            return None
        start += 1


def _is_bar(row: str) -> bool:
    return SIDE.fullmatch(row.rstrip()) is not None or SIDES.fullmatch(row.rstrip()) is not None


def rest_of_box(rows: Sequence[str], mark: str) -> int:
    """Return the number of rows below a message that continue the bar beside it; 0 if its `mark` is no bar."""
    if not mark.strip() or not _is_bar(mark):
        return 0
    return sum(1 for _ in takewhile(lambda row: row == mark.rstrip(), rows))


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
