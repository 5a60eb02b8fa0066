"""The history of one screen: bounded, counted, and with the rows that were not claimed yet.

* A full history loses a tenth of its limit at once, before the row that finds it full comes in (tmux 3.3a grid.c,
  grid_collect_history). A new size may have filled it beyond its limit; then every row that comes in costs a tenth.
* Rows that entered it are kept until claimed, even beyond the limit of the history (see engine.py).
"""

from collections.abc import Sequence

from streamrelay.vt.history import RowQueue, StoredRow
from streamrelay.vt.packed import PACKED_ROWS
from streamrelay.vt.rows import Line


class Scrollback(RowQueue):
    """Rows that left the screen, oldest first."""

    __slots__ = ("_claims", "_cleared_at", "_unseen", "cleared", "limit", "total")

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.total = 0
        """Rows that ever came in."""
        self.cleared = False
        """Whether it was cleared since the caller last reset this flag."""
        self._cleared_at = 0
        """What `total` was when this, or the screen into it, was cleared last."""
        self._unseen = RowQueue()
        """What came in since the last claim; it may be more than is held here (see `forget_surplus`)."""
        self._claims = False
        """Whether anybody ever claimed: until then no more than could be held here is kept."""

    def claim(self) -> RowQueue:
        """Return the rows that came in since the last claim."""
        if not self._claims:
            self._claims = True
            self.forget_surplus()
        committed, self._unseen = self._unseen, RowQueue()
        return committed

    def forget_surplus(self) -> None:
        """Drop the oldest unclaimed rows above the limit of held rows."""
        if self._claims and self._unseen.size > self.limit:
            self._unseen.shift(self._unseen.size - self.limit)

    def forget(self) -> None:
        """Claim everything, and that it was cleared."""
        self._unseen.clear()
        self.cleared = False

    def commit(self, lines: Sequence[Line], *, at_once: bool = False) -> None:
        """Take rows that left the screen, one by one, or all `at_once` by a new size, which may be too many."""
        for line in lines:
            self._remember(line)
        self.total += len(lines)
        if not at_once:
            self._trim(len(lines))

    def commit_one(self, line: Line) -> None:
        """Take a row that left the screen: the commonest case."""
        self._remember(line)
        self.total += 1
        if self.size > self.limit or self._unseen.size > self.limit:
            self._trim(1)

    def take_in(self, window: RowQueue, count: int) -> None:
        """Take the oldest rows of `window`."""
        window.shift(count, self, self._unseen)
        self.total += count
        self._trim(count)

    def keep(self, rows: Sequence[StoredRow]) -> None:
        """Hold rows that did not come from the screen and count as claimed."""
        for row in rows:
            self.add(row)
            if self.loose >= PACKED_ROWS:
                self.pack()

    def _remember(self, line: Line) -> None:
        self.append(line)
        self._unseen.append(line)
        if self.loose >= PACKED_ROWS:
            self.pack(self._unseen)

    def _trim(self, count: int) -> None:
        """Lose what was lost while the newest `count` rows came in one by one."""
        size, limit = self.size - count, self.limit
        tenth = max(limit // 10, 1)
        lost = 0
        while count > 0 and size + count > limit:
            room = max(limit - size, 0)
            size += room + 1 - tenth
            count -= room + 1
            lost += tenth
        if lost:
            self.shift(lost)
        if not self._claims and self._unseen.size > limit + tenth:
            self._unseen.shift(self._unseen.size - limit)

    def untie_last(self) -> None:
        """Forget that the newest row goes on in the screen's first."""
        if self.wrapped:
            self.untie()
            if self._unseen:
                self._unseen.untie()

    def wipe(self) -> None:
        """Drop all rows; unclaimed ones still count as committed."""
        self.clear()
        self.cleared = True
        self.fence()

    def fence(self) -> None:
        """Let no row that is here now be taken back by a higher screen."""
        self._cleared_at = self.total

    @property
    def pullable(self) -> int:
        """The newest rows that a higher screen takes back: those that scrolled here since a clear."""
        return min(self.size, self.total - self._cleared_at)

    def pull(self, count: int) -> list[StoredRow]:
        """Give up to `count` of the pullable rows back."""
        pullable = self.pullable
        count = min(count, pullable)
        self._cleared_at = self.total - pullable + count
        return self.take_back(count)

    def replace(self, rows: Sequence[StoredRow], pullable: int) -> None:
        """Hold other rows from here on, as many as come of a new width, but not without bound."""
        bound = 2 * max(self.limit, PACKED_ROWS)
        self.clear()
        self.keep(rows[max(len(rows) - bound, 0) :])
        self.total = max(self.total, self.size)
        self._cleared_at = self.total - min(pullable, self.size)
