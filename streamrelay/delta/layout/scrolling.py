"""How far the middle of the screen scrolled between two snapshots.

The alternate screen has no history, so rows that leave it at the top are lost unless they were recorded. Each row that
stands exactly once in both snapshots votes for the distance that it moved. Rows that stayed do not vote: a pinned
header, a composer, a status line. A single vote counts only if no other row contradicts it.
No vote counts where the old snapshot is gone but for a few rows, and as many rows of their block did not move.

A row of the moving block may be wrapped differently now, or take fewer rows; then the rows above it tell what left.

Rows that move up because a block above them was redrawn shorter have not scrolled: then rows of the transcript stand
still above them. A header stands still as well, but it has few rows, and the moving block begins right under it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from streamrelay.delta.layout.glyphs import MAX_ROWS_KNOWN

MIN_ROWS_OF_A_JUMP = 5
"""Rows that must vanish together before a snapshot with nothing in common counts as one that skipped something."""

SAME_SNAPSHOT = 0.2
"""Share of the changed rows that must still be there for two snapshots to be related."""

MAX_HEADER = 3
"""Rows at the top that may stand still, besides those known to be pinned, while others scroll under them."""

MAX_REDRAWN = 3
"""Rows that may have been repainted between two parts of a block that moved, in either snapshot."""


MIN_CONTRADICTIONS = 2
"""Rows that did not move with the others, from which on the others may be alike by chance."""


class Scroll(NamedTuple):
    """The rows of the new snapshot from `top` on were `distance` rows lower in the old one (higher, if negative)."""

    distance: int
    top: int


def scroll_between(before: Sequence[str], after: Sequence[str], pinned: int = 0) -> Scroll | None:
    """Return how the rows moved; None where they did not move as a block. The first `pinned` rows are a header."""
    common = range(min(len(before), len(after)))
    changed = [y for y in common if before[y] != after[y]]
    left = _only_places(before, [*changed, *range(len(after), len(before))])
    came = _only_places(after, [*changed, *range(len(before), len(after))])
    places = sorted((place, y - place) for text, y in left.items() if (place := came.get(text)) is not None)
    moves = Counter(distance for _, distance in places)
    if not moves:
        return None
    (distance, votes), *others = moves.most_common(2)
    if votes == 1:
        stayed = sum(1 for y in common if before[y]) - sum(1 for y in changed if before[y])
        if others or stayed > 1:
            return None
    if _is_chance(before, after, distance) and is_jump(before[pinned:], after[pinned:]):
        return None
    top = next(place for place, moved in places if moved == distance)
    for place, moved in reversed(places):
        top = _first_moved(before, after, distance, top)
        redrawn = top - place - 1, top + distance - (place + moved) - 1
        if min(redrawn) >= 0 and max(redrawn) <= MAX_REDRAWN:
            distance, top = moved, place
    top = _first_moved(before, after, distance, top)
    above = [y for y in range(min(pinned, top), min(top, len(before))) if after[y]]
    unmoved = sum(after[y] == before[y] for y in above)
    if unmoved > MAX_HEADER or 0 < unmoved < len(above):
        return None
    return Scroll(distance, top)


def is_jump(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether the old snapshot is gone: almost none of its changed rows are in the new one.

    A row that only grew counts as unchanged, and an erased row has no successor.
    """
    changed = [
        (text, now)
        for text, now in zip(before, after, strict=False)
        if text != now and not (text and now.startswith(text))
    ]
    if len(changed) < MIN_ROWS_OF_A_JUMP:
        return False
    left = [text for text, _ in changed if says_something(text)]
    came = sum(says_something(now) for _, now in changed)
    return min(len(left), came) >= MIN_ROWS_OF_A_JUMP and share_of(left, after) < SAME_SNAPSHOT


def is_redrawn(before: Sequence[str], after: Sequence[str]) -> bool:
    """Tell whether no row left its place, but for some that were redrawn there: nothing moved, nothing was replaced."""
    changed = [text for text, now in zip(before, after, strict=False) if text and text != now]
    if not changed:
        return True
    return 2 * len(changed) < sum(map(bool, before)) and set(changed).isdisjoint(after)


def share_of(rows: Sequence[str], snapshot: Sequence[str]) -> float:
    """Return the share of the rows with text that are anywhere in a snapshot; 0 if none has text."""
    held = [row for row in rows if row]
    present = set(snapshot)
    return sum(row in present for row in held) / len(held) if held else 0.0


def _only_places(rows: Sequence[str], among: Sequence[int]) -> dict[str, int]:
    """Return where each text stands that stands in one place only among some rows."""
    places: dict[str, int] = {}
    twice: set[str] = set()
    for y in among:
        text = rows[y]
        if text in places:
            twice.add(text)
        elif says_something(text):
            places[text] = y
    for text in twice:
        del places[text]
    return places


@lru_cache(maxsize=MAX_ROWS_KNOWN)
def says_something(text: str) -> bool:
    """Tell whether a row has letters: one table is drawn with the same lines as another."""
    return any(map(str.isalnum, text))


def _is_chance(before: Sequence[str], after: Sequence[str], distance: int) -> bool:
    """Tell whether as many rows as moved up by a distance did not: two pages have some rows in common by chance."""
    block = [(old, new) for old, new in zip(before[max(0, distance) :], after, strict=False) if says_something(old)]
    moved = sum(bool(new) and (new.startswith(old) or old.startswith(new)) for old, new in block)
    return distance > 0 and len(block) - moved >= max(moved, MIN_CONTRADICTIONS)


def _first_moved(before: Sequence[str], after: Sequence[str], distance: int, top: int) -> int:
    """Return the first row of the block that moved: rows that say nothing by themselves belong to it too."""
    while top > 0 and 0 <= top - 1 + distance < len(before) and after[top - 1] == before[top - 1 + distance]:
        top -= 1
    return top
