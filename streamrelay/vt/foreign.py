"""Engines made by others behind the seam: what they don't tell is worked out by looking at their screen.

They keep to their own rules, xterm's mostly, not to tmux's. So none of them is used unless the caller asks for it, and
what each gets wrong is listed, test by test, in the contract suite.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.vt.engine import Cursor, Frame, Run, Snapshot
from streamrelay.vt.tokens import Tokenizer

_NOTHING = re.compile("[\x80-\x9f\udc80-\udcff]")
"""8-bit controls and bytes that are no UTF-8: nothing to tmux, and others would obey or refuse them."""
_ALTERNATE = re.compile(r"\x1b\[\?(?:47|1047|1049)([hl])")


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """A row copied from another engine: the characters of each column, empty right of a wide one."""

    cells: tuple[str, ...]
    runs: tuple[Run, ...] = ()
    wrapped: bool = False

    @property
    def text(self) -> str:
        """The characters, without trailing blanks: these engines don't tell written ones."""
        return "".join(self.cells).rstrip(" ")

    def columns(self, start: int, stop: int) -> str:
        """Return the characters whose first column is in `start` to `stop` (exclusive)."""
        used = len(self.cells)
        while used and self.cells[used - 1] == " ":
            used -= 1
        return "".join(self.cells[max(start, 0) : min(max(stop, 0), used)])


class RowList(tuple[ForeignRow, ...]):
    """Rows that are all there."""

    __slots__ = ()

    def texts(self) -> list[str] | None:
        """Return the texts of all rows, without blanks at their ends, if none is soft-wrapped."""
        return None if any(row.wrapped for row in self) else [row.text for row in self]


class ForeignEngine(ABC):
    """An `Engine` around a screen that knows of no frames.

    A frame compares the whole screen with the one before, so a take costs O(cells), and a scroll is told as changed
    lines. The wrapped engine has to say nothing but its rows, its cursor and what scrolled out.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self.columns = columns
        self.lines = lines
        self._tokens = Tokenizer()
        self._committed: list[ForeignRow] = []
        self._total = 0
        self._epoch = 0
        self._alternate = False
        self._begin(columns, lines)
        self._shown = self._rows()

    @abstractmethod
    def _begin(self, columns: int, lines: int) -> None:
        """Set up an empty screen."""

    @abstractmethod
    def _feed(self, text: str) -> Sequence[ForeignRow]:
        """Render text and controls; return the rows that left the screen for good."""

    @abstractmethod
    def _resize(self, lines: int, columns: int) -> Sequence[ForeignRow]:
        """Change the size; return the rows that left the screen."""

    @abstractmethod
    def _rows(self) -> list[ForeignRow]:
        """Return the screen."""

    @abstractmethod
    def _cursor(self) -> Cursor:
        """Return where the cursor is."""

    def feed(self, data: bytes) -> None:
        """Render bytes of the program; what is unfinished waits for the next feed."""
        tokens = self._tokens.split(data)
        for control in tokens[1::2]:
            for switch in _ALTERNATE.findall(control):
                self._alternate = switch == "h"
        self._commit(self._feed(_NOTHING.sub("", "".join(tokens))))

    def feed_lines(self, data: bytes) -> int:  # that is the interface
        """Render nothing: what is printed lines is not known here."""
        return 0

    def _commit(self, rows: Sequence[ForeignRow]) -> None:
        self._committed += rows
        self._total += len(rows)

    def take(self) -> Frame:
        """Return what changed since the last take, and forget it."""
        rows = self._rows()
        pairs = zip(rows, self._shown, strict=False)
        dirty = sum(1 << y for y, (now, before) in enumerate(pairs) if now != before)
        dirty |= (1 << len(rows)) - (1 << min(len(rows), len(self._shown)))
        committed, self._committed, self._shown = RowList(self._committed), [], rows
        return Frame(
            committed=committed,
            history_total=self._total,
            history_cleared=False,
            dirty=dirty,
            scrolled=0,
            cursor=self._cursor(),
            alternate=self._alternate,
            epoch=self._epoch,
            ground=self._tokens.ground,
        )

    def row(self, y: int) -> ForeignRow:
        """Return screen line `y` as it is now."""
        return self._rows()[y]

    def rows(self, start: int, stop: int) -> RowList:
        """Return the screen lines `start` to `stop` (exclusive) as they are now."""
        return RowList(self._rows()[start:stop])

    def is_blank(self, start: int, stop: int) -> bool:
        """Return whether nothing is to be read in the screen lines `start` to `stop` (exclusive)."""
        return not any(row.text.strip() for row in self._rows()[start:stop])

    def resize(self, lines: int, columns: int) -> None:
        """Change the size, by the engine's own rules. A new epoch."""
        self._commit(self._resize(lines, columns))
        self.columns, self.lines = columns, lines
        self._epoch += 1

    def rest(self) -> None:  # noqa: B027  # what it may do is nothing
        """Stay as it is."""

    def seed(self, snapshot: Snapshot) -> None:
        """Draw the screen of `snapshot`. A new epoch; nothing of it counts as changed or committed."""
        self.columns, self.lines = snapshot.columns, snapshot.lines
        self._begin(self.columns, self.lines)
        self._tokens = Tokenizer()
        self._alternate = False
        self.feed(b"\x1b[?1049h" * snapshot.alternate)
        for y, row in enumerate(snapshot.rows[: snapshot.lines], 1):
            self.feed(b"\x1b[%d;1H" % y + row.replace(b"\x0e", b"").replace(b"\x0f", b"") + b"\x18")
        self.feed(b"\x1b[m\x1b[%d;%dH" % (snapshot.cursor.y + 1, snapshot.cursor.x + 1) + snapshot.pending)
        self._committed.clear()
        self._total = max(snapshot.history_total, len(snapshot.history))
        self._shown = self._rows()
        self._epoch += 1
