"""What stands around a transcript, told by where it stands and how it changes."""

from dataclasses import replace

import pytest
import regex

from streamrelay.delta.layout.chrome import MAX_LABELS, Chrome, composer_top, masked, stays
from streamrelay.delta.layout.glyphs import is_border
from streamrelay.delta.profiles import GENERIC

RULE = "─" * 40
TOP, BOTTOM = "╭" + "─" * 38 + "╮", "╰" + "─" * 38 + "╯"


@pytest.mark.parametrize(
    ("row", "border"),
    [
        (RULE, True), (TOP, True), (BOTTOM, True), ("  " + "━" * 10, True), ("▄" * 12, True), ("▀" * 12, True),
        ("-" * 20, True), ("-" * 19, False), ("---", False), ("─" * 5, False), ("│      │", False), ("", False),
        ("─── title ───", False), ("| --- | --- |", False), ("=" * 40, False), ("x" + RULE, False),
        ("═" * 8, True), ("╍" * 9, True), ("·" * 20, True), ("·" * 19, False), ("*" * 30, False),
        ("╔" + "═" * 9 + "╗", True), ("+" + "-" * 30 + "+", True), ("┏━━┓", False), ("░" * 30, True),
    ],
)  # fmt: skip
def test_border(row: str, border: bool) -> None:
    assert is_border(row) is border


@pytest.mark.parametrize(
    ("rows", "cursor", "top"),
    [
        pytest.param(["said", RULE, "> ", RULE, "  help"], 2, 1, id="between rules"),
        pytest.param(["said", TOP, "│ > hello │", "│ again   │", BOTTOM], 3, 1, id="a box, cursor in its last row"),
        pytest.param(["said", "", "> "], 2, 2, id="without a border"),
        pytest.param(["said", RULE, "> "], 2, 2, id="a rule above alone is no box"),
        pytest.param(["said", RULE, "> ", RULE, "", ""], 5, 1, id="cursor parked under the box"),
        pytest.param(["said", "┃ > draft", "┃ more"], 2, 1, id="beside a bar"),
        pytest.param(["said", "", ""], 2, 2, id="cursor on a blank row"),
        pytest.param(["said"], 9, 0, id="cursor below the rows that are known"),
    ],
)
def test_composer(rows: list[str], cursor: int, top: int) -> None:
    assert composer_top(rows, cursor) == top


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("12 tokens", "9999 tokens", True), ("ready", "ready", True), ("", "", True), ("", "text", False),
        ("~/project", "~/project      context 5%", True), ("ready", "busy", False), ("abc", "abcd", False),
    ],
)  # fmt: skip
def test_a_row_stays_digits_aside_and_with_anything_behind_it(before: str, after: str, same: bool) -> None:
    assert stays(before, after) is same


def test_masked() -> None:
    assert masked("3s · 1024 tokens") == masked("59s · 7 tokens")


def screen(*above: str) -> list[str]:
    return [*above, RULE, "> ", RULE, "  help"]


def cursor(rows: list[str]) -> int:
    return len(rows) - 3


def test_a_row_above_the_composer_is_a_status_line_once_rows_above_it_moved_and_it_stayed() -> None:
    chrome = Chrome()
    rest, work = screen("", "old", "", "model 5%"), screen("old", "new", "", "model 6%")
    chrome.rest(rest, cursor(rest))
    assert chrome.bottom_start(rest, cursor(rest)) == 4, "nothing has moved yet: it could be the end of an answer"
    chrome.observe(rest, work, cursor(work))
    assert chrome.bottom_start(work, cursor(work)) == 3


@pytest.mark.parametrize(
    ("hint", "is_chrome"),
    [
        (f"{'focus events are off':>38}", True),
        (f"{'focus events are off':>40}", True),
        (f"{'focus events are off':>37}", False),
        (f"  {'a row of a paragraph ' * 2}"[:40], False),
        ("       as far to the left as code may be", False),
    ],
)
def test_a_hint_that_is_aligned_with_the_end_of_the_border_is_chrome_at_once(hint: str, is_chrome: bool) -> None:
    rows = ["● An answer.", "", "✻ Brewed for 1s", hint, RULE, "❯ ", RULE]
    assert Chrome().bottom_start(rows, 5) == 4 - is_chrome
    assert Chrome().bottom_start([*rows[:4], "❯ "], 4) == 4, "a composer without a border has no end"


def test_a_row_that_moves_with_the_transcript_is_no_status_line() -> None:
    chrome = Chrome()
    rest, work = screen("", "", "the end of an answer"), screen("", "the end of an answer", "the next answer")
    chrome.rest(rest, cursor(rest))
    chrome.observe(rest, work, cursor(work))
    assert chrome.bottom_start(work, cursor(work)) == 3


@pytest.mark.parametrize(
    ("old", "new", "learned"),
    [
        ("✶ Thinking… (1s)", "✻ Thinking… (2s)", True), ("⠋ Loading", "⠙ Loading", True),
        ("✶ Thinking", "✶ Thinking", False), ("✶ Thinking", "✻ Reading", False), ("a thing", "b thing", False),
        ("- item", "+ item", True), ("✶", "✻", False),
    ],
)  # fmt: skip
def test_a_spinner_is_a_row_whose_glyph_turns(old: str, new: str, learned: bool) -> None:
    chrome = Chrome()
    chrome.observe(screen(old), screen(new), 2)
    assert chrome.is_spinner(new) is learned


def test_an_item_that_scrolls_to_where_its_quote_stood_is_no_spinner() -> None:
    chrome = Chrome()
    quoted, item = "  • Check", "  - Check"
    chrome.observe(screen("a", "b", "c", "d", quoted), screen("b", "c", "d", "e", item), 6)
    assert not chrome.is_spinner(item)


def test_a_spinner_is_known_by_its_label_with_another_counter_and_glyph() -> None:
    chrome = Chrome()
    chrome.observe(screen("✶ Thinking 1 (1s)"), screen("✻ Thinking 2 (2s)"), 2)
    assert chrome.is_spinner("  ✢ Thinking 99 (esc to interrupt)")
    assert not chrome.is_spinner("Thinking 99")
    assert not chrome.is_spinner("✢ Thinking of you")


def test_labels_are_bounded_and_the_oldest_goes_first() -> None:
    chrome = Chrome()
    words = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MAX_LABELS + 1)]
    for word in words:
        chrome.observe([f"✶ {word}", ">"], [f"✻ {word}", ">"], 1)
    assert not chrome.is_spinner(f"✶ {words[0]}")
    assert chrome.is_spinner(f"✶ {words[1]}")


def test_work_is_shown_below_the_cursor_or_by_a_spinner_above_the_composer() -> None:
    chrome = Chrome()
    below = ["said", RULE, "> ", RULE, "  esc to interrupt"]
    assert chrome.shows_work(below, 2)
    rows = screen("said", "✶ Thinking (esc to interrupt)")
    assert not chrome.shows_work(rows, cursor(rows)), "not yet seen turning: an answer may say so too"
    chrome.observe(screen("said", "✻ Thinking (esc to interrupt)"), rows, cursor(rows))
    assert chrome.shows_work(rows, cursor(rows))
    assert not chrome.shows_work(screen("press esc to interrupt"), 2)


def test_a_composer_in_another_width_is_not_the_old_box_of_a_message() -> None:
    chrome = Chrome()
    wide, narrow = "▄" * 40, "▄" * 30
    rows = ["said", wide, "> ", "▀" * 40, ""]
    chrome.rest(rows, 2)
    resized = [wide, " > asked", "▀" * 40, "said", narrow, "> ", "▀" * 30]
    assert chrome.composer_top(resized, 5) == 4


def test_a_spinner_with_another_label_is_one_at_once_where_its_glyphs_were_seen_spinning() -> None:
    chrome = Chrome()
    rows = screen("said", "✶ Reading (3s · esc to interrupt)")
    assert not chrome.shows_work(rows, cursor(rows))
    chrome.observe(screen("said", "✻ Thinking"), screen("said", "✶ Thinking"), cursor(rows))
    assert chrome.shows_work(rows, cursor(rows))
    for answer in ("✶ Press it (esc to interrupt) to stop", "● Press it (esc to interrupt)"):
        rows = screen("said", answer)
        chrome.observe(screen("said", "● Blink"), screen("said", "✶ Blink"), cursor(rows))
        assert not chrome.shows_work(rows, cursor(rows)), answer


def test_a_spinner_of_dots_and_a_hint_that_takes_two_rows() -> None:
    chrome = Chrome()
    chrome.observe(screen("..  Thinking"), screen("... Thinking"), 2)
    rows = screen("said", "..  Why did it go (0s · ↓ 12 tokens · esc to", "  .               cancel)")
    assert chrome.shows_work(rows, cursor(rows))
    assert not chrome.shows_work(screen("said", "..  Why did it go (0s · ↓ 12 tokens)", "cancel)"), 3)


def test_what_a_profile_knows_for_a_spinner_shows_work_at_once() -> None:
    rows = screen("said", "~ Thinking (esc to cancel)")
    known = replace(GENERIC, chrome=(regex.compile("^~ "),))
    assert Chrome().shows_work(rows, cursor(rows), known)
    assert not Chrome().shows_work(screen("said", "~ Thinking"), 3, known)


@pytest.mark.parametrize("rows", [[], [""], ["", ""]])
def test_a_screen_with_nothing_on_it(rows: list[str]) -> None:
    chrome = Chrome()
    if rows:
        chrome.rest(rows, 0)
        chrome.observe(rows, rows, 0)
        assert chrome.bottom_start(rows, 0) <= len(rows)
        assert not chrome.shows_work(rows, 0)
    assert composer_top([*rows, ""], 0) == 0


def test_rows_that_are_alike_are_no_status_lines() -> None:
    chrome = Chrome()
    chrome.rest(["row 1", "row 2", "row 3", "> "], 3)
    before, after = ["row 2", "row 3", "row 4", "> "], ["other", "row 3", "row 4", "> "]
    chrome.observe(before, after, 3)
    assert chrome.bottom_start(after, 3) == 3


def test_a_composer_is_known_again_by_its_borders() -> None:
    chrome = Chrome()
    top, bottom = "▊" + "▔" * 20 + "▎", "▊" + "▁" * 20 + "▎"
    assert chrome.learn_borders(["said", top, "▊ draft", bottom], 2)
    assert not chrome.learn_borders(["said", top, "▊ draft", bottom], 2), "no news"
    parked = ["said", "more", "and more", top, "▊ ask away", bottom, "help"]
    assert [chrome.composer_top(parked, cursor) for cursor in (1, 2, 4, 6)] == [3, 3, 3, 3]
    assert chrome.composer_top(["said", "", "> "], 2) == 2, "it is gone"


@pytest.mark.parametrize("status_rows", [1, 4, 7])
def test_a_composer_with_borders_is_known_above_any_number_of_status_rows(status_rows: int) -> None:
    rows = ["● an answer", "", RULE, "> ", RULE, *(f"status {n}" for n in range(status_rows)), ""]
    assert composer_top(rows, len(rows) - 1) == 2


@pytest.mark.parametrize(
    ("above", "top"),
    [
        pytest.param(["╭" + "─" * 10 + "╮", "│ >        │", "╰" + "─" * 10 + "╯"], 1, id="a box"),
        pytest.param(["─" * 12, "> ", "─" * 12], 4, id="a rule of the text"),
        pytest.param(["╭" + "─" * 10 + "╮", "│ >        │", "╰" + "─" * 10 + "╯", ""], 5, id="a box of the transcript"),
    ],
)
def test_a_cursor_left_behind_hints_has_the_box_above_them(above: list[str], top: int) -> None:
    """Ink leaves its hidden cursor behind its last row where the screen is full."""
    rows = ["* an answer", *above, "  ? for help"]
    assert composer_top(rows, len(rows) - 1) == top


def test_a_rule_of_the_text_far_above_the_cursor_is_no_composer() -> None:
    rows = ["● an answer", "", RULE, *(f"text {n}" for n in range(6)), ""]
    assert composer_top(rows, len(rows) - 1) == len(rows) - 1
