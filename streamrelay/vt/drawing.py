"""Text onto the grid (tmux 3.3a screen-write.c, screen_write_cell and screen_write_collect_add).

* Writing into half of a wide character blanks the other half.
* A wide character that does not fit wraps; the column it leaves stays as it was. Without wrap mode it is dropped.
* A character of no width joins the cell left of the cursor, up to 21 bytes of UTF-8 a cell, else it is dropped;
  so does any character but an ASCII one behind a ZERO WIDTH JOINER.
* Without wrap mode the cursor stays in the last column; the wrap column is reached in wrap mode alone.
* Insert mode makes room before it wraps.
"""

import re

from streamrelay.vt.state import State
from streamrelay.vt.widths import CLUSTERS, JOINER, RAW, STUB

_ASCII_RUNS = re.compile(r"[ -~]+|[^ -~]+")
_UNITS = re.compile(f"([{JOINER}{RAW}].{STUB}?)")
_CELLS = re.compile(f".{STUB}?")
_CELL_BYTES = 21
_ZWJ = "\u200d"
_FIRST_CLUSTER = chr(CLUSTERS.start)


def draw(state: State, text: str) -> None:
    """Write `text`, which holds no control characters, at the cursor."""
    if state.acs_pen is not None:
        for run in _ASCII_RUNS.findall(text):
            if run.isascii():
                put(state, run, state.acs_pen)
            else:
                _draw_wide(state, run)
    elif text.isascii():
        put(state, text, state.pen)
    else:
        _draw_wide(state, text)


def _draw_wide(state: State, text: str) -> None:
    widths = state.widths
    cells = widths.cells(text)
    left = state.grid.lines[state.y].cells[max(state.x - 2, 0) : state.x]
    if not widths.marked(cells) and (not left or max(left) < _FIRST_CLUSTER):
        if cells:
            put(state, cells, state.pen)
        return
    for unit in _UNITS.split(cells):
        if not unit:
            continue
        if unit[0] == JOINER:
            _join(state, unit[1])
            continue
        if unit[0] == RAW:
            unit = state.grid.symbols.cell(unit[1]) + unit[2:]  # noqa: PLW2901
        if not unit[0].isascii() and _left_text(state).endswith(_ZWJ):
            _join(state, state.grid.symbols.text(unit[0]))
            unit = unit[1:].removeprefix(STUB)  # noqa: PLW2901
        if unit:
            put(state, unit, state.pen)


def _left_column(state: State) -> int:
    """Return the column of the character left of the cursor, -1 where there is none."""
    cells = state.grid.lines[state.y].cells
    x = state.x - 1
    while x >= 0 and cells[x : x + 1] == STUB:
        x -= 1
    return x


def _left_text(state: State) -> str:
    x = _left_column(state)
    return state.grid.lines[state.y].columns(x, x + 1)


def _join(state: State, text: str) -> None:
    x = _left_column(state)
    if x < 0:
        return
    line = state.grid.lines[state.y]
    joined = (line.columns(x, x + 1) or " ") + text
    if len(joined.encode()) > _CELL_BYTES:
        return
    line.cells = line.cells[:x].ljust(x) + state.grid.symbols.cell(joined) + line.cells[x + 1 :]
    state.grid.dirty |= 1 << state.y


def put(state: State, cells: str, pen: int) -> None:
    """Write `cells`, as `Widths.cells` gives them but without marks, at the cursor."""
    if not state.flows:
        _put_singly(state, cells, pen)
        return
    columns = state.columns
    x = state.x
    start = 0
    end = len(cells)
    while end - start > (room := columns - x):
        stop = start + room
        if room and cells[stop] == STUB:
            stop -= 1
        if stop > start:
            _write(state, x, cells[start:stop], pen)
            start = stop
        state.wrap()
        x = 0
        if columns == 1 and cells[start + 1 : start + 2] == STUB:
            start += 2
    if start < end:
        _write(state, x, cells[start:], pen)
    state.x = x + end - start


def _put_singly(state: State, cells: str, pen: int) -> None:
    columns = state.columns
    wraps = state.modes.wrap
    for cell in _CELLS.findall(cells):
        width = len(cell)
        if width > columns or (not wraps and width > 1 and columns - width < state.x < columns):
            continue
        if state.modes.insert:
            state.grid.insert_cells(state.x, state.y, width, 0)
        if wraps and state.x > columns - width:
            state.wrap()
        if state.x > columns - width:
            continue
        _write(state, state.x, cell, pen)
        state.x = min(state.x + width, columns if wraps else columns - 1)


def _write(state: State, x: int, cells: str, pen: int) -> None:
    y = state.y
    grid = state.grid
    line = grid.lines[y]
    old = line.cells
    if x < len(old) and not old.isascii():
        if old[x] == STUB:
            head = len(old[:x].rstrip(STUB)) - 1
            line.erase(max(head, 0), x - max(head, 0), 0)
        stop = x + len(cells)
        tail = len(old[stop:]) - len(old[stop:].lstrip(STUB))
        if tail:
            line.erase(stop, tail, 0)
    line.write(x, cells, pen)
    grid.dirty |= 1 << y
