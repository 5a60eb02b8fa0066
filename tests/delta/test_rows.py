"""How a painted row ends: blanks, a scroll bar, or in the middle of being written."""

import pytest

from streamrelay.delta.layout.rows import PaintedRow, cells_of, painted_row, without_cut_off


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("text      ", "text", id="blanks"),
        pytest.param("text    ▂▂", "text", id="the end of a thumb"),
        pytest.param("text to▅▅", "text to▅▅", id="not at the edge"),
        pytest.param("full text▅▅"[:10], "full text", id="behind text that reaches it"),
        pytest.param("日本語  ▃▃", "日本語", id="wide characters"),
        pytest.param("▁▁▁▁▁▁▁▁▁▁", "▁▁▁▁▁▁▁▁▁▁", id="a border"),
        pytest.param("▁▂▃▄▅▆▇▆▅▄", "▁▂▃▄▅▆▇▆▅▄", id="a curve"),
    ],
)
def test_a_row_of_ten_columns(text: str, shown: str) -> None:
    assert painted_row(text, False, 10) == PaintedRow(shown)


def test_columns() -> None:
    assert [cells_of(text) for text in ("", "abc", "日本", "é")] == [0, 3, 4, 1]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        pytest.param(["One is done.", "Two is done.", "Three is"], 2, id="a sentence that was begun"),
        pytest.param(["One is done.", "Two is done.", "- Three", "-", "-"], 2, id="items that were begun"),
        pytest.param(["One is done.", "Two is done."], 2, id="whole sentences"),
        pytest.param(["One is done.", "a full row of words that go on"], 1, id="a full row"),
        pytest.param(["def f():", "    return 1", "", "x = f("], 3, id="code"),
        pytest.param(["╭───────────╮", "│ $ make    │", "╰───────────╯"], 3, id="a box that is closed"),
        pytest.param(["a word"], 0, id="all that there is"),
        pytest.param([], 0, id="nothing"),
    ],
)
def test_what_was_still_being_written_is_no_whole_row(rows: list[str], kept: int) -> None:
    painted = [PaintedRow(row) for row in rows]
    assert list(without_cut_off(painted)) == painted[:kept]
