"""Where each control moves the cursor (tmux 3.3a screen-write.c, input.c), and what it writes with from there on.

* The pending wrap is a column of its own: moving left counts from it, moving up or down steps back from it, restoring
  the cursor ends it.
* Origin mode shifts absolute moves, but setting the region homes to the corner of the screen.
* Backspace at the left edge goes up to the end of a line that was soft-wrapped.
* There is no CHT, HPR, VPR, line feed mode or reverse wrap.
"""

from dataclasses import replace

from streamrelay.vt.excursion import Excursion
from streamrelay.vt.rows import PLAIN
from streamrelay.vt.state import Saved, TerminalState

# C0


def bell(state: TerminalState) -> None:
    """Ring."""
    state.events.add("bell")


def backspace(state: TerminalState) -> None:
    """Move left, or up through a soft wrap."""
    if state.x:
        state.x -= 1
    elif state.y and state.grid.lines[state.y - 1].wrapped:
        state.y -= 1
        state.x = state.columns - 1


def tab(state: TerminalState) -> None:
    """Move to the next tab stop, or to the last column; where tabs fill (`Quirks`), blanks of one look are in use."""
    x, last = state.x, state.columns - 1
    if x >= last:
        return
    state.x = min((stop for stop in state.tabs if stop > x), default=last)
    if state.widths.quirks.fills_tabs:
        line = state.grid.lines[state.y]
        if not line.cells[x : state.x].strip(" ") and len({*line.look[x : state.x].ljust(state.x - x, PLAIN)}) == 1:
            line.cells = line.cells.ljust(state.x)


def linefeed(state: TerminalState) -> None:
    """Move down, scrolling at the bottom of the region."""
    if state.grid.returns:
        state.grid.line_feed(state.y)
    state.index(state.eraser)


def carriage_return(state: TerminalState) -> None:
    """Move to the first column."""
    state.x = 0
    state.grid.carriage_return(state.y)


def new_line(state: TerminalState) -> None:
    """Carriage return and line feed."""
    state.x = 0
    linefeed(state)


def shift(state: TerminalState, out: bool) -> None:
    """Use G1, or G0 again."""
    state.set_charsets(replace(state.charsets, shifted=out))


def define_charset(state: TerminalState, which: str, acs: bool) -> None:
    """Make G0 ("g0") or G1 the line-drawing charset, or ASCII."""
    charsets = state.charsets
    state.set_charsets(replace(charsets, g0=acs) if which == "g0" else replace(charsets, g1=acs))


# Cursor


def cursor_up(state: TerminalState, count: int) -> None:
    """Move up, not out of the region."""
    y = state.y
    room = y if y < state.top else y - state.top
    if state.x == state.columns:
        state.x -= 1
    state.y = y - count if count < room else y - room
    if y and not state.y:
        state.grid.restart()


def cursor_down(state: TerminalState, count: int) -> None:
    """Move down, not out of the region."""
    y = state.y
    room = (state.lines - 1 if y > state.bottom else state.bottom) - y
    if state.x == state.columns:
        state.x -= 1
    state.y = y + count if count < room else y + room


def cursor_forward(state: TerminalState, count: int) -> None:
    """Move right."""
    state.x = min(state.x + count, state.columns - 1)


def cursor_back(state: TerminalState, count: int) -> None:
    """Move left."""
    state.x = max(state.x - count, 0)


def cursor_down1(state: TerminalState, count: int) -> None:
    """Move down and to the first column."""
    state.x = 0
    cursor_down(state, count)


def cursor_up1(state: TerminalState, count: int) -> None:
    """Move up and to the first column."""
    state.x = 0
    cursor_up(state, count)


def cursor_position(state: TerminalState, line: int, column: int) -> None:
    """Move to a line and column counted from 1."""
    cursor_to_line(state, line)
    state.x = min(column, state.columns) - 1


def cursor_to_column(state: TerminalState, column: int) -> None:
    """Move to a column counted from 1."""
    state.x = min(column, state.columns) - 1


def cursor_to_line(state: TerminalState, line: int) -> None:
    """Move to a line counted from 1, of the region in origin mode."""
    y = line - 1
    if state.excursion is not None:
        state.excursion.by_number = True
    if state.modes.origin:
        y = min(y + state.top, state.bottom)
    if not y and state.y:
        state.grid.restart()
    state.y = min(y, state.lines - 1)


def back_tab(state: TerminalState, count: int) -> None:
    """Move back over `count` tab stops."""
    x = min(state.x, state.columns - 1)
    while count and x:
        x = max((stop for stop in state.tabs if stop < x), default=0)
        count -= 1
    state.x = x


def save_cursor(state: TerminalState) -> None:
    """Keep position, style, charsets and origin mode."""
    state.saved = Saved(state.x, state.y, state.style, state.charsets, state.modes.origin)
    state.excursion = Excursion(state.grid)


def restore_cursor(state: TerminalState) -> None:
    """Go back to what was kept; without that, home and to the default look."""
    saved = state.saved
    state.charsets = saved.charsets
    state.set_style(saved.style)
    state.change_mode("origin", saved.origin)
    if state.y and not saved.y:
        state.grid.restart()
    state.move_to(saved.x, saved.y)
    excursion, state.excursion = state.excursion, None
    if excursion is not None:
        excursion.end(state.grid, state.y)


def reverse_index(state: TerminalState) -> None:
    """Move up, scrolling down at the top of the region."""
    if state.y == state.top:
        state.grid.scroll_down(state.top, state.bottom, state.eraser)
    elif state.y:
        state.y -= 1


def set_tab_stop(state: TerminalState) -> None:
    """Put a tab stop at the cursor."""
    if state.x < state.columns:
        state.tabs |= {state.x}


def clear_tab_stop(state: TerminalState, how: int) -> None:
    """Take away the tab stop at the cursor (0) or all of them (3)."""
    if how == 0:
        state.tabs -= {state.x}
    elif how == 3:
        state.tabs = frozenset()
