"""Rows that a program wrapped itself become the lines they were; rows that it did not wrap stay as they are."""

import textwrap

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.line_joining import (
    NARROWEST_MARGIN,
    logical_lines,
    right_edge,
    without_cut_off,
    without_leftovers,
)


def joined(rows: list[str], width: int) -> list[str]:
    return logical_lines([PaintedRow(row) for row in rows], width)


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        pytest.param(
            ["a line that fills the", "row and goes on"], ["a line that fills the row and goes on"], id="wrapped"
        ),
        pytest.param(["short", "row"], ["short", "row"], id="the next word would have fitted"),
        pytest.param(
            ["a line in front of", "the last word, and goes"],
            ["a line in front of the last word, and goes"],
            id="the next word would have filled the row",
        ),
        pytest.param(
            ["a line that ends so.", "A line of its own."],
            ["a line that ends so.", "A line of its own."],
            id="a sentence ends there",
        ),
        pytest.param(["twenty one characters", "", "next"], ["twenty one characters", "", "next"], id="blank row"),
        pytest.param(
            ["- an item that fills it", "  and goes on"], ["- an item that fills it and goes on"], id="hanging"
        ),
        pytest.param(
            ["10. an item that fills", "    and goes on"], ["10. an item that fills and goes on"], id="number"
        ),
        pytest.param(["- first item, all of it", "- second"], ["- first item, all of it", "- second"], id="list"),
        pytest.param(
            ["1. first item, all of", "2. second"], ["1. first item, all of", "2. second"], id="numbered list"
        ),
        pytest.param(["twenty one characters", "# heading"], ["twenty one characters", "# heading"], id="heading"),
        pytest.param(
            ["│ cell     │ cell     │", "│ cell     │ cell     │"], ["│ cell     │ cell     │"] * 2, id="table"
        ),
        pytest.param(["twenty one characters", "```"], ["twenty one characters", "```"], id="fence"),
        pytest.param(["twenty one characters", "> quote"], ["twenty one characters", "> quote"], id="quote"),
        pytest.param(
            ["def function(argument):", "    return argument_one"],
            ["def function(argument):", "    return argument_one"],
            id="code is indented deeper",
        ),
        pytest.param(
            ["    deep row of code it is", "back out"], ["    deep row of code it is", "back out"], id="dedent"
        ),
        pytest.param(
            ["日本語日本語日本語日本", "語日本"],
            ["日本語日本語日本語日本語日本"],
            id="wide characters are broken anywhere",
        ),
        pytest.param(
            ["中文,中文,中文中文文文,", "这里没有空格。"],
            ["中文,中文,中文中文文文,这里没有空格。"],
            id="commas without blanks",
        ),
        pytest.param(
            ["中文, 中文, 中文中文文,", "这里有空格。"],
            ["中文, 中文, 中文中文文, 这里有空格。"],
            id="commas with blanks",
        ),
        pytest.param(["한국어 문장도 하나", "넣습니다."], ["한국어 문장도 하나 넣습니다."], id="Hangul has words"),
        pytest.param(
            ["a line that fills all.", " The blank came later."],
            ["a line that fills all. The blank came later."],
            id="broken before the blank",
        ),
        pytest.param(
            ["a line that is short.", " The blank came later."],
            ["a line that is short.", " The blank came later."],
            id="an indent is none that was left over",
        ),
        pytest.param(
            ["See https://example.or", "g/a/long/address for it"],
            ["See https://example.org/a/long/address for it"],
            id="a word that no row could hold",
        ),
        pytest.param(
            ["It was read from", "https://example.org/a/", "long/address", "before noon.", "Then it ended."],
            ["It was read from https://example.org/a/long/address before noon.", "Then it ended."],
            id="a row behind a word with rows of its own",
        ),
        pytest.param(
            ["See http://a.org/very/", "long/path?", "b=1&c=333322222222222-", "end"],
            ["See http://a.org/very/long/path?b=1&c=333322222222222-end"],
            id="an address broken behind its marks",
        ),
        pytest.param(
            ["See http://example.org/", "for all that"], ["See http://example.org/ for all that"], id="an address ends"
        ),
        pytest.param(
            ["get https://example.or", "g/a/long/address", "echo done"],
            ["get https://example.org/a/long/address", "echo done"],
            id="code with an address",
        ),
        pytest.param([], [], id="nothing"),
        pytest.param(["trailing   "], ["trailing"], id="blanks at the end"),
    ],
)
def test_cases_of_22_columns(rows: list[str], lines: list[str]) -> None:
    assert joined(rows, 22) == lines


def test_a_row_goes_on_behind_an_address_that_its_terminal_wrapped() -> None:
    """The program gave the address a row of its own, which the terminal made two of, and went on in the next row."""
    rows = [
        PaintedRow("  It was read at"),
        PaintedRow("  https://example.org/of/many/pa", wrapped=True),
        PaintedRow("rts-1,"),
        PaintedRow("  twice today."),
        PaintedRow("  Then it was closed."),
    ]
    said = ["  It was read at https://example.org/of/many/parts-1, twice today.", "  Then it was closed."]
    assert logical_lines(rows, 32) == said
    assert logical_lines([*rows[:3], PaintedRow("  Twice today.")], 32)[-1] == "  Twice today."


def test_the_terminal_s_own_wrap_needs_no_guess() -> None:
    rows = [PaintedRow("- a", wrapped=True), PaintedRow("- b", wrapped=True), PaintedRow(""), PaintedRow("c")]
    assert logical_lines(rows, 40) == ["- a- b", "c"]


@pytest.mark.parametrize(
    ("rows", "columns", "edge"),
    [
        ([], 80, 80 - NARROWEST_MARGIN),
        (["x" * 79], 80, 79),
        (["日" * 39], 80, 78),
        (["x" * 80, "x" * 75, "x" * 74], 80, 75),
        (["x" * 80] * 2, 80, 80),
    ],
)
def test_the_right_edge_is_the_widest_row_but_never_far_from_the_screen_s(
    rows: list[str], columns: int, edge: int
) -> None:
    assert right_edge([PaintedRow(row) for row in rows], columns) == edge


WORD = st.text("abcdefghijklmnopqrstuvwxyzäéß", min_size=2, max_size=11)
PARAGRAPH = st.lists(WORD, min_size=1, max_size=40).map(" ".join)


@pytest.mark.requirement("DEL-01")
@given(st.lists(PARAGRAPH, min_size=1, max_size=6), st.integers(24, 100), st.integers(0, 4))
@example(["a b " * 30], 24, 2)
def test_paragraphs_between_blank_rows_come_back_whole(paragraphs: list[str], width: int, indent: int) -> None:
    paragraphs = [" ".join(paragraph.split()) for paragraph in paragraphs]
    assume(not any(len(p.split()[0]) == 2 and p.split()[0][1] in ".)" for p in paragraphs))
    rows: list[str] = []
    for paragraph in paragraphs:
        rows += [" " * indent + row for row in textwrap.wrap(paragraph, width - indent)] + [""]
    lines = joined(rows, width)
    assert [line.strip() for line in lines if line] == paragraphs


@pytest.mark.requirement("DEL-01")
@given(st.lists(PARAGRAPH, min_size=1, max_size=6), st.integers(24, 100), st.sampled_from(["- ", "* ", "1. ", "12. "]))
def test_items_of_a_list_come_back_each_for_itself(items: list[str], width: int, mark: str) -> None:
    rows: list[str] = []
    for item in items:
        rows += textwrap.wrap(item, width, initial_indent=mark, subsequent_indent=" " * len(mark))
    assert joined(rows, width) == [mark + item for item in items]


@pytest.mark.requirement("DEL-01")
@given(st.text("日本語話終端機會聽", min_size=1, max_size=200), st.integers(6, 40))
def test_wide_text_broken_hard_comes_back_whole(text: str, half: int) -> None:
    rows = [text[start : start + half] for start in range(0, len(text), half)]
    assert joined(rows, 2 * half) == [text]
    assert joined(rows, 2 * half + 1) == [text], "a column that no wide character fits in"


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("[23:05:43] inside" + "app.py:10".rjust(43), "out"),
        ("23062 root      0 -20    0  0 I    1.0  0:46 kworker/1:2H-kbl", "23959 root     20   0  0:00 python"),
        ("┃ A title" + "┃".rjust(51), "┗" + 58 * "━" + "┛"),
    ],
    ids=["a place at the right edge", "columns", "a box"],
)  # fmt: skip
def test_a_row_with_columns_is_no_wrapped_text(above: str, below: str) -> None:
    assert joined([above, below], 60) == [above, below]


@given(st.lists(st.text("ab │>-1. 日", max_size=12), max_size=12), st.integers(1, 30))
def test_whatever_the_rows_no_character_is_lost(rows: list[str], width: int) -> None:
    assert "".join("".join(joined(rows, width)).split()) == "".join("".join(rows).split())


@given(st.lists(st.text("abcdef ", min_size=1, max_size=10).filter(str.strip), min_size=1, max_size=9))
def test_rows_with_room_to_spare_are_never_joined(rows: list[str]) -> None:
    rows = [row.rstrip() for row in rows]
    assert joined(rows, 40) == rows


def _painted(*texts: str) -> list[PaintedRow]:
    return [PaintedRow(text) for text in texts]


@pytest.mark.requirement("DEL-02c")
def test_the_first_rows_of_an_earlier_snapshot_left_above_are_no_text() -> None:
    rows = _painted("whoever speaks next", "must have heard all", "of what was said.")
    first, second = rows[:2]
    for left in ([first], [first, second], [first, first, second, first], [first, second, second]):
        whole, leftover = without_leftovers([*left, *rows], 20)
        assert list(whole) == rows
        assert len(leftover) == len(left)
    assert without_leftovers(rows, 20) == (rows, ())


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    "texts",
    [
        ["ha ha ha ha ha ha ha", "ha ha ha ha ha ha ha", "ha ha"],
        ["=" * 20, "=" * 20, "="],
        ["said twice", "and short", "said twice", "and short"],
        ["whoever speaks next.", "", "whoever speaks next."],
        ["│ worker │ pending │", "│ worker │ pending │", "└────────┴─────────┘"],
        ["INFO is waiting", "INFO is waiting", "INFO is done"],
        ["asked for it again", "asked for it again", "asked for it again", "and got it"],
    ],
)
def test_what_a_text_says_twice_stays(texts: list[str]) -> None:
    rows = _painted(*texts)
    assert list(without_leftovers(rows, 20)[0]) == rows


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        pytest.param(["One is done.", "Two is done.", "Three is"], 2, id="a sentence that was begun"),
        pytest.param(["One is done.", "Two is done.", "- Three", "-", "-"], 2, id="items that were begun"),
        pytest.param(["One is done.", "Two is done."], 2, id="whole sentences"),
        pytest.param(["One is done.", "a full row of words that go on"], 1, id="a full row"),
        pytest.param(["One is done.", "a full row of words that goes", "on in the next"], 1, id="a line of two rows"),
        pytest.param(
            ["- one", "- a full row of an item that", "  goes on", "  and"], 3, id="a row that is no part of it"
        ),
        pytest.param(["- a full row of an item, that", "  goes on in so many rows that", "  another"], 0, id="an item"),
        pytest.param(["def f():", "    return 1", "", "x = f("], 3, id="code"),
        pytest.param(["╭───────────╮", "│ $ make    │", "╰───────────╯"], 3, id="a box that is closed"),
        pytest.param(["a word"], 0, id="all that there is"),
        pytest.param([], 0, id="nothing"),
    ],
)
def test_a_line_that_was_still_being_written_is_left_out_whole(rows: list[str], kept: int) -> None:
    painted = [PaintedRow(row) for row in rows]
    assert list(without_cut_off(painted, 30)) == painted[:kept]
