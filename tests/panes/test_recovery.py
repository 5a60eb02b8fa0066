"""What was missed, read off what tmux still holds."""

from dataclasses import replace

import pytest

from streamrelay.panes.recovery import KnownRows, TmuxRows, is_shown, missed
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot


def held(
    rows: list[str],
    *,
    history: int,
    limit: int = 2000,
    total: int | None = None,
    alternate: bool = False,
    generation: int | None = None,
) -> TmuxRows:
    """What a pane holds whose cursor is in its last row."""
    snapshot = Snapshot(
        columns=20, lines=len(rows) - history, rows=(), wrapped=(), cursor=Cursor(0, len(rows) - history - 1),
        history_total=history if total is None else total, alternate=alternate,
    )  # fmt: skip
    printed_rows = [row.encode() for row in rows]
    return TmuxRows(snapshot, printed_rows, [False] * len(rows), history, limit, len(rows) - 1, generation=generation)


def printed(data: bytes) -> list[str]:
    screen = TmuxScreen(20, 50)
    screen.feed(b"stale, and longer")
    screen.feed(data)
    return [row for row in screen.text() if row]


NUMBERS = [str(number) for number in range(100)]


def test_what_stands_below_what_is_known_was_missed():
    found = missed(KnownRows(NUMBERS[50:60], 1000), held(NUMBERS[40:80], history=20, total=1990))
    assert found is not None
    assert found.whole
    assert printed(found.data) == NUMBERS[60:80]


def test_rows_that_repeat_are_told_by_their_number_while_history_is_whole():
    found = missed(KnownRows(["y"] * 30, 30), held(["y"] * 40, history=20))
    assert found is not None
    assert found.whole
    assert printed(found.data) == ["y"] * 10


def test_rows_that_repeat_tell_nothing_once_history_loses_rows():
    assert missed(KnownRows(["y"] * 30, 30), held(["y"] * 40, history=20, total=1990)) is None


def test_where_nothing_known_is_left_all_is_new_and_something_lost():
    found = missed(KnownRows(NUMBERS[:10], 10), held(NUMBERS[50:80], history=20, total=1990))
    assert found is not None
    assert not found.whole
    assert printed(found.data) == NUMBERS[50:80]


@pytest.mark.parametrize(
    "now",
    [
        held([*NUMBERS[:5], "else", *NUMBERS[6:20]], history=0, total=1990),
        held(NUMBERS[:30], history=0, alternate=True),
    ],
    ids=["painted again", "the other screen"],
)
def test_what_cannot_be_told(now):
    assert missed(KnownRows(NUMBERS[:10], 10), now) is None


def test_on_a_screen_that_was_cleared_nothing_was_printed_and_something_is_lost():
    found = missed(KnownRows(NUMBERS[:10], 10), held(["", "", ""], history=0, total=1990))
    assert found is not None
    assert (found.whole, printed(found.data)) == (False, [])


def test_a_pane_that_nothing_happened_to_misses_nothing():
    found = missed(KnownRows(NUMBERS[:10], 10), held([*NUMBERS[:10], "prompt"], history=5))
    assert found is not None
    assert found.whole
    assert printed(found.data) == ["prompt"]


@pytest.mark.parametrize(
    ("rows", "cursor", "unknown", "shown"),
    [
        (["a", "b", "prompt"], (6, 2), 0, True),
        (["b", "prompt", ""], (6, 1), 0, False),
        (["b", "prompt", ""], (6, 1), 1, True),
        (["", "", ""], (6, 1), 1, False),
        (["a", "b", "prom"], (4, 2), 0, False),
        (["a", "c", "prompt"], (6, 2), 0, False),
    ],
    ids=["the same", "a row more", "a row of history again", "nothing known", "behind", "another row"],
)
def test_whether_all_that_tmux_holds_was_heard(rows, cursor, unknown, shown):
    now = held(["a", "b", "prompt"], history=0)
    now = replace(now, snapshot=replace(now.snapshot, cursor=Cursor(6, 2)))
    assert is_shown(rows, cursor, now, unknown=unknown) is shown


def test_where_rows_are_counted_their_number_tells_however_often_they_repeat():
    known = KnownRows(["y"] * 30, 2030, generation=3)
    found = missed(known, held(["y"] * 40, history=20, total=2020, generation=3))
    assert found is not None
    assert (found.lost, printed(found.data)) == (0, ["y"] * 10)


def test_where_rows_are_counted_it_is_known_how_many_are_lost():
    known = KnownRows(["y"] * 30, 100, generation=0)
    found = missed(known, held(["y"] * 40, history=30, total=250, generation=0))
    assert found is not None
    assert (found.lost, printed(found.data)) == (250 - 30 - 100, ["y"] * 40)


def test_what_history_has_just_lost_of_the_known_rows_is_not_missed():
    known = KnownRows(NUMBERS[:30], 30, generation=0)
    found = missed(known, held(NUMBERS[20:60], history=30, total=50, generation=0))
    assert found is not None
    assert (found.lost, printed(found.data)) == (0, NUMBERS[30:60])


def test_a_count_of_another_history_tells_nothing():
    known = KnownRows(["y"] * 30, 2030, generation=3)
    assert missed(known, held(["y"] * 40, history=20, total=2020, generation=4)) is None


def test_rows_that_are_others_than_they_should_be_are_not_taken_for_the_known_ones():
    known = KnownRows(NUMBERS[:30], 30, generation=0)
    painted_again = ["other", *NUMBERS[21:60]]
    assert missed(known, held(painted_again, history=30, total=50, generation=0)) is None
