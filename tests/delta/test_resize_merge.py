"""Pictures of one transcript in several sizes make one text."""

import pytest

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.resize_merge import Sized, rejoined

WIDE = ["> go", "", "one two three four five six seven eight", "", "nine ten eleven twelve", ""]


def sized(columns: int, *texts: str) -> Sized:
    return Sized([PaintedRow(text) for text in texts], columns)


def text_of(*snapshots: Sized, start: int = 0) -> list[str]:
    return ["(missing)" if row.skipped else row.text for row in rejoined(snapshots, start)]


def test_one_size_stays_as_it_is() -> None:
    assert text_of(sized(40, *WIDE)) == WIDE


@pytest.mark.requirement("DEL-08")
def test_rows_of_a_size_that_is_gone_are_unwrapped_and_shown_once() -> None:
    again = ("five six seven", "eight", "", "nine ten eleven", "twelve thirteen", "", "fourteen")
    assert text_of(sized(40, *WIDE), sized(16, *again)) == [
        *WIDE[:4], "nine ten eleven", "twelve thirteen", "", "fourteen",
    ]  # fmt: skip


def test_what_the_terminal_left_of_the_old_size_is_left_out() -> None:
    cut_off = ("one two three fo", "", "nine ten eleven", "one two three", "four five six", "seven eight", "")
    assert text_of(sized(40, *WIDE), sized(16, *cut_off, "nine ten eleven", "twelve", "", "more")) == [
        *WIDE[:4], "nine ten eleven", "twelve", "", "more",
    ]  # fmt: skip


@pytest.mark.requirement("DEL-08")
def test_what_the_terminal_left_counts_only_where_nothing_painted_below_it_is_known() -> None:
    known = sized(40, *WIDE[:-1])
    stale = (
        "one two three four five",
        "six seven eight",
        "",
        "nine ten eleven twelve",
        "",
        "Thinking...",
        "",
        "─" * 30,
    )
    shown = sized(23, *stale, "nine ten eleven twelve", "thirteen", "", "more")
    expected = [*WIDE[:4], "nine ten eleven twelve", "thirteen", "", "more"]
    assert "Thinking..." in text_of(known, shown)
    assert text_of(known, shown._replace(left=8)) == expected
    assert text_of(known, sized(23, *stale[:5], "thirteen and more", "", "more")._replace(left=5)) == [
        *WIDE[:4], "nine ten eleven twelve", "", "thirteen and more", "", "more",
    ]  # fmt: skip


def test_a_line_that_no_row_begins_is_gone_on_with() -> None:
    known = sized(40, "one two three four five six seven eight", "nine ten eleven")
    assert text_of(known, sized(22, "eight nine ten eleven", "twelve", "more")) == [
        "one two three four five six seven eight nine ten eleven", "twelve", "more",
    ]  # fmt: skip


def test_something_is_missing_where_nothing_is_in_common() -> None:
    assert text_of(sized(40, *WIDE), sized(16, "another text", "of its own")) == [
        *WIDE, "(missing)", "another text", "of its own",
    ]  # fmt: skip


def test_borders_and_old_rows_are_nothing_in_common() -> None:
    known = sized(40, "an old row of a long text", "─" * 30, "a new answer begins here")
    shown = sized(30, "an old row of a long text", "─" * 30, "a new answer begins here", "and ends")
    assert text_of(known, shown, start=2) == [
        "an old row of a long text", "─" * 30, "a new answer begins here", "and ends",
    ]  # fmt: skip


@pytest.mark.requirement("DEL-08")
def test_three_sizes_one_after_the_other() -> None:
    words = [f"line {n} of the text" for n in range(12)]
    assert text_of(sized(40, *words[:6]), sized(60, *words[3:9]), sized(90, *words[5:])) == words


@pytest.mark.requirement("DEL-08")
def test_rows_that_were_painted_for_a_wider_terminal_before_the_resize_was_known_are_not_cut_off() -> None:
    whole = ("> go and tell me more", "", "one two three four five six seven", "eight nine ten", "")
    cut_off = ("> go and tell me more", "", "one two three four fi", "eight nine ten", "")
    more = ("eleven twelve thirteen", "fourteen fifteen sixteen")
    assert text_of(sized(21, *cut_off, *more), sized(40, *whole, *more)) == [*whole, *more]


def test_what_a_program_paints_above_the_known_text_takes_the_place_of_none_of_it() -> None:
    header = "> go and tell me more"
    known = sized(40, header, "", "one two three four five", "six seven eight nine", "ten eleven twelve thirteen")
    shown = sized(40, header, "", "six seven eight nine", "ten eleven twelve thirteen", "", "more")
    assert text_of(known, shown) == [*(row.text for row in known.rows), "", "more"]
