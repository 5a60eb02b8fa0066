"""A terminal that shows what tmux's `capture-pane -e -N` printed.

tmux prints a row as its characters with SGR sequences where the look changes, SO and SI around letters in the
line-drawing charset, and since 3.8 a tab for what was one: its width is not told, and taken to end at a default stop.
Within one capture the look goes on from row to row: a row says only how it differs from
the one before it. So the rows of a snapshot must be one capture, and those of its history another one.

State that tmux does not report starts from its default: the current look, charsets, tab stops and the saved cursor. If
a pane shows its alternate screen, the main screen is blank until the program draws on it again.
"""

import re

from streamrelay.vt.dispatch import compiled
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.lazy_lines import GRAPHICS
from streamrelay.vt.printing import draw
from streamrelay.vt.rows import Line
from streamrelay.vt.state import TAB_WIDTH, Charsets, TerminalState
from streamrelay.vt.tokens import Tokenizer
from streamrelay.vt.widths import Widths

_GRAPHICS = re.compile(f"(?:{GRAPHICS.pattern})+")


def seed(snapshot: Snapshot, history: int, widths: Widths) -> TerminalState:
    """Return the state a terminal is in that shows `snapshot`."""
    state = TerminalState(snapshot.columns, snapshot.lines, history, widths)
    grid = state.grid
    if history:
        grid.history.keep(_parse(state, snapshot.history[-history:]))
    rows = _parse(state, snapshot.rows[: snapshot.lines])
    grid.lines[: len(rows)] = rows
    for line, wrapped in zip(grid.lines, snapshot.wrapped, strict=False):
        line.wrapped = wrapped
    grid.history.total = max(snapshot.history_total, len(snapshot.history))
    if snapshot.alternate:
        grid.saved = [grid.blank() for _ in range(snapshot.lines)]
        grid.keeps_history = False
    if snapshot.scroll_region is not None:
        top, bottom = snapshot.scroll_region
        if 0 <= top < bottom < state.lines:
            state.top, state.bottom = top, bottom
    state.set_modes(snapshot.modes)
    state.x = min(max(snapshot.cursor.x, 0), snapshot.columns)
    state.y = min(max(snapshot.cursor.y, 0), snapshot.lines - 1)
    grid.forget()
    return state


def _parse(state: TerminalState, rows: tuple[bytes, ...]) -> list[Line]:
    """Return the rows of one capture, spelled with the symbols of `state`."""
    scratch = TerminalState(state.columns, 2, 0, state.widths)
    grid = scratch.grid
    grid.symbols = state.grid.symbols
    scratch.set_charsets(Charsets(g1=True))
    lines: list[Line] = []
    for row in rows:
        line = grid.lines[0] = grid.blank()
        scratch.x = scratch.y = 0
        scratch.joining = False
        tokens = Tokenizer().split(row)
        for position, part in enumerate(tokens):
            if position % 2 == 0:
                draw(scratch, part)
            elif part == "\t":
                draw(scratch, " " * min(TAB_WIDTH - scratch.x % TAB_WIDTH, max(state.columns - 1 - scratch.x, 0)))
            elif part in {"\x0e", "\x0f"} or _GRAPHICS.fullmatch(part):
                compiled()[part](scratch)
        line.wrapped = False
        lines.append(line)
    return lines
