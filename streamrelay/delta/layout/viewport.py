"""A transcript that a program shows through a window of its own on the main screen.

Most programs on the main screen print their transcript and repaint only what stands at its end: what leaves the screen
is in the history. Others paint a window below the prompt they were started from and let their text scroll, or be
replaced, inside it: nothing goes into the history, and rows that leave the window are lost unless they were recorded.

The kind of a program shows when the message that it answers leaves the screen: if the message did not go into the
history, and stands nowhere else, there is a window. From then on, rows that vanish at the top of the window have
scrolled away, and rows that vanish further down were only repainted.

A program that hides its cursor parks it in one column: a snapshot with the cursor in another column is half painted,
unless the next snapshot has it there as well.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from streamrelay.delta.layout.glyphs import is_border
from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.echoes import row_spelling

MIN_PART = 8
"""Characters by which a row is known again inside of other rows; a shorter one has to stand at the start of one."""


MessageIn = Callable[[Sequence[str]], int | None]


class Left(NamedTuple):
    """What left a window at its top, and whether the text goes on below it without a break."""

    rows: Sequence[PaintedRow]
    goes_on: bool


class Viewport:
    """Compares the snapshots of one main screen; a snapshot is the rows above the composer."""

    def __init__(self) -> None:
        self.is_window = False
        """Whether the program has shown itself to have a window."""
        self.top = 0
        """The first row of the screen that belongs to the window."""
        self._before: Sequence[PaintedRow] | None = None
        self._parked: int | None = None
        self._unsure: tuple[Sequence[PaintedRow], int] | None = None

    def forget(self) -> None:
        """Forget the snapshots so far."""
        self._before = self._unsure = None

    def scroll(self, rows: int) -> None:
        """Note that rows have gone into the history."""
        self.top = max(0, self.top - rows)
        if self._before is not None:
            self._before = self._before[rows:]

    def look(self, snapshot: Sequence[PaintedRow], column: int, message_in: MessageIn) -> Left | None:
        """Take a snapshot with the cursor in a column; return what left since the previous one, None if nothing did.

        `message_in` tells in which of some rows a message begins that is being answered, if any.
        """
        if column != self._parked:
            if self._unsure is None or self._unsure[1] != column:
                self._unsure = snapshot, column
                return None
            self._parked = column
        self._unsure = None
        return self._compare(snapshot, message_in)

    def settle(self, message_in: MessageIn) -> Left | None:
        """Take the last snapshot as complete: nothing more was painted."""
        unsure, self._unsure = self._unsure, None
        return self._compare(unsure[0], message_in) if unsure is not None else None

    def _compare(self, after: Sequence[PaintedRow], message_in: MessageIn) -> Left | None:
        before = self._before
        if before is None:
            self._before = after
            return None
        same = _common_beginning(before, after)
        top = min(self.top, same) if self.is_window else same
        old, new = before[top:], after[top:]
        shown = _Shown(new)
        if not shown.texts:
            # The rows are seldom gone for good: often the next snapshot shows them in another place.
            return None
        texts = [y for y, row in enumerate(old) if _is_text(row)]
        remaining = next((y for y in texts if shown.has(old[y].text)), None)
        if texts and remaining == texts[0] and all(map(_Shown(old).has, shown.texts)):
            return None
        self._before = after
        if not texts or remaining == texts[0]:
            return None
        left = old[:remaining]
        if not self.is_window:
            begins = message_in([row.text for row in old])
            if begins is None or begins >= len(left) or message_in([row.text for row in new]) is not None:
                return None
        self.is_window, self.top = True, top
        return Left(left, goes_on=remaining is not None)


class _Shown:
    """The text of some rows."""

    def __init__(self, rows: Sequence[PaintedRow]) -> None:
        self.texts = [row.text for row in rows if _is_text(row)]
        self._spelled = "".join(map(row_spelling, self.texts))

    def has(self, text: str) -> bool:
        """Tell whether a text stands in these rows, as a row, as the beginning of one, or wrapped otherwise."""
        if any(shown.startswith(text) for shown in self.texts):
            return True
        part = row_spelling(text)
        return len(part) >= MIN_PART and part in self._spelled


def _is_text(row: PaintedRow) -> bool:
    return bool(row.text.strip()) and not is_border(row.text)


def _common_beginning(before: Sequence[PaintedRow], after: Sequence[PaintedRow]) -> int:
    same = 0
    for old, new in zip(before, after, strict=False):
        if old.text != new.text:
            break
        same += 1
    return same
