"""Programs that go up to rows which they have passed: of each such row, only the last state is said.

Several bars at once (images that are pulled, nested loops) are drawn by printing a line for each, going up, and
printing them anew, with the cursor shown and a rest between. A program that has painted over a row it had passed has
shown that this row is not final, and neither is any below it; and so has one that rests with its cursor in such a row.
So rows are held from the highest one of these, until

* they have left the screen: nothing can reach them there;
* the program prints below the row from which it went up, and has not moved to another row for `PATIENCE`;
* it asks for input, or its pane closes; or its turn is over, with the cursor below all of them.

What was said of those rows before, in their first state, is not said again, wherever among them it stands by then (a
note printed above the bars moves them down).

Rows are compared where the program moves its cursor to another row, and at the next rest: a program that just prints
pays nothing for this.
"""

from collections import Counter
from collections.abc import Sequence

from streamrelay.delta.lines import LineTracker, join_wrapped
from streamrelay.vt.engine import Frame

PATIENCE = 1.0
"""Seconds without such a movement after which the rows are final, where the program goes on printing below them."""


class Repainting:
    """Holds the rows of one pane that its program has gone up to, and knows what was said of them."""

    def __init__(self, lines: LineTracker) -> None:
        self._lines = lines
        self._standing: list[tuple[int, str, bool]] = []
        """The rows that had been passed when the program began to move: number, text, whether the next goes on."""
        self._said: Counter[str] = Counter()
        self._passed_to = 0
        """The row up to which lines had been passed before the program went up."""
        self._bottom = 0
        """The lowest row from which it went up."""
        self._moved = 0.0

    @property
    def holds(self) -> bool:
        """Whether rows are held."""
        return self._lines.is_back

    @property
    def due(self) -> float | None:
        """When the rows that are held are final, if the program goes on as it does now."""
        prints_below = self.holds and self._lines.cursor_row > self._bottom
        return self._moved + PATIENCE if prints_below else None

    def forget(self) -> None:
        """Rows have other numbers now."""
        self._standing.clear()
        self._said.clear()
        self._lines.is_back = False

    def begin_to_move(self, frame: Frame, now: float) -> None:
        """The program is about to move its cursor to another row."""
        if frame.alternate:
            return
        self._standing = [
            (number, row.text.rstrip(), row.wrapped)
            for number, row in self._lines.rows(frame, frame.history_total, self._lines.first_row)
        ]
        self._moved = now
        if self.holds:
            self._bottom = max(self._bottom, self._lines.cursor_row)

    def stop_looking(self) -> None:
        """What is painted from here on is no progress."""
        self._standing = []

    def look(self, frame: Frame, *, linear: bool) -> bool:
        """Go back to the highest row that was painted over since the program began to move, or to that in which it
        rests now; was there any?

        While it is `linear` it goes up to none.
        """
        standing = self._standing
        if not standing or frame.alternate:
            return False
        now = {
            number: row.text.rstrip() for number, row in self._lines.rows(frame, standing[0][0], standing[-1][0] + 1)
        }
        cursor_row = frame.history_total + frame.cursor.y
        changed = next(
            (at for at, (number, was, _) in enumerate(standing) if number == cursor_row or now.get(number, was) != was),
            None,
        )
        if linear:
            self._standing = []
        if changed is None:
            return False
        while changed and standing[changed - 1][2]:
            changed -= 1
        if not self.holds:
            self._passed_to = self._lines.first_row
            self._bottom = max(self._passed_to, self._lines.cursor_row)
        self._said.update(join_wrapped([(text, wrapped) for _, text, wrapped in standing[changed:]]))
        self._lines.go_back(standing[changed][0])
        self._standing = [] if linear else standing[:changed]
        return True

    def passed(self, frame: Frame) -> list[str]:
        """Return what is final of a frame while rows are held: what has left the screen."""
        lines = self._unsaid(self._lines.passed(frame, held=True, until=self._bottom + 1))
        lines += self._lines.passed(frame, held=True)
        if self._lines.first_row > self._bottom:
            self.forget()
            lines += self._lines.passed(frame)
        return lines

    def release(self, frame: Frame, *, ends: bool) -> list[str]:
        """Return the rows above the cursor: they are final. Those below it are held on, unless the program `ends`.

        On the other screen the cursor tells nothing of these rows.
        """
        if frame.alternate:
            return []
        lines = self._unsaid(self._lines.passed(frame, until=self._bottom + 1))
        lines += self._lines.passed(frame)
        if ends or self._lines.first_row >= self._passed_to:
            self.forget()
        return lines

    def _unsaid(self, lines: Sequence[str]) -> list[str]:
        unsaid = []
        for line in lines:
            if self._said[line] > 0:
                self._said[line] -= 1
            else:
                unsaid.append(line)
        return unsaid
