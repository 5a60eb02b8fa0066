"""The gap in the stream of a program that paints, and what of it tmux's history restores."""

from streamrelay.delta.inputs import Missed, Output
from streamrelay.panes.gap_recovery import GapRecovery
from streamrelay.panes.recovery import TmuxRows
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot

COLUMNS, LINES, LIMIT = 30, 6, 100


class Watched:
    """A painting program whose stream is detached at times; tmux sees all of it."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.screen = TmuxScreen(COLUMNS, LINES)
        self.gap = GapRecovery(self.screen)
        self._tmux = TmuxScreen(COLUMNS, LINES)
        self._limit = limit

    def paints(self, text: str, *, is_heard: bool = True) -> None:
        """Print the rows of a text."""
        data = text.replace("\n", "\r\n").encode()
        self._tmux.feed(data)
        if is_heard:
            self.screen.feed(data)

    def recovers(self, now: float) -> bool:
        """Close the gap at `now`, in seconds; return whether tmux's history was asked for."""
        self.gap.note("detached")
        self.gap.question("%0", now, seeded=True)
        depth = self.gap.answered().depth
        entries, _ = self.gap.recover(self._held(depth or 0), "%0", now, now, paints=True)
        assert isinstance(entries[0], Missed)
        for entry in entries:
            if isinstance(entry, Output):
                self.screen.feed(entry.data)
        return bool(depth)

    def shown(self) -> list[str]:
        return [*self.screen.history_text(), *self.screen.text()]

    def _held(self, depth: int) -> TmuxRows:
        kept, cursor = self._tmux.history_text()[-self._limit :], self._tmux.cursor
        history = kept[-depth:] if depth else []
        snapshot = Snapshot(
            COLUMNS, LINES, (), (), Cursor(cursor.x, cursor.y), history_total=len(kept)
        )  # fmt: skip
        rows = [row.encode() for row in (*history, *self._tmux.text())]
        return TmuxRows(snapshot, rows, [False] * len(rows), len(history), self._limit, len(history) + cursor.y)


def numbers(first: int, stop: int) -> str:
    return "".join(f"row {number}\n" for number in range(first, stop))


def test_gaps_shortly_after_each_other_are_each_restored() -> None:
    watched = Watched()
    watched.paints(numbers(0, 10))
    watched.paints(numbers(10, 20), is_heard=False)
    assert watched.recovers(0.0)
    watched.paints(numbers(20, 22))
    watched.paints(numbers(22, 35), is_heard=False)
    assert watched.recovers(5.0)
    assert watched.shown() == [*(f"row {number}" for number in range(35)), ""]


def test_after_a_gap_in_which_no_row_left_the_next_is_restored() -> None:
    watched = Watched()
    watched.paints(numbers(0, 10))
    assert watched.recovers(0.0)
    watched.paints(numbers(10, 20), is_heard=False)
    assert watched.recovers(5.0)
    assert watched.shown() == [*(f"row {number}" for number in range(20)), ""]


def test_rows_that_left_are_found_in_a_history_that_has_lost_rows() -> None:
    watched = Watched(limit=20)
    watched.paints(numbers(0, 30))
    watched.paints(numbers(30, 36), is_heard=False)
    assert watched.recovers(0.0)
    watched.paints(numbers(36, 38))
    assert watched.shown() == [*(f"row {number}" for number in range(38)), ""]


def test_rows_that_stand_in_two_places_are_not_restored() -> None:
    watched = Watched(limit=20)
    watched.paints("one\ntwo\nthree\n" * 5)
    watched.paints("one\ntwo\nthree\n" * 5, is_heard=False)
    before = watched.shown()
    watched.recovers(0.0)
    assert watched.shown() == before


def test_a_history_without_the_known_rows_is_not_asked_for_again_soon() -> None:
    watched = Watched(limit=20)
    watched.paints(numbers(0, 10))
    watched.paints(numbers(10, 60), is_heard=False)
    before = watched.shown()
    assert watched.recovers(0.0)
    assert watched.shown() == before
    assert not watched.recovers(5.0)
    assert watched.recovers(100.0)
