"""How a painted row ends: blanks, or a scroll bar."""

import pytest

from streamrelay.delta.layout.rows import PaintedRow, cells_of, painted_row


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("text      ", "text", id="blanks"),
        pytest.param("text    ▂▂", "text", id="the end of a thumb"),
        pytest.param("text     █", "text", id="a thumb"),
        pytest.param("         █", "", id="a thumb alone"),
        pytest.param("█████     ", "█████", id="a bar"),
        pytest.param("██████████", "██████████", id="a full bar"),
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
