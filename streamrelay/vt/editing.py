"""What each control does to the screen (tmux 3.3a screen-write.c, input.c); where it moves the cursor: movement.py.

* In the pending wrap, erasing and inserting cells does nothing.
* There is no DECIC, DECDC, SL, SR or DECSTR.
"""

from streamrelay.vt.cursor import cursor_position
from streamrelay.vt.printing import draw, put
from streamrelay.vt.reflow import leave_alternate
from streamrelay.vt.state import TerminalState

# Lines and cells


def scroll_up(state: TerminalState, count: int) -> None:
    """Scroll the region up; its top rows enter history."""
    state.grid.scroll_up(state.top, state.bottom, state.eraser, min(count, state.bottom - state.top + 1))


def scroll_down(state: TerminalState, count: int) -> None:
    """Scroll the region down."""
    state.grid.scroll_down(state.top, state.bottom, state.eraser, min(count, state.bottom - state.top + 1))


def insert_lines(state: TerminalState, count: int) -> None:
    """Make room for lines at the cursor, down to the end of the region (of the screen, outside of it)."""
    grid, y = state.grid, state.y
    inside, end = _end_of_lines(state)
    count = min(count, end - y)
    stay = end - y - count
    grid.move(end - stay, y, stay, state.eraser)
    if inside and count > stay:
        grid.empty(y + stay, count - stay, state.eraser)
    elif inside and count < stay:
        grid.end_wrap(y + stay - 1)


def delete_lines(state: TerminalState, count: int) -> None:
    """Take out lines at the cursor; they do not enter history."""
    grid, y = state.grid, state.y
    _, end = _end_of_lines(state)
    count = min(count, end - y)
    stay = end - y - count
    grid.move(y, y + count, stay, state.eraser)
    grid.empty(y + stay, count, state.eraser)


def _end_of_lines(state: TerminalState) -> tuple[bool, int]:
    inside = state.top <= state.y <= state.bottom
    return inside, state.bottom + 1 if inside else state.lines


def insert_characters(state: TerminalState, count: int) -> None:
    """Make room for cells at the cursor."""
    if state.x < state.columns:
        state.grid.insert_cells(state.x, state.y, min(count, state.columns - state.x), state.eraser)


def delete_characters(state: TerminalState, count: int) -> None:
    """Take out cells at the cursor."""
    if state.x < state.columns:
        state.grid.delete_cells(state.x, state.y, min(count, state.columns - state.x), state.eraser)


def erase_characters(state: TerminalState, count: int) -> None:
    """Erase cells from the cursor on."""
    if state.x < state.columns:
        state.grid.erase(state.x, state.y, min(count, state.columns - state.x), state.eraser)


def erase_in_line(state: TerminalState, how: int) -> None:
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


def erase_in_display(state: TerminalState, how: int, which: int = 0) -> None:
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


def alignment_display(state: TerminalState) -> None:
    """Fill the screen with E, in the default look, and home."""
    grid = state.grid
    state.top, state.bottom = 0, state.lines - 1
    state.x = state.y = 0
    for line in grid.lines:
        line.write(0, "E" * state.columns, 0)
    grid.touch(0, state.lines - 1)


def repeat(state: TerminalState, count: int) -> None:
    """Write the character before this control again, as often as columns are left at most."""
    again = state.last[-1:] * min(count, state.columns - state.x)
    if not again:
        return
    if again.isascii():
        put(state, again, state.pen)
    elif state.widths.quirks.repeats_any:
        draw(state, again)


# Screen


def set_margins(state: TerminalState, top: int, bottom: int) -> None:
    """Set the region, counted from 1, and home; a region of less than two lines is ignored."""
    top, bottom = min(top, state.lines) - 1, min(bottom, state.lines) - 1
    if top < bottom:
        state.top, state.bottom = top, bottom
        if state.y:
            state.grid.restart()
        state.x = state.y = 0


def set_mode(state: TerminalState, name: str, on: bool) -> None:
    """Switch a mode that does nothing at once, by its name in `Modes`."""
    state.change_mode(name, on)


def set_origin(state: TerminalState, on: bool) -> None:
    """DECOM, which homes."""
    state.change_mode("origin", on)
    cursor_position(state, 1, 1)


def set_columns(state: TerminalState, _on: bool) -> None:
    """DECCOLM, which homes and clears; tmux never changes the width."""
    cursor_position(state, 1, 1)
    erase_in_display(state, 2)


def set_bracketed_paste(state: TerminalState, on: bool) -> None:
    """Mode 2004."""
    state.change_mode("bracketed_paste", on)
    state.events.add("bracketed_paste_on" if on else "bracketed_paste_off")


def synchronize(state: TerminalState, on: bool) -> None:
    """Mode 2026, which tmux 3.3a does not know; it changes nothing but is reported."""
    state.events.add("synchronized_begin" if on else "synchronized_end")


def set_alternate(state: TerminalState, on: bool, with_cursor: bool) -> None:
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


def reset(state: TerminalState) -> None:
    """RIS: everything but the alternate screen, the title and history goes back to the beginning."""
    state.reset()
    erase_in_display(state, 2)
    state.x = state.y = 0
    state.events.add("reset")
