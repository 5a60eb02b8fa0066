"""Text onto the grid (tmux 3.3a screen-write.c, screen_write_cell and screen_write_collect_add).

* Writing into half of a wide character blanks the other half; but plain ASCII keeps a first half in the
  first column.
* A wide character that does not fit wraps; the column it leaves stays as it was. Without wrap mode it is dropped.
* A character of no width joins the cell left of the cursor, up to 21 bytes of UTF-8 a cell, else it is dropped.
* A ZERO WIDTH JOINER waits for the next character that is not plain ASCII, wherever that comes, and both join.
* Where joining widens (`Quirks`), there is no waiting: what follows a joiner in its cell joins too, and a variation
  selector or a skin tone makes the cell wide. A skin tone with nothing to join is a character of its own. Two regional
  indicators are one cell where each is wide.
* Without wrap mode the cursor stays in the last column; the wrap column is reached in wrap mode alone.
* Insert mode makes room before it wraps.
"""

import re

from streamrelay.vt.clusters import cells_of
from streamrelay.vt.rows import Line
from streamrelay.vt.state import TerminalState
from streamrelay.vt.widths import FLAGS, JOINER, MARKS, SKIN_TONES, STUB, VARIATION_SELECTOR, ZWJ, marked

_ASCII_RUNS = re.compile(r"[ -~]+|[^ -~]+")
_CELLS = re.compile(f".{STUB}?")
_MARKED_PARTS = re.compile(f"[{MARKS}].{STUB}?|[^{MARKS}]+")
_MARKED_CELLS = re.compile(f"[{MARKS}]?.{STUB}?")
_PARTS = re.compile(f"[ -~]+|.{STUB}?")
_CELL_BYTES = 21
_MANY_JOINERS = 8
"""Joining characters in a text above which it pays to see whether all of it is plain. For fewer they are drawn one by
one: the pattern alone takes 20 ms to compile, and many programs print an emoji and never more."""
_WIDENING = frozenset(VARIATION_SELECTOR + SKIN_TONES)


def draw(state: TerminalState, text: str) -> None:
    """Write `text`, which holds no control characters, at the cursor."""
    if text.isascii() and state.acs_pen is None and not state.joining:
        put(state, text, state.pen)
    elif state.acs_pen is not None or state.joining:
        for run in _ASCII_RUNS.findall(text):
            if state.joining or not run.isascii():
                _draw_singly(state, state.widths.cells(run))
            else:
                put(state, run, state.pen if state.acs_pen is None else state.acs_pen)
    else:
        widths = state.widths
        cells = widths.cells(text)
        if cells and widths.quirks.widens and _left(state).endswith(ZWJ):
            _draw_singly(state, cells)
        elif cells is text or not marked(cells):
            if cells:
                put(state, cells, state.pen)
        elif (
            cells.count(JOINER) > _MANY_JOINERS
            and state.flows
            and state.columns > 1
            # What widens takes the next column as it is then, if there is one.
            and not (widths.quirks.widens and VARIATION_SELECTOR in text)
            and widths.is_plain(text)
        ):
            put(state, cells_of(text, widths, state.grid.symbols), state.pen)
        else:
            _draw_singly(state, cells)


def _draw_singly(state: TerminalState, cells: str) -> None:
    """Draw `cells` that hold marks; what stands between two of them is written at once, but for what may join."""
    for part in _MARKED_PARTS.findall(cells):
        if part[0] in MARKS or state.joining or state.acs_pen is not None:
            for cell in _MARKED_CELLS.findall(part):
                _draw_cell(state, cell)
            continue
        first = _CELLS.match(part)[0]  # type: ignore[index]  # every part has a cell
        _draw_cell(state, first)
        if len(first) < len(part):
            put(state, part[len(first) :], state.pen)


def _draw_cell(state: TerminalState, cell: str) -> None:
    widens = state.widths.quirks.widens
    mark, character = (cell[0], cell[1:].removesuffix(STUB)) if cell[0] in MARKS else ("", cell.removesuffix(STUB))
    if character.isascii() and state.flows and state.acs_pen is None:
        put(state, cell, state.pen)
    elif widens and not character.isascii() and _joins(state, character, mark):
        return
    elif character == ZWJ:
        state.joining = True
    elif state.joining:
        state.joining = False
        _join(state, ZWJ)
        _join(state, character)
    elif mark == JOINER and not widens:
        _join(state, character)
    else:
        pen = state.acs_pen if state.acs_pen is not None and character.isascii() else state.pen
        put(state, state.grid.symbols.cell(character) + cell[len(mark + character) :], pen)


def _left_column(state: TerminalState) -> int:
    """Return the column of the character left of the cursor, -1 where there is none."""
    cells = state.grid.lines[state.y].cells
    x = state.x - 1
    while x >= 0 and cells[x : x + 1] == STUB:
        x -= 1
    return x


def _left(state: TerminalState) -> str:
    """Return the character left of the cursor with all that has joined it; empty where there is none."""
    x = _left_column(state)
    return state.grid.lines[state.y].columns(x, x + 1) or " " if x >= 0 else ""


def _join(state: TerminalState, text: str) -> bool:
    """Put `text` into the cell left of the cursor; False where there is none, or no room in it."""
    x = _left_column(state)
    if x < 0:
        return False
    line = state.grid.lines[state.y]
    joined = (line.columns(x, x + 1) or " ") + text
    if len(joined.encode()) > _CELL_BYTES:
        return False
    line.cells = line.cells[:x].ljust(x) + state.grid.symbols.cell(joined) + line.cells[x + 1 :]
    state.grid.dirty |= 1 << state.y
    return True


def _joins(state: TerminalState, character: str, mark: str) -> bool:
    """Whether `character` is done with: it joined the cell left of the cursor, or has no columns of its own."""
    return _combine(state, character) or (mark == JOINER and character not in SKIN_TONES + FLAGS)


def _combine(state: TerminalState, character: str) -> bool:
    """Join the cell left of the cursor if `character` does, as tmux 3.5a does it (screen_write_combine)."""
    left = _left(state)
    tone = character in SKIN_TONES
    width = state.widths.width(character)
    flag = width == 2 and character in FLAGS and left in FLAGS
    joins = not left.isascii() if tone else flag or width == 0 or left.endswith(ZWJ)
    if not (left and joins and _join(state, character)):
        return False
    x, line = _left_column(state), state.grid.lines[state.y]
    if (tone or character == VARIATION_SELECTOR) and line.cells[x + 1 : x + 2] != STUB and x + 1 < state.columns:
        line.write(x + 1, STUB, ord(line.look[x : x + 1] or "\0"))
        state.x = x + 2
    return True


def put(state: TerminalState, cells: str, pen: int) -> None:
    """Write `cells`, as `Widths.cells` gives them but without marks, at the cursor."""
    columns, x, end = state.columns, state.x, len(cells)
    stop = x + end
    if stop <= columns and not state.modes.insert:
        _write(state, x, cells, pen)
        state.x = stop if stop < columns or state.modes.wrap else columns - 1
        return
    if not state.flows:
        _put_singly(state, cells, pen)
        return
    start = 0
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


def _put_singly(state: TerminalState, cells: str, pen: int) -> None:
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


def _write(state: TerminalState, x: int, cells: str, pen: int) -> None:
    y = state.y
    grid = state.grid
    line = grid.lines[y]
    grid.dirty |= 1 << y
    old = line.cells
    if x >= len(old) or old.isascii() or STUB not in old[x : x + len(cells) + 1]:
        line.write(x, cells, pen)
        return
    collects = state.flows and state.acs_pen is None
    for part in (_PARTS if collects else _CELLS).findall(cells):
        # What has joined plain ASCII has joined it where it was written already.
        _blank_halves(state, line, x, part, collects and line.symbols.text(part)[0].isascii())
        line.write(x, part, pen)
        x += len(part)


def _blank_halves(state: TerminalState, line: Line, x: int, part: str, collected: bool) -> None:
    """Blank what remains of wide characters of which `part`, written at `x`, hits the other half."""
    old = line.cells
    stop = x + len(part)
    hit = old[x : x + 1]
    rest = old[stop:]
    if hit == STUB:
        head = len(old[:x].rstrip(STUB)) - 1
        first = head <= 0 and not state.widths.quirks.blanks_halves
        if collected and (first or not _is_wide(state, line, old[head])):
            head += 1
        head = max(head, 0)
        line.erase(head, x - head, _left_behind(state, line, head))
    if rest[:1] == STUB and (collected or len(part) > 1 or hit == STUB or _is_wide(state, line, hit)):
        line.erase(stop, len(rest) - len(rest.lstrip(STUB)), _left_behind(state, line, stop))


def _left_behind(state: TerminalState, line: Line, x: int) -> int:
    """Return the style of a blanked half in column `x`: the background it had, where tmux keeps that."""
    keeps = state.widths.quirks.keeps_backgrounds and x < len(line.look)
    return line.symbols.erasers[ord(line.look[x])] if keeps else 0


def _is_wide(state: TerminalState, line: Line, cell: str) -> bool:
    text = line.symbols.text(cell)
    if state.widths.width(text[0]) == 2:
        return True
    return state.widths.quirks.widens and not _WIDENING.isdisjoint(text)
