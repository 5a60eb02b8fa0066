"""Merges the paintings of one transcript in several sizes: the terminal was resized during an answer.

The rows before the resize are known. In the new size the terminal moves rows to the history and back, or cuts them off.
The program then paints again what fits, wrapped differently, over some of these rows; the rows above are an older copy.

Rows cannot be compared, because they are wrapped differently. Text can, without white space and borders: the two
paintings meet at the longest passage that the end of the known text and the new painting have in common. Rows of the
new painting above it are older than the known text, and left out. The new painting counts from the last line that
begins in the passage. Without such a passage, something is missing in between.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from streamrelay.delta.layout.glyphs import is_border
from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.echoes import in_common, spelling
from streamrelay.delta.transcript.line_joining import logical_lines, right_edge

MIN_PASSAGE = 16
"""Characters by which a passage is known again; of less text all of it."""

MAX_LINES, MAX_PLACES, MAX_PASSAGE = 60, 1000, 4000
"""Lines at the end of what is known whose ends are looked for (a line may be taller than the screen), places where they
are found, and characters compared above those.
"""


MAX_CUT_OFF = 2
"""How many times as long as rows that were cut off the whole rows are at most."""


class Sized(NamedTuple):
    """Rows of a screen of so many columns; below those that the terminal `left`, the program painted all of them."""

    rows: Sequence[PaintedRow]
    columns: int
    left: int = 0


def rejoined(snapshots: Sequence[Sized], start: int) -> list[PaintedRow]:
    """Return the rows of one transcript in several sizes, the oldest first; its first `start` rows stay as they are."""
    *older, newest = snapshots
    rows: list[PaintedRow] = []
    for snapshot in older:
        kept = snapshot.rows[: 0 if rows else start]
        left, painted = (
            [*_unwrapped(part, snapshot.columns)]
            for part in (snapshot.rows[len(kept) : snapshot.left], snapshot.rows[max(len(kept), snapshot.left) :])
        )
        rows = meet(rows, left, painted, start) if rows else [*kept, *left, *painted]
    return meet(rows, newest.rows[: newest.left], newest.rows[newest.left :], start) if older else list(newest.rows)


def _unwrapped(rows: Sequence[PaintedRow], columns: int) -> Iterator[PaintedRow]:
    """Join the rows of a width that the program has no more."""
    width = right_edge(rows, columns)
    position = 0
    for y, row in enumerate(rows):
        if row.skipped:
            yield from (PaintedRow(line, fills=False) for line in logical_lines(rows[position:y], width))
            yield row
            position = y + 1
    yield from (PaintedRow(line, fills=False) for line in logical_lines(rows[position:], width))


def meet(
    before: Sequence[PaintedRow],
    left: Sequence[PaintedRow],
    painted: Sequence[PaintedRow],
    start: int = 0,
    *,
    has_last: bool = False,
) -> list[PaintedRow]:
    """Join rows with what was painted later: where that has no passage of them, it goes on below what was left.

    The passage is one that ends with the last row of `before` if what was painted later `has_last`. A row that is
    `skipped` stands for what is missing in between.
    """
    known, new, after = _Spelled(before[start:]), _Spelled(painted), painted
    passage = _common_passage(known, new, has_last=has_last)
    if passage is None and left:
        after = [*left, *painted]
        new = _Spelled(after)
        passage = _common_passage(known, new)
    if passage is not None and not has_last:
        passage = _above_cut_off(passage, known, new)
    if passage is None:
        missing = [PaintedRow("", skipped=True)] if known.text and new.text else []
        return [*before, *missing, *after]
    stop = passage.place + passage.length
    for y in range(new.row_at(stop - 1), -1, -1):
        line = known.lines.get(passage.at + new.starts[y] - passage.place)
        if passage.place <= new.starts[y] and line is not None:
            return [*before[: start + line], *after[y:]]
    y, last = new.row_at(stop), known.row_at(passage.at + passage.length - 1)
    rest = [after[y]._replace(text=_behind(after[y].text, stop - new.starts[y]))] if y < len(after) else []
    return [*before[: start + last + 1], *rest, *after[y + 1 :]]


def above_rewrapped(known: Sequence[PaintedRow], shown: Sequence[PaintedRow]) -> list[PaintedRow] | None:
    """Return the known rows above their end that is `shown` wrapped anew; None if the end is not, or in the same rows.

    Of a row whose end is shown its beginning is returned.
    """
    new = _Spelled(shown)
    if len(new.text) < MIN_PASSAGE:
        return None
    old = _Spelled(known)
    place = len(old.text) - len(new.text)
    if not old.text.endswith(new.text):
        return None
    shown_rows = [row for row in new.rows if row]
    if [row for row in old.rows if row][-len(shown_rows) :] == shown_rows:
        return None
    y = old.row_at(place)
    if place == old.starts[y]:
        return list(known[:y])
    row = known[y].text
    shown_end = _behind(row, place - old.starts[y])
    return [*known[:y], PaintedRow(row[: len(row) - len(shown_end)].rstrip())]


class _Passage(NamedTuple):
    """So many characters `at` a place of the known text, which stand in a `place` of the new one."""

    at: int
    place: int
    length: int


class _Spelled:
    """The text of some rows, and where in it each row begins."""

    def __init__(self, rows: Sequence[PaintedRow]) -> None:
        self.rows = ["" if is_border(row.text) else spelling(row.text) for row in rows]
        self.starts: list[int] = []
        at = 0
        for row in self.rows:
            self.starts.append(at)
            at += len(row)
        self.ends = [*self.starts[1:], at]
        self.text = "".join(self.rows)
        self.reverse = self.text[::-1]
        self.lines = {self.starts[y]: y for y, row in enumerate(self.rows) if row}

    def row_at(self, place: int) -> int:
        """Return the row that holds a character, behind the last one the number of rows."""
        return bisect_right(self.starts, place) - 1 if place < len(self.text) else len(self.rows)

    def above(self, place: int) -> str:
        """Return the characters in front of a place, in reverse order."""
        end = len(self.text) - place
        return self.reverse[end : end + MAX_PASSAGE]


def _above_cut_off(passage: _Passage, known: _Spelled, new: _Spelled) -> _Passage:
    """Return the highest passage in common from which on the known rows are those of the new painting, cut off.

    What a program paints for a wider terminal before the resize is known here ends at the old edge.
    """
    while (above := _common_passage(known, new, below=passage)) is not None:
        at, place = above.at + above.length, above.place + above.length
        cut, whole = known.text[at : passage.at], new.text[place : passage.place]
        rest = new.ends[new.row_at(place - 1)] - place
        if len(whole) > MAX_CUT_OFF * len(cut) + rest or not _is_within(cut, whole):
            break
        passage = above
    return passage


def _is_within(cut: str, whole: str) -> bool:
    """Tell whether a text is left if some of the characters of another one are left out."""
    characters = iter(whole)
    return all(character in characters for character in cut)


def _common_passage(
    known: _Spelled, new: _Spelled, *, has_last: bool = False, below: _Passage | None = None
) -> _Passage | None:
    """Return the longest passage in common, above that `below` it; it ends with the last line if that `has_last`."""
    best: _Passage | None = None
    end, stop = (len(known.text), len(new.text)) if below is None else (below.at, below.place)
    held = [y for y, row in enumerate(known.rows) if row and known.starts[y] + len(row) <= end][-MAX_LINES:]
    places = 0
    for y in reversed(held[-1:] if has_last else held):
        row = known.text[-MIN_PASSAGE:] if has_last else known.rows[y][-MIN_PASSAGE:]
        at = known.starts[y] + len(known.rows[y]) - len(row)
        place = new.text.find(row, 0, stop)
        while place >= 0 and places < MAX_PLACES:
            places += 1
            above = in_common(known.above(at), new.above(place))
            if best is None or (above + len(row), place) > (best.length, best.place):
                best = _Passage(at - above, place - above, above + len(row))
            place = new.text.find(row, place + 1, stop)
    return best if best is not None and best.length >= min(MIN_PASSAGE, len(known.text)) else None


def _behind(text: str, count: int) -> str:
    """Return what of a row stands behind so many of the characters that are compared."""
    for x in range(len(text) + 1):
        if len(spelling(text[:x])) >= count:
            return text[x:].lstrip()
    return ""
