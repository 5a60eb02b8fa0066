"""How a snapshot became the next, from the two snapshots alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.delta.layout.scrolling import Scroll, is_jump, scroll_between, share_of

ROWS = ["one", "two", "three", "four", "five", "six"]


@pytest.mark.parametrize(
    ("before", "after", "scroll"),
    [
        pytest.param(ROWS, ROWS, None, id="nothing moved"),
        pytest.param(ROWS, [*ROWS[2:], "seven", "eight"], Scroll(2, 0), id="up by two"),
        pytest.param(ROWS, ["minus", *ROWS[:5]], Scroll(-1, 1), id="down by one"),
        pytest.param(["head", *ROWS], ["head", *ROWS[1:], "seven"], Scroll(1, 1), id="under a header"),
        pytest.param([*ROWS, ">"], [*ROWS[1:], "seven", ">"], Scroll(1, 0), id="above a composer"),
        pytest.param(["a", "", "b", ""], ["", "b", "", "c"], Scroll(1, 0), id="blank rows belong to the block"),
        pytest.param(["p", "q", "x", "y"], ["p", "q", "y", "n"], None, id="one voter against rows that stayed"),
        pytest.param(["x", "x", "x"], ["x", "x", "z"], None, id="rows that stand twice say nothing"),
        pytest.param(["a", "b"], ["b", "a"], None, id="two voters that contradict each other"),
        pytest.param(["a", "b", "└──┴──┘"], ["c", "└──┴──┘", "d"], None, id="lines of a table say nothing"),
        pytest.param([], [], None, id="no rows"),
        pytest.param(["a"], [], None, id="all gone"),
        pytest.param(
            ["a", "b", "c", "long", "line", "p", "q", "r"],
            ["b", "c", "long line", "p", "q", "r", "s", ""],
            Scroll(1, 0),
            id="the part above a row that takes fewer rows now tells what left",
        ),
        pytest.param(["", "b", "c", "d"], ["new", "", "b", "c"], Scroll(-1, 1), id="a blank first row moves down, too"),
        pytest.param(
            ["a", "b", "c", "old", "p", "q", "r", "s"],
            ["b", "c", "new 1", "new 2", "new 3", "p", "q", "r"],
            Scroll(1, 0),
            id="three rows redrawn between two parts",
        ),
        pytest.param(
            ["a", "b", "c", "old", "p", "q", "r", "s"],
            ["b", "c", "new 1", "new 2", "new 3", "new 4", "p", "q", "r"],
            Scroll(-2, 6),
            id="four redrawn rows are no part of what moved",
        ),
        pytest.param(
            ["t1", "t2", "t3", "t4", "t5", "long", "long2", "p", "q"],
            ["t1", "t2", "t3", "t4", "t5", "p", "q", "", ""],
            None,
            id="redrawn shorter in the middle is no scroll",
        ),
        pytest.param(
            [*ROWS, "like all", "Section 1", "Two"], ["like all", "Section 9", "Ten", *"pqrstu"], None, id="by chance"
        ),
        pytest.param(
            [*ROWS, "like all", "Section 1", "Two"],
            ["like all", "Section 1 and", "Two", *"pqrstu"],
            Scroll(6, 0),
            id="nearly a page",
        ),
    ],
)
def test_scroll(before: list[str], after: list[str], scroll: Scroll | None) -> None:
    assert scroll_between(before, after) == scroll


def test_known_pinned_rows_may_be_any_number_and_may_change() -> None:
    header = [f"h{n}" for n in range(6)]
    moved = [*header[:5], "clock 2", *ROWS[2:], "seven", "eight"]
    before = [*header[:5], "clock 1", *ROWS]
    assert scroll_between(before, moved, pinned=6) == Scroll(2, 6)
    assert scroll_between(before, moved) is None, "six rows that stand still are too many for a header not yet known"


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=4, max_size=30, unique=True), st.data())
def test_any_block_of_different_rows_that_moved_is_seen(rows: list[str], data: st.DataObject) -> None:
    height = data.draw(st.integers(3, len(rows) - 1))
    distance = data.draw(st.integers(1, min(height - 2, len(rows) - height)))
    assert scroll_between(rows[:height], rows[distance : distance + height]) == Scroll(distance, 0)


@given(
    st.lists(st.sampled_from(["", "a", "b", "c", "d"]), max_size=12),
    st.lists(st.sampled_from(list("abcd")), max_size=12),
)
def test_whatever_the_snapshots_a_scroll_names_rows_that_moved(before: list[str], after: list[str]) -> None:
    scroll = scroll_between(before, after)
    if scroll is not None:
        assert scroll.distance != 0
        assert 0 <= scroll.top < len(after)
        assert after[scroll.top] == before[scroll.top + scroll.distance]


@pytest.mark.parametrize(
    ("before", "after", "jumped"),
    [
        pytest.param(ROWS, [f"other {n}" for n in range(6)], True, id="another snapshot"),
        pytest.param(ROWS[:4], [f"other {n}" for n in range(4)], False, id="too few rows to tell"),
        pytest.param(ROWS, [*ROWS[:1], "n2", "n3", "n4", "n5", "n6"], True, id="a row that stayed proves nothing"),
        pytest.param(ROWS, [""] * 6, False, id="merely erased"),
        pytest.param([*ROWS, "", ""], ["", "", "", *(f"n{n}" for n in range(5))], True, id="blank rows elsewhere"),
        pytest.param(ROWS, [row + " and more" for row in ROWS], False, id="rows that grew"),
        pytest.param(ROWS, ROWS, False, id="nothing changed"),
        pytest.param(ROWS, ROWS[::-1], False, id="the same rows in another order"),
        pytest.param(ROWS, [], False, id="no screen"),
    ],
)
def test_jump(before: list[str], after: list[str], jumped: bool) -> None:
    assert is_jump(before, after) is jumped


@pytest.mark.parametrize(
    ("rows", "snapshot", "share"), [([], ["a"], 0.0), (["", ""], [""], 0.0), (["a", "b", ""], ["b", ""], 0.5)]
)
def test_share(rows: list[str], snapshot: list[str], share: float) -> None:
    assert share_of(rows, snapshot) == share
