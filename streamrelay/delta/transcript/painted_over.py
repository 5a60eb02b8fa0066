"""What a program painted during an answer and then painted something else over.

A program that falls behind its own output can lose rows of its transcript: it paints them, repaints the rows around
them a moment later, and never puts them back. The screen showed these rows, but who reads the last screen misses them.
They say nothing by themselves, because a program also repaints what it corrects. They are evidence beside the agent's
own record: a line of that record which stood on the screen was not made up.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from streamrelay.delta.layout.rows import PaintedRow

MAX_ROWS: Final = 2_000
"""Rows remembered, the latest."""

_Paragraph = tuple[str, ...]


class PaintedOver:
    """The paragraphs of the screens since the last `forget` on which something stood that stands there no longer."""

    def __init__(self) -> None:
        self._paragraphs: dict[_Paragraph, None] = {}
        self._by_first_row: dict[str, _Paragraph] = {}
        """The latest paragraph that begins with a row: one that is still being written grows."""
        self._old: frozenset[_Paragraph] = frozenset()
        """The paragraphs that stood there at the last `forget`: they say nothing of what was painted since."""
        self._count = 0

    def forget(self, screen: Sequence[PaintedRow] = ()) -> None:
        """Forget all rows: what they belonged to is read, and so is what stands on the screen."""
        self._old = frozenset(_paragraphs(screen))
        self._paragraphs.clear()
        self._by_first_row.clear()
        self._count = 0

    def look(self, before: Sequence[PaintedRow], after: Sequence[PaintedRow]) -> None:
        """Remember a screen of which a row is gone, and not only added to.

        Where the others have moved to is not told from the rows: the same words may stand in another place by chance.
        """
        changed = [row.text for row, new in zip(before, after, strict=False) if not _goes_on(row.text, new.text)]
        if not changed or {row.text for row in after}.issuperset(changed):
            return
        for paragraph in _paragraphs(before):
            self._add(paragraph)

    def paragraphs(self) -> list[_Paragraph]:
        """Return the paragraphs, the oldest first."""
        return list(self._paragraphs)

    def _add(self, paragraph: _Paragraph) -> None:
        paragraph = self._without_old(paragraph)
        if not paragraph or paragraph in self._paragraphs:
            return
        last = self._by_first_row.get(paragraph[0])
        if last is not None and _grows(last, paragraph):
            self._drop(last)
        self._by_first_row[paragraph[0]] = paragraph
        self._paragraphs[paragraph] = None
        self._count += len(paragraph)
        while self._count > MAX_ROWS:
            self._drop(next(iter(self._paragraphs)))

    def _without_old(self, paragraph: _Paragraph) -> _Paragraph:
        """Return a paragraph without the end of an old one, or all of it, that it goes on from."""
        for old in self._old:
            if paragraph[0] in old:
                end = old[old.index(paragraph[0]) :]
                if paragraph[: len(end)] == end:
                    return paragraph[len(end) :]
        return paragraph

    def _drop(self, paragraph: _Paragraph) -> None:
        del self._paragraphs[paragraph]
        self._count -= len(paragraph)
        if self._by_first_row.get(paragraph[0]) == paragraph:
            del self._by_first_row[paragraph[0]]


def _paragraphs(screen: Sequence[PaintedRow]) -> Iterator[_Paragraph]:
    """Yield the rows between blank ones."""
    rows: list[str] = []
    for row in screen:
        if row.text:
            rows.append(row.text)
        elif rows:
            yield tuple(rows)
            rows.clear()
    if rows:
        yield tuple(rows)


def _grows(before: _Paragraph, after: _Paragraph) -> bool:
    """Tell whether a paragraph was only added to."""
    last = len(before) - 1
    return last < len(after) and before[:last] == after[:last] and after[last].startswith(before[last])


def _goes_on(before: str, after: str) -> bool:
    """Tell whether a row was only added to, or is a spinner whose glyph turned."""
    return after.startswith(before) or (len(before) == len(after) > 1 and before[1:] == after[1:])
