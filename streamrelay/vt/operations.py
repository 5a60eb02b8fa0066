"""What each control does (tmux 3.3a screen-write.c, input.c). Counts are at least 1 where tmux takes 0 for 1.

* The pending wrap is a column of its own: moving left counts from it, moving up or down steps back from it, erasing
  and inserting cells there does nothing, restoring the cursor ends it.
* Origin mode shifts absolute moves, but setting the region homes to the corner of the screen.
* Backspace at the left edge goes up to the end of a line that was soft-wrapped.
* There is no CHT, HPR, VPR, DECIC, DECDC, SL, SR, DECSTR, line feed mode or reverse wrap.
"""

from dataclasses import replace

from streamrelay.vt.drawing import put
from streamrelay.vt.reflow import leave_alternate
from streamrelay.vt.state import Saved, State

# C0


def bell(state: State) -> None:
    """Ring."""
    state.events.add("bell")


def backspace(state: State) -> None:
    """Move left, or up through a soft wrap."""
    if state.x:
        state.x -= 1
    elif state.y and state.grid.lines[state.y - 1].wrapped:
        state.y -= 1
        state.x = state.columns - 1


def tab(state: State) -> None:
    """Move to the next tab stop, or to the last column."""
    last = state.columns - 1
    if state.x < last:
        state.x = min((stop for stop in state.tabs if stop > state.x), default=last)


def linefeed(state: State) -> None:
    """Move down, scrolling at the bottom of the region."""
    state.index(state.eraser)


def carriage_return(state: State) -> None:
    """Move to the first column."""
    state.x = 0


def new_line(state: State) -> None:
    """Carriage return and line feed."""
    state.x = 0
    state.index(state.eraser)


def shift(state: State, out: bool) -> None:
    """Use G1, or G0 again."""
    state.set_charsets(replace(state.charsets, shifted=out))


def define_charset(state: State, which: str, acs: bool) -> None:
    """Make G0 ("g0") or G1 the line-drawing charset, or ASCII."""
    charsets = state.charsets
    state.set_charsets(replace(charsets, g0=acs) if which == "g0" else replace(charsets, g1=acs))


# Cursor


def cursor_up(state: State, count: int) -> None:
    """Move up, not out of the region."""
    y = state.y
    room = y if y < state.top else y - state.top
    if state.x == state.columns:
        state.x -= 1
    state.y = y - count if count < room else y - room


def cursor_down(state: State, count: int) -> None:
    """Move down, not out of the region."""
    y = state.y
    room = (state.lines - 1 if y > state.bottom else state.bottom) - y
    if state.x == state.columns:
        state.x -= 1
    state.y = y + count if count < room else y + room


def cursor_forward(state: State, count: int) -> None:
    """Move right."""
    state.x = min(state.x + count, state.columns - 1)


def cursor_back(state: State, count: int) -> None:
    """Move left."""
    state.x = max(state.x - count, 0)


def cursor_down1(state: State, count: int) -> None:
    """Move down and to the first column."""
    state.x = 0
    cursor_down(state, count)


def cursor_up1(state: State, count: int) -> None:
    """Move up and to the first column."""
    state.x = 0
    cursor_up(state, count)


def cursor_position(state: State, line: int, column: int) -> None:
    """Move to a line and column counted from 1."""
    cursor_to_line(state, line)
    state.x = min(column, state.columns) - 1


def cursor_to_column(state: State, column: int) -> None:
    """Move to a column counted from 1."""
    state.x = min(column, state.columns) - 1


def cursor_to_line(state: State, line: int) -> None:
    """Move to a line counted from 1, of the region in origin mode."""
    y = line - 1
    if state.modes.origin:
        y = min(y + state.top, state.bottom)
    state.y = min(y, state.lines - 1)


def back_tab(state: State, count: int) -> None:
    """Move back over `count` tab stops."""
    x = min(state.x, state.columns - 1)
    while count and x:
        x = max((stop for stop in state.tabs if stop < x), default=0)
        count -= 1
    state.x = x


def save_cursor(state: State) -> None:
    """Keep position, style, charsets and origin mode."""
    state.saved = Saved(state.x, state.y, state.style, state.charsets, state.modes.origin)


def restore_cursor(state: State) -> None:
    """Go back to what was kept; without that, home and to the default look."""
    saved = state.saved
    state.charsets = saved.charsets
    state.set_style(saved.style)
    state.change_mode("origin", saved.origin)
    state.move_to(saved.x, saved.y)


def reverse_index(state: State) -> None:
    """Move up, scrolling down at the top of the region."""
    if state.y == state.top:
        state.grid.scroll_down(state.top, state.bottom, state.eraser)
    elif state.y:
        state.y -= 1


def set_tab_stop(state: State) -> None:
    """Put a tab stop at the cursor."""
    if state.x < state.columns:
        state.tabs |= {state.x}


def clear_tab_stop(state: State, how: int) -> None:
    """Take away the tab stop at the cursor (0) or all of them (3)."""
    if how == 0:
        state.tabs -= {state.x}
    elif how == 3:
        state.tabs = frozenset()


# Lines and cells


def scroll_up(state: State, count: int) -> None:
    """Scroll the region up; its top rows enter history."""
    state.grid.scroll_up(state.top, state.bottom, state.eraser, min(count, state.bottom - state.top + 1))


def scroll_down(state: State, count: int) -> None:
    """Scroll the region down."""
    state.grid.scroll_down(state.top, state.bottom, state.eraser, min(count, state.bottom - state.top + 1))


def insert_lines(state: State, count: int) -> None:
    """Make room for lines at the cursor, down to the end of the region (of the screen, outside of it)."""
    grid, y = state.grid, state.y
    inside, end = _end_of_lines(state)
    count = min(count, end - y)
    stay = end - y - count
    grid.move(end - stay, y, stay, state.eraser)
    if inside and count > stay:
        grid.empty(y + stay, count - stay, state.eraser)
    elif inside and count < stay:
        grid.untie(y + stay - 1)


def delete_lines(state: State, count: int) -> None:
    """Take out lines at the cursor; they do not enter history."""
    grid, y = state.grid, state.y
    _, end = _end_of_lines(state)
    count = min(count, end - y)
    stay = end - y - count
    grid.move(y, y + count, stay, state.eraser)
    grid.empty(y + stay, count, state.eraser)


def _end_of_lines(state: State) -> tuple[bool, int]:
    inside = state.top <= state.y <= state.bottom
    return inside, state.bottom + 1 if inside else state.lines


def insert_characters(state: State, count: int) -> None:
    """Make room for cells at the cursor."""
    if state.x < state.columns:
        state.grid.insert_cells(state.x, state.y, min(count, state.columns - state.x), state.eraser)


def delete_characters(state: State, count: int) -> None:
    """Take out cells at the cursor."""
    if state.x < state.columns:
        state.grid.delete_cells(state.x, state.y, min(count, state.columns - state.x), state.eraser)


def erase_characters(state: State, count: int) -> None:
    """Erase cells from the cursor on."""
    if state.x < state.columns:
        state.grid.erase(state.x, state.y, min(count, state.columns - state.x), state.eraser)


def erase_in_line(state: State, how: int) -> None:
    """Erase from the cursor on (0), up to and with it (1) or the whole line (2)."""
    grid, x, y = state.grid, state.x, state.y
    columns = state.columns
    if how == 2 or (how == 0 and x == 0) or (how == 1 and x >= columns - 1):
        line = grid.lines[y]
        if line.cells or line.look or state.eraser:
            grid.empty(y, 1, state.eraser)
    elif how == 0:
        grid.erase(x, y, columns - x, state.eraser)
    elif how == 1:
        grid.erase(0, y, x + 1, state.eraser)


def erase_in_display(state: State, how: int, which: int = 0) -> None:
    """Erase below (0), above (1), all (2), or history (3)."""
    grid, x, y, eraser = state.grid, state.x, state.y, state.eraser
    if how == 2 or (how == 0 and x == 0 and y == 0):
        if grid.keeps_history:
            grid.clear_into_history(eraser)
        else:
            grid.empty(0, state.lines, eraser)
    elif how == 0:
        grid.erase(x, y, state.columns - x, eraser)
        grid.empty(y + 1, state.lines - y - 1, eraser)
    elif how == 1:
        grid.empty(0, y, eraser)
        grid.erase(0, y, min(x + 1, state.columns), eraser)
    elif how == 3 and which == 0:
        grid.history.wipe()
        state.events.add("history_cleared")


def alignment_display(state: State) -> None:
    """Fill the screen with E, in the default look, and home."""
    grid = state.grid
    state.top, state.bottom = 0, state.lines - 1
    state.x = state.y = 0
    for line in grid.lines:
        line.write(0, "E" * state.columns, 0)
    grid.touch(0, state.lines - 1)


def repeat(state: State, count: int) -> None:
    """Write the character before this control again, up to the end of the line at most; ASCII only."""
    if state.last and state.last[-1].isascii():
        put(state, state.last[-1] * min(count, state.columns - state.x), state.pen)


# Screen


def set_margins(state: State, top: int, bottom: int) -> None:
    """Set the region, counted from 1, and home; a region of less than two lines is ignored."""
    top, bottom = min(top, state.lines) - 1, min(bottom, state.lines) - 1
    if top < bottom:
        state.top, state.bottom = top, bottom
        state.x = state.y = 0


def set_mode(state: State, name: str, on: bool) -> None:
    """Switch a mode that does nothing at once, by its name in `Modes`."""
    state.change_mode(name, on)


def set_origin(state: State, on: bool) -> None:
    """DECOM, which homes."""
    state.change_mode("origin", on)
    cursor_position(state, 1, 1)


def set_columns(state: State, _on: bool) -> None:
    """DECCOLM, which homes and clears; tmux never changes the width."""
    cursor_position(state, 1, 1)
    erase_in_display(state, 2)


def set_bracketed_paste(state: State, on: bool) -> None:
    """Mode 2004."""
    state.change_mode("bracketed_paste", on)
    state.events.add("bracketed_paste_on" if on else "bracketed_paste_off")


def synchronize(state: State, on: bool) -> None:
    """Mode 2026, which tmux 3.3a does not know; it changes nothing but is reported."""
    state.events.add("synchronized_begin" if on else "synchronized_end")


def set_alternate(state: State, on: bool, with_cursor: bool) -> None:
    """Show the alternate screen, or the main one; with mode 1049 position and style are kept as well.

    tmux brings position and style back even where the alternate screen was never shown.
    """
    grid = state.grid
    alternate = grid.saved is not None
    if on and not alternate:
        state.main_style = state.style
        if with_cursor:
            state.main_cursor = state.x, state.y
        grid.enter_alternate()
        state.events.add("alternate_on")
    elif not on:
        leave_alternate(state, with_cursor=with_cursor)
        if alternate:
            state.events.add("alternate_off")


def reset(state: State) -> None:
    """RIS: everything but the alternate screen, the title and history goes back to the beginning."""
    state.reset()
    erase_in_display(state, 2)
    state.x = state.y = 0
    state.events.add("reset")
