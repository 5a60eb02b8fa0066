"""From frames to logical lines: each line of a linear program once, when the line feed has passed it.

A row of the main screen is named by its absolute number, `history_total + y`: it keeps its number when it scrolls
into history. Everything above the *open line*, the one that holds the cursor, has been passed; the number of its
first row only grows. So a row repainted after it was passed is not a new line, and no line comes twice.

Soft-wrapped rows are joined: the terminal's width is not something the program said. Trailing blanks are left out,
since on a screen a written blank at the end and an erased cell look the same.
"""

from itertools import islice

from streamrelay.vt.engine import Cursor, Engine, Frame, Row, Rows

LONGEST_LINE = 200_000
"""Rows of a line that a terminal wrapped; a longer one is said in pieces: nothing may grow without end."""


class LineTracker:
    """Follows one engine and tells which logical lines have been passed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._first_row = 0
        self._scrolled: list[str] = []
        self._frame: Frame | None = None
        self._unknown = False
        self._head = ""
        self.lost = 0
        """Rows that left history before anybody could look at them."""

    def keep_head(self) -> None:
        """Keep the open line up to the cursor, for a `seed` that shows only the end of it."""
        self._head = self.open_head()

    def seed(self, frame: Frame) -> None:
        """Start at the line that holds the cursor: what stands above it was printed before anybody watched.

        Where the alternate screen is shown, the line is not known before the program leaves it.
        """
        head, self._head = self._head, ""
        self._frame = frame
        self._scrolled.clear()
        self._unknown = frame.alternate
        if frame.alternate:
            return
        y = frame.cursor.y
        while y > 0 and self._engine.row(y - 1).wrapped:
            y -= 1
        self._first_row = frame.history_total + y
        # A narrower screen holds fewer rows of a long line, and no snapshot shows those above it.
        shown = self.open_head() if y == 0 and head else ""
        if shown and head.endswith(shown):
            self._scrolled.append(head.removesuffix(shown))

    def passed(self, frame: Frame, *, held: bool = False, keep_blanks: bool = False) -> list[str]:
        """Return the logical lines that this frame has passed, in order, without blanks at their ends or with them.

        `held` says that the program may still repaint what is on the screen: only what has left it has been passed.
        """
        self._frame = frame
        if frame.alternate:
            return []
        if self._unknown:
            self.seed(frame)
        cursor_row = frame.history_total + (0 if held else frame.cursor.y)
        unfinished = self._scrolled
        printed = frame.passed
        if not (printed is None or held or keep_blanks or unfinished) and self._first_row + len(printed) == cursor_row:
            self._first_row = cursor_row
            return printed
        first_committed = frame.history_total - len(frame.committed)
        self.lost += max(0, first_committed - self._first_row)
        lines: list[str] = []
        number = first_unfinished = max(self._first_row, first_committed)
        stretches: list[tuple[int, Rows]] = [(first_committed, frame.committed)]
        on_screen_from = max(number, frame.history_total)
        if on_screen_from < cursor_row:
            screen = self._engine.rows(on_screen_from - frame.history_total, cursor_row - frame.history_total)
            stretches.append((on_screen_from, screen))
        for first, rows in stretches:
            start, stop = number - first, min(cursor_row - first, len(rows))
            if start >= stop:
                continue
            texts = None if unfinished or keep_blanks else rows.texts()
            if texts is not None:
                lines += texts[start:stop]
                number = first_unfinished = first + stop
                continue
            for row in islice(rows, start, stop):
                number += 1
                unfinished.append(row.text)
                if not row.wrapped or len(unfinished) >= LONGEST_LINE:
                    line = "".join(unfinished)
                    lines.append(line if keep_blanks else line.rstrip(" "))
                    unfinished.clear()
                    first_unfinished = number
        # Rows of the open line that are still on the screen can change: only those in history are kept as text.
        on_screen = max(0, number - max(first_unfinished, frame.history_total))
        if on_screen and unfinished:
            del unfinished[-on_screen:]
        self._first_row = max(self._first_row, number - on_screen)
        return lines

    def exceeds(self, characters: int) -> bool:
        """Tell quickly whether so many characters of the open line, and more, have left the screen."""
        for row in self._scrolled:
            characters -= len(row)
            if characters < 0:
                return True
        return False

    @property
    def has_passed(self) -> bool:
        """Whether lines stand above the cursor that were not returned, since they may still be repainted."""
        frame = self._frame
        return frame is not None and not frame.alternate and self._first_row < frame.history_total + frame.cursor.y

    @property
    def is_past_all(self) -> bool:
        """Whether the cursor stands at the beginning of an empty line, with nothing below it."""
        frame, engine = self._frame, self._engine
        if frame is None or frame.alternate or frame.cursor.x or self._scrolled:
            return False
        y = frame.cursor.y
        if engine.row(y).text.strip():
            return False
        return y + 1 == engine.lines or engine.is_blank(y + 1, engine.lines)

    @property
    def cursor(self) -> Cursor:
        """Where the cursor was in the last frame."""
        return self._frame.cursor if self._frame is not None else Cursor(0, 0)

    def open_text(self) -> str:
        """Return the open line as it stands, up to its last cell in use."""
        if self._frame is None or self._frame.alternate:
            return ""
        return "".join(self._scrolled) + "".join(row.text for row in self._open_rows())

    def open_head(self) -> str:
        """Return the open line up to the cursor; empty while the cursor is on the other screen or above the line."""
        frame = self._frame
        rows = self._open_rows(until=frame.cursor.y) if frame is not None else []
        if frame is None or not rows:
            return ""
        head = rows[-1].columns(0, frame.cursor.x)
        return "".join(self._scrolled) + "".join(row.text for row in rows[:-1]) + head

    def _open_rows(self, until: int | None = None) -> list[Row]:
        if self._frame is None or self._frame.alternate:
            return []
        last = self._engine.lines - 1 if until is None else until
        rows: list[Row] = []
        y = self._first_row - self._frame.history_total
        while 0 <= y <= last:
            rows.append(self._engine.row(y))
            if not rows[-1].wrapped:
                break
            y += 1
        return rows
