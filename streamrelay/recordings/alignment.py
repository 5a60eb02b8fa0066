"""Find the painted rows from which a line was read.

Between rows and lines a program's bullets, indents, numbers and borders are left out, and what it wrapped is joined.
So lines follow rows: each row gives its end to a line, and its beginning may be decoration.
"""

from collections.abc import Sequence

MAX_DECORATION = 64
"""Characters in front of a row's text that may be decoration."""


def rows_of(lines: Sequence[str], rows: Sequence[str]) -> list[range]:
    """Return for each line which rows it was read off.

    From a line on that the rows do not spell in order (cells of a table), that is all of them.
    """
    if len(rows) == 1:
        return [range(1)] * len(lines)
    read: list[range] = []
    y = 0
    for line in lines:
        found = _spelled(line, rows, y)
        if found is None:
            break
        read.append(found)
        y = max(y, found.stop)
    return read + [range(len(rows))] * (len(lines) - len(read))


def _spelled(line: str, rows: Sequence[str], y: int) -> range | None:
    """Return the rows, from `y` on, that spell a line; None where they do not."""
    target = _letters(line)
    if not target:
        return None if line.strip() else range(y, y)
    first, spelled = y, 0
    while spelled < len(target):
        taken = _taken(_letters(rows[y]), target, spelled) if y < len(rows) else 0
        if not taken and (spelled or y >= len(rows)):
            return None
        y += 1
        first = y if not taken else first
        spelled += taken
    return range(first, y)


def _letters(text: str) -> str:
    return "".join(c for c in text if not (c.isspace() or "\u2500" <= c <= "\u259f"))


def _taken(row: str, target: str, spelled: int) -> int:
    """Return how much of the target the end of a row spells on."""
    for start in range(min(len(row), MAX_DECORATION)):
        if target.startswith(row[start:], spelled):
            return len(row) - start
    return 0
