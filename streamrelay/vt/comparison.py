"""Whether a screen is what tmux says it is: the measure of every claim to be exact."""

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from streamrelay.vt.engine import Row, Snapshot
from streamrelay.vt.screen import TmuxScreen

Aspect = Literal["size", "text", "wrap", "style", "cursor", "alternate", "modes"]


@dataclass(frozen=True, slots=True)
class Divergence:
    """One thing that differs; `line` is the screen line it stands in, None for what is of the whole screen."""

    aspect: Aspect
    line: int | None
    ours: str
    tmux: str


def divergences(screen: TmuxScreen, snapshot: Snapshot) -> tuple[Divergence, ...]:
    """Return how `screen` differs from what tmux showed of the same bytes.

    Trailing blanks are not compared, nor whether the last row goes on (tmux 3.8 does not tell), nor styles of a row
    whose text differs: tmux prints halves of wide characters whole, and what stands behind them moves. Bracketed
    paste is a mode that tmux does not report.
    """
    if (screen.columns, screen.lines) != (snapshot.columns, snapshot.lines):
        ours, theirs = f"{screen.columns}x{screen.lines}", f"{snapshot.columns}x{snapshot.lines}"
        return (Divergence("size", None, ours, theirs),)
    shown = TmuxScreen(snapshot.columns, snapshot.lines, 0, widths=screen.widths)
    shown.seed(snapshot)
    found: list[Divergence] = []
    for y in range(screen.lines):
        found += _rows(y, screen.row(y), shown.row(y), last=y == screen.lines - 1)
    whole: tuple[tuple[Aspect, object, object], ...] = (
        ("cursor", (screen.cursor.x, screen.cursor.y), (shown.cursor.x, shown.cursor.y)),
        ("alternate", screen.alternate, snapshot.alternate),
        ("modes", replace(screen.modes, bracketed_paste=False), replace(shown.modes, bracketed_paste=False)),
    )
    found += [Divergence(aspect, None, str(ours), str(tmux)) for aspect, ours, tmux in whole if ours != tmux]
    return tuple(found)


def _rows(y: int, ours: Row, tmux: Row, *, last: bool) -> list[Divergence]:
    if ours.text.rstrip(" ") != tmux.text.rstrip(" "):
        return [Divergence("text", y, ours.text, tmux.text)]
    found: list[Divergence] = []
    if ours.wrapped != tmux.wrapped and not last:
        found.append(Divergence("wrap", y, str(ours.wrapped), str(tmux.wrapped)))
    looks = _look(ours), _look(tmux)
    if looks[0] != looks[1] and (ours.text.isascii() or _by_column(ours) == _by_column(tmux)):
        pairs = [pair for pair in zip_longest(*looks) if pair[0] != pair[1]]
        found.append(Divergence("style", y, str(pairs[0][0]), str(pairs[0][1])))
    return found


def _by_column(row: Row) -> list[str]:
    """Return what stands in each column; half a wide character leaves a column empty that tmux does not print."""
    return [row.columns(x, x + 1) for x in range(2 * len(row.text))]


def _look(row: Row) -> list[tuple[int, int, str]]:
    """Return the styles up to the last character; columns count only where one is one character."""
    used = len(row.text.rstrip(" ")) if row.text.isascii() else max((run.stop for run in row.runs), default=0)
    return [(run.start, min(run.stop, used), run.style) for run in row.runs if run.start < used]
