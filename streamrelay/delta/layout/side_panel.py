"""A panel beside the transcript: columns of its own on the right, whose text is not part of any answer.

A boxed composer is as wide as its transcript. If a gutter of blanks runs right of it from the top of the screen to the
bottom, and some rows have text right of the gutter, that text belongs to a panel.
"""

from collections.abc import Sequence

from streamrelay.delta.layout.glyphs import is_border
from streamrelay.delta.layout.rows import cells_of
from streamrelay.vt.engine import Engine

GUTTER = 2
NARROWEST = 16
MIN_ROWS = 3


def transcript_edge(engine: Engine, texts: Sequence[str]) -> int | None:
    """Return the column at which a transcript ends that has a panel on its right; None without.

    `texts` are the rows of the screen. Most composers reach to its edge: then no cell is looked at.
    """
    columns = engine.columns
    edge = _width_of_composer(engine, texts)
    if edge + GUTTER + NARROWEST > columns:
        return None
    every = list(engine.rows(0, engine.lines))
    if any(row.columns(edge, edge + GUTTER).strip() for row in every):
        return None
    beside = sum(bool(row.columns(edge + GUTTER, columns).strip()) for row in every)
    return edge if beside >= MIN_ROWS else None


def stands_beside(engine: Engine, texts: Sequence[str], edge: int) -> bool:
    """Return whether the transcript still ends at an edge: a composer drawn across it has taken the panel's place.

    Half a repaint after a resize can look like a panel: text of before on the right of a narrower transcript.
    """
    return not any(map(is_border, texts)) or _width_of_composer(engine, texts) <= edge


def _width_of_composer(engine: Engine, texts: Sequence[str]) -> int:
    """Return the columns that the last border takes, all of them where there is none."""
    border = next((y for y in range(len(texts) - 1, -1, -1) if is_border(texts[y])), None)
    return engine.columns if border is None else cells_of(engine.row(border).text.rstrip())
