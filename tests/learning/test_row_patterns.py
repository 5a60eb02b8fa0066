"""Rows become patterns that find their like, and little else."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.learning.row_patterns import alike, quoted, skeleton


@given(st.text(min_size=1))
def test_a_quoted_row_is_found_again_whatever_it_holds(text: str) -> None:
    assert regex.compile(f"^{quoted(text)}$", regex.DOTALL).search(text)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_a_pattern_finds_every_row_it_was_made_of(rows: list[str]) -> None:
    pattern = alike(rows)
    assert pattern is None or all(regex.search(pattern, row, regex.DOTALL) for row in rows)


@pytest.mark.parametrize(
    ("rows", "others", "strangers"),
    [
        (["✻ Baked for 1s", "✻ Brewed for 12s"], ["✻ Churned for 3s"], ["✻ baked for a while", "Baked for 1s"]),
        (["· Beaming…", "✢ Zesting…"], ["✢ Beaming…"], ["- Zesting…", "✢ zesting…", "✢ Two words…"]),
        (["Tokens: 95 sent"], ["Tokens: 7 sent"], ["Tokens: many sent", "x Tokens: 95 sent"]),
        (["   ■■⬝⬝  esc interrupt", "   ■⬝⬝⬝  esc interrupt"], ["   ⬝⬝⬝⬝  esc interrupt"], ["   ■■  nothing"]),
    ],
)
def test_what_is_alike(rows: list[str], others: list[str], strangers: list[str]) -> None:
    pattern = alike(rows)
    assert pattern is not None
    compiled = regex.compile(pattern)
    assert all(compiled.search(row) for row in (*rows, *others))
    assert not any(compiled.search(row) for row in strangers)


@pytest.mark.parametrize("rows", [[], ["12"], ["─ 3"], ["one thing", "- another"], ["a 1", "b 2"]])
def test_what_says_too_little_is_no_pattern(rows: list[str]) -> None:
    assert alike(rows) is None


def test_rows_of_one_build() -> None:
    assert skeleton("✻ Baked for 1s") == skeleton("✶ Brewed for 34s")
    assert skeleton("✻ Baked for 1s") != skeleton("✻ Baked well for 1s")
