"""The fast way for a program that just prints lines at the bottom of the screen.

While it does, the screen is a window over the end of what it printed: whole blocks of lines go in below, and as many
rows go out above into history. Nothing is drawn. A block is text and SGR, each line ended by CR LF; whatever else the
program sends makes rows of the window again (`FastPath.settle`), and everything goes on the general way (terminal.py).

What it takes: the cursor at the beginning of an empty bottom line, the whole screen as scroll region, no mode or
charset that changes what text means, and no background, which would colour the lines that come.

What it gains is measured in docs/terminal.md.
"""

import re
from typing import Final

from streamrelay.vt.clusters import width_of
from streamrelay.vt.history import RowQueue, StoredRow
from streamrelay.vt.lazy_lines import GRAPHICS, NEW_LINE, Printed, rows_of_lines, style_after
from streamrelay.vt.rows import Line
from streamrelay.vt.state import TerminalState
from streamrelay.vt.styles import DEFAULT
from streamrelay.vt.tokens import UNFINISHED
from streamrelay.vt.widths import VARIATION_SELECTOR, ZWJ

_MIN_BLOCK: Final = 400
"""Characters that are worth leaving the general way for: coming back makes a row object for every line."""
_MAX_OPEN: Final = 1000
"""Characters of a line without its end that are kept to be looked at again with what follows."""
_MIN_COLUMNS: Final = 4
_LINES = re.compile(r"(?:[^\x00-\x1f]*+\r\n)*+")
# The same for text of which that is known: a class that is one range is looked through in half of the time.
_ASCII_LINES = re.compile(r"(?:[ -\x7f]*+\r\n)*+")
# Groups that may fail halfway are greedy: see tokens.py.
_BLOCK = re.compile(r"(?:[^\x00-\x1f]*+(?:\x1b\[[0-9;:]*+m[^\x00-\x1f]*+)*\r\n)+")
_CONTROL = re.compile(r"[\x00-\x1f]")


class FastPath:
    """Lines on their way through a screen."""

    def __init__(self, state: TerminalState) -> None:
        """Take the screen of `state`; see `possible`."""
        self._state = state
        self._grid = state.grid
        self._window = RowQueue()
        for line in self._grid.lines[:-1]:
            self._window.append(line)
        self.printed = 0
        """Characters that were lines so far."""
        self._style = state.style
        """The style that the open line begins in."""
        self._open = ""
        """The line that has no end yet, as it was printed."""
        self._open_changed = False
        self._unreported = 0
        """Newest rows of the window that the grid does not count as dirty yet."""
        self._passed: list[str] | None = None
        """The texts of the lines since the last `take`, which cannot be told before the first one."""

    @staticmethod
    def possible(state: TerminalState) -> bool:
        """Whether `state` is that of a program about to print a line at the bottom."""
        bottom = state.lines - 1
        if state.y != bottom or state.x or state.top or state.bottom != bottom:
            return False
        grid = state.grid
        last = grid.lines[-1]
        return (
            not (last.cells or last.look or state.joining or state.eraser)
            and state.flows
            and state.acs_pen is None
            and grid.keeps_history
            and bottom > 0
            and state.columns >= _MIN_COLUMNS
        )

    def feed(self, text: str, start: int) -> int:
        """Print `text` from `start` on, and return where it stops to be lines; an unfinished sequence is left."""
        carried = len(self._open)
        end = text.rfind(NEW_LINE, start) + len(NEW_LINE)
        if end < start + len(NEW_LINE):
            end = start + (self._open.endswith("\r") and text.startswith("\n", start))
        if end > start:
            body = self._open + text[start:end]
            read = self._print(body)
            if not read:
                return start
            if read < len(body):
                return start + read - carried
            start = end
        return self._keep_open(text, start)

    def _print(self, body: str) -> int:
        """Print the lines at the beginning of `body`, and return the length of what they were."""
        texts, sequences = GRAPHICS.subn("", body) if "\x1b" in body else (body, 0)
        if (_ASCII_LINES if texts.isascii() else _LINES).fullmatch(texts) is None:
            block = _BLOCK.match(body)
            if block is None or block.end() < len(self._open):
                return 0
            body = block[0]
            texts = GRAPHICS.sub("", body) if sequences else body
        state = self._state
        if not (texts.isascii() or self._is_plain(texts, body)):
            return 0
        lines = texts.split(NEW_LINE)
        lines.pop()
        wrapped: frozenset[int] = frozenset()
        longest = max(map(len, lines))
        if longest > state.columns or (longest * 2 > state.columns and not texts.isascii()):
            if VARIATION_SELECTOR in texts and any(map(self._widens_at_margin, lines)):
                return 0
            lines, wrapped = rows_of_lines(lines, state.columns, state.widths)
        style = self._style
        raw = body if sequences or style != DEFAULT else ""
        padded = f" {NEW_LINE}" in texts
        printed = Printed(raw, lines, wrapped, style, padded=padded, columns=state.columns, widths=state.widths)
        if self._passed is not None:
            self._remember_passed(printed)
        self._style = style_after(style, body) if sequences else style
        self._open = ""
        self.printed += len(body)
        self._scroll(printed)
        return len(body)

    def _is_plain(self, texts: str, body: str) -> bool:
        """Whether `texts`, which are `body` without its styles, are shown as they are."""
        # Each part between two styles has columns of its own, so none may take or give some over a style.
        over_style = f"{ZWJ}\x1b" in body or f"m{VARIATION_SELECTOR}" in body
        return not over_style and self._state.widths.is_plain(texts.replace(NEW_LINE, "\n"))

    def _widens_at_margin(self, line: str) -> bool:
        """Whether a character of `line` may have to be widened where there is no column for it."""
        widths = self._state.widths
        if not widths.quirks.widens or VARIATION_SELECTOR not in line:
            return False
        return width_of(line, widths) > self._state.columns

    def _remember_passed(self, printed: Printed) -> None:
        texts = printed.unwrapped_texts(0, len(printed.texts))
        if self._passed and texts is not None:
            # No caller takes them: they are kept as far as history would hold them.
            texts = [*self._passed, *texts] if len(self._passed) < self._grid.history.limit else None
        self._passed = texts

    def _scroll(self, printed: Printed) -> None:
        grid, window = self._grid, self._window
        count = len(printed.texts)
        room = self._state.lines - 1
        window.extend(printed, 0, count)
        grid.history.take_in(window, count)
        grid.dirty = grid.dirty >> count
        grid.scrolled += count
        self._unreported = min(self._unreported + count, room)
        self._state.x = 0
        self._open_changed = bool(self._style.background)

    def _keep_open(self, text: str, start: int) -> int:
        """Take the beginning of a line, up to a sequence that is not finished; return where it is left."""
        if start == len(text):
            return start
        end = len(text)
        unfinished = UNFINISHED.search(text, max(start, end - 70))
        if unfinished is not None:
            end = unfinished.start()
        line = self._open + text[start:end]
        if len(line) > _MAX_OPEN:
            return start
        # The line feed that belongs to a last CR may have been cut off.
        at_margin = line.endswith("\r")
        shown = line[:-1] if at_margin else line
        if "\x1b" in shown:
            shown = GRAPHICS.sub("", shown)
        state = self._state
        if shown.isascii():
            width = len(shown)
            known = _CONTROL.search(shown) is None
        else:
            known = self._is_plain(shown, line) and "\n" not in shown
            width = width_of(shown, state.widths) if known else 0
        if not known or width > state.columns:
            return start
        if end > start:
            self._open_changed = self._open_changed or bool(shown)
            self._open = line
            state.x = 0 if at_margin else width
        return end

    def take(self) -> list[str] | None:
        """Return the texts of the lines since the last call, if they can be told (see `Frame.passed`)."""
        passed, self._passed = self._passed, []
        return passed

    @property
    def open_row(self) -> StoredRow:
        """The open line as it is now: the row that it will be if it ends here."""
        line = self._open.removesuffix("\r")
        text = GRAPHICS.sub("", line) if "\x1b" in line else line
        state = self._state
        raw = line + NEW_LINE
        printed = Printed(
            raw, [text], frozenset(), self._style, padded=True, columns=state.columns, widths=state.widths
        )
        return printed.row(0)

    def row(self, y: int) -> StoredRow:
        """Return screen line `y`, which is not the open one."""
        row = self._window.row(y)
        return row.line() if isinstance(row, Line) else row

    def rows(self, start: int, stop: int) -> RowQueue:
        """Return the screen lines `start` to `stop` (exclusive), of which the open one is none."""
        return self._window.between(start, stop)

    def report(self) -> None:
        """Tell the grid which lines changed."""
        grid = self._grid
        bottom = self._state.lines - 1
        if self._unreported:
            changed = (1 << bottom) - (1 << bottom - self._unreported)
            for above in self._window.unused(self._unreported):
                changed &= ~(1 << bottom - 1 - above)
            grid.dirty |= changed
            self._unreported = 0
        if self._open_changed:
            grid.dirty |= 1 << bottom
            self._open_changed = False

    def settle(self) -> tuple[str, int]:
        """Make lines of the window again; return what the open line holds, to be drawn, and which lines are dirty.

        Drawing it must not make the bottom line dirty a second time.
        """
        self.report()
        state, grid = self._state, self._grid
        symbols = grid.symbols
        lines = [row if isinstance(row, Line) else row.line(symbols) for row in self._window]
        state.set_style(self._style)
        lines.append(grid.blank(state.eraser))
        grid.lines = lines
        state.x = 0
        state.last = ""
        return self._open, grid.dirty


def worthwhile(text: str, start: int) -> bool:
    """Whether so many lines stand at `start` that flowing pays."""
    return len(text) - start >= _MIN_BLOCK and text.count("\n", start, start + 10 * _MIN_BLOCK) > 4
