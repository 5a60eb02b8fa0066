"""A terminal that shows what tmux's `capture-pane -e -N` printed.

tmux prints a row as its characters with SGR sequences where the look changes, and SO and SI around letters in the
line-drawing charset. Within one capture the look goes on from row to row: a row says only how it differs from
the one before it. So the rows of a snapshot must be one capture, and those of its history another one.
"""

from streamrelay.vt.controls import compile_control
from streamrelay.vt.drawing import draw
from streamrelay.vt.engine import Modes, Snapshot
from streamrelay.vt.rows import Line
from streamrelay.vt.state import Charsets, State
from streamrelay.vt.tokens import Tokenizer
from streamrelay.vt.widths import Widths


def seed(snapshot: Snapshot, history: int, widths: Widths) -> State:
    """Return the state a terminal is in that shows `snapshot`."""
    state = State(snapshot.columns, snapshot.lines, history, widths)
    grid = state.grid
    if history:
        grid.history.extend(_parse(state, snapshot.history[-history:]))
    rows = _parse(state, snapshot.rows[: snapshot.lines])
    grid.lines[: len(rows)] = rows
    for line, wrapped in zip(grid.lines, snapshot.wrapped, strict=False):
        line.wrapped = wrapped
    grid.total = max(snapshot.history_total, len(snapshot.history))
    if snapshot.alternate:
        grid.saved = [grid.blank() for _ in range(snapshot.lines)]
        grid.keeps_history = False
    if snapshot.scroll_region is not None:
        state.top, state.bottom = snapshot.scroll_region
    state.set_modes(snapshot.modes)
    state.x = min(max(snapshot.cursor.x, 0), snapshot.columns)
    state.y = min(max(snapshot.cursor.y, 0), snapshot.lines - 1)
    grid.forget()
    return state


def _parse(state: State, rows: tuple[bytes, ...]) -> list[Line]:
    """Return the rows of one capture; only the first line of `state` is drawn on, and left empty."""
    lines: list[Line] = []
    grid = state.grid
    state.set_modes(Modes(wrap=False))
    state.set_charsets(Charsets(g1=True))
    for row in rows:
        state.x = state.y = 0
        tokens = Tokenizer().split(row)
        for position, token in enumerate(tokens):
            if position % 2 == 0:
                draw(state, token)
            elif token in {"\x0e", "\x0f"} or token.endswith("m"):
                compile_control(token)(state)
        lines.append(grid.lines[0])
        grid.lines[0] = grid.blank()
    state.reset()
    return lines
