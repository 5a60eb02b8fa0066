"""A panel beside the transcript: columns of its own on the right, where a program shows what is nobody's answer.

A composer that is a box ends where its transcript does. Where a gutter of blanks runs beside that end from the top of
the screen to its bottom, and behind it there is text in some rows, that text belongs to a panel.
"""

from streamrelay.delta.layout.glyphs import is_border
from streamrelay.delta.layout.rows import cells_of
from streamrelay.vt.engine import Rows

GUTTER = 2
NARROWEST = 16
FEWEST_ROWS = 3


def transcript_edge(rows: Rows, columns: int) -> int | None:
    """Return the column at which a transcript ends that has a panel on its right, of a whole screen; None without."""
    every = list(rows)
    edge = next((cells_of(text) for row in reversed(every) if is_border(text := row.text.rstrip())), columns)
    if edge + GUTTER + NARROWEST > columns:
        return None
    if any(row.columns(edge, edge + GUTTER).strip() for row in every):
        return None
    beside = sum(bool(row.columns(edge + GUTTER, columns).strip()) for row in every)
    return edge if beside >= FEWEST_ROWS else None
