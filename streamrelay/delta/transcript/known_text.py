"""Recognises old rows of a transcript by their text, at any place and in any width.

A program paints its transcript again when it is resized, resumed, compacted or wiped: at another place, wrapped at
another width, without its first rows or below a new greeting. Rows are therefore compared by their letters alone, as
one run of text: a stretch of rows is old if the transcript of before has the same letters in the same order. Rows above
an old stretch are older still. A message that was not there before ends the search, because its answer may quote any
earlier text.
"""

from collections.abc import Iterator, Sequence

from streamrelay.delta.layout.glyphs import is_border
from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.echoes import spelling

MIN_ROWS = 4
"""Rows of text by which a stretch of the old transcript is known again, if it does not begin with a message."""
MAX_PLACES = 50
"""Places of the old transcript in which one row is looked for: a hostile program can repeat it."""


def first_new_row(before: Sequence[PaintedRow], rows: Sequence[PaintedRow], mark: str) -> int:
    """Return the first row below all rows of the transcript `before`; messages begin with the `mark`."""
    known = "".join(map(_spelled, before))
    spelled = [_spelled(row) for row in rows]
    first = y = 0
    while known and y < len(rows):
        stop = max(_stretches(known, spelled, y), default=y)
        begins_message = bool(mark.strip()) and rows[y].text.startswith(mark)
        held = sum(map(bool, spelled[y:stop]))
        if held >= (2 if begins_message else MIN_ROWS):
            first = y = stop
        elif begins_message:
            break
        else:
            y += 1
    return first


def _stretches(known: str, rows: Sequence[str], first: int) -> Iterator[int]:
    """Yield the row behind each stretch that begins with row `first` and stands in the `known` text."""
    place = known.find(rows[first]) if rows[first] else -1
    for _ in range(MAX_PLACES):
        if place < 0:
            break
        y, stop = first, place
        while y < len(rows) and known.startswith(rows[y], stop):
            stop += len(rows[y])
            y += 1
        yield y
        place = known.find(rows[first], place + 1)


def _spelled(row: PaintedRow) -> str:
    return "" if is_border(row.text) else spelling(row.text)
