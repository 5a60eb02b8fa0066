"""pyte's events with tmux's meaning, so that a `pyte.Stream` attached to the screen drives it, too.

Counts are as pyte gives them: from 1; None and 0 mean 1. What a stream of pyte's cannot tell (alternate
screen, REP, scrolling, private forms) is only to be had through `TmuxScreen.feed`.
"""

from typing import Any

from pyte.screens import HistoryScreen

from streamrelay.vt import cursor as move
from streamrelay.vt import editing as op
from streamrelay.vt.dispatch import MODES, PRIVATE_MODES
from streamrelay.vt.printing import draw
from streamrelay.vt.terminal import Terminal


class PyteEvents(HistoryScreen):
    """The events of `pyte.Stream` as operations on a terminal."""

    _terminal: Terminal

    # pyte's hook wraps every event to leave paging first, at two fifths of all time; here `feed` looks once.
    __getattribute__ = object.__getattribute__

    def draw(self, data: str) -> None:
        """Write text at the cursor."""
        draw(self._terminal.state, data)

    def bell(self, *_args: Any) -> None:
        """Ring."""
        move.bell(self._terminal.state)

    def backspace(self) -> None:
        """Move left, or up through a soft wrap."""
        move.backspace(self._terminal.state)

    def tab(self) -> None:
        """Move to the next tab stop."""
        move.tab(self._terminal.state)

    def linefeed(self) -> None:
        """Move down, scrolling at the bottom; the column stays."""
        move.linefeed(self._terminal.state)

    def carriage_return(self) -> None:
        """Move to the first column."""
        move.carriage_return(self._terminal.state)

    def shift_out(self) -> None:
        """Use G1."""
        move.shift(self._terminal.state, True)

    def shift_in(self) -> None:
        """Use G0."""
        move.shift(self._terminal.state, False)

    def define_charset(self, code: str, mode: str) -> None:
        """Choose G0 ("(") or G1 (")"): tmux knows ASCII ("B") and line drawing ("0")."""
        if mode in "()" and code in "0B":
            move.define_charset(self._terminal.state, "g0" if mode == "(" else "g1", code == "0")

    def index(self) -> None:
        """Move down, scrolling at the bottom."""
        move.linefeed(self._terminal.state)

    def reverse_index(self) -> None:
        """Move up, scrolling at the top."""
        move.reverse_index(self._terminal.state)

    def save_cursor(self) -> None:
        """Keep position and look."""
        move.save_cursor(self._terminal.state)

    def restore_cursor(self) -> None:
        """Go back to what was kept."""
        move.restore_cursor(self._terminal.state)

    def set_tab_stop(self) -> None:
        """Put a tab stop at the cursor."""
        move.set_tab_stop(self._terminal.state)

    def clear_tab_stop(self, how: int = 0) -> None:
        """Take tab stops away."""
        move.clear_tab_stop(self._terminal.state, how)

    def alignment_display(self) -> None:
        """Fill the screen with E."""
        op.alignment_display(self._terminal.state)

    def insert_characters(self, count: int | None = None) -> None:
        """Make room for cells."""
        op.insert_characters(self._terminal.state, count or 1)

    def delete_characters(self, count: int | None = None) -> None:
        """Take out cells."""
        op.delete_characters(self._terminal.state, count or 1)

    def erase_characters(self, count: int | None = None) -> None:
        """Erase cells."""
        op.erase_characters(self._terminal.state, count or 1)

    def insert_lines(self, count: int | None = None) -> None:
        """Make room for lines."""
        op.insert_lines(self._terminal.state, count or 1)

    def delete_lines(self, count: int | None = None) -> None:
        """Take out lines."""
        op.delete_lines(self._terminal.state, count or 1)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """Erase in the cursor's line; tmux does not know the private form."""
        if not private:
            op.erase_in_line(self._terminal.state, how)

    def erase_in_display(self, how: int = 0, *_args: Any, **kwargs: Any) -> None:
        """Erase on the screen, or history; tmux does not know the private form."""
        if not kwargs.get("private"):
            op.erase_in_display(self._terminal.state, how)

    def cursor_up(self, count: int | None = None) -> None:
        """Move up."""
        move.cursor_up(self._terminal.state, count or 1)

    def cursor_down(self, count: int | None = None) -> None:
        """Move down."""
        move.cursor_down(self._terminal.state, count or 1)

    def cursor_forward(self, count: int | None = None) -> None:
        """Move right."""
        move.cursor_forward(self._terminal.state, count or 1)

    def cursor_back(self, count: int | None = None) -> None:
        """Move left."""
        move.cursor_back(self._terminal.state, count or 1)

    def cursor_up1(self, count: int | None = None) -> None:
        """Move up, to the first column."""
        move.cursor_up1(self._terminal.state, count or 1)

    def cursor_down1(self, count: int | None = None) -> None:
        """Move down, to the first column."""
        move.cursor_down1(self._terminal.state, count or 1)

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        """Move to a line and column."""
        move.cursor_position(self._terminal.state, line or 1, column or 1)

    def cursor_to_column(self, column: int | None = None) -> None:
        """Move to a column."""
        move.cursor_to_column(self._terminal.state, column or 1)

    def cursor_to_line(self, line: int | None = None) -> None:
        """Move to a line."""
        move.cursor_to_line(self._terminal.state, line or 1)

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """Set the scroll region."""
        op.set_margins(self._terminal.state, top or 1, bottom or self._terminal.lines)

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        """Switch modes on."""
        self._switch(modes, kwargs, True)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        """Switch modes off."""
        self._switch(modes, kwargs, False)

    def _switch(self, modes: tuple[int, ...], kwargs: dict[str, Any], on: bool) -> None:
        table = PRIVATE_MODES if kwargs.get("private") else MODES
        for mode in modes:
            if mode in table:
                table[mode](self._terminal.state, on)

    def select_graphic_rendition(self, *attrs: int) -> None:
        """Choose the look of what is written from here on."""
        state = self._terminal.state
        state.set_style(state.style.after(attrs))

    def set_title(self, param: str) -> None:
        """Set the title."""
        self._terminal.state.set_title(param)

    def set_icon_name(self, param: str) -> None:
        """Do nothing: tmux has no icons."""

    def reset(self) -> None:
        """Reset everything but the title and history."""
        op.reset(self._terminal.state)
