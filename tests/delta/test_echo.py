"""How shown text is recognised, and the ledger's rules, each with plain lines."""

import pytest

from streamrelay.delta.printing.echo import ShownLine, squeeze
from streamrelay.delta.printing.provenance import MAX_PENDING, Ledger, Piece


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("plain", "plain"),
        ("a\tb", "a       b"),
        ("a\tb", "a b"),
        ("\tx", "        x"),
        ("bell\x07", "bell^G"),
        ("del\x7f", "del^?"),
        ("blanks  ", "blanks"),
        ("日本語 🚀", "日本語 🚀"),
    ],
)
def test_a_line_is_found_as_the_kernel_shows_it(typed: str, shown: str) -> None:
    assert ShownLine(typed).find(shown, "") == (0, len(shown))
    assert ShownLine(typed).is_whole(shown) is False


def test_output_may_follow_the_echo_on_its_row() -> None:
    assert ShownLine("line four").find("line fourline one", "") == (0, 9)


def test_it_is_found_behind_the_prompt_with_anything_after_it() -> None:
    assert ShownLine("1+1").find("In [1]: 1+1   2", "In [1]: ") == (8, 11)


@pytest.mark.parametrize("shown", ["> hi", "❯ hi", "│ > hi", "  hi", "user@host:~$ hi", ">>> hi", "... hi"])
def test_it_is_found_at_the_end_behind_a_mark_or_something_like_a_prompt(shown: str) -> None:
    assert ShownLine("hi").find(shown, "") == (len(shown) - 2, len(shown))


@pytest.mark.parametrize("shown", ["hi", "oh hi", "> hi there", "he said: thi", "a tab"])
def test_it_is_not_found_in_other_text(shown: str) -> None:
    assert ShownLine("hit").find(shown, "") is None
    assert ShownLine("a\tb").find("ab", "") is None


def test_a_tab_is_at_most_eight_blanks() -> None:
    assert ShownLine("a\tb").find("a" + " " * 9 + "b", "") is None


@pytest.mark.parametrize(
    ("shown", "found"), [("", True), ("... ", True), ("$", True), ("word", False), ("x" * 80 + "$", False)]
)
def test_an_empty_line_is_found_only_where_nothing_but_a_prompt_stands(shown: str, found: bool) -> None:
    assert (ShownLine("").find(shown, "") is not None) is found


@pytest.mark.parametrize(
    ("shown", "marked"), [("hello", False), ("  hello", False), ("> hello", True), ("hello!", None)]
)
def test_a_mark_is_told_from_an_indent(shown: str, marked: bool | None) -> None:
    assert ShownLine("hello").is_whole(shown) is marked


def test_an_editor_may_pad_and_wrap() -> None:
    assert ShownLine("two words").is_in(squeeze("$ two\n   wor ds"))
    assert ShownLine("two words").is_at_end(squeeze("$ two\n   wor ds"))
    assert not ShownLine("").is_at_end(squeeze("$"))


PROGRAM, INJECTED = "program", "injected"


def entered(text: str, *, prompt: str = "", painted: str | None = None) -> Ledger:
    """A ledger with one submitted injection; `painted` is the open line at the Enter."""
    ledger = Ledger()
    ledger.enter("m", text, prompt)
    ledger.submit("m", prompt if painted is None else painted)
    return ledger


def attribute(ledger: Ledger, *lines: str, has_composer: bool = False) -> list[tuple[str, str]]:
    pieces: list[Piece] = []
    for line in lines:
        pieces += ledger.attribute(line, has_composer=has_composer)
    return [(piece.text, piece.origin) for piece in pieces]


def test_what_appears_in_the_gap_and_spells_the_injection_is_echo() -> None:
    ledger = Ledger()
    ledger.enter("m", "one\ntwo", "")
    assert attribute(ledger, "one") == [("one", INJECTED)]
    assert ledger.submit("m", "two") is True
    assert attribute(ledger, "two", "two") == [("two", INJECTED), ("two", PROGRAM)]


def test_output_on_the_row_of_the_echo_is_the_programs_and_the_line_feed_owed_is_nobodys() -> None:
    ledger = entered("hello", painted="hello")
    assert attribute(ledger, "hellooutput", "more", "", "") == [
        ("hello", INJECTED), ("output", PROGRAM), ("more", PROGRAM), ("", PROGRAM),
    ]  # fmt: skip


def test_a_marked_echo_is_consumed_at_once_and_the_next_copy_is_a_quote() -> None:
    assert attribute(entered("hello"), "> hello", "> hello") == [("> hello", INJECTED), ("> hello", PROGRAM)]


def test_a_plain_late_copy_waits_for_what_follows() -> None:
    ledger = entered("hello")
    assert attribute(ledger, "hello") == []
    assert ledger.holding
    assert attribute(ledger, "answer") == [("hello", INJECTED), ("answer", PROGRAM)]
    assert not ledger.holding


def test_a_plain_copy_that_nothing_follows_is_an_answer() -> None:
    ledger = entered("hello")
    attribute(ledger, "hello")
    assert [(piece.text, piece.origin) for piece in ledger.rest("")] == [("hello", PROGRAM)]


def test_with_a_composer_a_plain_copy_is_the_echo() -> None:
    assert attribute(entered("hello"), "hello", has_composer=True) == [("hello", INJECTED)]


def test_lines_that_only_begin_like_the_injection_are_released_in_order() -> None:
    assert attribute(entered("one\ntwo\nthree"), "one", "two", "four") == [
        ("one", PROGRAM), ("two", PROGRAM), ("four", PROGRAM),
    ]  # fmt: skip


def test_a_run_that_begins_anew_is_found() -> None:
    assert attribute(entered("one\ntwo"), "one", "> one", "  two") == [
        ("one", PROGRAM), ("> one", INJECTED), ("  two", INJECTED),
    ]  # fmt: skip


def test_nothing_is_an_echo_before_its_enter_unless_it_is_painted_at_once() -> None:
    ledger = Ledger()
    ledger.enter("m", "one\ntwo", "")
    assert attribute(ledger, "two") == [("two", PROGRAM)]


def test_each_injection_is_struck_off_once_oldest_first() -> None:
    ledger = Ledger()
    for message_id in ("a", "b"):
        ledger.enter(message_id, "same", "")
        ledger.submit(message_id, "")
    pieces = [piece for _ in range(3) for piece in ledger.attribute("> same", has_composer=False)]
    assert [(piece.origin, piece.message_id) for piece in pieces] == [
        (INJECTED, "a"), (INJECTED, "b"), (PROGRAM, None),
    ]  # fmt: skip


def test_a_composers_content_strikes_off_the_oldest_message_in_it() -> None:
    ledger = Ledger()
    ledger.enter("a", "first", "")
    ledger.enter("b", "second", "")
    assert ledger.in_composer("$ second") == "b"
    assert ledger.in_composer("$ second") is None
    assert ledger.in_composer("$ first") == "a"


def test_lines_submitted_one_by_one_are_struck_off_one_by_one() -> None:
    ledger = Ledger()
    ledger.enter("m", "one\ntwo", "")
    assert ledger.in_composer("$ one") == "m"
    assert ledger.in_composer("$ one") is None
    assert ledger.submit("m", "$ two") is True
    assert ledger.in_composer("$ two") == "m"
    assert ledger.in_composer("$ two") is None


def test_the_oldest_of_too_many_is_given_up() -> None:
    ledger = Ledger()
    for number in range(MAX_PENDING + 1):
        ledger.enter(f"m{number}", f"text {number}", "")
        ledger.submit(f"m{number}", "")
    assert attribute(ledger, "> text 0", "> text 1") == [("> text 0", PROGRAM), ("> text 1", INJECTED)]


def test_the_open_line_is_shown_without_the_echo() -> None:
    ledger = Ledger()
    ledger.enter("m", "hello", "> ")
    assert ledger.without_echo("> hello") == ""
    assert ledger.without_echo("> helloout") == "out"
    assert ledger.without_echo("other") == "other"


def test_only_behind_the_last_line_can_output_follow_on_the_row() -> None:
    ledger = Ledger()
    ledger.enter("m", "one\ntwo", "")
    assert attribute(ledger, "one more", "one", "twofold") == [
        ("one more", PROGRAM), ("one", INJECTED), ("two", INJECTED), ("fold", PROGRAM),
    ]  # fmt: skip


def test_before_the_enter_no_line_feed_is_owed() -> None:
    ledger = Ledger()
    ledger.enter("m", "hello", "")
    assert attribute(ledger, "hellooutput", "") == [("hello", INJECTED), ("output", PROGRAM), ("", PROGRAM)]
    ledger.submit("m", "")
    assert attribute(ledger, "", "") == [("", PROGRAM)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "echo \N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER} e\N{COMBINING ACUTE ACCENT}",
            "echo 👩<200d>💻 e<0301>",
        ),
        ("rm -r\N{VARIATION SELECTOR-16} a  b", "rm -r a b"),
        ("a <b> <c0ffee1> <ffffffff>", "a <b> <c0ffee1> <ffffffff>"),
    ],
    ids=["as numbers", "left out", "no such character"],
)
def test_zero_width_characters_are_shown_as_numbers_or_left_out(text: str, shown: str) -> None:
    assert ShownLine(text).is_in(squeeze(f"% {shown}"))
    assert not ShownLine(text + "x").is_in(squeeze(f"% {shown}"))
